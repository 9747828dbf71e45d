"""The transforms on records with steps."""

from __future__ import annotations

import pathlib
from typing import Any

import apache_beam as beam
import pytest

from tests.sequence_files import (
    EXAMPLE_LIST_ROWS,
    EXAMPLE_LISTS,
    RECORDS,
    ROWS,
    SCHEMA,
    write_files,
)
from tests.tfxio.pipelines import run
from tfrecord_beam.errors import DecodeError
from tfrecord_beam.transforms.decode import DecodeRecordBlocks, RawRecordToRecordBatch
from tfrecord_beam.transforms.read import BeamSource, ReadRecordBlocks


def rows_of(*transforms: Any) -> list[dict[str, Any]]:
    rows = [row for batch in run(*transforms).elements for row in batch.to_pylist()]
    return sorted(rows, key=lambda row: row["id"])


def test_files(tmp_path: pathlib.Path) -> None:
    files = write_files(tmp_path)
    assert rows_of(BeamSource(files, SCHEMA, record_type="SequenceExample")) == ROWS
    blocks = DecodeRecordBlocks(SCHEMA, record_type="SequenceExample")
    assert rows_of(ReadRecordBlocks(files), blocks) == ROWS


def test_single_records() -> None:
    decode = RawRecordToRecordBatch(SCHEMA, record_type="SequenceExample", batch_size=7)
    assert rows_of(beam.Create(RECORDS, reshuffle=False), decode) == ROWS
    decode = RawRecordToRecordBatch(SCHEMA, record_type="ExampleListWithContext")
    assert rows_of(beam.Create(EXAMPLE_LISTS, reshuffle=False), decode) == EXAMPLE_LIST_ROWS


def test_some_columns(tmp_path: pathlib.Path) -> None:
    source = BeamSource(
        write_files(tmp_path),
        SCHEMA,
        columns=["##SEQUENCE##.ids", "id"],
        record_type="SequenceExample",
    )
    assert source.display_data()["columns"] == "id, ##SEQUENCE##.ids"
    assert rows_of(source) == [
        {"id": row["id"], "##SEQUENCE##": {"ids": row["##SEQUENCE##"]["ids"]}} for row in ROWS
    ]


def test_sequence_examples_taken_for_examples(tmp_path: pathlib.Path) -> None:
    files = write_files(tmp_path)
    with pytest.raises(
        DecodeError, match=r"tfrecord.*, record 0 \(.*record_type='SequenceExample'"
    ):
        run(BeamSource(files))


def test_unknown_record_type() -> None:
    with pytest.raises(ValueError, match=r"^Expected record_type to be one of"):
        RawRecordToRecordBatch(record_type="Sequence")  # type: ignore[arg-type]
