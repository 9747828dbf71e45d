"""Records that cannot be read, as values for error handlers, and the limit on their number."""

from __future__ import annotations

import dataclasses

from tfrecord_beam.errors import Location, TFRecordBeamError, render
from tfrecord_beam.options import check_int, count_of

MAX_SAMPLE_BYTES = 1024
"""How many of the corrupt bytes a `CorruptRecord` keeps."""


@dataclasses.dataclass(frozen=True)
class CorruptRecord:
    """A part of a file that could not be read as a record, or a record that could not be decoded.

    Attributes:
      file: path or URL, or None for records that do not come from a file.
      offset: where it starts in the file's (decompressed) content, or None.
      length: its size in bytes of the content, up to the next record that could be read; 0 if a
        compressed stream broke off.
      record: number of the record in its file, if known.
      reason: what was expected and what was found.
      sample: its first bytes, at most `MAX_SAMPLE_BYTES`. For a record that could not be decoded
        they are those of the payload, else they begin with the frame's length field.
    """

    file: str | None
    offset: int | None
    length: int
    record: int | None
    reason: str
    sample: bytes = dataclasses.field(default=b"", repr=False)

    @classmethod
    def from_error(
        cls, error: TFRecordBeamError, *, length: int, sample: bytes | memoryview
    ) -> CorruptRecord:
        """Returns the value that represents `error`."""
        return cls(
            file=error.file,
            offset=error.offset,
            length=length,
            record=error.record,
            reason=render(error.message, hint=error.hint),
            sample=bytes(sample[:MAX_SAMPLE_BYTES]),
        )

    def __str__(self) -> str:
        return render(self.reason, Location(self.file, self.offset, self.record))


def ignore_corrupt(_: CorruptRecord) -> None:
    """The error handler of a reader that skips corrupt records without a word."""


def check_error_options(error_handler: object, max_corrupt_records: int | None) -> None:
    """Raises ValueError for a `max_corrupt_records` that is out of range or has no handler."""
    check_int("max_corrupt_records", max_corrupt_records, least=0, optional=True)
    if max_corrupt_records is None:
        return
    if error_handler is None:
        raise ValueError(
            "Expected error_handler beside max_corrupt_records, found none: without one, the first "
            "corrupt record is an error"
        )


def check_limit(count: int, *, most: int) -> None:
    """Raises TFRecordBeamError if there are more corrupt records than allowed."""
    if count > most:
        raise TFRecordBeamError(
            f"Expected at most {count_of(most, 'corrupt record')}, found {count}",
            hint="the error handler got them; a higher max_corrupt_records lets the others pass",
        )
