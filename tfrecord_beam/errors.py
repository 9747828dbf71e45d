"""The errors of the library: one tree, one grammar, and the functions that render it.

Every message reads ``what was expected, what was found - at file:offset, record i (what to do)``.
The parts stay on the exception as attributes, so that code never has to parse the text.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

_ErrorT = TypeVar("_ErrorT", bound="TFRecordBeamError")

_BEAM_STEP = " [while running "


@dataclasses.dataclass(frozen=True)
class Location:
    """Where something was found. Every part may be unknown.

    Attributes:
      file: path or URL as it was opened.
      offset: position in bytes of the record's first byte (its length field), counted in the
        decompressed content when the file is compressed.
      record: number of the record in its file, from 0; unknown where reading began inside the file.
        In functions that take a list of records it is the index in that list.
      line: number of the line in a text file, from 1; unknown where reading began inside the file.
      feature: name of the feature.
    """

    file: str | None = None
    offset: int | None = None
    record: int | None = None
    feature: str | None = None
    line: int | None = None


def render(message: str, location: Location = Location(), hint: str | None = None) -> str:
    """Returns the full text of an error: ``message - at place (hint)``.

    >>> render("Payload CRC mismatch", Location("a.tfrecord", 52, 1), "skip it")
    'Payload CRC mismatch - at a.tfrecord:52, record 1 (skip it)'
    """
    if f"feature {location.feature!r}" in message:
        location = dataclasses.replace(location, feature=None)
    place = render_place(location)
    text = f"{message} - at {place}" if place else message
    return f"{text} ({hint})" if hint else text


def render_place(location: Location) -> str:
    """Returns a place as text; an empty string if nothing about it is known.

    >>> render_place(Location("a.tfrecord", 52, 1))
    'a.tfrecord:52, record 1'
    """
    parts = []
    if location.file is not None:
        offset = "" if location.offset is None else f":{location.offset}"
        parts.append(f"{location.file}{offset}")
    elif location.offset is not None:
        parts.append(f"offset {location.offset}")
    if location.record is not None:
        parts.append(f"record {location.record}")
    if location.line is not None:
        parts.append(f"line {location.line}")
    if location.feature is not None:
        parts.append(f"feature {location.feature!r}")
    return ", ".join(parts)


class TFRecordBeamError(Exception):
    """Base of every error that the library raises on purpose.

    Attributes:
      message: what was expected and what was found.
      location: the place, see `Location`; its parts are also `file`, `offset`, `record`, `line`,
        `feature`.
      hint: what to do about it, or None.
    """

    def __init__(
        self, message: str, location: Location = Location(), hint: str | None = None
    ) -> None:
        super().__init__(message)  # only this: OSError would interpret more arguments as its own
        self.args = (message, location, hint)
        # Beam recreates an error from its `args`, with the name of the step appended to the first.
        self.message, mark, step = message.partition(_BEAM_STEP)
        self.location = location
        self.hint = hint
        self._step = mark + step

    def __str__(self) -> str:
        return render(self.message, self.location, self.hint) + self._step

    @property
    def file(self) -> str | None:
        return self.location.file

    @property
    def offset(self) -> int | None:
        return self.location.offset

    @property
    def record(self) -> int | None:
        return self.location.record

    @property
    def line(self) -> int | None:
        return self.location.line

    @property
    def feature(self) -> str | None:
        return self.location.feature

    def located(self: _ErrorT, **parts: Any) -> _ErrorT:
        """Returns the same error with parts of its location replaced (`file=`, `offset=`, ...)."""
        return type(self)(self.message, dataclasses.replace(self.location, **parts), self.hint)


class CorruptRecordError(TFRecordBeamError, ValueError):
    """The bytes of a file are not intact TFRecord frames: wrong CRC, truncated data, ..."""


class DecodeError(TFRecordBeamError, ValueError):
    """A record is framed correctly but does not have the expected content."""


class EncodeError(TFRecordBeamError, ValueError):
    """A batch holds a value that a record cannot hold. `record` is the row in the batch."""


class SchemaError(TFRecordBeamError, ValueError):
    """A schema, a column selection or a combination of them cannot be used."""


class CoverageError(TFRecordBeamError):
    """The byte ranges read of a file do not tile it: records were lost or read twice."""


class NoMatchError(TFRecordBeamError, FileNotFoundError):
    """A file pattern matches no file."""


class WriteError(TFRecordBeamError, OSError):
    """A file cannot be written, or cannot be moved into place."""


class MissingLibraryError(TFRecordBeamError, ModuleNotFoundError):
    """A function needs a library that is not installed; the hint names the extra that has it."""
