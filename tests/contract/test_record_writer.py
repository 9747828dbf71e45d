"""`TFRecordWriter`: one file, there when it is closed."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from tests.contract.writing import SUFFIXES, no_warnings, numbers, stored, tree, x_of
from tests.schema.schemas import parse_schema
from tests.wire import example, feature_list, int64, sequence_example
from tfrecord_beam import EncodeError, SchemaError, TFRecordWriter, WriteError, count


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "a.tfrecord"


@pytest.mark.parametrize("codec", list(SUFFIXES))
def test_records(tmp_path: pathlib.Path, codec: str | None) -> None:
    records: list[Any] = [b"", b"one", bytearray(b"two"), memoryview(b"three!")[:5], b"x" * 100_000]
    path = tmp_path / f"a.tfrecord{SUFFIXES[codec]}"
    with no_warnings(), TFRecordWriter(str(path), compression=codec) as writer:
        for number, record in enumerate(records):
            assert writer.num_records == number
            writer.write(record)
        writer.flush()
        writer.write(b"last")
        assert not path.exists()
    assert stored(path) == [*map(bytes, records), b"last"]
    assert writer.num_records == count(path) == 6
    assert writer.num_bytes == path.stat().st_size
    assert len(tree(tmp_path)) == 1


def test_batches_between_records(path: pathlib.Path) -> None:
    with TFRecordWriter(path) as writer:
        writer.write_batch(numbers(0, 5))
        writer.write(b"")
        writer.write_batch(numbers(0, 0))
        writer.write_batch(numbers(5, 9))
    assert writer.num_records == 10
    assert x_of(path) == list(range(9))
    assert stored(path)[5] == b""


def test_equal_records_give_equal_files(tmp_path: pathlib.Path) -> None:
    for name, flush in (("a", True), ("b", False)):
        with TFRecordWriter(tmp_path / name) as writer:
            writer.write(b"1")
            if flush:
                writer.flush()
            writer.write_batch(numbers(0, 3))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_no_record(tmp_path: pathlib.Path) -> None:
    for codec in (None, "gzip", "zlib"):
        path = tmp_path / f"{codec}"
        with TFRecordWriter(path, compression=codec) as writer:
            pass
        assert (writer.num_records, count(path)) == (0, 0)
        assert writer.num_bytes == path.stat().st_size


def test_an_exception_leaves_nothing(tmp_path: pathlib.Path, path: pathlib.Path) -> None:
    with pytest.raises(KeyError), TFRecordWriter(path) as writer:
        writer.write(b"record" * 100_000)
        writer.flush()
        raise KeyError("mine")
    assert tree(tmp_path) == {}
    path.write_bytes(b"old")
    with pytest.raises(KeyError), TFRecordWriter(path, mode="overwrite") as writer:
        writer.write(b"record")
        raise KeyError("mine")
    assert tree(tmp_path) == {path.name: b"old"}


@pytest.mark.parametrize("batch", [{"x": pa.array([[1, None]])}, {"x": pa.array([{"f": 1}])}])
def test_a_batch_that_is_refused_leaves_nothing(
    tmp_path: pathlib.Path, path: pathlib.Path, batch: dict[str, pa.Array]
) -> None:
    with pytest.raises((EncodeError, SchemaError), match="'x'"), TFRecordWriter(path) as writer:
        writer.write_batch(numbers(0, 3))
        writer.write_batch(pa.record_batch(batch))
    assert tree(tmp_path) == {}


def test_closing(tmp_path: pathlib.Path, path: pathlib.Path) -> None:
    writer = TFRecordWriter(path)
    writer.write(b"record")
    assert not path.exists()
    writer.close()
    assert stored(path) == [b"record"]
    before = tree(tmp_path)
    writer.close()
    uses: list[Callable[[], None]] = [
        lambda: writer.write(b"more"),
        lambda: writer.write_batch(numbers(0, 1)),
        lambda: writer.flush(),
    ]
    for use in uses:
        with pytest.raises(WriteError, match="closed"):
            use()
    writer.close()
    assert tree(tmp_path) == before
    assert (writer.num_records, writer.num_bytes) == (1, path.stat().st_size)


def test_modes(tmp_path: pathlib.Path, path: pathlib.Path) -> None:
    path.write_bytes(b"old")
    (tmp_path / f".{path.name}.crc").write_bytes(b"of the old")
    with pytest.raises(WriteError, match=r"a\.tfrecord"), TFRecordWriter(path) as writer:
        writer.write(b"record")
    assert path.read_bytes() == b"old"
    with TFRecordWriter(path, mode="overwrite") as writer:
        writer.write(b"new")
        assert path.read_bytes() == b"old"
    # Hadoop would take the new file for damaged by the side-car of the old one.
    assert list(tree(tmp_path)) == [path.name]
    assert stored(path) == [b"new"]
    for mode in ("append", "ignore", "w"):
        options: dict[str, Any] = {"mode": mode}
        with pytest.raises(ValueError, match="mode"):
            TFRecordWriter(path, **options)


def test_a_file_that_appears_meanwhile(tmp_path: pathlib.Path, path: pathlib.Path) -> None:
    with pytest.raises(WriteError, match=r"a\.tfrecord"), TFRecordWriter(path) as writer:
        writer.write(b"record")
        path.write_bytes(b"of another")
    assert tree(tmp_path) == {path.name: b"of another"}


def test_folders_are_made(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "new" / "er" / "a"
    with TFRecordWriter(path) as writer:
        writer.write(b"record")
    assert stored(path) == [b"record"]


def test_what_cannot_be_written(path: pathlib.Path) -> None:
    wrong: list[Any] = [None, 5, "text", [b"x"], numbers(0, 1)]
    with TFRecordWriter(path) as writer:
        writer.write(b"first")
        for record in wrong:
            with pytest.raises(ValueError, match=type(record).__name__):
                writer.write(record)
        batch: Any = b"record"
        with pytest.raises(ValueError, match="bytes"):
            writer.write_batch(batch)
        writer.write(b"second")
    # A failed call leaves no trace in the next one.
    assert stored(path) == [b"first", b"second"]


def test_schema_and_record_types(tmp_path: pathlib.Path) -> None:
    schema = parse_schema('feature { name: "x" type: INT } feature { name: "s" type: BYTES }')
    path = tmp_path / "schema"
    with TFRecordWriter(path, schema) as writer:
        writer.write_batch(numbers(0, 2))
        with pytest.raises(SchemaError, match="'s'"):
            writer.write_batch(numbers(0, 2).select(["x"]))
        writer.write_batch(numbers(2, 4))
    assert x_of(path) == [0, 1, 2, 3]
    path = tmp_path / "sequence"
    with TFRecordWriter(path, record_type="SequenceExample") as writer:
        writer.write_batch(pa.record_batch({"l": pa.array([[[1], [2, 3]]])}))
    steps = feature_list("l", int64(1), int64(2, 3))
    assert stored(path) == [sequence_example(steps, context=example())]
    path = tmp_path / "bytes"
    with TFRecordWriter(path, record_type="ByteArray") as writer:
        writer.write_batch(pa.record_batch({"any": pa.array([b"1", b"2"])}))
    assert stored(path) == [b"1", b"2"]


def test_one_name_has_one_kind(tmp_path: pathlib.Path, path: pathlib.Path) -> None:
    with pytest.raises((WriteError, SchemaError), match="'n'"), TFRecordWriter(path) as writer:
        writer.write_batch(pa.record_batch({"n": pa.array([1])}))
        writer.write_batch(pa.record_batch({"n": pa.array(["x"])}))
    assert tree(tmp_path) == {}
