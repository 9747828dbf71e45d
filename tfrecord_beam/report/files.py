"""The summaries of files, and of their corrupt places."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable
from typing import NamedTuple

from tfrecord_beam.records.compression import read_codec, resolve_codec
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.paths import FileEntry, FileSystem
from tfrecord_beam.records.reader import SEARCHED, ReadOptions

MAX_CORRUPT = 100
"""How many corrupt places are listed."""


@dataclasses.dataclass
class FileSummary:
    """The summary of a file.

    Attributes:
      size: as it is stored, in bytes.
      codec: its compression; None: not known yet.
      records: how many could be read, whether they could be decoded or not.
      payload_bytes: what they hold in all.
      corrupt: how many places could not be read or decoded.
    """

    size: int = 0
    codec: str | None = None
    records: int = 0
    payload_bytes: int = 0
    corrupt: int = 0

    def merge(self, other: FileSummary) -> None:
        """Takes in what another part of the file shows; one part knows size and codec."""
        self.size += other.size
        self.codec = self.codec or other.codec
        self.records += other.records
        self.payload_bytes += other.payload_bytes
        self.corrupt += other.corrupt


def look_at_file(entry: FileEntry, file_system: FileSystem, options: ReadOptions) -> FileSummary:
    """Returns the size and the compression of a file, detected from its beginning if necessary."""
    codec = resolve_codec(options.compression)
    if codec == "auto":
        with contextlib.closing(file_system.open(entry.path)) as raw:
            codec = read_codec(raw, entry.path)
    return FileSummary(entry.size, codec)


class CorruptPlace(NamedTuple):
    """A place that could not be read or decoded: see `CorruptRecord`."""

    file: str
    offset: int
    length: int
    reason: str


@dataclasses.dataclass
class CorruptPlaces:
    """The places that could not be read or decoded.

    Attributes:
      count: how many places there are.
      num_bytes: how many bytes they take.
      first: the first of them, by file and offset.
    """

    count: int = 0
    num_bytes: int = 0
    first: list[CorruptPlace] = dataclasses.field(default_factory=list)

    def add(self, record: CorruptRecord) -> None:
        """Takes a place in."""
        # Whether the range began with a search is a matter of how files were read, not of the data.
        reason = record.reason.removesuffix(f" ({SEARCHED})")
        place = CorruptPlace(record.file or "", record.offset or 0, record.length, reason)
        self._add(1, record.length, [place])

    def merge(self, other: CorruptPlaces) -> None:
        """Takes in what another part of the data shows."""
        self._add(other.count, other.num_bytes, other.first)

    def _add(self, count: int, num_bytes: int, places: Iterable[CorruptPlace]) -> None:
        self.count += count
        self.num_bytes += num_bytes
        last = self.first[-1] if len(self.first) == MAX_CORRUPT else None
        more = [place for place in places if last is None or place < last]
        if more:
            self.first = sorted([*self.first, *more])[:MAX_CORRUPT]
