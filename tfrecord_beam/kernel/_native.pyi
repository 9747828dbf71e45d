"""The contract of the kernel. `kernel.reference` has the same names with the same meaning.

All functions release the GIL while they work, keep no state and may be called from many threads.
A *frame* is one record in a file: uint64 length (little endian), uint32 masked CRC32C of those 8
bytes, payload, uint32 masked CRC32C of the payload. 16 + length bytes. The mask is
``((crc >> 15 | crc << 17) + 0xa282ead8) mod 2**32`` (TensorFlow, ``core/lib/hash/crc32c.h``).
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from typing_extensions import Buffer

from tfrecord_beam.kernel.plan import (
    Candidate,
    DecodeFailure,
    DecodePlan,
    EncodePlan,
    Scan,
    SequenceDecodePlan,
)

_Int64Array = npt.NDArray[np.int64]

class ArrowArrayExportable(Protocol):
    """An array or a record batch behind the Arrow PyCapsule protocol, as `pa.array` takes it."""

    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...

def crc32c(data: Buffer, crc: int = 0) -> int:
    """Returns the CRC32C (Castagnoli, RFC 3720) of `data`, continued from `crc`."""

def masked_crc32c(data: Buffer, crc: int = 0) -> int:
    """Returns the masked CRC32C that frames store, continued from the plain CRC32C `crc`."""

def scan(
    data: Buffer,
    *,
    start: int = 0,
    stop: int | None = None,
    max_records: int | None = None,
    max_bytes: int | None = None,
    validate_crc: bool = True,
) -> Scan:
    """Finds the whole frames in `data`, the first of which starts at `start`.

    Stops before the first frame that starts at or after `stop` (LIMIT; None: no such bound),
    after `max_records` frames (LIMIT), before a frame with which the frames together would exceed
    `max_bytes` (LIMIT; but a first frame is always taken), at a frame that is not whole (MORE),
    and at a wrong CRC. The bounds are looked at in this order before each frame: `stop`,
    `max_records`, header whole (else MORE, needed 12), length CRC, `max_bytes`, frame whole (else
    MORE, needed 16 + length), payload CRC.

    Args:
      data: bytes of a file.
      start: index of the first frame, 0 <= start <= len(data).
      stop: frames that start at or after this index are left out.
      max_records: at least 1.
      max_bytes: bound on the sum of the frames' sizes (16 + length each).
      validate_crc: False: neither CRC is computed, but that of a length of 0: zero bytes are not
        empty records.

    Raises:
      ValueError: `start` out of range, `max_records` below 1.
    """

def find_record(data: Buffer, *, start: int, stop: int, limit: int) -> Candidate:
    """Finds the first index p, start <= p < stop, at which a valid frame starts.

    A frame is valid when its length CRC fits, it ends at or before `limit` and its payload CRC
    fits. The search ends early at the first p that needs more bytes than `data` has: when p + 12
    is beyond the data (found False, position p), or when the length CRC fits and the frame ends
    at or before `limit` but after the data (found True, needed 16 + length). With nothing found
    before `stop` the answer is (stop, False, 0).

    Args:
      data: bytes of a file.
      start: index to begin at.
      stop: index to end before.
      limit: index of the end of the file, counted like the others; may be beyond len(data).
    """

def allocate(size: int) -> memoryview:
    """Returns writable memory of `size` bytes, not cleared.

    Large pieces that were freed are kept for the next call: what the system gives for the first
    time costs as much as reading a file into it.
    """

def frame(records: Sequence[Buffer]) -> bytes:
    """Returns the frames of `records`, one after the other.

    Raises:
      EncodeError: a record takes 2 GiB or more.
    """

def element_lengths(array: ArrowArrayExportable) -> _Int64Array:
    """Returns how long each list or string is, 0 for a null. It takes what `row_splits` takes.

    Raises:
      ValueError: the array is of another type.
    """

def row_splits(array: ArrowArrayExportable) -> tuple[_Int64Array, int, int | None]:
    """Returns where lists end, how long the longest is, and where their values begin.

    Args:
      array: `list`, `large_list`, or strings (`binary`, `string`, `large_binary`, `large_string`),
        which count as lists of their bytes. It may be a slice.

    Returns:
      The row splits: list i reaches from splits[i] to splits[i + 1] of the values of all lists. A
      null list is empty. They begin with 0, and there is one more than lists.
      The length of the longest list, 0 without lists.
      The index of the first value in the array of values; None where lists that are null stand over
      values, which belong to no list then, so that the others are not end to end.

    Raises:
      ValueError: the array is of another type.
    """

def number_lists(
    array: ArrowArrayExportable,
) -> tuple[_Int64Array, int, npt.NDArray[Any]] | None:
    """Returns lists of numbers: their row splits, the length of the longest, and the numbers.

    Args:
      array: any. It may be a slice.

    Returns:
      The first two are as `row_splits` returns them. The numbers, those of all lists end to end,
      share the memory of the array, and may not be written to.
      None where it is of another type than `list` or `large_list` of integers, float32 or float64,
      one of these may be null, or they are not end to end.
    """

def byte_size(array: ArrowArrayExportable) -> int | None:
    """Returns how many bytes an array takes: values, offsets and validity, each of the slice.

    A record batch takes what its columns take, an extension type what it is stored as. None: there
    is another type in it than integers, float32, float64, bools, strings, nulls, and lists and
    structs of these.
    """

def count_invalid_utf8(array: ArrowArrayExportable) -> int:
    """Returns how many strings of an array are not UTF-8 (RFC 3629); a null is none of them.

    Raises:
      ValueError: the array is of another type than `binary`, `string`, `large_binary` and
        `large_string`.
    """

def parent_indices(splits: _Int64Array) -> _Int64Array:
    """Returns of each value the number of the list that it is in.

    Raises:
      ValueError: these are no row splits, see `row_splits`.
      MemoryError: they are of more values than memory holds.
    """

def coordinates(levels: Sequence[_Int64Array]) -> _Int64Array:
    """Returns where each value of nested lists is, [values, 1 + levels].

    That is the number of its row, its place in the row, its place in what is there, and so on.

    Args:
      levels: the row splits of each level of lists, from the outermost. Each level has as many
        lists as the one before it holds.

    Raises:
      ValueError: there is no level, or one is of another number of lists or no row splits.
      MemoryError: there are more values than memory holds.
    """

def splits_of_coordinates(
    coordinates: _Int64Array, shape: Sequence[int]
) -> tuple[_Int64Array, bool] | None:
    """Returns the row splits of values of which the coordinates are known, None for bad ones.

    Good ones are from 0 on and below the sizes of the shape, and in order of their rows.

    Args:
      coordinates: int64 [values, rank], of any strides.
      shape: the size of each dimension, the number of rows first.

    Returns:
      The row splits, see `row_splits`.
      Whether the last coordinates in each row are 0, 1, 2, and so on.

    Raises:
      ValueError: the rank is 0 or not that of the shape, or the number of rows is below 0.
      MemoryError: there are more rows than memory holds.
    """

def is_aligned(array: npt.NDArray[Any]) -> bool:
    """Returns whether an array lies at a multiple of 64 bytes, its elements one after the other."""

def as_writable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns an array over the same memory that may be written to as far as numpy knows.

    DLPack has no word for memory that is only to be read, so numpy refuses to share it. This is for
    users that do not write, as TensorFlow.
    """

