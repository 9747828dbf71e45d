"""The pipelines behind verbs. Importing this module imports Apache Beam."""

from __future__ import annotations

import dataclasses
import json
import logging
import tempfile
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
from apache_beam.io.filesystems import FileSystems
from apache_beam.metrics import MetricsFilter
from apache_beam.options.pipeline_options import (
    GoogleCloudOptions,
    PipelineOptions,
    StandardOptions,
)
from apache_beam.runners.portability.portable_runner import PortableRunner
from apache_beam.runners.runner import create_runner
from google.protobuf import json_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.cli.columns import ColumnSummary, flatten_structs
from tfrecord_beam.cli.rows import Row, to_rows
from tfrecord_beam.errors import TFRecordBeamError, render
from tfrecord_beam.records.convert.conversion import plan_conversion
from tfrecord_beam.records.partition_columns import PartitionColumns
from tfrecord_beam.records.writing.plan import WrittenFile
from tfrecord_beam.report.write import WrittenReport
from tfrecord_beam.schema.arrow import RecordType
from tfrecord_beam.schema.names import suggest
from tfrecord_beam.transforms.convert import ConvertFiles
from tfrecord_beam.transforms.filesystem import BeamFileSystem
from tfrecord_beam.transforms.infer import InferSchema
from tfrecord_beam.transforms.merge import Merge
from tfrecord_beam.transforms.metrics import NAMESPACE
from tfrecord_beam.transforms.read import BeamSource
from tfrecord_beam.transforms.report import WriteReport

_IN_PROCESS = "apache_beam.runners.portability.fn_api_runner.FnApiRunner"
"""The default runner. Beam's DirectRunner may download another runner and delegate to it."""

_LOST_COLUMNS_LOGGER = logging.getLogger("tfrecord_beam.transforms.lost_columns")

_SAMPLE_BATCHES = 2
_SAMPLE_ROWS = 3


def run_pipeline(
    files: Sequence[str],
    schema: str | None,
    *,
    columns: Sequence[str] | None,
    record_type: RecordType,
    partition_columns: PartitionColumns | None,
    batch_size: int | None,
    pipeline_options: Sequence[str],
) -> dict[str, Any]:
    """Runs a pipeline that reads all batches, and returns a summary of them.

    Args:
      files: paths, patterns or folders.
      schema: path of a TFMD schema, or None.
      columns: names of the columns to decode; None: all.
      record_type: type of the records.
      partition_columns: whether folders give columns.
      batch_size: rows in each batch; None: the default of `BeamSource`.
      pipeline_options: Beam's command-line options. The workers need access to
        ``--temp_location`` if it is given, else to this machine's folder for temporary files.

    Returns:
      ``rows``, ``batches``, ``columns`` (see `ColumnSummary`), ``samples`` and ``counters``.
    """
    source = BeamSource(
        files,
        schema,
        columns=columns,
        record_type=record_type,
        partition_columns=partition_columns,
        batch_size=batch_size,
        with_filename=True,
    )
    _LOST_COLUMNS_LOGGER.disabled = True  # the verb prints this warning itself
    try:
        text, result = run_for_text(
            lambda pipeline: (
                pipeline
                | source
                | "Summarize" >> beam.MapTuple(_summarize)
                | "Merge" >> beam.CombineGlobally(Merge(Summary, _to_json))
            ),
            pipeline_options,
        )
    finally:
        _LOST_COLUMNS_LOGGER.disabled = False
    return {**json.loads(text), "counters": dict(_counters(result))}


def infer_schema(
    files: Sequence[str], options: Mapping[str, Any], pipeline_options: Sequence[str]
) -> schema_pb2.Schema:
    """Returns the schema that a pipeline infers.

    Args:
      files: paths, patterns or folders.
      options: those of `InferSchema`.
      pipeline_options: as for `run_pipeline`.
    """
    transform = InferSchema(files, **options)
    text, _ = run_for_text(
        lambda pipeline: pipeline | transform | "ToText" >> beam.Map(json_format.MessageToJson),
        pipeline_options,
    )
    return json_format.Parse(text, schema_pb2.Schema())


def convert_files(
    source: Sequence[str],
    target: str,
    schema: str | None,
    options: Mapping[str, Any],
    pipeline_options: Sequence[str],
) -> list[WrittenFile]:
    """Returns the files that a pipeline writes, see `ConvertFiles`.

    Args:
      source: paths, patterns or folders.
      target: path of a file, or the prefix of several.
      schema: path of a TFMD schema, or None.
      options: further options of `plan_conversion`.
      pipeline_options: as for `run_pipeline`.
    """
    conversion = plan_conversion(source, target, schema, BeamFileSystem(), **options)
    if conversion.needs_inference:
        inferred = infer_schema(conversion.paths, conversion.inference_options, pipeline_options)
        conversion = dataclasses.replace(conversion, schema=inferred)
    transform = ConvertFiles(conversion)
    text, _ = run_for_text(
        lambda pipeline: (
            pipeline
            | transform
            | "Gather" >> beam.combiners.ToList()
            | "ToText" >> beam.Map(json.dumps)
        ),
        pipeline_options,
    )
    return sorted(WrittenFile(*file) for file in json.loads(text))


