"""Columns whose values are in the names of the folders that contain a file.

Every folder ``name=value`` on a file's path becomes such a column, wherever the pattern that found
the file begins: the rows of ``out/day=1/`` are the same whether they are read as ``out/``,
``out/day=*/part-*`` or ``out/day=1/``. See `tfrecord_beam.records.hive` for how names and values
are spelled. The kind of a column comes from the schema, otherwise it is bytes: ``007`` does not
become a number just because it looks like one.

The columns are where they would be if the records contained them: in the order of the schema or of
the list of wanted columns, and without either sorted by name among the others. A column that is not
in the schema comes after those that are; one that is not in the list is omitted. If a record has a
feature of the same name, that is an error, because it would be ambiguous. If a file's path lacks a
folder that other paths have, its rows are null in that column.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator
from typing import Literal

import pyarrow as pa

from tfrecord_beam.errors import Location, SchemaError
from tfrecord_beam.kernel.plan import Column, Kind
from tfrecord_beam.options import MAX_INT, check_choice
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.concatenate import order_names
from tfrecord_beam.records.decode import OnCorrupt, RecordDecoder
from tfrecord_beam.records.hive import parse_path
from tfrecord_beam.schema.arrow import RecordPlan, RecordType, arrow_type
from tfrecord_beam.schema.lists import to_singleton_lists

PartitionColumns = Literal["hive"]
"""How folder names encode columns."""

_INTEGER = re.compile(rb"-?[0-9]+")
_BOOL = {b"true": 1, b"false": 0}


def choose_decoder(
    plan: RecordPlan,
    record_type: RecordType,
    partition_columns: PartitionColumns | None,
    *,
    only_planned: bool,
) -> RecordDecoder | PartitionDecoder:
    """Returns a decoder of blocks, which also adds partition columns if they are requested.

    Args:
      plan: what to decode, from records and paths together.
      record_type: type of the records.
      partition_columns: None: no columns are in paths.
      only_planned: omit columns that are in paths but not in the plan.

    Raises:
      ValueError: the value of `partition_columns` is unknown.
      SchemaError: as for `RecordDecoder`.
    """
    if partition_columns is None:
        return RecordDecoder(plan, record_type)
    check_choice("partition_columns", partition_columns, PartitionColumns)
    return PartitionDecoder(plan, record_type, only_planned=only_planned)


def add_partition_columns(batch: pa.RecordBatch, file: str) -> pa.RecordBatch:
    """Returns a batch of a file with the columns in the file's path, of bytes, after its own.

    Raises:
      SchemaError: the path has a column twice, or one that a record has too.
    """
    for name, value in parse_path(file).items():
        batch = _add_column(batch, name, _parse(name, value, Kind.BYTES, file), file)
    return batch


class PartitionDecoder:
    """Decodes blocks, and adds the columns that are in the paths of their files. Picklable.

    Args:
      plan: as for `choose_decoder`.
      record_type: as for `choose_decoder`.
      only_planned: as for `choose_decoder`.
    """

    def __init__(self, plan: RecordPlan, record_type: RecordType, *, only_planned: bool) -> None:
        self._plan = plan
        self._record_type: RecordType = record_type
        self._kinds = {column.name: column.kind for column in plan.columns or ()}
        self._only_planned = only_planned
        self._decoders: dict[tuple[str, ...], RecordDecoder] = {}
        self._decoder_without(())  # refuses a plan that cannot be used

    def iter_block(
        self, block: RecordBlock, on_corrupt: OnCorrupt | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yields the batches of a block's records, see `RecordDecoder.iter_block`.

        Raises:
          SchemaError: the path has a column twice, or one that a record also has, or a value that
            cannot be converted to the kind in the schema.
        """
        values = {
            name: _parse(name, value, self._kinds.get(name) or Kind.BYTES, block.file)
            for name, value in parse_path(block.file).items()
            if not self._only_planned or name in self._kinds
        }
        for batch in self._decoder_without(tuple(values)).iter_block(block, on_corrupt):
            for name, value in values.items():
                batch = _add_column(batch, name, value, block.file)
            yield batch.select(order_names(batch.schema.names, self._plan))

    def _decoder_without(self, names: tuple[str, ...]) -> RecordDecoder:
        """Returns the decoder for records that should not have these features."""
        if names not in self._decoders:
            plan = self._plan
            if plan.columns is not None:
                # Decoded nevertheless, with any kind, to detect records that have them.
                columns = {column.name: column for column in plan.columns}
                columns |= {name: Column(name) for name in names}
                plan = dataclasses.replace(plan, columns=tuple(columns.values()))
            self._decoders[names] = RecordDecoder(plan, self._record_type)
        return self._decoders[names]


def _add_column(batch: pa.RecordBatch, name: str, value: pa.Scalar, file: str) -> pa.RecordBatch:
    column = to_singleton_lists(pa.repeat(value, batch.num_rows))
    index = batch.schema.get_field_index(name)
    if index < 0:
        return batch.append_column(name, column)
    if batch.column(index).null_count < batch.num_rows:
        raise SchemaError(
            f"Expected no feature {name!r} in records of a folder {name}=..., found one",
            Location(file=file),
            "read without partition_columns, or with columns that do not name it",
        )
    return batch.set_column(index, name, column)


def _parse(name: str, text: bytes | None, kind: Kind, file: str) -> pa.Scalar:
    """Returns the value of a text, in the Arrow type of the kind."""
    value_type = arrow_type(kind).value_type
    if text is None or kind == Kind.BYTES:
        return pa.scalar(text, value_type)
    number = _parse_int(text) if kind == Kind.INT64 else _parse_float(text)
    if number is None:
        raise SchemaError(
            f"Expected {kind.list_name} for feature {name!r}, found {name}={text!r}",
            Location(file=file, feature=name),
        )
    return pa.scalar(number, value_type)


def _parse_int(text: bytes) -> int | None:
    number = _BOOL.get(text, int(text) if _INTEGER.fullmatch(text) else None)
    return number if number is None or -MAX_INT - 1 <= number <= MAX_INT else None


def _parse_float(text: bytes) -> float | None:
    try:
        number: float = pa.scalar(text.decode()).cast(pa.float32()).as_py()
    except (UnicodeDecodeError, pa.ArrowInvalid):
        return None
    is_too_large = math.isinf(number) and b"inf" not in text.lower()
    return None if is_too_large else number
