"""Options of wrong types and out of range: one kind of error, whatever takes the option."""

from __future__ import annotations

import inspect
import pathlib
from collections.abc import Callable
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.cli.files import PEOPLE, write
from tests.tfxio.pipelines import run
from tfrecord_beam import (
    BeamSource,
    DecodeError,
    DecodeRecordBlocks,
    ExamplesToRecordBatchDecoder,
    FromRows,
    InferSchema,
    Project,
    RawRecordBeamSource,
    RawRecordToRecordBatch,
    ReadRecordBlocks,
    RecordBatchesOptions,
    TFExampleBeamRecord,
    TFExampleRecord,
    TFRecordWriter,
    ToRows,
    WriteToTFRecord,
    convert,
    count,
    infer_schema,
    iter_batches,
    kernel,
    read_table,
    write_table,
)
from tfrecord_beam.options import MAX_INT, check_int, describe

Take = Callable[..., object]


def _read(path: str) -> dict[str, Take]:
    """Returns all that takes options, by name."""

    schema = schema_pb2.Schema()
    schema.feature.add(name="age", type=schema_pb2.INT)

    def record_batches(**options: Any) -> object:
        options = {"batch_size": 1, "num_epochs": 1, **options}
        return TFExampleRecord(path).RecordBatches(RecordBatchesOptions(**options))

    return {
        "BeamSource": lambda **options: BeamSource(path, **options),
        "RawRecordBeamSource": lambda **options: RawRecordBeamSource(path, **options),
        "ReadRecordBlocks": lambda **options: ReadRecordBlocks(path, **options),
        "RawRecordToRecordBatch": RawRecordToRecordBatch,
        "DecodeRecordBlocks": DecodeRecordBlocks,
        "iter_batches": lambda **options: iter_batches(path, **options),
        "read_table": lambda **options: read_table(path, **options),
        "convert": lambda **options: convert(path, f"{path}.parquet", **options),
        "count": lambda **options: count(path, **options),
        "infer_schema": lambda **options: infer_schema(path, **options),
        "InferSchema": lambda **options: InferSchema(path, **options),
        "TFRecordWriter": lambda **options: TFRecordWriter(f"{path}.new", **options),
        "write_table": lambda **options: write_table({"a": [1]}, f"{path}.out", **options),
        "WriteToTFRecord": lambda **options: WriteToTFRecord(f"{path}.out", **options),
        "Project": Project,
        "ToRows": lambda **options: ToRows(**{"schema": schema, **options}),
        "FromRows": FromRows,
        "TFExampleRecord": lambda **options: TFExampleRecord(path, **options),
        "TFExampleBeamRecord": lambda **options: TFExampleBeamRecord("text", **options),
        "RecordBatches": record_batches,
    }


@pytest.fixture(scope="module")
def takes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Take]:
    return _read(write(tmp_path_factory.mktemp("options"), "a.tfrecord", *PEOPLE))


_SIZE = ["3", 1.5, True, 0, -1, MAX_INT + 1, 10**5000]
_FLAG = ["no", None, 1]
_FUNCTION = [5, "f", []]
_COLUMNS = [5, "age", b"age", [5], [None], ["age", "age"]]

