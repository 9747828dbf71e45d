"""Blocks and lists of records to Arrow record batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from tfrecord_beam import kernel
from tfrecord_beam.errors import DecodeError, Location
from tfrecord_beam.kernel.faults import decode_error
from tfrecord_beam.kernel.plan import DecodePlan, RecordType
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.byte_array import ByteArrayDecoder
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.schema.arrow import BYTE_ARRAY_COLUMN, RecordPlan

if TYPE_CHECKING:
    from typing_extensions import Buffer

    BlockDecoder = (
        kernel.ExampleDecoder
        | kernel.SequenceExampleDecoder
        | kernel.ExampleListDecoder
        | ByteArrayDecoder
    )

OnCorrupt = Callable[[CorruptRecord], None]
"""Called with each part or record that cannot be read or decoded."""

MAX_CELLS = 16 << 20
"""Maximum number of rows times columns in a batch: each cell takes 8 bytes, even if it is null."""


class RecordDecoder:
    """Decodes serialized records by a plan. Picklable; threads may share it.

    Args:
      plan: what to decode, see `tfrecord_beam.schema.arrow.decode_plan`.
      record_type: type of the records, for which the plan was made.

    Raises:
      SchemaError: two columns have the same name.
    """

    def __init__(self, plan: RecordPlan, record_type: RecordType = "Example") -> None:
        self._plan = plan
        self._record_type: RecordType = record_type
        self._decoder = make_decoder(plan, record_type)

    def __reduce__(
        self,
    ) -> tuple[type[RecordDecoder], tuple[RecordPlan, RecordType]]:
        return RecordDecoder, (self._plan, self._record_type)

    def iter_block(
        self, block: RecordBlock, on_corrupt: OnCorrupt | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yields the records of a block as one batch, or as several of at most `MAX_CELLS`.

        Args:
          block: the records.
          on_corrupt: called with each record that cannot be decoded, which is then left out of the
            batch. None: raise.

        Raises:
          DecodeError: a record that cannot be decoded, with its file and offset.
          MemoryError: its columns are too many.
        """
        while block.num_records:
            try:
                exportable, failures = self._decoder.decode(
                    block.data,
                    block.offsets,
                    block.lengths,
                    collect_failures=on_corrupt is not None,
                    max_cells=MAX_CELLS,
                )
            except DecodeError as error:
                raise locate_in_block(error, block) from None
            except MemoryError:
                raise _out_of_memory(block.num_records) from None
            for failure in failures:
                located = locate_in_block(decode_error(failure, self._record_type), block)
                report_corrupt(located, block.payload(failure.record), on_corrupt)
            batch = pa.record_batch(exportable)
            yield batch
            block = block.after(batch.num_rows + len(failures))

    def decode_records(
        self, records: Sequence[Buffer], on_corrupt: OnCorrupt | None = None
    ) -> pa.RecordBatch:
        """Returns the batch of records whose places in files are unknown.

        Raises:
          DecodeError: a record cannot be decoded, or is not bytes, with its index in `records`.
        """
        return self._decode_records(records, 0, on_corrupt, None)[0]

    def iter_records(
        self, records: Sequence[Buffer], on_corrupt: OnCorrupt | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yields `decode_records`' batch, or several if it would have more than `MAX_CELLS`."""
        start = 0
        while start < len(records):
            batch, looked_at = self._decode_records(records, start, on_corrupt, MAX_CELLS)
            yield batch
            start += looked_at

    def _decode_records(
        self,
        records: Sequence[Buffer],
        start: int,
        on_corrupt: OnCorrupt | None,
        max_cells: int | None,
    ) -> tuple[pa.RecordBatch, int]:
        try:
            exportable, failures = self._decoder.decode_records(
                records[start:] if start else records,
                collect_failures=on_corrupt is not None,
                max_cells=max_cells,
            )
        except DecodeError as error:
            raise error.located(record=start + (error.record or 0)) from None
        except MemoryError:
            raise _out_of_memory(len(records)) from None
        except (TypeError, BufferError) as error:
            raise _buffer_error(records, error) from error
        for failure in failures:
            index = start + failure.record
            located = decode_error(failure, self._record_type).located(record=index)
            report_corrupt(located, memoryview(records[index]), on_corrupt)
        batch = pa.record_batch(exportable)
        return batch, batch.num_rows + len(failures)


def _buffer_error(records: Sequence[object], error: Exception) -> DecodeError:
    """Returns the error for records some of which are not bytes."""
    for index, record in enumerate(records):
        if not isinstance(record, (bytes, bytearray, memoryview)):
            found = type(record).__name__
            return DecodeError(f"Expected records as bytes, found {found}", Location(record=index))
    return DecodeError(f"Expected records as bytes, found others: {error}")


def make_decoder(plan: RecordPlan, record_type: RecordType) -> BlockDecoder:
    """Returns the decoder for a plan and its record type."""
    if record_type == "ByteArray":
        return ByteArrayDecoder(plan.raw_record_column or BYTE_ARRAY_COLUMN)
    if isinstance(plan, DecodePlan):
        return kernel.ExampleDecoder(plan)
    if record_type == "SequenceExample":
        return kernel.SequenceExampleDecoder(plan)
    return kernel.ExampleListDecoder(plan)


def report_corrupt(error: DecodeError, payload: memoryview, on_corrupt: OnCorrupt | None) -> None:
    """Calls `on_corrupt`, if there is one, with a record that cannot be decoded."""
    if on_corrupt is not None:
        on_corrupt(CorruptRecord.from_error(error, length=len(payload), sample=payload))


def _out_of_memory(num_records: int) -> MemoryError:
    """Returns the error for records that together have more columns than fit into memory."""
    return MemoryError(
        f"Expected memory for all columns of a batch of {num_records} records, found too little "
        "(name the columns that you want, or take fewer records at a time)"
    )


def locate_in_block(error: DecodeError, block: RecordBlock) -> DecodeError:
    """Returns an error of the kernel with the place of its record."""
    place = block.place_of(error.record or 0)
    return error.located(file=place.file, offset=place.offset, record=place.record)
