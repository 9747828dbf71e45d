"""The rows of a batch by the partitions to which the values of some columns assign them.

What the values of a partition column may be, how they are spelled in the name of a folder, and the
kind of feature as which a reader may take the text for the same value again:

===============================================  ============================  ==================
Arrow type of a value                            text                          kind
===============================================  ============================  ==================
integers of every width, below 2**63             decimal digits: ``-7``        ``int64_list``
bool                                             ``true``, ``false``           ``int64_list``
decimals                                         all digits: ``1.20``          ``float_list``
string, binary (also large, fixed-size, views)   as it is; it must be UTF-8    ``bytes_list``
date32                                           ISO 8601: ``2024-01-31``      ``bytes_list``
null                                             always null                   none
dictionary                                       that of the value meant       that of the value
===============================================  ============================  ==================

Each text is that of one value. A column of lists will do if each row is null or has exactly one
value, which is not null. Other types are refused: of a float or a point in time there are several
texts, and no two programs write the same. Whoever has one in mind casts the column to string.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from tfrecord_beam.errors import EncodeError, Location, SchemaError
from tfrecord_beam.kernel.plan import Kind
from tfrecord_beam.options import MAX_INT, describe
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.records.hive import MAX_FOLDER_BYTES, Partition, format_folder
from tfrecord_beam.schema.encoding import to_plain
from tfrecord_beam.schema.features import FeatureKinds
from tfrecord_beam.schema.lists import is_list
from tfrecord_beam.schema.names import check_distinct, check_known

_BINARY = (pt.is_binary, pt.is_large_binary, pt.is_fixed_size_binary)


class PartitionedRows(NamedTuple):
    """Which rows of a batch belong to which partition.

    Attributes:
      partitions: each partition that has rows, in the order in which the rows show them.
      order: int64, the rows partition by partition, in their order within each.
      bounds: int64, one more than partitions: those of partition i are
        ``order[bounds[i] : bounds[i + 1]]``.
      kinds: as which kind of feature the texts of each column can be read.
    """

    partitions: list[Partition]
    order: Int64Array
    bounds: Int64Array
    kinds: FeatureKinds


def partition_rows(batch: pa.RecordBatch, columns: Sequence[str]) -> PartitionedRows:
    """Returns the rows of a batch by partition.

    >>> batch = pa.record_batch({"day": ["mon", "tue", "mon"]})
    >>> partitions, order, bounds, kinds = partition_rows(batch, ["day"])
    >>> partitions, order.tolist(), bounds.tolist()
    ([(('day', 'mon'),), (('day', 'tue'),)], [0, 2, 1], [0, 2, 3])
    >>> kinds
    {'day': <Kind.BYTES: 1>}

    Args:
      batch: the rows.
      columns: names of the partition columns, outermost folder first.

    Raises:
      SchemaError: there is no such column, or one of a type that is not in the table.
      EncodeError: a value that is no text, several values in a row, or a text too long for the name
        of a folder, with row and column.
    """
    check_known(columns, batch.schema.names, "partition columns")
    check_distinct(batch.schema.names, "columns of a batch")
    partitions: list[Partition] = [()]
    codes = np.zeros(batch.num_rows, np.int64)
    kinds: FeatureKinds = {}
    for name in columns:
        texts, text_codes, kinds[name] = _encode_texts(name, batch.column(name))
        pairs = pa.array(codes * len(texts) + text_codes).dictionary_encode()
        codes = pairs.indices.to_numpy().astype(np.int64)
        partitions = [
            (*partitions[pair // len(texts)], (name, texts[pair % len(texts)]))
            for pair in pairs.dictionary.to_pylist()
        ]
    if not batch.num_rows:
        partitions = []
    counts = np.bincount(codes, minlength=len(partitions))
    # Codes of two bytes are sorted by radix, in a tenth of the time.
    order = np.argsort(codes.astype(np.min_scalar_type(len(partitions))), kind="stable")
    return PartitionedRows(partitions, order, np.append(0, np.cumsum(counts)), kinds)


def _encode_texts(name: str, column: pa.Array) -> tuple[list[str | None], Int64Array, Kind | None]:
    """Returns the different texts of a column, for each row the index of its text, and the kind."""
    try:
        values = to_plain(_single_values(name, column))
        kind, spell = _choose_spelling(values.type)
        distinct = values.dictionary_encode(null_encoding="encode")
    except pa.ArrowNotImplementedError:  # also of old versions, for views
        raise SchemaError(
            "Expected integers, bool, decimals, strings or dates to partition by feature "
            f"{name!r}, found {column.type}",
            Location(feature=name),
            "cast it to string or date32",
        ) from None
    codes = distinct.indices.to_numpy().astype(np.int64)
    first_rows = np.empty(len(distinct.dictionary), np.int64)
    first_rows[codes[::-1]] = np.arange(len(codes))[::-1]  # of several the last to be set stays
    texts = [
        _spell(value, spell, Location(record=row, feature=name)) if value.is_valid else None
        for value, row in zip(distinct.dictionary, first_rows.tolist(), strict=True)
    ]
    return texts, codes, kind


def _single_values(name: str, column: pa.Array) -> pa.Array:
    """Returns the column, or if it is one of lists, the one value of each list."""
    if not is_list(column.type):
        return column
    counts = pc.list_value_length(column)
    row = pc.index(pc.not_equal(counts, 1), True).as_py()
    if row >= 0:
        raise _value_error("one value", str(counts[row]), Location(record=row, feature=name))
    values = column.flatten()  # has nothing of the rows that are null
    is_valid = column.is_valid().to_numpy(zero_copy_only=False)
    if values.null_count:
        row = int(np.flatnonzero(is_valid)[pc.index(values.is_null(), True).as_py()])
        raise _value_error("one value", "a list of a null", Location(record=row, feature=name))
    return values.take(pa.array(np.cumsum(is_valid) - 1, mask=~is_valid))


def _choose_spelling(data_type: pa.DataType) -> tuple[Kind | None, Callable[[Any], str]]:
    """Returns the kind of the texts of a type, and what makes one of a value as Python object."""
    if pt.is_integer(data_type):
        return Kind.INT64, str
    if pt.is_boolean(data_type):
        return Kind.INT64, lambda value: str(value).lower()
    if pt.is_decimal(data_type):
        return Kind.FLOAT, "{:f}".format
    if pt.is_string(data_type) or pt.is_large_string(data_type):
        return Kind.BYTES, str
    if any(is_kind(data_type) for is_kind in _BINARY):
        return Kind.BYTES, bytes.decode
    if pt.is_date32(data_type):
        return Kind.BYTES, datetime.date.isoformat
    if pt.is_null(data_type):
        return None, str
    raise pa.ArrowNotImplementedError(f"no text for {data_type}")


def _spell(value: pa.Scalar, spell: Callable[[Any], str], location: Location) -> str:
    try:
        text = spell(value.as_py())
    except UnicodeDecodeError as error:
        raise _value_error("UTF-8", describe(error.object), location) from None
    except OverflowError:  # of pyarrow: Python has no such date
        found = f"day {value.cast(pa.int32())} since 1970"
        raise _value_error("a date of the years 1 to 9999", found, location) from None
    if pt.is_uint64(value.type) and value.as_py() > MAX_INT:
        raise _value_error("an integer below 2**63", text, location)
    num_bytes = len(format_folder(location.feature or "", text).encode())
    if num_bytes > MAX_FOLDER_BYTES:
        expected = f"a folder's name of at most {MAX_FOLDER_BYTES} bytes"
        raise _value_error(expected, f"one of {num_bytes}", location)
    return text


def _value_error(expected: str, found: str, location: Location) -> EncodeError:
    return EncodeError(
        f"Expected {expected} to partition by feature {location.feature!r}, found {found}", location
    )
