"""Tests of tfrecord_beam.records.writing.writer: a file is whole, or not there."""

from __future__ import annotations

import contextlib
import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs
import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.records.writing.faulty import ALWAYS, FaultyFileSystem
from tests.records.writing.folders import records_in
from tfrecord_beam import kernel
from tfrecord_beam.errors import EncodeError, NoMatchError, SchemaError, WriteError
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.table import count
from tfrecord_beam.records.writing import retries, stores, writer as writer_module
from tfrecord_beam.records.writing.writer import TFRecordWriter

CODECS = ["none", "gzip", "zlib", "bz2", "zstd", "lz4", "snappy"]
BATCH = pa.record_batch({"age": [[42], [], None], "name": [[b"Ada"], [b"a", b"b"], []]})


@pytest.mark.parametrize("codec", CODECS)
def test_records_and_batches_come_back_in_order(tmp_path: Path, codec: str) -> None:
    path = tmp_path / "new" / "folder" / "a"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        writer = TFRecordWriter(path, compression=codec)
    with writer:
        writer.write(b"first")
        writer.write_batch(BATCH)
        writer.write(bytearray(b"between"))
        writer.write(memoryview(b"a view")[2:])
        writer.write_batch(BATCH.slice(1))
        writer.write(b"")
    encode = RecordEncoder().encode_records
    expected = [b"first", *encode(BATCH), b"between", b"view", *encode(BATCH.slice(1)), b""]
    assert records_in(path) == expected
    assert (writer.num_records, writer.num_bytes) == (len(expected), path.stat().st_size)
    assert [each.name for each in path.parent.iterdir()] == ["a"]


def test_file_at_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local = pyarrow.fs.LocalFileSystem()
    monkeypatch.setattr(stores, "resolve_url", lambda url: (local, url.removeprefix("x://")))
    url = f"x://{tmp_path}/folder/a.tfrecord"
    with TFRecordWriter(url) as writer:
        writer.write(b"one")
        writer.flush()
        assert [each.name[:11] for each in (tmp_path / "folder").iterdir()] == [".a.tfrecord"]
    assert (writer.path, writer.num_bytes) == (url, 19)
    assert records_in(tmp_path / "folder" / "a.tfrecord") == [b"one"]
    with pytest.raises(WriteError, match="Expected no file of this name"):
        TFRecordWriter(url)
    with pytest.raises(RuntimeError), TFRecordWriter(url, mode="overwrite") as writer:
        raise RuntimeError
    assert len(list((tmp_path / "folder").iterdir())) == 1


def test_many_records(tmp_path: Path) -> None:
    """More than are gathered in memory, of sizes that leave each of them somewhere else."""
    records = [bytes([n % 256]) * (n % 5000) for n in range(3000)]
    with TFRecordWriter(tmp_path / "a") as writer:
        for count, record in enumerate(records):
            assert writer.num_records == count
            writer.write(record)
    assert records_in(tmp_path / "a") == records


def test_memory_that_changes_later_is_copied(tmp_path: Path) -> None:
    memory = bytearray(b"before")
    with TFRecordWriter(tmp_path / "a") as writer:
        writer.write(memory)
        memory[:] = b"behind"
    assert records_in(tmp_path / "a") == [b"before"]


def test_file_is_there_when_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.tfrecord"
    writer = TFRecordWriter(str(path))
    writer.write(b"one")
    assert not path.exists()
    writer.flush()
    [temporary] = tmp_path.iterdir()
    assert temporary.name.startswith(".a.tfrecord-temp-")
    assert temporary.read_bytes() == kernel.frame([b"one"])
    assert writer.num_bytes == 19
    with pytest.raises(NoMatchError):
        count(str(tmp_path))
    writer.write(b"two")
    writer.close()
    assert list(tmp_path.iterdir()) == [path]
    assert records_in(path) == [b"one", b"two"]


def test_error_in_the_block_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="mine"), TFRecordWriter(tmp_path / "a") as writer:
        writer.write(b"one")
        writer.flush()
        raise RuntimeError("mine")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(WriteError, match="found that an earlier call had failed"):
        writer.close()