def write_report(
    files: Sequence[str],
    output: str,
    schema: str | None,
    options: Mapping[str, Any],
    pipeline_options: Sequence[str],
) -> WrittenReport:
    """Runs a pipeline that writes a report, and returns what it wrote.

    Args:
      files: paths, patterns or folders.
      output: path of the page.
      schema: path of a TFMD schema, or None.
      options: further options of `WriteReport`.
      pipeline_options: as for `run_pipeline`.
    """
    transform = WriteReport(files, output, schema, **options)
    text, _ = run_for_text(
        lambda pipeline: pipeline | transform | "ToText" >> beam.Map(json.dumps), pipeline_options
    )
    return WrittenReport(*json.loads(text))


def run_for_text(
    build: Callable[[beam.Pipeline], beam.PCollection[str]], pipeline_options: Sequence[str]
) -> tuple[str, Any]:
    """Runs a pipeline and returns its only output element, a text, and Beam's result.

    Args:
      build: builds the pipeline.
      pipeline_options: as for `run_pipeline`.
    """
    options = PipelineOptions([f"--runner={_IN_PROCESS}", *pipeline_options])
    check_options(options, pipeline_options)
    with tempfile.TemporaryDirectory() as folder:
        shared = options.view_as(GoogleCloudOptions).temp_location or folder
        path = FileSystems.join(shared, f"summary-{uuid.uuid4().hex}.json")
        pipeline = beam.Pipeline(options=options)
        _ = build(pipeline) | "Write" >> beam.io.WriteToText(path, shard_name_template="")
        result = _run(pipeline)
        return _take_file(path), result


def check_options(options: PipelineOptions, words: Sequence[str]) -> None:
    """Raises ValueError for options that Beam does not know: it would only log a warning.

    Those of runners with a job server are not checked, since the server may have more.
    """
    if isinstance(create_runner(options.view_as(StandardOptions).runner), PortableRunner):
        return
    known = PipelineOptions([]).get_all_options()
    others = options.get_all_options(retain_unknown_options=True).keys() - known.keys()
    names = [word.removeprefix("--").partition("=")[0] for word in words if word.startswith("--")]
    # The names of Beam's options have no hyphens, but its parser equates them with underscores.
    unknown = [f"--{name}" for name in names if name in others or "-" in name]
    if unknown:
        message = f"Expected options of Beam, found {', '.join(unknown)}"
        raise ValueError(render(message, hint=suggest(unknown, [f"--{name}" for name in known])))


@dataclasses.dataclass
class Summary:
    """The summary of batches that is printed.

    Attributes:
      batches: number of batches.
      columns: the summary of their columns.
      samples: (file, number of rows, the first rows) for some batches of the first files.
    """

    batches: int = 0
    columns: ColumnSummary = dataclasses.field(default_factory=ColumnSummary)
    samples: list[tuple[str, int, list[Row]]] = dataclasses.field(default_factory=list)

    def add(self, file: str, batch: pa.RecordBatch) -> None:
        """Adds a batch."""
        self.batches += 1
        batch = flatten_structs(batch)
        self.columns.add(batch)
        if len(self.samples) < _SAMPLE_BATCHES or file < self.samples[-1][0]:
            self._sample([(file, batch.num_rows, to_rows(batch.slice(0, _SAMPLE_ROWS)))])

    def merge(self, other: Summary) -> None:
        """Adds another summary."""
        self.batches += other.batches
        self.columns.merge(other.columns)
        self._sample(other.samples)

    def _sample(self, samples: Iterable[tuple[str, int, list[Row]]]) -> None:
        by_file = sorted([*self.samples, *samples], key=lambda sample: sample[0])
        self.samples = by_file[:_SAMPLE_BATCHES]


def _summarize(file: str, batch: pa.RecordBatch) -> Summary:
    summary = Summary()
    summary.add(file, batch)
    return summary


def _to_json(summary: Summary) -> str:
    return json.dumps(
        {
            "rows": summary.columns.rows,
            "batches": summary.batches,
            "columns": summary.columns.to_json(),
            "samples": [
                {"file": file, "rows": count, "first_rows": rows}
                for file, count, rows in summary.samples
            ],
        }
    )


def _run(pipeline: beam.Pipeline) -> Any:
    """Runs a pipeline and returns its result; any failure is raised as an error of the library."""
    logging.getLogger("apache_beam.runners.common").addFilter(_is_no_error_of_ours)
    try:
        result = pipeline.run()
        result.wait_until_finish()
    except (TFRecordBeamError, OSError):
        raise
    except Exception as error:
        # Runners in other processes return the worker's traceback as text, with the error last.
        lines = str(error).strip().splitlines() or [repr(error)]
        raise TFRecordBeamError(f"The pipeline failed: {lines[-1]}") from error
    return result


def _is_no_error_of_ours(record: logging.LogRecord) -> bool:
    """Whether a log record is not just the traceback of an error that is printed anyway."""
    return not (record.exc_info and isinstance(record.exc_info[1], TFRecordBeamError))


def _take_file(path: str) -> str:
    """Returns the content of the file that the pipeline wrote, and deletes it."""
    if not FileSystems.exists(path):
        raise TFRecordBeamError(
            f"Expected the pipeline's result at {path}, found none",
            hint="give --temp_location=FOLDER, which the workers must share with this machine",
        )
    with FileSystems.open(path) as file:
        text: str = file.read().decode()
    FileSystems.delete([path])
    return text


def _counters(result: Any) -> Iterable[tuple[str, int]]:
    """Yields the library's counters, summed over the steps."""
    counters: dict[str, int] = {}
    found = result.metrics().query(MetricsFilter().with_namespace(NAMESPACE))
    for counter in found["counters"]:
        name = counter.key.metric.name
        counters[name] = counters.get(name, 0) + counter.result
    return sorted(counters.items())