class ExampleDecoder:
    """Decodes serialized ``tf.train.Example`` records into one Arrow record batch.

    Columns are `large_list<item: int64>`, `large_list<item: float>` or
    `large_list<item: large_binary>`, nullable. A row is null when the feature is missing, or
    present with no kind set; a kind with no values is an empty list. A column whose kind is not
    planned and not seen in any record (or only without a kind) is of type `null`. A planned kind
    that differs from a record's kind is a failure also when the list is empty.

    The wire means what the protobuf library says: the last of several map entries with one name
    wins; repeated `features` messages merge; repeated values within one map entry merge; of several
    kinds in a Feature the last wins, repeats of the last kind in a row merge; packed and unpacked
    both; unknown fields and groups are skipped; names must be UTF-8.

    Args:
      plan: what to decode. Keeps no reference to it.

    Raises:
      ValueError: two columns of one name, or one with the raw-record column's.
    """

    def __init__(self, plan: DecodePlan) -> None: ...
    def decode(
        self,
        data: Buffer,
        offsets: Buffer,
        lengths: Buffer,
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[ArrowArrayExportable, list[DecodeFailure]]:
        """Decodes the records ``data[offsets[i] : offsets[i] + lengths[i]]`` (int64 buffers).

        Returns the batch and the failures. With `collect_failures` rows that fail are left out of
        the batch as if they had not been there, and reported in order. Without it the first failure
        ends the call. `max_cells` bounds rows times columns, so that the many nulls of wide and
        sparse data do not fill memory: the call ends before a row with which there would be more
        (but a first row is always taken). It has then looked at as many records as there are rows
        and failures.

        Raises:
          DecodeError: the first failure, built by `tfrecord_beam.kernel.faults.decode_error`.
          ValueError: a span outside of `data`, offsets and lengths of different size.
        """

    def decode_records(
        self,
        records: Sequence[Buffer],
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[ArrowArrayExportable, list[DecodeFailure]]:
        """The same for records that are objects of their own (`bytes`, ...)."""

class ExampleEncoder:
    """Encodes the rows of Arrow record batches as ``tf.train.Example`` or ``SequenceExample``.

    A column of the context is of values (a list of one in each row) or of lists of values, one of
    feature lists is of lists of either. Lists are `list` or `large_list`; values are `int64`,
    `float`, or `binary`, `large_binary`, `string`, `large_string`, whose bytes are written as they
    are. They are read where they lie, slices too.

    A null row of the context becomes a feature without a kind; a list without values has its kind.
    A null row of feature lists becomes no feature list, one without elements a feature list without
    features; a null element becomes a feature without a kind. Features of a column whose values are
    of type `null` have no kind. What lies below a null is not looked at.

    The bytes: fields in the order of their numbers, entries of maps in the order of the columns,
    both fields of each entry, numbers packed, varints as short as can be. An Example always has
    its `features`, a SequenceExample its `context` and `feature_lists`, be they empty.

    Args:
      plan: what columns become. Keeps no reference to it.

    Raises:
      SchemaError: two features, or two feature lists, of one name.
    """

    def __init__(self, plan: EncodePlan) -> None: ...
    def encode_frames(self, batch: ArrowArrayExportable) -> tuple[memoryview, memoryview]:
        """Returns all records in their frames, and int64 offsets, one more than records.

        Frame i is ``data[offsets[i] : offsets[i + 1]]``.

        Raises:
          SchemaError: a column is of another type.
          EncodeError: a null is among the values of a list, or a record takes 2 GiB or more.
          ValueError: the batch has not as many columns as the plan, or is no record batch.
        """

    def encode_records(self, batch: ArrowArrayExportable) -> list[bytes]:
        """Returns the same records as objects of their own."""

class SequenceExampleDecoder:
    """Decodes serialized ``tf.train.SequenceExample`` records into one Arrow record batch.

    The columns of the context are those of an `ExampleDecoder`. After them comes a struct column
    that is never null, with a field for each feature list: `large_list<item: large_list<item: T>>`,
    an inner list for each step. The outer list is null where the record does not have the feature
    list, and empty where it has no step; the inner one is null where the step has no kind, and
    empty where it has no value. A kind that is not known makes `large_list<item: null>`. For which
    plans and records there is no struct column says `SequenceDecodePlan`.

    The wire means what the protobuf library says, as for Examples; feature lists that come in
    parts within one map entry are joined. A cell, of which `max_cells` bounds the number, is a list
    of values or an outer list.

    Args:
      plan: what to decode. Keeps no reference to it.

    Raises:
      ValueError: two columns of one name, or one with the raw-record or the struct column's.
    """

    def __init__(self, plan: SequenceDecodePlan) -> None: ...
    def decode(
        self,
        data: Buffer,
        offsets: Buffer,
        lengths: Buffer,
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[ArrowArrayExportable, list[DecodeFailure]]:
        """See `ExampleDecoder.decode`."""

    def decode_records(
        self,
        records: Sequence[Buffer],
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[ArrowArrayExportable, list[DecodeFailure]]:
        """See `ExampleDecoder.decode_records`."""

class ExampleListDecoder:
    """Decodes serialized ``ExampleListWithContext`` records into one Arrow record batch.

    The message (TensorFlow Serving, ``input.proto``) has a list of Examples as field 1 and one
    Example for all of them, the context, as field 2. The batch is that of a
    `SequenceExampleDecoder`: the steps are the Examples, so that each list of the struct column
    has as many inner lists as the record has Examples, null where an Example does not have the
    feature. A cell of the struct column is an inner list.

    Args:
      plan: what to decode. Keeps no reference to it.

    Raises:
      ValueError: two columns of one name, or one with the raw-record or the struct column's.
    """

    def __init__(self, plan: SequenceDecodePlan) -> None: ...
    def decode(
        self,
        data: Buffer,
        offsets: Buffer,
        lengths: Buffer,
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[ArrowArrayExportable, list[DecodeFailure]]:
        """See `ExampleDecoder.decode`."""

    def decode_records(
        self,
        records: Sequence[Buffer],
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[ArrowArrayExportable, list[DecodeFailure]]:
        """See `ExampleDecoder.decode_records`."""