def test_file_that_is_there(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(WriteError, match=r"^Expected no file .*/a \(mode='overwrite' replaces it"):
        TFRecordWriter(path)
    (tmp_path / "b").symlink_to(path)
    with pytest.raises(WriteError):
        TFRecordWriter(tmp_path / "b")
    assert path.read_bytes() == b"old"


def test_file_that_comes_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "a"
    writer = TFRecordWriter(path)
    path.write_bytes(b"of another")
    with pytest.raises(WriteError, match=r"^Expected no file of this name, found one"):
        writer.close()
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"of another"]


def test_overwrite(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    for name in (".a.crc", ".a.index", ".b.crc"):
        (tmp_path / name).write_bytes(b"of the old file")
    with (
        pytest.raises(RuntimeError, match="mine"),
        TFRecordWriter(path, mode="overwrite") as writer,
    ):
        writer.flush()
        raise RuntimeError("mine")
    assert path.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 4
    with TFRecordWriter(path, mode="overwrite") as writer:
        writer.write(b"new")
        assert path.read_bytes() == b"old"
    assert records_in(path) == [b"new"]
    assert sorted(each.name for each in tmp_path.iterdir()) == [".b.crc", "a"]


def test_closed_twice_and_used_later(tmp_path: Path) -> None:
    writer = TFRecordWriter(tmp_path / "a")
    writer.close()
    writer.close()
    assert records_in(tmp_path / "a") == []
    calls: list[Callable[[], None]] = [
        lambda: writer.write(b"x"),
        lambda: writer.write_batch(BATCH),
        writer.flush,
    ]
    for call in calls:
        with pytest.raises(WriteError, match=r"^Expected an open writer, found it closed - at "):
            call()


def test_feature_of_two_kinds(tmp_path: Path) -> None:
    with TFRecordWriter(tmp_path / "a") as writer:
        writer.write_batch(pa.record_batch({"n": pa.nulls(1)}))
        with pytest.raises(EncodeError):  # leaves no kind behind
            writer.write_batch(pa.record_batch({"n": [[0.5, None]]}))
        writer.write_batch(pa.record_batch({"n": [1], "m": ["a"]}))
        text = (
            "^Expected one kind for feature 'n', found bytes_list in some batches and int64_list "
            "in others$"
        )
        with pytest.raises(SchemaError, match=text):
            writer.write_batch(pa.record_batch({"n": ["x"]}))
        writer.write_batch(pa.record_batch({"n": pa.array([2], pa.int8())}))
    assert writer.num_records == 3


@pytest.mark.parametrize("record", ["text", None, 5, [b"a"], {"a": 1}])
def test_record_that_is_no_bytes(tmp_path: Path, record: Any) -> None:
    with TFRecordWriter(tmp_path / "a") as writer:
        writer.write(b"one")
        name = type(record).__name__
        text = rf"^Expected records as bytes, found {name} - at .*/a, record 1$"
        with pytest.raises(EncodeError, match=text):
            writer.write(record)
        writer.write(b"two")
    assert records_in(tmp_path / "a") == [b"one", b"two"]


def test_record_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "MAX_RECORD_BYTES", 10)
    with TFRecordWriter(tmp_path / "a") as writer:
        for record in (bytes(11), bytearray(11)):
            with pytest.raises(EncodeError, match=r"^Expected at most 10 bytes .*, found 11 - at "):
                writer.write(record)
        writer.write(bytes(10))
    assert records_in(tmp_path / "a") == [bytes(10)]


def test_batch_that_cannot_be_encoded_is_left_out(tmp_path: Path) -> None:
    schema = schema_pb2.Schema()
    schema.feature.add(name="age", type=schema_pb2.INT)
    with TFRecordWriter(tmp_path / "a", schema) as writer:
        writer.write_batch(BATCH.select(["age"]))
        for batch in (BATCH, BATCH.select(["name"]), pa.record_batch({"age": [1.5]}), "batch"):
            with pytest.raises(SchemaError):
                writer.write_batch(batch)
        with pytest.raises(EncodeError):
            writer.write_batch(pa.record_batch({"age": [[None]]}))
    assert records_in(tmp_path / "a") == RecordEncoder().encode_records(BATCH.select(["age"]))


