"""The index of a file: where records begin, for splits that need no search.

It is a side-car file in the same folder, ``.<name>.index``, a name that patterns do not match. It
holds JSON::

  {"format": "tfrecord_beam.index.1", "file_bytes": 3145000, "offsets": [0, 1048702, 2097410]}

`offsets` are those of the first record that begins in each MiB of the file, if there is one. From
there a reader follows a few records to the beginning of a range, however large the file is and
whatever its records contain. Only an uncompressed file needs an index: compressed ones are not
split.

An index may be older than its file. It is not trusted if the file has another size now, or if there
is no record at the offset looked up; then the reader warns and searches as it would without an
index. The coverage of the ranges of a file is checked in any case.
"""

from __future__ import annotations

import bisect
import dataclasses
import json
import os
from collections.abc import Sequence

import numpy as np

from tfrecord_beam.caller import warn_caller
from tfrecord_beam.records.block import HEADER_BYTES, Int64Array
from tfrecord_beam.records.paths import FileSystem
from tfrecord_beam.records.search import follow_row
from tfrecord_beam.records.window import Window

_FORMAT = "tfrecord_beam.index.1"
_STEP_BYTES = 1 << 20


def side_car_path(path: str, ending: str) -> str:
    """Returns the path of a hidden file beside another one, named after it.

    >>> side_car_path("gs://bucket/a.tfrecord", ".index")
    'gs://bucket/.a.tfrecord.index'
    """
    name = os.path.basename(path)
    return f"{path[: len(path) - len(name)]}.{name}{ending}"


def index_path(path: str) -> str:
    """Returns the path of the index of a file."""
    return side_car_path(path, ".index")


@dataclasses.dataclass(frozen=True)
class FileIndex:
    """Where some records of a file begin.

    Attributes:
      file_bytes: size of the file.
      offsets: of the first record, if there is one, and of some others, in order.
    """

    file_bytes: int
    offsets: Sequence[int]

    @classmethod
    def parse(cls, data: bytes) -> FileIndex:
        """Returns the index that `dump` has written.

        Raises:
          ValueError: `data` is something else.
        """
        content = json.loads(data)
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise ValueError(f"Expected an index of the format {_FORMAT!r}, found another")
        file_bytes, offsets = content.get("file_bytes"), content.get("offsets")
        if type(file_bytes) is not int or not isinstance(offsets, list):
            raise ValueError("Expected file_bytes and offsets in an index, found others")
        if any(type(offset) is not int for offset in offsets):
            raise ValueError("Expected integers for the offsets of an index, found others")
        if offsets != sorted(offsets) or offsets[:1] not in ([], [0]):
            raise ValueError("Expected offsets of an index in order from 0, found others")
        return cls(file_bytes, offsets)

    def dump(self) -> bytes:
        """Returns the content of a side-car."""
        content = {"format": _FORMAT, "file_bytes": self.file_bytes, "offsets": [*self.offsets]}
        return json.dumps(content).encode()

    def find(self, offset: int) -> int:
        """Returns the last of the offsets that is at or before this one."""
        return self.offsets[max(bisect.bisect_right(self.offsets, offset) - 1, 0)]


class IndexBuilder:
    """Builds the index of a file from the offsets of all its records.

    >>> builder = IndexBuilder()
    >>> builder.add(np.array([0, 600_000, 900_000, 1_500_000]))
    >>> builder.add(np.array([0, 17]))
    >>> builder.build()
    FileIndex(file_bytes=1500017, offsets=[0, 1500000])
    """

    def __init__(self) -> None:
        self._offsets: list[int] = []
        self._end = 0
        self._last_step = -1

    def add(self, bounds: Int64Array) -> None:
        """Adds the next frames.

        Args:
          bounds: int64 [records + 1], where each of them begins and where the last one ends,
            relative to any origin.
        """
        begins = bounds - bounds[0] + self._end
        steps = begins[:-1] // _STEP_BYTES
        self._offsets += begins[np.flatnonzero(np.diff(steps, prepend=self._last_step))].tolist()
        self._last_step = int(steps[-1]) if len(steps) else self._last_step
        self._end = int(begins[-1])

    def build(self) -> FileIndex:
        return FileIndex(self._end, self._offsets)


def read_index(file_system: FileSystem, path: str) -> FileIndex | None:
    """Returns the index of a file, None if there is none. Warns about one that is invalid."""
    entry = file_system.get_file(index_path(path))
    if entry is None:
        return None
    file = file_system.open(entry.path)
    try:
        parts = iter(lambda: file.read(_STEP_BYTES), b"")
        return FileIndex.parse(b"".join(parts))
    except (ValueError, RecursionError) as error:
        _warn(path, str(error))
        return None
    finally:
        file.close()


def find_by_index(window: Window, index: FileIndex, start: int) -> bool:
    """Goes to the first record that begins at or after the offset `start`, or to the end.

    Returns whether the index matches the file. If not, warns and goes to `start`.
    """
    if window.end != index.file_bytes:
        _warn(window.path, f"it was made for {index.file_bytes} bytes, not {window.end}")
    elif index.offsets:
        window.move_to(index.find(start))
        follow_row(window, start)
        window.require(HEADER_BYTES)
        is_end = window.ended and not window.left
        if is_end or (window.offset >= start and window.has_right_length()):
            return True
        _warn(window.path, f"there is no record at {window.offset}")
    window.move_to(start)
    return False


def _warn(path: str, reason: str) -> None:
    warn_caller(
        f"The index of {path} does not fit the file, whose records are searched instead: {reason} "
        "(remove the index, or rebuild it: tfrecord-beam index)",
        RuntimeWarning,
    )
