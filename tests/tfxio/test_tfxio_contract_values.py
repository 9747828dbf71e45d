"""Which Arrow values records become for users of TFXIO: nulls, empty lists, odd records."""

from __future__ import annotations

from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.tfxio.every_class import BYTES, FLOAT, INT, SCHEMA, SEQUENCE, SEQUENCE_SCHEMA
from tests.tfxio.pipelines import run
from tests.wire import (
    NO_KIND,
    bytes_list,
    entry,
    example,
    feature_list,
    floats,
    int64,
    sequence_example,
)
from tfrecord_beam.tfxio import (
    RecordBatchToExamplesEncoder,
    TensorRepresentations,
    tensor_representation_util,
)
from tfrecord_beam.tfxio.arrow.path import ColumnPath
from tfrecord_beam.tfxio.coders.csv_decoder import ColumnType, CSVToRecordBatch
from tfrecord_beam.tfxio.coders.example_coder import (
    ExamplesToRecordBatchDecoder,
    ExampleToNumpyDict,
)
from tfrecord_beam.tfxio.coders.sequence_example_coder import SequenceExamplesToRecordBatchDecoder
from tfrecord_beam.tfxio.record_based_tfxio import AppendRawRecordColumn, CreateRawRecordColumn

EXAMPLES = [
    example(entry("i", int64(1, 2)), entry("beyond", int64(1))),
    example(entry("i", int64()), entry("b", bytes_list())),
    example(entry("i", NO_KIND), entry("f", floats(0.5))),
    b"",
    example(entry("i", int64(1)), entry("i", int64(3))),
    example(entry("i", int64(4))) + example(entry("b", bytes_list(b"", b"\xff"))),
]
ROWS = [
    {"i": [1, 2], "f": None, "b": None},
    {"i": [], "f": None, "b": []},
    {"i": None, "f": [0.5], "b": None},
    {"i": None, "f": None, "b": None},
    {"i": [3], "f": None, "b": None},
    {"i": [4], "f": None, "b": [b"", b"\xff"]},
]


def test_examples_by_schema() -> None:
    batch = ExamplesToRecordBatchDecoder(SCHEMA.SerializeToString()).DecodeBatch(EXAMPLES)
    assert batch.schema == pa.schema([("i", INT), ("f", FLOAT), ("b", BYTES)])
    assert batch.to_pylist() == ROWS


def test_examples_as_they_show_themselves() -> None:
    batch = ExamplesToRecordBatchDecoder().DecodeBatch(
        [example(entry("b", int64(1)), entry("a", NO_KIND), entry("B", floats()))]
    )
    assert batch.schema == pa.schema([("B", FLOAT), ("a", pa.null()), ("b", INT)])
    assert batch.to_pylist() == [{"B": [], "a": None, "b": [1]}]


def test_examples_there_and_back() -> None:
    decoder = ExamplesToRecordBatchDecoder(SCHEMA.SerializeToString())
    records = RecordBatchToExamplesEncoder(SCHEMA).encode(decoder.DecodeBatch(EXAMPLES))
    assert decoder.DecodeBatch(records).to_pylist() == ROWS
    features = ExampleToNumpyDict(records[2])
    assert features["i"] is None
    assert features["f"] is not None
    assert features["f"].tolist() == [0.5]


SEQUENCES = [
    sequence_example(feature_list("s", int64(1, 2), int64(), NO_KIND), context=EXAMPLES[0]),
    sequence_example(entry("s", b"")),
    sequence_example(feature_list("beyond", int64(1))),
    b"",
]


def test_sequences_by_schema() -> None:
    schema = SEQUENCE_SCHEMA.SerializeToString()
    batch = SequenceExamplesToRecordBatchDecoder(SEQUENCE, schema).DecodeBatch(SEQUENCES)
    assert batch.schema.names[-1] == SEQUENCE
    steps = batch.column(SEQUENCE)
    assert steps.type == pa.struct([("s", pa.large_list(INT))])
    assert steps.null_count == 0
    found = [row["s"] for row in steps.to_pylist()]
    assert found == [[[1, 2], [], None], [], None, None]
    assert batch.column("i").to_pylist() == [[1, 2], None, None, None]


@pytest.mark.parametrize(
    ("records", "data_type"),
    [
        ([sequence_example(feature_list("s", NO_KIND))], [("s", pa.large_list(pa.null()))]),
        (
            [
                sequence_example(feature_list("s", NO_KIND)),
                sequence_example(feature_list("s", int64(1)), feature_list("a", floats())),
            ],
            [("a", pa.large_list(FLOAT)), ("s", pa.large_list(INT))],
        ),
        ([sequence_example()], []),
        ([b"", example(entry("i", int64(1)))], None),
    ],
)
def test_sequences_as_they_show_themselves(records: list[bytes], data_type: Any) -> None:
    batch = SequenceExamplesToRecordBatchDecoder(SEQUENCE).DecodeBatch(records)
    if data_type is None:
        assert SEQUENCE not in batch.schema.names
    else:
        assert batch.column(SEQUENCE).type == pa.struct(data_type)
    assert batch.num_rows == len(records)


