"""Tables of many kinds as record batches.

- A ``pyarrow.Table``, ``RecordBatch`` or ``RecordBatchReader``, and all that has
  ``__arrow_c_stream__`` or ``__arrow_c_array__``, as the data frames of pandas and Polars have.
- A mapping of names to numpy arrays, arrays of pyarrow, or lists of values.
- A data set of Hugging Face.
- An iterable of tables or batches; not one of mappings, which could be rows or arrays.

Columns without a name, such as row labels of pandas may be, are left out.

**Arrays.** The first dimension is that of the rows, so all arrays have the same. An array of one
dimension is a column of single values, one of more dimensions is a column of lists: the values of a
row in C order, the last index running first. A masked value is null. Arrays of Python objects, and
lists, hold for each row what `tfrecord_beam.records.writing.values` tells.

Batches are cut to about the size of a block, so that what is encoded at a time does not depend on
the input; their memory is that of the input.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from tfrecord_beam.errors import Location, SchemaError
from tfrecord_beam.options import describe
from tfrecord_beam.records.reader import BLOCK_BYTES
from tfrecord_beam.records.writing.values import AnyArray, combine, infer_array, to_native

_DATASET_ROWS = 1000
"""Rows that a data set is asked for at a time."""

_OBJECTS = "OT"
"""Kinds of arrays that hold Python objects, or strings of any length."""

_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""How pandas names row labels that have no name."""

_EXPECTED = (
    "a table or batches of pyarrow, what has __arrow_c_stream__, or a mapping of names to arrays"
)


class Rows(NamedTuple):
    """The rows of a table.

    Attributes:
      num_rows: how many there are; None if that is not known before the last batch.
      batches: them, in their order, to be iterated once.
    """

    num_rows: int | None
    batches: Iterator[pa.RecordBatch]


def open_rows(data: object) -> Rows:
    """Returns the rows of a table.

    >>> rows = open_rows({"x": np.arange(2), "image": np.zeros((2, 28, 28), np.uint8)})
    >>> [batch] = rows.batches
    >>> batch.schema.names, len(batch.column("image")[0])
    (['x', 'image'], 784)

    Args:
      data: one of the inputs above.

    Raises:
      SchemaError: `data` is nothing of that, or arrays are not of the same length.
      EncodeError: values of a list or an array of objects do not make a column.
    """
    if isinstance(data, Mapping):
        data = _from_columns(data)
    num_rows = len(data) if hasattr(data, "__len__") else None
    if _has_batches(data):
        return Rows(num_rows, _iter_batches(data))
    if hasattr(data, "with_format") and hasattr(data, "iter"):  # of Hugging Face
        return Rows(num_rows, _iter_parts(data.with_format("arrow").iter(_DATASET_ROWS)))
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes, bytearray, memoryview)):
        return Rows(None, _iter_parts(data))
    raise SchemaError(f"Expected {_EXPECTED}, found {describe(data)}")


def _has_batches(data: object) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _iter_parts(parts: Iterable[object]) -> Iterator[pa.RecordBatch]:
    for part in parts:
        if not _has_batches(part):
            hint = "make one of rows: pyarrow.Table.from_pylist" if isinstance(part, dict) else None
            raise SchemaError(
                f"Expected an iterable of tables or batches, found {describe(part)}", hint=hint
            )
        yield from _iter_batches(part)


def _iter_batches(data: Any) -> Iterator[pa.RecordBatch]:
    batches: Iterable[pa.RecordBatch]
    try:
        if isinstance(data, pa.RecordBatch):
            batches = [data]
        elif isinstance(data, pa.Table):
            batches = data.to_batches()
        elif hasattr(data, "__arrow_c_stream__"):
            batches = pa.RecordBatchReader.from_stream(data)
        else:
            batches = [pa.record_batch(data)]
    except pa.ArrowInvalid as error:
        raise SchemaError(f"Expected {_EXPECTED}, found {describe(data)}: {error}") from error
    return (part for batch in batches for part in _cut(_without_unnamed(batch)))


def _without_unnamed(batch: pa.RecordBatch) -> pa.RecordBatch:
    if b"pandas" not in (batch.schema.metadata or {}):
        return batch
    return batch.select([name for name in batch.schema.names if not _UNNAMED_INDEX.fullmatch(name)])


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yields a batch as slices of about `BLOCK_BYTES`."""
    rows = max(1, batch.num_rows * BLOCK_BYTES // max(1, _size(batch)))
    for start in range(0, max(1, batch.num_rows), rows):
        yield batch.slice(start, rows)


def _size(batch: pa.RecordBatch) -> int:
    try:
        num_bytes: int = batch.nbytes
    except pa.ArrowTypeError:  # of old versions, for views
        num_bytes = batch.get_total_buffer_size()
    return num_bytes


def _from_columns(columns: Mapping[Any, object]) -> pa.Table:
    arrays = {name: _to_column(name, values) for name, values in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise SchemaError(f"Expected arrays of one length, found {describe(lengths)}")
    return pa.table(arrays)


def _to_column(name: object, values: object) -> pa.Array | pa.ChunkedArray:
    if not isinstance(name, str):
        raise SchemaError(f"Expected names of columns as str, found {describe(name)}")
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if isinstance(values, (list, tuple)):
        return infer_array(name, list(values))
    if isinstance(values, np.ndarray) and values.ndim:
        return _from_numpy(name, values)
    raise SchemaError(
        f"Expected an array of rows for feature {name!r}, found {describe(values)}",
        Location(feature=name),
    )


def _from_numpy(name: str, array: AnyArray) -> pa.Array:
    num_rows, row_size = len(array), math.prod(array.shape[1:])
    if array.dtype.kind in _OBJECTS:
        rows = array if array.ndim == 1 else array.reshape(num_rows, row_size)
        return infer_array(name, rows.tolist())
    values = _to_values(name, array.reshape(num_rows * row_size))
    if array.ndim == 1:
        return values
    offsets = pa.array(np.arange(num_rows + 1) * row_size, pa.int64())
    return pa.LargeListArray.from_arrays(offsets, values)


def _to_values(name: str, array: AnyArray) -> pa.Array:
    mask = np.ma.getmaskarray(array) if np.ma.isMaskedArray(array) else None
    try:
        return combine(pa.array(to_native(np.ma.getdata(array)), mask=mask))
    except pa.ArrowNotImplementedError:
        raise SchemaError(
            f"Expected numbers, bool, str, bytes or objects for feature {name!r}, "
            f"found {array.dtype}",
            Location(feature=name),
        ) from None