def test_options_of_encoding(tmp_path: Path) -> None:
    steps = pa.record_batch({"id": [[1]], "steps": [[[1, 2], [3]]], "one": [[4, 5]]})
    options: dict[str, Any] = {
        "record_type": "SequenceExample",
        "feature_list_columns": ["steps", "one"],
        "null_as_absent": True,
        "null_values": "drop",
    }
    with TFRecordWriter(tmp_path / "a", **options) as writer:
        writer.write_batch(steps)
    assert records_in(tmp_path / "a") == RecordEncoder(**options).encode_records(steps)

    with TFRecordWriter(tmp_path / "b", record_type="ByteArray") as writer:
        writer.write_batch(pa.record_batch({"record": [b"one", b"two"]}))
    assert records_in(tmp_path / "b") == [b"one", b"two"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"path": ""}, "Expected path to be a path, found ''"),
        ({"path": 5}, "Expected path to be a path, found 5"),
        ({"path": "a\0"}, "Expected a path without NUL characters"),
        ({"path": "a/"}, "Expected path to be that of a file, found 'a/'"),
        ({"path": "a*"}, "Expected path without the pattern characters"),
        ({"path": "a.gz"}, "Expected path to name no codec but that of the file"),
        ({"mode": "append"}, "Expected mode to be one of error, overwrite, found 'append'"),
        ({"compression": "rar"}, "Expected compression to be None or one of "),
        ({"compression": "auto"}, "Expected compression to be a codec, found 'auto'"),
        ({"compression_level": 3}, "Expected compression_level to be None with compression=None"),
        ({"compression": "gzip", "compression_level": 10}, "Expected compression_level to be None"),
        ({"record_type": "example"}, "Expected record_type to be one of Example, Sequence"),
        ({"null_values": "keep"}, "Expected null_values to be one of error, drop, fill"),
        ({"schema": 5}, "Expected "),
    ],
)
def test_wrong_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError) as caught:
        TFRecordWriter(**{"path": "a", **options})
    assert str(caught.value).startswith(text)
    assert list(tmp_path.iterdir()) == []


def test_codec_that_tensorflow_cannot_read_warns(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="TensorFlow cannot read") as caught:
        TFRecordWriter(tmp_path / "a", compression="zstd").close()
    assert caught[0].filename == __file__


def test_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "file" / "a", tmp_path):
        with pytest.raises(WriteError) as caught:
            TFRecordWriter(path)
        assert str(tmp_path) in str(caught.value.file)
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch, plan: Path) -> Callable[..., None]:
    """Has writers meet the faults that it is called with."""

    def plan_faults(**faults: Any) -> None:
        faulty_files = FaultyFileSystem(plan, **faults)
        monkeypatch.setattr(writer_module, "DirectOutputFileSystem", lambda: faulty_files)

    return plan_faults


@pytest.mark.parametrize("codec", ["none", "gzip"])
@pytest.mark.parametrize(
    "faults",
    [
        {"fail": {"rename": 1}},
        {"fail": {"close": 1}},
        {"fail": {"write": 1}},
        {"room": 20},
        {"fail": {"create": 1}},
    ],
    ids=str,
)
def test_fault_leaves_the_old_file(
    tmp_path: Path, faulty: Callable[..., None], faults: dict[str, Any], codec: str
) -> None:
    path = tmp_path / "a"
    for name in ("a", ".a.index", ".a.crc"):
        (tmp_path / name).write_bytes(b"old")
    faulty(**faults)
    with (
        pytest.raises(WriteError) as caught,
        TFRecordWriter(path, mode="overwrite", compression=codec) as writer,
    ):
        writer.write_batch(BATCH)
        writer.write(b"x" * 100)
    assert str(tmp_path) in str(caught.value.file)
    assert sorted(os.listdir(tmp_path)) == [".a.crc", ".a.index", "a"]
    assert {each.read_bytes() for each in tmp_path.iterdir()} == {b"old"}


