"""Serialized records to one Arrow record batch: the part of decoding common to all record types."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa
from google.protobuf.message import DecodeError as ProtobufDecodeError

from tfrecord_beam.errors import Location, render
from tfrecord_beam.kernel.faults import decode_error
from tfrecord_beam.kernel.plan import DecodeFailure, DecodeFault, RecordType
from tfrecord_beam.kernel.reference.columns import build_singletons, build_struct
from tfrecord_beam.kernel.reference.feature_map import FeatureMap, MapColumns

if TYPE_CHECKING:
    from typing_extensions import Buffer

Content = tuple[FeatureMap, ...]
"""The maps of one record."""


class RecordDecoder(abc.ABC):
    """The part of a decoder that does not depend on the type of its records."""

    record_type: ClassVar[RecordType]

    def __init__(self, raw_record_column: str | None) -> None:
        self._raw_name = None if raw_record_column is None else raw_record_column.encode()

    @abc.abstractmethod
    def _make_columns(self) -> tuple[MapColumns, ...]:
        """Returns new columns for one call, by map."""

    @abc.abstractmethod
    def _read(self, record: bytes, columns: Sequence[MapColumns]) -> tuple[Content, bool]:
        """Returns the maps of a record, and whether an Example in it has a field 2.

        Raises:
          google.protobuf.message.DecodeError: it cannot be parsed.
        """

    @abc.abstractmethod
    def _build_columns(
        self, columns: Sequence[MapColumns], rows: Sequence[Content]
    ) -> dict[bytes, pa.Array]:
        """Returns the columns of all rows, without that of the raw records."""

    def _count_lists(self, rows: Sequence[Content]) -> tuple[int, ...]:
        """Returns how many lists a column of each map has: by default one per row."""
        return tuple(len(rows) for _ in self._make_columns())

    def decode(
        self,
        data: Buffer,
        offsets: Buffer,
        lengths: Buffer,
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[pa.RecordBatch, list[DecodeFailure]]:
        """Decodes the records ``data[offsets[i] : offsets[i] + lengths[i]]`` (int64 buffers)."""
        records = _slice_records(data, offsets, lengths)
        return self.decode_records(records, collect_failures=collect_failures, max_cells=max_cells)

    def decode_records(
        self,
        records: Sequence[Buffer],
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[pa.RecordBatch, list[DecodeFailure]]:
        """Decodes records that are separate objects (`bytes`, ...)."""
        columns = self._make_columns()
        rows: list[Content] = []
        raw_records: list[bytes] = []
        failures: list[DecodeFailure] = []
        nothing = tuple(FeatureMap((), {}) for _ in columns)
        for index, buffer in enumerate(records):
            if not self._has_room(columns, rows, nothing, max_cells):
                break
            record = memoryview(buffer).tobytes()
            result = self._read_record(index, record, columns)
            if isinstance(result, DecodeFailure):
                if not collect_failures:
                    raise decode_error(result, self.record_type)
                failures.append(result)
                continue
            if not self._has_room(columns, rows, result, max_cells):
                break
            for content, known in zip(result, columns, strict=True):
                known.add(content)
            rows.append(result)
            raw_records.append(record)
        arrays = self._build_columns(columns, rows)
        if self._raw_name is not None:
            arrays[self._raw_name] = build_singletons(raw_records)
        return pa.RecordBatch.from_struct_array(build_struct(arrays, len(rows))), failures

    def _has_room(
        self,
        columns: Sequence[MapColumns],
        rows: Sequence[Content],
        content: Content,
        max_cells: int | None,
    ) -> bool:
        if not rows or max_cells is None:
            return True
        lists = self._count_lists([*rows, content])
        widths = (known.count_with(one) for known, one in zip(columns, content, strict=True))
        return sum(count * width for count, width in zip(lists, widths, strict=True)) <= max_cells

    def _read_record(
        self, index: int, record: bytes, columns: Sequence[MapColumns]
    ) -> Content | DecodeFailure:
        """Returns the maps of one record, or what is wrong with it."""
        try:
            result, has_field_2 = self._read(record, columns)
        except ProtobufDecodeError:
            return DecodeFailure(DecodeFault.MALFORMED, index)
        failures = [DecodeFailure(DecodeFault.FEATURE_LISTS, index)] if has_field_2 else []
        for content, known in zip(result, columns, strict=True):
            failures += known.find_failures(index, content)
        return min(failures, key=lambda failure: failure.fault) if failures else result


def _slice_records(data: Buffer, offsets: Buffer, lengths: Buffer) -> list[memoryview]:
    view = memoryview(data).cast("B")
    starts = _read_int64("offsets", offsets)
    sizes = _read_int64("lengths", lengths)
    if len(starts) != len(sizes):
        raise ValueError(
            f"Expected as many lengths as offsets, found {len(sizes)} and {len(starts)}"
        )
    spans = list(zip(starts, sizes, strict=True))
    for index, (start, size) in enumerate(spans):
        if start < 0 or size < 0 or start + size > len(view):
            found = f"found {size} bytes from {start} on"
            raise ValueError(
                render(f"Expected a span within {len(view)} bytes, {found}", Location(record=index))
            )
    return [view[start : start + size] for start, size in spans]


def _read_int64(name: str, numbers: Buffer) -> list[int]:
    view = memoryview(numbers)
    if view.format not in ("q", "l") or view.itemsize != 8:
        raise ValueError(f"Expected {name} as int64, found buffer format {view.format!r}")
    return view.tolist()
