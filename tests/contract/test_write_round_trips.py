"""Any batches, written with any options, are read back as they were."""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import pyarrow as pa
from hypothesis import given, settings, strategies as st

from tests.contract.partitions import by_key, keyed
from tests.contract.writing import SUFFIXES, check_written, no_warnings, write_by_table
from tests.strategies import int64s, names as feature_names
from tfrecord_beam import read_table

VALUES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), int64s()),
    (pa.uint8(), st.integers(0, 255)),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.binary(), st.binary(max_size=20)),
    (pa.large_binary(), st.binary(max_size=20)),
]
"""Types whose values are read as what was written."""

TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)


@st.composite
def batches(draw: st.DrawFn) -> list[pa.RecordBatch]:
    """Returns batches of the same columns, lists and scalars, with nulls."""
    # A struct of feature lists is no column of an Example.
    names = draw(st.lists(feature_names().filter("##SEQUENCE##".__ne__), max_size=4, unique=True))
    fields = [(name, *draw(st.sampled_from(VALUES)), draw(st.booleans())) for name in names]
    drawn = []
    for _ in range(draw(st.integers(1, 3))):
        rows = draw(st.integers(0, 6))
        columns = []
        for _, type_, values, is_list in fields:
            cell = st.lists(values, max_size=3) if is_list else values
            cells = draw(st.lists(st.none() | cell, min_size=rows, max_size=rows))
            columns.append(pa.array(cells, pa.large_list(type_) if is_list else type_))
        struct = pa.StructArray.from_arrays(columns, names) if names else None
        empty = pa.array([{}] * rows, pa.struct([]))
        drawn.append(pa.RecordBatch.from_struct_array(struct if struct is not None else empty))
    return drawn


def rows_of(table: pa.Table | pa.RecordBatch) -> list[dict[str, list[Any]]]:
    """Returns the lists of each row; what is null is not there."""
    return [
        {
            name: value if isinstance(value, list) else [value]
            for name, value in row.items()
            if value is not None
        }
        for row in table.select(sorted(table.schema.names)).to_pylist()
    ]


@settings(max_examples=60)
@given(
    given_batches=batches(),
    shards=st.integers(1, 4),
    codec=st.sampled_from(list(SUFFIXES)),
    null_as_absent=st.booleans(),
    bound=st.none() | st.integers(1, 5),
)
def test_batches(
    given_batches: list[pa.RecordBatch],
    shards: int,
    codec: str | None,
    null_as_absent: bool,
    bound: int | None,
) -> None:
    expected = [row for batch in given_batches for row in rows_of(batch)]
    sizes = {"num_shards": shards} if bound is None else {"max_records_per_shard": bound}
    with tempfile.TemporaryDirectory() as name, no_warnings():
        written = write_by_table(
            given_batches,
            pathlib.Path(name) / "a",
            compression=codec,
            null_as_absent=null_as_absent,
            **sizes,
        )
        check_written(written, pathlib.Path(name))
        found = rows_of(read_table(name))
    if shards == 1 or bound is not None:
        assert found == expected
    else:
        assert sorted(map(repr, found)) == sorted(map(repr, expected))


@settings(max_examples=30)
@given(st.lists(st.none() | TEXTS, max_size=12))
def test_keys_of_partitions(keys: list[str | None]) -> None:
    expected: dict[bytes | None, list[int]] = {}
    for row, key in enumerate(keys):
        expected.setdefault(None if key is None else key.encode(), []).append(row)
    with tempfile.TemporaryDirectory() as name:
        batch = keyed(pa.array(keys, pa.string()))
        written = write_by_table([batch], pathlib.Path(name) / "a", partition_by=["k"])
        check_written(written, pathlib.Path(name))
        assert {file.partition[0][1] for file in written} == set(keys)
        if keys:
            assert by_key(pathlib.Path(name)) == expected
