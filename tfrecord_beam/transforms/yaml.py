"""Transforms for Beam YAML: files of tf.Example records as rows. See `providers.yaml`.

They are composed of other transforms of the library, with the options that YAML can express.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import apache_beam as beam
from apache_beam.transforms.error_handling import CollectingErrorHandler
from apache_beam.typehints.row_type import RowTypeConstraint

from tfrecord_beam.options import describe
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.writing.options import Mode
from tfrecord_beam.records.writing.plan import WrittenFile
from tfrecord_beam.transforms.infer import InferSchema
from tfrecord_beam.transforms.read import BeamSource
from tfrecord_beam.transforms.rows import FromRows, ToRows
from tfrecord_beam.transforms.write import WriteToTFRecord

_GOOD = "good"
"""Beam YAML's name for the main output of a transform that also has an error output."""


class ReadFromTFExample(beam.PTransform):
    """Reads TFRecord files of tf.Example as rows, see `BeamSource` and `ToRows`.

    Args:
      path: path, pattern or folder.
      schema: path of a TFMD schema.
      columns: names of the columns to read; none: all.
      scalars: scalars instead of lists for features with at most one value, by the schema.
      strings: text instead of bytes for features that are text, by the schema.
      error_handling: `output`, the name of an output that receives a row for each part of a file
        that cannot be read, with the fields of `CorruptRecord`; none: such a part is an error.
    """

    def __init__(
        self,
        path: str,
        schema: str,
        columns: Sequence[str] | None = None,
        scalars: bool = True,
        strings: bool = True,
        error_handling: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._corrupt_output = _find_output(error_handling)
        self._error_handler = CollectingErrorHandler() if self._corrupt_output else None
        self._source = BeamSource(path, schema, columns=columns, error_handler=self._error_handler)
        self._to_rows = ToRows(schema, columns=columns, scalars=scalars, strings=strings)

    def expand(self, begin: Any) -> Any:
        if self._error_handler is None:
            return begin | self._source | self._to_rows
        with self._error_handler:
            rows = begin | self._source | self._to_rows
        to_row = beam.Map(_to_corrupt_row).with_output_types(_CORRUPT)
        corrupt = self._error_handler.output() | "CorruptRows" >> to_row
        return {_GOOD: rows, self._corrupt_output: corrupt}


class WriteToTFExample(beam.PTransform):
    """Writes rows to TFRecord files of tf.Example, see `WriteToTFRecord`.

    The output has a row for each file: path, num_records, num_bytes.

    Args:
      path: prefix of the paths of the files.
      schema: path of a TFMD schema that the rows must fit; none: any rows.
      num_shards: number of files; none: the runner decides.
      compression: gzip, zlib, bz2, zstd, lz4 or snappy; none: uncompressed.
      mode: what to do with existing files: error, append, overwrite or ignore.
      partition_by: names of columns: each of their values gets a folder.
      error_handling: `output`, the name of an output that receives a row for each row that does not
        fit the schema, which is then required: element, msg and stack, as for Beam's own
        transforms; none: such a row is an error.
    """

    def __init__(
        self,
        path: str,
        schema: str | None = None,
        num_shards: int | None = None,
        compression: str | None = None,
        mode: Mode = "error",
        partition_by: Sequence[str] | None = None,
        error_handling: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._refused_output = _find_output(error_handling)
        self._error_handler = CollectingErrorHandler() if self._refused_output else None
        self._write = WriteToTFRecord(
            path,
            schema,
            num_shards=num_shards,
            compression=compression,
            mode=mode,
            partition_by=partition_by,
            error_handler=self._error_handler,
        )

    def expand(self, rows: beam.PCollection[Any]) -> Any:
        if self._error_handler is None:
            return self._write_files(rows)
        with self._error_handler:
            files = self._write_files(rows)
        fields: list[tuple[str, Any]] = [
            ("element", rows.element_type),
            ("msg", str),
            ("stack", str),
        ]
        row_type = RowTypeConstraint.from_fields(fields)
        to_row = beam.Map(_to_refused_row).with_output_types(row_type)
        refused = self._error_handler.output() | "RefusedRows" >> to_row
        return {_GOOD: files, self._refused_output: refused}

    def _write_files(self, rows: beam.PCollection[Any]) -> beam.PCollection[beam.Row]:
        return rows | self._write | "Rows" >> beam.Map(_to_row).with_output_types(_FILE)


class InferTFExampleSchema(beam.PTransform):
    """Infers the TFMD schema of files or rows, see `InferSchema`.

    The output is one row with the field schema: the content of a schema file for
    `ReadFromTFExample`.

    Args:
      path: path, pattern or folder; none if the input is rows.
      infer_shape: set a shape for features that have the same number of values in all records.
      string_domains: list the values of features that have at most this many distinct values.
    """

    _yaml_requires_inputs = False

    def __init__(
        self, path: str | None = None, infer_shape: bool = True, string_domains: int = 0
    ) -> None:
        super().__init__()
        self._infer = InferSchema(path, infer_shape=infer_shape, string_domains=string_domains)

    def expand(self, source: Any) -> beam.PCollection[beam.Row]:
        if isinstance(source, beam.PCollection):
            source = source | FromRows()
        schemas = source | self._infer
        return schemas | "Rows" >> beam.Select(schema=str)


def _find_output(error_handling: Mapping[str, str] | None) -> str | None:
    if error_handling is None:
        return None
    if not isinstance(error_handling, Mapping) or [*error_handling] != ["output"]:
        raise ValueError(
            "Expected error_handling to have output and nothing else, "
            f"found {describe(error_handling)}"
        )
    output = error_handling["output"]
    if not isinstance(output, str) or output in ("", _GOOD):  # the latter is the name of the rows
        raise ValueError(
            f"Expected the output of error_handling to have a name other than {_GOOD!r}, "
            f"found {describe(output)}"
        )
    return output


_CORRUPT_FIELDS: list[tuple[str, Any]] = [
    ("file", Optional[str]),  # noqa: UP045  # as old Beams know it
    ("offset", Optional[int]),  # noqa: UP045
    ("length", int),
    ("record", Optional[int]),  # noqa: UP045
    ("reason", str),
    ("sample", bytes),
]
_CORRUPT = RowTypeConstraint.from_fields(_CORRUPT_FIELDS)


def _to_corrupt_row(record: CorruptRecord) -> beam.Row:
    return beam.Row(**dataclasses.asdict(record))


def _to_refused_row(refused: tuple[Any, tuple[type, str, list[str]]]) -> beam.Row:
    element, (_, text, lines) = refused
    return beam.Row(element=element, msg=text, stack="".join(lines))


_FILE = RowTypeConstraint.from_fields([("path", str), ("num_records", int), ("num_bytes", int)])


def _to_row(file: WrittenFile) -> beam.Row:
    return beam.Row(path=file.path, num_records=file.num_records, num_bytes=file.num_bytes)
