"""The requests and results of a kernel: the contract that both kernels obey.

Everything here is plain data. For decoding a kernel takes buffers and a plan, and returns Arrow
data (an object with ``__arrow_c_array__``), a `Scan`, a `Candidate` or `DecodeFailure`s. For
encoding it takes Arrow data and an `EncodePlan`, and returns records.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Literal, NamedTuple

RecordType = Literal["Example", "SequenceExample", "ExampleListWithContext", "ByteArray"]
"""Type of a record: ``tf.train.Example``, ``tf.train.SequenceExample``, the message of ranking data
that holds a list of Examples and a context Example, or opaque bytes."""

SEQUENCE_COLUMN = "##SEQUENCE##"
"""The default name of the struct column that holds the features of each step of a record."""


class Kind(enum.IntEnum):
    """The kind of a feature; the value is the field number in ``tf.train.Feature``."""

    BYTES = 1
    FLOAT = 2
    INT64 = 3

    @property
    def list_name(self) -> str:
        """The name of the field in ``tf.train.Feature``, as error texts spell it."""
        return {1: "bytes_list", 2: "float_list", 3: "int64_list"}[self.value]


@dataclasses.dataclass(frozen=True)
class Column:
    """One wanted column.

    Attributes:
      name: the feature's name.
      kind: the required kind of the feature, or None for the kind found in the records.
    """

    name: str
    kind: Kind | None = None


@dataclasses.dataclass(frozen=True)
class DecodePlan:
    """What to decode of each ``tf.train.Example``.

    Attributes:
      columns: the wanted columns in output order; other features are skipped by their length
        without parsing their content. None: every feature found in the records, in byte order of
        the names.
      raw_record_column: name of a last column that holds each record's own bytes
        (`large_list<large_binary>`, one value a row), or None.
    """

    columns: tuple[Column, ...] | None = None
    raw_record_column: str | None = None


@dataclasses.dataclass(frozen=True)
class SequenceDecodePlan:
    """What to decode of each ``tf.train.SequenceExample`` or ``ExampleListWithContext``.

    Attributes:
      columns: the wanted columns of the context, as in `DecodePlan`.
      sequence_columns: the wanted fields of the struct column, likewise: those of the feature
        lists, or of the list of Examples. Empty: no struct column. None: every field found in the
        records, and no struct column if no record has feature lists (or Examples).
      sequence_column_name: name of the struct column, which comes after the context.
      raw_record_column: as in `DecodePlan`.
    """

    columns: tuple[Column, ...] | None = None
    sequence_columns: tuple[Column, ...] | None = None
    sequence_column_name: str = SEQUENCE_COLUMN
    raw_record_column: str | None = None


class DecodeFault(enum.IntEnum):
    """Why a record could not be decoded. Of several faults the first in this list is reported."""

    MALFORMED = 1
    """The protobuf library would not parse these bytes as a message of the record type. (The
    content of features that are not in the plan is not checked.)"""
    NAME_NOT_UTF8 = 2
    """The name of a feature, wanted or not, is not UTF-8."""
    FEATURE_LISTS = 3
    """An Example, alone or in a list, has a length-delimited field 2: it is a ``SequenceExample``
    or another message."""
    NESTED_EXAMPLE = 4
    """A map entry has no value and its name is itself a message of only fields 1 and 2
    (length-delimited, at least one): an ``ExampleListWithContext`` read as another type."""
    RAW_COLUMN_COLLISION = 5
    """Without planned columns: a feature has the name of the raw-record column."""
    SEQUENCE_COLUMN_COLLISION = 6
    """Without planned columns: a feature of the context has the name of the struct column."""
    NAME_WITH_NUL = 7
    """Without planned columns: a feature's name contains a NUL, at which the Arrow C data interface
    would truncate it. Of several the first in byte order is named, those of the context first."""
    KIND_MISMATCH = 8
    """A feature holds a different kind than the plan, an earlier good record of the call, or an
    earlier step. Of several such features the first in output order is named."""


class DecodeFailure(NamedTuple):
    """One record that could not be decoded.

    Attributes:
      fault: a `DecodeFault`.
      record: index of the record in the call.
      feature: UTF-8 name of the feature at fault for the faults from RAW_COLUMN_COLLISION on,
        else None.
      expected: for KIND_MISMATCH the expected `Kind`, else 0.
      found: for KIND_MISMATCH the `Kind` that was found, else 0.
      in_sequence: whether the fault is in the feature lists, or in the list of Examples.
    """

    fault: int
    record: int
    feature: bytes | None = None
    expected: int = 0
    found: int = 0
    in_sequence: bool = False


@dataclasses.dataclass(frozen=True)
class EncodePlan:
    """How the columns of a batch become the features of a record.

    Columns are identified by their position in the batch: first those of the context, then the
    feature lists. Features are written in this order in each record.

    Attributes:
      context: the names of the features; each row of a column becomes one.
      feature_lists: the names of the feature lists of a ``tf.train.SequenceExample``. None: the
        records are ``tf.train.Example``s.
      null_as_absent: whether features without a kind, such as those of null rows, are omitted from
        the context.
    """

    context: tuple[str, ...]
    feature_lists: tuple[str, ...] | None = None
    null_as_absent: bool = False


class EncodeFault(enum.IntEnum):
    """Why a batch could not be encoded.

    Of several faults the one in the first row is reported; within a row, that of the first column.
    """

    UNSUPPORTED_TYPE = 1
    """A column has a type that the kernel does not encode. Checked before everything else."""
    NULL_VALUE = 2
    """There is a null among the values of a feature."""
    TOO_LARGE = 3
    """A record takes 2 GiB or more, which no protobuf library reads. Reported only for a row
    without other faults."""


class EncodeFailure(NamedTuple):
    """Why a batch could not be encoded.

    Attributes:
      fault: an `EncodeFault`.
      record: the row in the batch; 0 for UNSUPPORTED_TYPE.
      feature: UTF-8 name of the feature or feature list at fault; empty for TOO_LARGE.
    """

    fault: int
    record: int
    feature: bytes = b""


class ScanStatus(enum.IntEnum):
    """Why a scan of frames ended."""

    LIMIT = 0
    """`stop`, `max_records` or `max_bytes` was reached."""
    MORE = 1
    """The next frame is not whole in the buffer; `Scan.needed` bytes from `Scan.end` are needed."""
    BAD_LENGTH_CRC = 2
    """The CRC of the next frame's length field does not match."""
    BAD_PAYLOAD_CRC = 3
    """The CRC of the next frame's payload does not match."""


