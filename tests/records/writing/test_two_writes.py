"""Two writes of one name at the same time: what the one that loses tells."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest

from tests.records.writing.folders import batch_of, records_in
from tests.tfxio.pipelines import run
from tfrecord_beam import WriteError, WriteToTFRecord, write_table
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem
from tfrecord_beam.records.writing.placing import new_file

REMOVED = (
    r"Expected the temporary files of a write until it ends, found them removed - at "
    r".*/\.a-temp-\w+ \(another write of the same name ended meanwhile; only those of "
    r"mode='append' may run at the same time"
)
OPTIONS: dict[str, Any] = {"record_type": "ByteArray"}


@pytest.fixture(autouse=True)
def spill_at_once(no_waiting: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets also few records be in files before a write ends."""
    monkeypatch.setattr("tfrecord_beam.records.writing.spill.BUFFER_BYTES", 0)


@pytest.mark.parametrize("mode", ["overwrite", "error"])
@pytest.mark.parametrize("num_shards", [None, 2])
def test_write_that_loses(tmp_path: pathlib.Path, mode: Any, num_shards: int | None) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield batch_of(b"loses")
        yield batch_of(b"loses")  # now the one before is written
        write_table(batch_of(b"wins"), tmp_path / "a", mode="overwrite", **OPTIONS)

    other = pa.RecordBatchReader.from_batches(batch_of().schema, batches())
    with pytest.raises(WriteError, match=rf"^{REMOVED}"):
        write_table(other, tmp_path / "a", mode=mode, num_shards=num_shards, **OPTIONS)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert records_in(tmp_path / "a") == [b"wins"]


@pytest.mark.parametrize("num_shards", [None, 2])
def test_pipeline_that_loses(tmp_path: pathlib.Path, num_shards: int | None) -> None:
    def write_another(record: bytes) -> bytes:
        if record == b"last":
            write_table(batch_of(b"wins"), tmp_path / "a", mode="overwrite", **OPTIONS)
        return record

    records = beam.Create([b"first" * (1 << 20), b"more" * (1 << 20), b"last"], reshuffle=False)
    write = WriteToTFRecord(tmp_path / "a", mode="overwrite", num_shards=num_shards)
    with pytest.raises(Exception, match=REMOVED):
        run(records, beam.Map(write_another), write)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_single_file_that_loses(tmp_path: pathlib.Path) -> None:
    path, file_system = str(tmp_path / "a.parquet"), DirectOutputFileSystem()
    expected = (
        r"^Expected the file under its temporary name until it is whole, found it removed - at "
        r".*/a\.parquet \(another write of the same file ended meanwhile\)$"
    )
    with (
        pytest.raises(WriteError, match=expected),
        new_file(path, file_system, overwrite=True) as loses,
    ):
        with new_file(path, file_system, overwrite=True) as wins:
            wins.close()
        loses.close()
    assert [each.name for each in tmp_path.iterdir()] == ["a.parquet"]