_WRONG: dict[str, dict[str, list[Any]]] = {
    "batch_size": {
        "BeamSource ReadRecordBlocks RawRecordToRecordBatch iter_batches RecordBatches": _SIZE
    },
    "batch_bytes": {"BeamSource ReadRecordBlocks iter_batches": [*_SIZE, 1 << 31]},
    "desired_bundle_bytes": {"BeamSource RawRecordBeamSource ReadRecordBlocks InferSchema": _SIZE},
    "max_corrupt_records": {
        "BeamSource RawRecordBeamSource ReadRecordBlocks RawRecordToRecordBatch DecodeRecordBlocks "
        "iter_batches read_table count infer_schema InferSchema": ["3", 1.5, True, -1, 10**5000, 3]
    },
    "error_handler": {
        "BeamSource RawRecordBeamSource ReadRecordBlocks RawRecordToRecordBatch DecodeRecordBlocks "
        "iter_batches read_table count infer_schema InferSchema WriteToTFRecord": _FUNCTION
    },
    "progress": {"iter_batches read_table count infer_schema convert": _FUNCTION},
    "threads": {"iter_batches read_table": [*_SIZE, 1025]},
    "validate_crc": {
        "BeamSource RawRecordBeamSource ReadRecordBlocks iter_batches read_table count "
        "infer_schema InferSchema": _FLAG
    },
    "with_filename": {"BeamSource RawRecordBeamSource": _FLAG},
    "record_type": {
        "BeamSource RawRecordToRecordBatch DecodeRecordBlocks iter_batches read_table "
        "infer_schema InferSchema convert": [
            None,
            5,
            b"Example",
            "example",
        ],
        "TFRecordWriter write_table WriteToTFRecord": [
            None,
            5,
            "example",
            "ExampleListWithContext",
        ],
    },
    "partition_columns": {
        "BeamSource DecodeRecordBlocks iter_batches read_table convert": [
            "Hive",
            "",
            5,
            True,
            [],
            ["hive"],
        ]
    },
    "compression": {
        "BeamSource RawRecordBeamSource ReadRecordBlocks iter_batches read_table count "
        "infer_schema InferSchema convert": [
            5,
            b"gzip",
            "rar",
            True,
        ],
        "TFRecordWriter write_table WriteToTFRecord": [5, b"gzip", "rar", True, "auto"],
    },
    "compression_level": {"TFRecordWriter write_table WriteToTFRecord": ["3", 1.5, True, -1, 0, 9]},
    "mode": {
        "TFRecordWriter convert": [None, 5, "append", b"error"],
        "write_table WriteToTFRecord": [None, 5, "Append", b"error", "overwrite_partitions"],
    },
    "null_as_absent": {"TFRecordWriter write_table WriteToTFRecord": _FLAG},
    "null_values": {"TFRecordWriter write_table WriteToTFRecord": [None, 5, "keep", b"drop"]},
    "feature_list_columns": {
        "TFRecordWriter write_table WriteToTFRecord": [5, "age", [5], ["age"]]
    },
    "file_name_suffix": {"write_table WriteToTFRecord": [None, 5, b".a", "/a", ".a*"]},
    "num_shards": {"write_table WriteToTFRecord": [*_SIZE, 1_000_001]},
    "shard_name_template": {"write_table WriteToTFRecord": [5, b"-SS", "-NN", "/SS", "-U-SS"]},
    "max_records_per_shard": {"write_table WriteToTFRecord": _SIZE},
    "max_bytes_per_shard": {"write_table WriteToTFRecord": _SIZE},
    "partition_by": {"write_table WriteToTFRecord": [5, "age", [5], [], [""], ["age", "age"]]},
    "keep_partition_columns": {"write_table WriteToTFRecord": [*_FLAG, True]},
    "write_locality": {"WriteToTFRecord": [None, 5, "Local", b"local"]},
    "seed": {"write_table WriteToTFRecord": ["1", 1.5, True, -1, MAX_INT + 1, 1]},
    "ordered": {"WriteToTFRecord": _FLAG},
    "write_success": {"write_table WriteToTFRecord": _FLAG},
    "write_index": {"write_table WriteToTFRecord": _FLAG},
    "columns": {
        "BeamSource RawRecordToRecordBatch DecodeRecordBlocks iter_batches read_table "
        "convert ToRows": _COLUMNS,
        "Project": [*_COLUMNS, None],
    },
    "raw_record_column_name": {
        "BeamSource RawRecordToRecordBatch DecodeRecordBlocks iter_batches read_table "
        "TFExampleRecord TFExampleBeamRecord": [5, b"raw", ["raw"]]
    },
    "schema": {
        "BeamSource RawRecordToRecordBatch DecodeRecordBlocks iter_batches read_table "
        "TFExampleRecord TFExampleBeamRecord TFRecordWriter convert write_table "
        "WriteToTFRecord ToRows FromRows": [5, [], {}]
    },
    "scalars": {
        "iter_batches read_table": [*_COLUMNS, None, True],
        "convert ToRows": [*_COLUMNS, None],
    },
    "strings": {
        "iter_batches read_table": [*_COLUMNS, None, True],
        "convert ToRows": [*_COLUMNS, None],
    },
    "source_format": {"convert": [5, "orc", "CSV", b"csv"]},
    "target_format": {"convert": [5, "orc", "CSV", b"csv"]},
    "infer_shape": {"infer_schema InferSchema": _FLAG},
    "int_domains": {"infer_schema InferSchema": _FLAG},
    "content_domains": {"infer_schema InferSchema": _FLAG},
    "string_domains": {"infer_schema InferSchema": ["3", 1.5, True, -1, MAX_INT + 1, None]},
    "on_conflict": {"infer_schema InferSchema": [None, 5, "raise", b"drop"]},
    "num_epochs": {"RecordBatches": ["1", 1.5, True, -1, MAX_INT + 1]},
    "shuffle_buffer_size": {"RecordBatches": [*_SIZE, None]},
    "shuffle_seed": {"RecordBatches": ["1", 1.5, -1, 10**5000]},
    "shuffle": {"RecordBatches": _FLAG, "write_table WriteToTFRecord": [*_FLAG, True]},
    "drop_final_batch": {"RecordBatches": _FLAG},
}


@pytest.mark.parametrize(
    ("taker", "option", "values"),
    [
        (taker, option, values)
        for option, by_takers in _WRONG.items()
        for takers, values in by_takers.items()
        for taker in takers.split()
    ],
)
def test_wrong_value_is_refused_at_once(
    takes: dict[str, Take], taker: str, option: str, values: list[Any]
) -> None:
    for value in values:
        with pytest.raises(ValueError, match=r"^Expected .*, found ") as caught:
            takes[taker](**{option: value})
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "taker",
    [
        BeamSource,
        RawRecordBeamSource,
        ReadRecordBlocks,
        DecodeRecordBlocks,
        RawRecordToRecordBatch,
        Project,
        RecordBatchesOptions,
        iter_batches,
        read_table,
        count,
        infer_schema,
        InferSchema,
        TFRecordWriter,
        write_table,
        WriteToTFRecord,
        ToRows,
        FromRows,
    ],
)
def test_every_option_is_in_the_table(taker: Callable[..., object]) -> None:
    assert set(inspect.signature(taker).parameters) <= {
        *_WRONG,
        "data",
        "file_path_prefix",
        "file_pattern",
        "path",
    }


