"""What only the classes for tf.Example do: file patterns, and reading without Beam."""

from __future__ import annotations

import itertools
import pathlib
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.typehints.decorators import TypeCheckError
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.frames import framed
from tests.tfxio.example_files import EMPTY_SCHEMA, NUM_RECORDS, RECORDS, SCHEMA, write_files
from tests.tfxio.pipelines import run
from tests.wire import bytes_list, entry, example, floats, int64
from tfrecord_beam import kernel, tfxio
from tfrecord_beam.errors import DecodeError, SchemaError
from tfrecord_beam.records.block import frame_size
from tfrecord_beam.schema.representations import TensorRepresentations
from tfrecord_beam.tfxio.coders.example_coder import ExamplesToRecordBatchDecoder
from tfrecord_beam.tfxio.dataset_options import RecordBatchesOptions
from tfrecord_beam.tfxio.tf_example_record import TFExampleBeamRecord, TFExampleRecord


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder of files that hold all the records."""
    path = tmp_path_factory.mktemp("examples")
    write_files(path)
    return path


def in_order(**options: Any) -> RecordBatchesOptions:
    return RecordBatchesOptions(**{"num_epochs": 1, "shuffle": False, "batch_size": 10, **options})


def ids(batches: list[pa.RecordBatch]) -> list[int]:
    return [value for batch in batches for value in batch.column("id").flatten().to_pylist()]


@pytest.mark.parametrize("form", ["folder", "pattern", "path", "list", "tuple", "mixed"])
def test_file_pattern_in_each_form(folder: pathlib.Path, form: str) -> None:
    file_pattern: Any = {
        "folder": str(folder),
        "pattern": str(folder / "*.tfrecord*"),
        "path": folder,
        "list": [str(folder / "a.tfrecord"), str(folder / "[b-d].*")],
        "tuple": tuple(sorted(folder.iterdir())),
        "mixed": [folder / "a.tfrecord", str(folder / "*")],
    }[form]
    source = TFExampleRecord(file_pattern, schema=SCHEMA)
    assert ids(list(source.RecordBatches(in_order()))) == list(range(NUM_RECORDS))
    assert sorted(ids(run(source.BeamSource()).elements)) == list(range(NUM_RECORDS))


@pytest.mark.parametrize("file_pattern", [[], None, [None], b"bytes", ""])
def test_no_file_pattern_is_refused(file_pattern: Any) -> None:
    with pytest.raises(ValueError, match=r"^Expected file_pattern to be"):
        TFExampleRecord(file_pattern)


def test_arguments_are_taken_in_the_order_of_tfxio(folder: pathlib.Path) -> None:
    source = TFExampleRecord(str(folder), True, SCHEMA, "raw", ["me"])
    assert source.ArrowSchema().names[-1] == source.raw_record_column_name == "raw"
    assert source.telemetry_descriptors == ["me"]
    beam_source = TFExampleBeamRecord("text", ["me"], SCHEMA, "raw")
    assert beam_source.ArrowSchema() == source.ArrowSchema()
    assert beam_source.telemetry_descriptors == ["me"]


def test_schema_may_be_the_path_of_its_file(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "schema.pb"
    path.write_bytes(SCHEMA.SerializeToString())
    assert TFExampleRecord(folder, schema=path).ArrowSchema().names[:2] == ["name", "id"]


def test_pattern_without_files_is_an_error(tmp_path: pathlib.Path) -> None:
    source = TFExampleRecord(tmp_path / "none*", schema=SCHEMA)
    with pytest.raises(FileNotFoundError, match=r"none\*"):
        source.RecordBatches(in_order())


def test_beam_record_takes_only_bytes() -> None:
    with pytest.raises(TypeCheckError):
        run(beam.Create(["text"]), TFExampleBeamRecord("text", schema=SCHEMA).BeamSource())


def test_beam_record_does_no_reading_of_its_own() -> None:
    with pytest.raises(NotImplementedError, match=r"^TFExampleBeamRecord reads"):
        TFExampleBeamRecord("text").RecordBatches(in_order())


def test_record_batches_are_cut_to_size(folder: pathlib.Path) -> None:
    source = TFExampleRecord(folder, schema=SCHEMA, raw_record_column_name="raw")
    batches = list(source.RecordBatches(in_order()))
    assert [batch.num_rows for batch in batches] == [10, 10, 10, 10, 10, 7]
    for batch in batches:
        assert batch.schema == source.ArrowSchema()
        batch.validate(full=True)
        assert all(column.offset == 0 for column in batch.columns)
    assert [r for b in batches for r in b.column("raw").flatten().to_pylist()] == RECORDS


@pytest.mark.parametrize("shuffle", [False, True])
def test_record_batches_without_a_schema_tell_where_an_error_is(
    tmp_path: pathlib.Path, shuffle: bool
) -> None:
    """Also where it is one only beside the other records of a batch."""
    good, other = (example(entry("age", values)) for values in (int64(1), floats(1)))
    for name, bad in (("kind", other), ("bytes", b"\xff\xff")):
        (tmp_path / name).write_bytes(framed(*[good] * 4, bad, *[good] * 4))
        batches = TFExampleRecord(str(tmp_path / name)).RecordBatches(
            in_order(batch_size=3, shuffle=shuffle, shuffle_seed=0)
        )
        with pytest.raises(DecodeError) as caught:
            list(batches)
        assert caught.value.file == str(tmp_path / name)
        if not shuffle:
            assert (caught.value.offset, caught.value.record) == (4 * frame_size(good), 4)


def test_record_batches_drop_the_remainder_on_request(folder: pathlib.Path) -> None:
    source = TFExampleRecord(folder, schema=SCHEMA)
    batches = list(source.RecordBatches(in_order(drop_final_batch=True)))
    assert ids(batches) == list(range(50))


def test_record_batches_span_epochs(folder: pathlib.Path) -> None:
    source = TFExampleRecord(folder, schema=SCHEMA)
    batches = list(source.RecordBatches(in_order(num_epochs=2, batch_size=50)))
    assert [batch.num_rows for batch in batches] == [50, 50, 14]
    assert ids(batches) == [*range(NUM_RECORDS), *range(NUM_RECORDS)]


def test_record_batches_are_endless_by_default(folder: pathlib.Path) -> None:
    source = TFExampleRecord(folder, schema=SCHEMA)
    batches = list(itertools.islice(source.RecordBatches(RecordBatchesOptions(50)), 20))
    assert [batch.num_rows for batch in batches] == [50] * 20
    seen = ids(batches)
    epochs = [seen[i : i + NUM_RECORDS] for i in range(0, 15 * NUM_RECORDS, NUM_RECORDS)]
    assert all(sorted(epoch) == list(range(NUM_RECORDS)) for epoch in epochs)
    assert len(set(map(tuple, epochs))) == len(epochs), "Expected another order in each epoch"


def test_record_batches_of_no_records_end(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty.tfrecord").write_bytes(b"")
    source = TFExampleRecord(tmp_path, schema=SCHEMA)
    assert list(source.RecordBatches(RecordBatchesOptions(5))) == []


@pytest.mark.parametrize("buffer_size", [1, 8, 10000])
def test_shuffle_is_repeatable_by_its_seed(folder: pathlib.Path, buffer_size: int) -> None:
    source = TFExampleRecord(folder, schema=SCHEMA, raw_record_column_name="raw")

    def shuffled(seed: int) -> list[pa.RecordBatch]:
        options = in_order(shuffle=True, shuffle_buffer_size=buffer_size, shuffle_seed=seed)
        return list(source.RecordBatches(options))

    first = shuffled(1)
    assert shuffled(1) == first
    assert any(shuffled(seed) != first for seed in range(2, 9))
    assert sorted(ids(first)) == list(range(NUM_RECORDS))
    by_id = dict(enumerate(RECORDS))
    for batch in first:
        assert batch.column("raw").flatten().to_pylist() == [by_id[i] for i in ids([batch])]
        decoder = ExamplesToRecordBatchDecoder(SCHEMA.SerializeToString())
        assert batch.select(range(5)) == decoder.DecodeBatch([by_id[i] for i in ids([batch])])


@pytest.mark.parametrize("shuffle", [False, True])
def test_record_batches_without_a_schema_show_their_records(
    folder: pathlib.Path, shuffle: bool
) -> None:
    source = TFExampleRecord(folder, raw_record_column_name="raw")
    batches = list(source.RecordBatches(in_order(batch_size=3, shuffle=shuffle)))
    decoder = ExamplesToRecordBatchDecoder()
    for batch in batches:
        raw = batch.column("raw").flatten().to_pylist()
        assert batch.select(range(batch.num_columns - 1)) == decoder.DecodeBatch(raw)
    assert sorted(ids(batches)) == list(range(NUM_RECORDS))
    assert len({tuple(batch.schema.names) for batch in batches}) > 1


def test_record_batches_of_an_empty_schema_count_rows(folder: pathlib.Path) -> None:
    source = TFExampleRecord(folder, schema=EMPTY_SCHEMA)
    for shuffle in (False, True):
        batches = list(source.RecordBatches(in_order(batch_size=40, shuffle=shuffle)))
        assert [(b.num_rows, b.num_columns) for b in batches] == [(40, 0), (17, 0)]


def test_record_batches_of_a_projection(folder: pathlib.Path) -> None:
    source = TFExampleRecord(folder, schema=SCHEMA).Project(["id"])
    batches = list(source.RecordBatches(in_order()))
    assert batches[0].schema.names == ["id"]
    assert ids(batches) == list(range(NUM_RECORDS))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"batch_size": 0}, "Expected batch_size to be an int of at least 1, found 0"),
        ({"num_epochs": -1}, "Expected num_epochs to be None or an int of at least 0, found -1"),
        (
            {"shuffle_buffer_size": 0},
            "Expected shuffle_buffer_size to be an int .*, found 0",
        ),
    ],
)
def test_options_out_of_range_are_refused(
    folder: pathlib.Path, options: dict[str, int], text: str
) -> None:
    with pytest.raises(ValueError, match=f"^{text}$"):
        TFExampleRecord(folder, schema=SCHEMA).RecordBatches(in_order(**options))


def test_bad_record_is_named_with_its_place(tmp_path: pathlib.Path) -> None:
    bad = example(entry("id", bytes_list(b"x")))
    path = tmp_path / "bad.tfrecord"
    path.write_bytes(kernel.frame([RECORDS[0], bad]))
    source = TFExampleRecord(path, schema=SCHEMA)
    text = r"^Expected int64_list for feature 'id', found bytes_list - at .*bad\.tfrecord:\d+"
    with pytest.raises(DecodeError, match=text) as caught:
        list(source.RecordBatches(in_order()))
    assert caught.value.offset == 16 + len(RECORDS[0])


def test_projection_does_not_look_at_other_columns(tmp_path: pathlib.Path) -> None:
    """A feature of the wrong kind shows that a column is really not decoded."""
    path = tmp_path / "a.tfrecord"
    path.write_bytes(kernel.frame([example(entry("id", int64(1)), entry("name", int64(2)))]))
    source = TFExampleRecord(path, schema=SCHEMA)
    assert ids(run(source.Project(["id"]).BeamSource()).elements) == [1]
    with pytest.raises(DecodeError):
        list(source.RecordBatches(in_order()))


def test_schema_with_a_feature_named_twice_is_refused(folder: pathlib.Path) -> None:
    schema = schema_pb2.Schema(feature=[{"name": "a", "type": "INT"}] * 2)
    with pytest.raises(ValueError, match=r"^Expected different features in the schema"):
        TFExampleRecord(folder, schema=schema)


def test_names_of_the_package() -> None:
    assert tfxio.TFExampleRecord is TFExampleRecord
    assert tfxio.TFExampleBeamRecord is TFExampleBeamRecord
    assert tfxio.RecordBatchesOptions is RecordBatchesOptions
    assert tfxio.ExamplesToRecordBatchDecoder is ExamplesToRecordBatchDecoder
    assert issubclass(TFExampleRecord, tfxio.RecordBasedTFXIO)
    assert issubclass(tfxio.RecordBasedTFXIO, tfxio.TFXIO)
    assert tfxio.TensorRepresentations is TensorRepresentations


@pytest.mark.parametrize("make", [TFExampleRecord, TFExampleBeamRecord])
def test_raw_record_column_name_that_is_no_str_is_refused(folder: pathlib.Path, make: Any) -> None:
    expected = r"^Expected the name of the raw-record column as str, found 3$"
    with pytest.raises(SchemaError, match=expected):
        make(str(folder), schema=SCHEMA, raw_record_column_name=3)
    with pytest.raises(SchemaError, match=expected):
        make(str(folder), raw_record_column_name=3)
