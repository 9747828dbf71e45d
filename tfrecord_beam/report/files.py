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
"""Maximum number of corrupt places that are listed."""


@dataclasses.dataclass
class FileSummary:
    """The summary of a file.

    Attributes:
      size: bytes as stored.
      codec: its compression; None: not known yet.
      records: number of records that could be read, decodable or not.
      payload_bytes: their total size.
      corrupt: number of places that could not be read or decoded.
    """

    size: int = 0
    codec: str | None = None
    records: int = 0
    payload_bytes: int = 0
    corrupt: int = 0

    def merge(self, other: FileSummary) -> None:
        """Adds the summary of another part of the file; only one part has size and codec."""
        self.size += other.size
        self.codec = self.codec or other.codec
        self.records += other.records
        self.payload_bytes += other.payload_bytes
        self.corrupt += other.corrupt


def summarize_file(entry: FileEntry, file_system: FileSystem, options: ReadOptions) -> FileSummary:
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
      count: number of places.
      num_bytes: their total size.
      first: the first places, by file and offset.
    """

    count: int = 0
    num_bytes: int = 0
    first: list[CorruptPlace] = dataclasses.field(default_factory=list)

    def add(self, record: CorruptRecord) -> None:
        """Adds a place."""
        # The hint depends on how files were split, not on the data.
        reason = record.reason.removesuffix(f" ({SEARCHED})")
        place = CorruptPlace(record.file or "", record.offset or 0, record.length, reason)
        self._add(1, record.length, [place])

    def merge(self, other: CorruptPlaces) -> None:
        """Adds the places in another part of the data."""
        self._add(other.count, other.num_bytes, other.first)

    def _add(self, count: int, num_bytes: int, places: Iterable[CorruptPlace]) -> None:
        self.count += count
        self.num_bytes += num_bytes
        last = self.first[-1] if len(self.first) == MAX_CORRUPT else None
        more = [place for place in places if last is None or place < last]
        if more:
            self.first = sorted([*self.first, *more])[:MAX_CORRUPT]