@pytest.mark.parametrize("value", [1, MAX_INT])
def test_bounds_are_allowed(takes: dict[str, Take], value: int) -> None:
    for taker in ("BeamSource", "ReadRecordBlocks"):
        takes[taker](batch_size=value, desired_bundle_bytes=value)
    batches: Any = takes["iter_batches"](batch_size=value, batch_bytes=min(value, 64 << 20))
    assert sum(batch.num_rows for batch in batches) == len(PEOPLE)


@pytest.mark.parametrize(
    ("value", "optional", "text"),
    [
        (0, True, "Expected size to be None or an int of at least 1, found 0"),
        (None, False, "Expected size to be an int of at least 1, found None"),
        (11, False, "Expected size to be an int of at most 10, found 11"),
        (True, False, "Expected size to be an int of at least 1, found True"),
    ],
)
def test_texts_for_ints(value: object, optional: bool, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        check_int("size", value, least=1, most=10, optional=optional)
    assert str(caught.value) == text


def test_description_is_short() -> None:
    assert describe(10**5000) == "a value of type int"  # more digits than Python prints
    assert describe(["a", None]) == "['a', None]"
    assert len(describe("x" * 10**6)) == 200
    assert describe("x" * 10**6).endswith("xxx...")
    assert describe(pa.table({"a": [1]})) == "pyarrow.Table..."


def test_batches_options_of_another_type_are_refused(tmp_path: pathlib.Path) -> None:
    source = TFExampleRecord(write(tmp_path, "a.tfrecord", *PEOPLE))
    for options in (5, None, (3,), "options"):
        with pytest.raises(ValueError, match=r"^Expected RecordBatchesOptions, found "):
            source.RecordBatches(options)  # type: ignore[arg-type]


@pytest.mark.parametrize("tensors", [None, 5, "age", [5]])
def test_tensors_to_project_that_are_no_list(tmp_path: pathlib.Path, tensors: Any) -> None:
    source = TFExampleRecord(write(tmp_path, "a.tfrecord"), schema=schema_pb2.Schema())
    with pytest.raises(ValueError, match=r"^Expected .* tensors"):
        source.Project(tensors)


@pytest.mark.parametrize("descriptors", [5, "me"])
def test_descriptors_that_are_no_list(descriptors: Any) -> None:
    text = r"^Expected telemetry_descriptors to be a list, found"
    with pytest.raises(ValueError, match=text):
        TFExampleBeamRecord("text", descriptors).BeamSource()


@pytest.mark.parametrize("physical_format", [5, "a-b"])
def test_format_that_is_no_name(physical_format: Any) -> None:
    with pytest.raises(ValueError, match=r"^Expected a format without .*, found"):
        TFExampleBeamRecord(physical_format).BeamSource()


@pytest.mark.parametrize(
    ("examples", "text"),
    [
        (["a"], "Expected records as bytes, found str - at record 0"),
        ([b"", None], "Expected records as bytes, found NoneType - at record 1"),
        pytest.param(
            [memoryview(b"abcd")[::2]],
            "Expected records as bytes, found others",
            marks=pytest.mark.skipif(
                kernel.implementation == "reference", reason="it copies such memory"
            ),
        ),
    ],
)
def test_records_that_are_no_bytes(examples: list[Any], text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        ExamplesToRecordBatchDecoder().DecodeBatch(examples)
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize("examples", [None, 5, b"ab", "ab"])
def test_examples_that_are_no_list(examples: Any) -> None:
    with pytest.raises(ValueError, match=r"^Expected examples to be a list, found"):
        ExamplesToRecordBatchDecoder().DecodeBatch(examples)


@pytest.mark.parametrize(
    ("elements", "transform"),
    [
        (["a"], RawRecordToRecordBatch()),
        ([1], RawRecordToRecordBatch()),
        ([b"a"], DecodeRecordBlocks()),
        ([("file", pa.record_batch({"a": [1]}))], Project(["a"])),
    ],
)
def test_elements_of_a_wrong_type_are_refused_when_the_pipeline_is_built(
    elements: list[Any], transform: beam.PTransform[Any, Any]
) -> None:
    with pytest.raises(beam.typehints.decorators.TypeCheckError, match="ype hint violation"):
        beam.Pipeline() | beam.Create(elements) | transform


def test_elements_of_a_wrong_type_that_nothing_announced() -> None:
    anything = beam.Map(lambda element: element).with_output_types(beam.typehints.Any)
    with pytest.raises(DecodeError, match=r"Expected records as bytes, found str - at record 1"):
        run(
            beam.Create([b"", "a"]),
            anything,
            RawRecordToRecordBatch(batch_size=2),
        )