def test_sequences_of_two_kinds_are_refused() -> None:
    records = [sequence_example(feature_list("s", kind)) for kind in (int64(1), floats(1))]
    with pytest.raises(ValueError, match=r"^Expected int64_list for .*, found float_list"):
        SequenceExamplesToRecordBatchDecoder(SEQUENCE).DecodeBatch(records)


def decode_csv(lines: list[str], **options: Any) -> pa.RecordBatch:

    transform = CSVToRecordBatch(["a", "b", "c"], len(lines), **options)
    [batch] = run(
        beam.Create([lines]), beam.FlatMap(list).with_output_types(str), transform
    ).elements
    return batch


def test_types_of_csv_are_found() -> None:
    batch = decode_csv([" 7 ,1_000,", "1,0.5,", "9223372036854775807,nan,"])
    assert batch.schema == pa.schema([("a", INT), ("b", FLOAT), ("c", pa.null())])
    assert batch.column("a").to_pylist() == [[7], [1], [9223372036854775807]]
    assert batch.column("b").to_pylist()[:2] == [[1000.0], [0.5]]
    too_long = decode_csv(["9223372036854775808,x,"])
    assert too_long.schema.field("a").type == BYTES


def test_cells_of_csv() -> None:
    options = {"multivalent_columns": ["b"], "secondary_delimiter": ";"}
    batch = decode_csv(['1,1;2,"x,y"', '"",,""', "", "3,4,z"], **options)
    assert batch.to_pydict() == {
        "a": [[1], None, [3]],
        "b": [[1, 2], None, [4]],
        "c": [[b"x,y"], None, [b"z"]],
    }
    blank = decode_csv(["", "3,4,z"], skip_blank_lines=False)
    assert blank.to_pylist()[0] == {"a": None, "b": None, "c": None}


def test_columns_of_csv_have_the_order_of_their_names() -> None:
    schema = schema_pb2.Schema(
        feature=[{"name": "c", "type": "BYTES"}, {"name": "a", "type": "FLOAT"}]
    )
    batch = decode_csv(["1,2,3"], schema=schema)
    assert batch.schema == pa.schema([("a", FLOAT), ("c", BYTES)])


def test_column_types_of_csv() -> None:
    assert {each.name: int(each) for each in ColumnType} == {
        "IGNORE": -2,
        "UNKNOWN": -1,
        "INT": 0,
        "FLOAT": 1,
        "STRING": 2,
    }


def test_raw_record_columns() -> None:
    column = CreateRawRecordColumn([b"", "text"])  # type: ignore[list-item]
    assert column.type == BYTES
    assert column.to_pylist() == [[b""], [b"text"]]
    batch = pa.record_batch({"index": pa.array([[1], [0], [1]], INT)})
    appended = AppendRawRecordColumn(batch, "raw", [b"a", b"b"], "index")
    assert appended.column("raw").to_pylist() == [[b"b"], [b"a"], [b"b"]]
    with pytest.raises(ValueError, match=r"^Expected a record for each of 3 rows, found 2$"):
        AppendRawRecordColumn(batch, "raw", [b"a", b"b"])


def test_names_that_users_of_representations_read() -> None:
    assert tensor_representation_util._DEFAULT_TENSOR_REPRESENTATION_GROUP == ""
    stages = ["DEPRECATED", "DISABLED", "PLANNED", "ALPHA", "DEBUG_ONLY", "VALIDATION_DERIVED"]
    assert sorted(tensor_representation_util._DISQUALIFYING_LIFECYCLE_STAGES) == sorted(
        schema_pb2.LifecycleStage.Value(stage) for stage in stages
    )
    assert TensorRepresentations == dict[str, schema_pb2.TensorRepresentation]


def test_source_columns_of_representations() -> None:
    none = schema_pb2.TensorRepresentation()
    assert tensor_representation_util.GetSourceColumnsFromTensorRepresentation(none) == []
    sparse = schema_pb2.TensorRepresentation(
        sparse_tensor={"index_column_names": ["x", "y"], "value_column_name": "v"}
    )
    columns = tensor_representation_util.GetSourceColumnsFromTensorRepresentation(sparse)
    assert set(columns) == {ColumnPath(["x"]), ColumnPath(["y"]), ColumnPath(["v"])}
    value = tensor_representation_util.GetSourceValueColumnFromTensorRepresentation(sparse)
    assert value == ColumnPath(["v"])
