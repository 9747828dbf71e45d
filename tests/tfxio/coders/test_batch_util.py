"""Lists of elements to decode at once."""

from __future__ import annotations

import apache_beam as beam
import pytest

from tests.tfxio.pipelines import run
from tfrecord_beam.tfxio.coders.batch_util import BatchRecords, GetBatchElementsKwargs


def test_batches_of_one_size() -> None:
    result = run(beam.Create([b"a"] * 5), BatchRecords(2, ["my", "component"]))
    assert sorted(map(len, result.elements)) == [1, 2, 2]
    metrics = result.in_namespace("tfx.my.component")
    assert metrics == {"desired_batch_size": 2, "tfxio_use_byte_size_batching": 0}


def test_batches_as_beam_likes() -> None:
    result = run(beam.Create([b"a"] * 5), BatchRecords(None, None))
    assert [record for batch in result.elements for record in batch] == [b"a"] * 5
    assert result.in_namespace("tfx.Unknown")["desired_batch_size"] == 0


def test_options() -> None:
    assert GetBatchElementsKwargs(3) == {"min_batch_size": 3, "max_batch_size": 3}
    assert GetBatchElementsKwargs(None)["max_batch_size"] == 1000
    beam.BatchElements(**GetBatchElementsKwargs(None))


@pytest.mark.parametrize("batch_size", [0, -1])
def test_no_size(batch_size: int) -> None:
    with pytest.raises(
        ValueError, match=r"^Expected batch_size to be None or an int of at least 1"
    ):
        BatchRecords(batch_size, None)