@pytest.mark.parametrize("times", [1, ALWAYS])
def test_side_cars_that_cannot_be_deleted(
    tmp_path: Path, faulty: Callable[..., None], monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    monkeypatch.setattr(retries, "WAITS_SEC", (0,))
    (tmp_path / ".a.crc").touch()
    faulty(fail={"delete": times})
    writer = TFRecordWriter(tmp_path / "a")
    writer.write(b"new")
    with pytest.raises(WriteError, match="delete") if times == ALWAYS else contextlib.nullcontext():
        writer.close()
    assert records_in(tmp_path / "a") == [b"new"]
    assert (tmp_path / ".a.crc").exists() == (times == ALWAYS)


def test_disk_that_is_full_while_writing(tmp_path: Path, faulty: Callable[..., None]) -> None:
    faulty(room=3_000_000)
    writer = TFRecordWriter(tmp_path / "a")
    with pytest.raises(WriteError, match="No space left on device"):
        for _ in range(100):
            writer.write(bytes(100_000))
    assert list(tmp_path.iterdir()) == []
    calls: list[Callable[[], None]] = [lambda: writer.write(b""), writer.close]
    for call in calls:
        with pytest.raises(WriteError, match="found that an earlier call had failed"):
            call()


def test_error_that_was_caught_inside_is_not_forgotten(
    tmp_path: Path, faulty: Callable[..., None]
) -> None:
    faulty(fail={"write": 1})
    with (
        pytest.raises(WriteError, match="an earlier call had failed"),
        TFRecordWriter(tmp_path / "a") as writer,
    ):
        writer.write(b"one")
        with pytest.raises(WriteError):
            writer.flush()
    assert list(tmp_path.iterdir()) == []


def test_short_writes_of_a_writer_lose_nothing(tmp_path: Path, faulty: Callable[..., None]) -> None:
    faulty(most_taken=1000)
    with TFRecordWriter(tmp_path / "a") as writer:
        for number in range(100):
            writer.write(bytes([number]) * 50)
    assert records_in(tmp_path / "a") == [bytes([number]) * 50 for number in range(100)]


def test_writer_that_nobody_closes(tmp_path: Path) -> None:
    writer = TFRecordWriter(tmp_path / "a")
    writer.write(b"lost")
    with pytest.warns(ResourceWarning, match=r"The writer of .*/a was not closed"):
        del writer
        gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_writer_is_not_copied(tmp_path: Path) -> None:
    with TFRecordWriter(tmp_path / "a") as writer:
        for copy_it in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(WriteError, match="stay in the process that made it"):
                copy_it(writer)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_fork_can_neither_write_nor_close_nor_discard(tmp_path: Path) -> None:
    script = f"""
import os, tfrecord_beam
with tfrecord_beam.TFRecordWriter({str(tmp_path / "a")!r}) as writer:
    writer.write(b"of the parent")
    if not os.fork():
        for call in (writer.flush, writer.close):
            try:
                call()
            except tfrecord_beam.WriteError as error:
                print(error)
        del writer
        os._exit(0)
    os.wait()
    writer.write(b"too")
"""
    # Python 3.12 warns of any fork of a process with threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    finished = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "found it in a fork of that - at" in finished.stdout.splitlines()[0]
    assert finished.stderr == ""
    assert records_in(tmp_path / "a") == [b"of the parent", b"too"]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_killed_writer_leaves_no_file(tmp_path: Path) -> None:
    script = f"""
import os, signal, tfrecord_beam
writer = tfrecord_beam.TFRecordWriter({str(tmp_path / "a")!r})
writer.write(b"x" * 3_000_000)
os.kill(os.getpid(), signal.SIGKILL)
"""
    finished = subprocess.run([sys.executable, "-c", script], check=False)
    assert finished.returncode == -signal.SIGKILL
    assert [each.name[0] for each in tmp_path.iterdir()] == ["."]
    with TFRecordWriter(tmp_path / "a") as writer:
        writer.write(b"again")
    assert records_in(tmp_path) == [b"again"]
