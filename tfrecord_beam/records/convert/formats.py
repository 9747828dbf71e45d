"""The file formats for conversions: how names determine them, and errors while reading."""

from __future__ import annotations

import contextlib
import enum
import posixpath
import re
from collections.abc import Iterable, Iterator

import pyarrow as pa

from tfrecord_beam.errors import CorruptRecordError, DecodeError, Location, SchemaError, render
from tfrecord_beam.options import describe
from tfrecord_beam.records.compression import codec_of_name

_SHARD = re.compile(r"-\d+-of-\d+$")


class Format(enum.Enum):
    """The format of a file; the value is the name that users write."""

    TFRECORD = "tfrecord"
    PARQUET = "parquet"
    CSV = "csv"
    JSON = "json"
    ARROW = "arrow"
    ARROW_STREAM = "arrow-stream"

    @property
    def is_text(self) -> bool:
        return self in (Format.CSV, Format.JSON)


_SUFFIXES = {
    "": Format.TFRECORD,  # Beam's default for shards has no suffix
    ".tfrecord": Format.TFRECORD,
    ".tfrecords": Format.TFRECORD,
    ".tfr": Format.TFRECORD,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".csv": Format.CSV,
    ".jsonl": Format.JSON,
    ".ndjson": Format.JSON,
    ".json": Format.JSON,
    ".arrow": Format.ARROW,
    ".feather": Format.ARROW,
    ".arrows": Format.ARROW_STREAM,
}

_NAMES = ", ".join(each.value for each in Format)


def choose_format(option: str, name: str | None, paths: Iterable[str]) -> Format:
    """Returns the format named by an option, or that of the suffixes of all files.

    >>> choose_format("source_format", None, ["a.tfrecord-00000-of-00002.gz"]).value
    'tfrecord'

    Args:
      option: name of the option, for errors.
      name: its value: the name of a format, or None.
      paths: of the files.

    Raises:
      ValueError: the format is unknown, or the suffixes give none or several.
    """
    if name is not None:
        for each in Format:
            if each.value == name:
                return each
        raise ValueError(f"Expected {option} to be None or one of {_NAMES}, found {describe(name)}")
    found: dict[Format, str] = {}
    for path in paths:
        found.setdefault(_format_of(path, option), path)
    if len(found) > 1:
        first, second, *_ = found.values()
        raise ValueError(f"Expected files of one format, found {first!r} and {second!r}")
    return next(iter(found))


def find_tfrecord_suffix(path: str) -> str:
    """Returns the TFRecord suffix of a name, including a codec's suffix; "" if it has none.

    >>> find_tfrecord_suffix("out/a.tfr.gz"), find_tfrecord_suffix("out/v1.5")
    ('.tfr.gz', '')
    """
    _, suffix, codec = _split(path)
    return suffix + codec if _SUFFIXES.get(suffix.lower()) is Format.TFRECORD else ""


def name_shard(path: str, index: int, count: int) -> str:
    """Returns the path of one of several files.

    >>> name_shard("out/a.csv.gz", 1, 3)
    'out/a-00001-of-00003.csv.gz'
    """
    stem, suffix, codec = _split(path)
    return f"{stem}-{index:05}-of-{count:05}{suffix}{codec}"


@contextlib.contextmanager
def reading(path: str, file_format: Format) -> Iterator[None]:
    """Adds the file to errors, and turns pyarrow's errors for damaged files into DecodeError."""
    try:
        yield
    except (CorruptRecordError, SchemaError) as error:  # raised without the name of the file
        raise error.located(file=path) from error.__cause__
    except (pa.ArrowException, OSError) as error:
        if getattr(error, "errno", None) is not None:
            raise  # reading itself failed; Arrow's own errors have no errno
        reason = " ".join(str(error).split())  # in one line
        raise DecodeError(
            f"Expected {file_format.value} data, found some that cannot be read: {reason}",
            Location(path),
        ) from error


def _split(path: str) -> tuple[str, str, str]:
    """Returns a path split into stem, format suffix and codec suffix."""
    rest, codec = posixpath.splitext(path)
    if codec_of_name(path) == "none":
        rest, codec = path, ""
    return (*posixpath.splitext(rest), codec)


def _format_of(path: str, option: str) -> Format:
    base = posixpath.basename(path.replace("\\", "/")).lower()
    if codec_of_name(base) != "none":
        base = posixpath.splitext(base)[0]
    suffix = posixpath.splitext(_SHARD.sub("", base))[1]
    if suffix not in _SUFFIXES:
        message = f"Expected a file name whose suffix names the format, found {path!r}"
        hint = (
            f"give {option}: {_NAMES}; or one of the suffixes {', '.join(filter(None, _SUFFIXES))}"
        )
        raise ValueError(render(message, hint=hint))
    return _SUFFIXES[suffix]
