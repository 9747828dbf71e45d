"""Names the files of a write, and recognizes those of earlier writes."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import re
import uuid
from collections.abc import Iterable

from tfrecord_beam.options import describe
from tfrecord_beam.records.index import side_car_path
from tfrecord_beam.records.writing.compression import CODEC_SUFFIXES
from tfrecord_beam.urls import split_root

DEFAULT_SUFFIX = ".tfrecord"
DEFAULT_TEMPLATE = "-SSSSS-of-NNNNN"
FOLDER_BASE = "part"
"""Base name of the files where the prefix is that of a folder; Spark's."""

SUCCESS_NAME = "_SUCCESS"

_ID_DIGITS = 16
_ID = rf"[0-9a-f]{{{_ID_DIGITS}}}"
_TIME = r"(?:\d{8}T\d{6}(?:\.\d{6})?Z|-?\d+us)"
_WINDOW = rf"-{_TIME}-{_TIME}-\d+|-pane-\d+"
_SPARK_SHARD = r"-\d{5,}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:[-.]c\d{3,})?"
_HIVE_FOLDERS = r"(?:[^/=._][^/=]*=[^/]*/)*"
_PATTERN_CHARACTERS = frozenset("*?[")
_EPOCH = datetime.datetime(1970, 1, 1)


def make_id() -> str:
    """Returns an id that no other write has."""
    return uuid.uuid4().hex[:_ID_DIGITS]


def is_id(text: str) -> bool:
    """Returns whether a text may be what `make_id` returned."""
    return re.fullmatch(_ID, text) is not None


def name_pane(start_micros: int, end_micros: int, pane: int) -> str:
    """Returns the part of a file's name that gives its window, in UTC, and the pane of that.

    >>> name_pane(0, 60_000_000, 1)
    '-19700101T000000Z-19700101T000100Z-1'
    """
    return f"-{_format_time(start_micros)}-{_format_time(end_micros)}-{pane}"


def _format_time(micros: int) -> str:
    try:
        time = _EPOCH + datetime.timedelta(microseconds=micros)
    except OverflowError:  # before the year 1, as is what has no time, or after 9999
        return f"{micros}us"
    return f"{time:%Y%m%dT%H%M%S}" + (f".{time.microsecond:06}Z" if time.microsecond else "Z")


def checksum_path(path: str) -> str:
    """Returns the path of Hadoop's checksum for a file, which Hadoop verifies on reading."""
    return side_car_path(path, ".crc")


def check_no_pattern(name: str, path: str) -> None:
    """Raises ValueError for a path that contains wildcards, and so could not be read back."""
    if _PATTERN_CHARACTERS & {*split_root(path)[1]}:
        raise ValueError(
            f"Expected {name} without the pattern characters * ? [, found {describe(path)}"
        )


def check_file_path(name: str, path: str) -> None:
    """Raises ValueError for a path that cannot be that of a single file to write."""
    check_no_pattern(name, path)
    if path.endswith("/"):
        raise ValueError(f"Expected {name} to be that of a file, found {describe(path)}")


def check_template(template: str) -> None:
    """Raises ValueError for a template that cannot name shards."""
    if "S" not in template:
        raise ValueError(
            "Expected shard_name_template to hold the shard's number as a run of S, such as "
            f"{DEFAULT_TEMPLATE!r}, found {template!r}"
        )
    if "/" in template or _PATTERN_CHARACTERS & {*template}:
        raise ValueError(
            f"Expected shard_name_template without the characters / * ? [, found {template!r}"
        )
    if re.search(r"[UVW]", template):
        raise ValueError(
            "Expected shard_name_template to hold the letters S and N only, "
            f"found {template!r} (windows are part of the name before it)"
        )


@dataclasses.dataclass(frozen=True)
class FileNames:
    """The names of a write's files: ``<folder><partition>/<base><part><template><suffix>``.

    Attributes:
      folder: what the prefix spells up to its last slash, which is kept; may be empty.
      base: how each name begins.
      template: a run of S stands for the number of the shard, a run of N for that of all.
      suffix: how each name ends, before the codec's suffix.
      codec_suffix: the codec's suffix; may be empty.
      is_exact: whether ``<folder><base>`` is the name of the one file there is.
    """

    folder: str
    base: str
    template: str
    suffix: str
    codec_suffix: str
    is_exact: bool = False

    def path(self, shard: int, num_shards: int, *, partition: str = "", part: str = "") -> str:
        """Returns the path of a shard.

        >>> FileNames("out/", "data", "-SSS-of-NNN", ".tfrecord", ".gz").path(1, 20)
        'out/data-001-of-020.tfrecord.gz'

        Args:
          shard: number of the shard, from 0.
          num_shards: number of shards.
          partition: the folders of its partition, without a slash at the end.
          part: what stands between base and template: the window, the id of the write.
        """
        numbers = {"S": shard, "N": num_shards}
        number = re.sub("S+|N+", lambda run: f"{numbers[run[0][0]]:0{len(run[0])}}", self.template)
        below = f"{partition}/" if partition else ""
        return f"{self.folder}{below}{self.base}{part}{number}{self.suffix}{self.codec_suffix}"

    def temporary_folder(self, write_id: str) -> str:
        """Returns the folder of a write's unfinished files, one that readers skip."""
        return f"{self.folder}.{self.base}-temp-{write_id}"

    def is_temporary_folder(self, name: str) -> bool:
        """Returns whether this is the name of the `temporary_folder` of any write."""
        return re.fullmatch(rf"\.{re.escape(self.base)}-temp-{_ID}", name) is not None

    def is_own(self, path: str) -> bool:
        """Returns whether a write with this prefix, template and suffix made a file of the folder.

        Numbers, ids, windows, partitions and codec do not matter, and where the base is Spark's
        its names count as well.

        Args:
          path: of the file, relative to the folder.
        """
        return self._own.fullmatch(path) is not None

    def own(self, paths: Iterable[str]) -> list[str]:
        """Returns those of some paths that `is_own` means, with the folder before them."""
        return [self.folder + path for path in paths if self.is_own(path)]

    @functools.cached_property
    def _own(self) -> re.Pattern[str]:
        if self.is_exact:
            return re.compile(re.escape(self.base))
        # In a regular expression the letters are those of the template: nothing escapes them.
        number = re.sub("S+|N+", r"\\d+", re.escape(self.template))
        shard = rf"(?:-{_ID})?(?:{_WINDOW})?{number}|(?:{_WINDOW})?-{_ID}-{_ID}"
        if self.base == FOLDER_BASE:
            shard += f"|{_SPARK_SHARD}"
        codecs = "|".join(map(re.escape, CODEC_SUFFIXES))
        return re.compile(
            f"{_HIVE_FOLDERS}{re.escape(self.base)}(?:{shard}){re.escape(self.suffix)}(?:{codecs})?"
        )