class Scan(NamedTuple):
    """The whole frames found by `scan`.

    Attributes:
      offsets: int64 memoryview, index in the buffer of the first payload byte of each record.
      lengths: int64 memoryview, payload length in bytes of each record.
      end: index after the last whole frame; the next frame, whole or not, starts here.
      status: a `ScanStatus`.
      needed: for MORE, the bytes from `end` on needed to continue: 12 while the header of the next
        frame is not whole, then 16 + length, at most 2**63 - 1. For BAD_PAYLOAD_CRC the frame's
        size. Else 0.
      stored: for the BAD statuses the masked CRC stored in the file, else 0.
      computed: for the BAD statuses the masked CRC computed from the bytes, else 0.
    """

    offsets: memoryview
    lengths: memoryview
    end: int
    status: int
    needed: int
    stored: int
    computed: int


class Candidate(NamedTuple):
    """The result of `find_record`.

    Attributes:
      position: index in the buffer. With `found` and `needed` 0: a whole, valid frame starts there.
        With `needed` > 0: a frame with a valid length CRC starts there, but its payload is not
        whole in the buffer, so that its CRC could not be checked. Not `found`: no valid frame
        starts before this position; positions from here on were not checked.
      found: whether there is a frame or a possible frame at `position`.
      needed: size in bytes of the possible frame, or 0 if it was checked completely.
    """

    position: int
    found: bool
    needed: int
