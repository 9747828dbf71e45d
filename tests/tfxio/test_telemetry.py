"""The metrics of TFXIO: namespaces, names and values."""

from __future__ import annotations

import apache_beam as beam
import numpy as np
import pyarrow as pa
import pytest
from apache_beam.typehints.decorators import TypeCheckError

from tests.tfxio.pipelines import Distribution, run
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.tfxio import telemetry
from tfrecord_beam.tfxio.telemetry import profiles

DESCRIPTORS = ["my", "component"]
PREFIX = "LogicalFormat[data]-PhysicalFormat[file]-"
BATCH = pa.record_batch(
    {
        "s": pa.array([["abc", "def"], None, ["g"], []], pa.large_list(pa.large_binary())),
        "i": pa.array([[1], [2], [3], [4]], pa.large_list(pa.int64())),
        "f": pa.array([[1.0], [], [], [0.5]], pa.large_list(pa.float32())),
        "n": pa.nulls(4),
    }
)


def profile(probability: float) -> dict[str, int | Distribution]:
    result = run(
        beam.Create([BATCH.slice(0, 1), BATCH.slice(1)]),
        telemetry.ProfileRecordBatches(DESCRIPTORS, "data", "file", probability),
    )
    assert sorted(batch.num_rows for batch in result.elements) == [1, 3]
    return {
        name.removeprefix(PREFIX): value
        for name, value in result.in_namespace("tfx.my.component.io").items()
    }


CELLS = {"num_cells[STRING]": 3, "num_cells[INT]": 4, "num_cells[FLOAT]": 4, "num_cells[NULL]": 4}


def test_metrics_of_record_batches() -> None:
    metrics = profile(1.0)
    byte_size = metrics.pop("record_batch_byte_size")
    assert isinstance(byte_size, Distribution)
    assert byte_size.count == 2
    # A slice that went through a coder has other bytes of validity bits.
    assert byte_size.sum == pytest.approx(BATCH.nbytes, abs=6)
    assert metrics == {
        **CELLS,
        "num_rows": Distribution(count=2, sum=4, min=1, max=3),
        "num_columns": Distribution(count=4, sum=11, min=2, max=3),
        "num_feature_values": Distribution(count=16, sum=13, min=0, max=2),
        "num_feature_values[INT]": Distribution(count=4, sum=4, min=1, max=1),
        "num_feature_values[FLOAT]": Distribution(count=4, sum=2, min=0, max=1),
        "num_feature_values[STRING]": Distribution(count=4, sum=3, min=0, max=2),
        "num_feature_values[NULL]": Distribution(count=4, sum=4, min=1, max=1),
    }


def test_metrics_by_row_are_taken_of_a_share_of_the_batches() -> None:
    assert profile(0.0).keys() == {*CELLS, "num_rows", "record_batch_byte_size"}


@pytest.mark.parametrize(
    ("descriptors", "namespace"),
    [(None, "tfx.UNKNOWN_COMPONENT.io"), (["a"], "tfx.a.io"), ([], "tfx.io")],
)
def test_metrics_of_raw_records(descriptors: list[str] | None, namespace: str) -> None:
    result = run(
        beam.Create([b"aaa", b"bbbb", b""]),
        telemetry.ProfileRawRecords(descriptors, "data", "file"),
    )
    assert sorted(result.elements) == [b"", b"aaa", b"bbbb"]
    assert result.in_namespace(namespace) == {
        PREFIX + "num_raw_records": 3,
        PREFIX + "raw_record_byte_size": Distribution(count=3, sum=7, min=0, max=4),
    }


def test_raw_records_are_counted_within_long_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profiles, "_LENGTHS_HELD", 10)
    result = run(
        beam.Impulse(),
        beam.FlatMap(lambda _: [b"x" * n for n in range(25)]).with_output_types(bytes),
        telemetry.ProfileRawRecords(None, "data", "file"),
    )
    assert result.in_namespace("tfx.UNKNOWN_COMPONENT.io") == {
        PREFIX + "num_raw_records": 25,
        PREFIX + "raw_record_byte_size": Distribution(count=25, sum=300, min=0, max=24),
    }


def block_of(lengths: list[int]) -> RecordBlock:
    sizes = np.array(lengths, np.int64)
    offsets = np.cumsum(sizes + 16) - sizes - 4
    return RecordBlock("file", 0, memoryview(bytes(1000)), offsets, sizes)


def test_metrics_of_blocks_are_those_of_their_records() -> None:
    result = run(
        beam.Create([None]),
        beam.FlatMap(lambda _: [block_of([3, 4]), block_of([0]), block_of([])]).with_output_types(
            RecordBlock
        ),
        telemetry.ProfileRecordBlocks(DESCRIPTORS, "data", "file"),
        beam.Map(lambda block: block.num_records),
    )
    assert sorted(result.elements) == [0, 1, 2]
    assert result.in_namespace("tfx.my.component.io") == {
        PREFIX + "num_raw_records": 3,
        PREFIX + "raw_record_byte_size": Distribution(count=3, sum=7, min=0, max=4),
    }


@pytest.mark.parametrize(
    ("descriptors", "batch_size", "namespace", "desired"),
    [(None, None, "tfx.Unknown", 0), ([], 7, "tfx.Unknown", 7), (["a", "b"], 32, "tfx.a.b", 32)],
)
def test_metrics_of_batching(
    descriptors: list[str] | None, batch_size: int | None, namespace: str, desired: int
) -> None:
    result = run(beam.Create([1, 2, 3]), telemetry.ProfileBatching(descriptors, batch_size))
    assert sorted(result.elements) == [1, 2, 3]
    assert result.in_namespace(namespace) == {
        "desired_batch_size": desired,
        "tfxio_use_byte_size_batching": 0,
    }


@pytest.mark.parametrize("formats", [("a-b", "c"), ("a", "[c"), ("a]", "c")])
def test_format_that_names_are_built_with_is_refused(formats: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"^Expected a format without '\[', '\]' and '-', found"):
        telemetry.ProfileRawRecords(None, *formats)


def test_descriptors_that_are_one_str_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^Expected telemetry_descriptors to be a list, found 'me'"
    ):
        telemetry.ProfileRecordBatches("me", "data", "file")


def test_elements_of_another_type_are_refused() -> None:
    with pytest.raises(TypeCheckError):
        run(beam.Create(["text"]), telemetry.ProfileRawRecords(None, "data", "file"))
