"""The contract of the kernel. `kernel.reference` has the same names with the same meaning.

All functions release the GIL while they work, are stateless and may be called from many threads.
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
    after `max_records` frames (LIMIT), before a frame that would make the total size of the frames
    exceed `max_bytes` (LIMIT; but a first frame is always taken), at a frame that is not whole
    (MORE), and at a wrong CRC. For each frame, the conditions are checked in this order: `stop`,
    `max_records`, header whole (else MORE, needed 12), length CRC, `max_bytes`, frame whole (else
    MORE, needed 16 + length), payload CRC.

    Args:
      data: bytes of a file.
      start: index of the first frame, 0 <= start <= len(data).
      stop: frames that start at or after this index are left out.
      max_records: at least 1.
      max_bytes: bound on the sum of the frames' sizes (16 + length each).
      validate_crc: False: no CRC is computed except that of a length of 0, so that a run of zero
        bytes is not read as empty records.

    Raises:
      ValueError: `start` out of range, `max_records` below 1.
    """

def find_record(data: Buffer, *, start: int, stop: int, limit: int) -> Candidate:
    """Finds the first index p, start <= p < stop, at which a valid frame starts.

    A frame is valid if its length CRC matches, it ends at or before `limit` and its payload CRC
    matches. The search ends early at the first p that needs more bytes than `data` has: when p + 12
    is beyond the data (found False, position p), or when the length CRC matches and the frame ends
    at or before `limit` but after the data (found True, needed 16 + length). If nothing is found
    before `stop` the result is (stop, False, 0).

    Args:
      data: bytes of a file.
      start: index to begin at.
      stop: index to end before.
      limit: index of the end of the file, counted like the others; may be beyond len(data).
    """

def allocate(size: int) -> memoryview:
    """Returns writable memory of `size` bytes, uninitialized.

    Large blocks that were freed are kept for the next call, because fresh pages from the operating
    system cost as much as reading a file into them.
    """

def frame(records: Sequence[Buffer]) -> bytes:
    """Returns the frames of `records`, one after the other.

    Raises:
      EncodeError: a record takes 2 GiB or more.
    """

def element_lengths(array: ArrowArrayExportable) -> _Int64Array:
    """Returns the length of each list or string, 0 for a null. Accepts the types of `row_splits`.

    Raises:
      ValueError: the array is of another type.
    """

def row_splits(array: ArrowArrayExportable) -> tuple[_Int64Array, int, int | None]:
    """Returns where lists end, the length of the longest, and where their values begin.

    Args:
      array: `list`, `large_list`, or strings (`binary`, `string`, `large_binary`, `large_string`),
        which count as lists of their bytes. It may be a slice.

    Returns:
      The row splits: list i spans splits[i] to splits[i + 1] of the values of all lists. A null
      list is empty. The first split is 0, and there is one more split than lists.
      The length of the longest list, 0 without lists.
      The index of the first value in the array of values; None if null lists span values, so that
      the values of the other lists are not contiguous.

    Raises:
      ValueError: the array is of another type.
    """

def byte_size(array: ArrowArrayExportable) -> int | None:
    """Returns the size of an array in bytes: values, offsets and validity of the slice.

    A record batch counts as its columns, an extension type as its storage. None if it contains a
    type other than integers, float32, float64, bools, strings, nulls, and lists and structs of
    these.
    """

def count_invalid_utf8(array: ArrowArrayExportable) -> int:
    """Returns how many strings of an array are not UTF-8 (RFC 3629); nulls are not counted.

    Raises:
      ValueError: the array is not of type `binary`, `string`, `large_binary` or `large_string`.
    """

def parent_indices(splits: _Int64Array) -> _Int64Array:
    """Returns for each value the index of the list that contains it.

    Raises:
      ValueError: these are not row splits, see `row_splits`.
      MemoryError: there are more values than memory can hold.
    """

def coordinates(levels: Sequence[_Int64Array]) -> _Int64Array:
    """Returns the coordinates of each value of nested lists, [values, 1 + levels].

    They are the index of its row, the position in the row, the position in the list there, and so
    on.

    Args:
      levels: the row splits of each level of lists, outermost first. Each level has as many lists
        as the level before it has elements.

    Raises:
      ValueError: there is no level, or one has the wrong number of lists or is not row splits.
      MemoryError: there are more values than memory can hold.
    """

def splits_of_coordinates(
    coordinates: _Int64Array, shape: Sequence[int]
) -> tuple[_Int64Array, bool] | None:
    """Returns the row splits of values given by their coordinates, or None if these are invalid.

    Valid coordinates are at least 0 and below the sizes of the shape, and in row order.

    Args:
      coordinates: int64 [values, rank], with any strides.
      shape: the size of each dimension, the number of rows first.

    Returns:
      The row splits, see `row_splits`.
      Whether the last coordinates in each row are 0, 1, 2, and so on.

    Raises:
      ValueError: the rank is 0 or not that of the shape, or the number of rows is negative.
      MemoryError: there are more rows than memory can hold.
    """

def is_aligned(array: npt.NDArray[Any]) -> bool:
    """Returns whether an array is aligned to 64 bytes and its elements are contiguous."""

def as_writable(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns an array over the same memory that numpy considers writable.

    DLPack cannot express read-only memory, so numpy refuses to share such arrays. This is for
    consumers that do not write to it, such as TensorFlow.
    """

class BatchReader:
    """Reads columns of a record batch that are lists of numbers or strings.

    Args:
      batch: a `pyarrow.RecordBatch`.
      at_once: whether to import the whole batch at once, which takes less time if most columns are
        read, but more if few are. What is read keeps the memory of its column, and of no other.
    """

    def __init__(self, batch: Any, at_once: bool) -> None: ...
    def column(self, index: int) -> Any:
        """Returns a column of the batch, of any type."""

    def value_lists(self, index: int) -> tuple[_Int64Array, int, npt.NDArray[Any]] | None:
        """Returns the row splits of a column, the length of the longest list, and the values.

        Args:
          index: of the column, which may be of any type and a slice.

        Returns:
          The first two are as in `row_splits`. The values are those of all lists, end to end;
          strings are `bytes`. Splits and numbers may share the memory of the column and must not be
          modified.
          None if the type is not `list` or `large_list` of integers, float32, float64 or strings,
          if a value may be null, or if the values are not contiguous.
        """

    def sparse_lists(self, index: int) -> tuple[_Int64Array, npt.NDArray[Any], _Int64Array] | None:
        """Returns the lists of `value_lists` as a sparse tensor of two dimensions.

        Returns:
          Indices [values, 2], values, and dense shape: the number of lists and the length of the
          longest. None where `value_lists` returns None.

        Raises:
          MemoryError: there are more values than memory can hold.
        """

    def sparse_columns(
        self, index: int, indices: Sequence[int], sizes: Sequence[int]
    ) -> tuple[_Int64Array, npt.NDArray[Any], _Int64Array] | None:
        """Returns a column of values, and columns of their indices, as a sparse tensor.

        Args:
          index: of the column of values.
          indices: for each dimension after that of the rows, a column.
          sizes: of these dimensions, negative if unknown.

        Returns:
          Indices [values, 1 + dimensions], the row first; values; and dense shape: the number of
          rows and the sizes. None where `value_lists` returns None for a column, if indices are not
          int64, if a row has more or fewer indices than values, or if an index is negative or not
          below the size.

        Raises:
          ValueError: there are more or fewer sizes than columns of indices.
          MemoryError: there are more values than memory can hold.
        """

class ExampleDecoder:
    """Decodes serialized ``tf.train.Example`` records into one Arrow record batch.

    Columns are `large_list<item: int64>`, `large_list<item: float>` or
    `large_list<item: large_binary>`, nullable. A row is null if the feature is missing, or present
    without a kind; a kind with no values is an empty list. A column whose kind is neither planned
    nor found in any record is of type `null`. A planned kind that differs from a record's kind is a
    failure even if the list is empty.

    The wire format is interpreted as by the protobuf library: the last of several map entries with
    the same name wins; repeated `features` messages merge; repeated values within one map entry
    merge; of several kinds in a Feature the last wins, and consecutive repeats of the last kind
    merge; packed and unpacked values are accepted; unknown fields and groups are skipped; names
    must be UTF-8.

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

        Returns the batch and the failures. With `collect_failures`, records that fail are left out
        of the batch as if they were absent, and reported in order. Without it the call raises at
        the first failure. `max_cells` bounds rows times columns, so that the many nulls of wide and
        sparse data do not fill memory: the call ends before a row that would exceed it (but a first
        row is always taken). The number of records processed is that of rows plus failures.

        Raises:
          DecodeError: the first failure, built by `tfrecord_beam.kernel.faults.decode_error`.
          ValueError: a span outside `data`, or offsets and lengths of different sizes.
        """

    def decode_records(
        self,
        records: Sequence[Buffer],
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[ArrowArrayExportable, list[DecodeFailure]]:
        """The same for records that are separate objects (`bytes`, ...)."""

class ExampleEncoder:
    """Encodes the rows of Arrow record batches as ``tf.train.Example`` or ``SequenceExample``.

    A context column holds values (each row a list of one) or lists of values; a feature list column
    holds lists of either. Lists are `list` or `large_list`; values are `int64`, `float`, or
    `binary`, `large_binary`, `string`, `large_string`, whose bytes are written unchanged. Arrays,
    including slices, are read in place.

    A null row of a context column becomes a feature without a kind; an empty list keeps its kind. A
    null row of a feature list column becomes no feature list, an empty one a feature list without
    features, and a null element a feature without a kind. Features of a column whose values are of
    type `null` have no kind. Values covered by a null are not read.

    The encoding: fields in the order of their numbers, map entries in the order of the columns,
    both fields of each entry, packed numbers, shortest varints. An Example always has its
    `features`, a SequenceExample its `context` and `feature_lists`, even if they are empty.

    Args:
      plan: what columns become. Keeps no reference to it.

    Raises:
      SchemaError: two features, or two feature lists, have the same name.
    """

    def __init__(self, plan: EncodePlan) -> None: ...
    def encode_frames(self, batch: ArrowArrayExportable) -> tuple[memoryview, memoryview]:
        """Returns all records as frames, and int64 offsets, one more than records.

        Frame i is ``data[offsets[i] : offsets[i + 1]]``.

        Raises:
          SchemaError: a column is of another type.
          EncodeError: a null is among the values of a list, or a record takes 2 GiB or more.
          ValueError: the batch and the plan differ in their number of columns, or it is not a
            record batch.
        """

    def encode_records(self, batch: ArrowArrayExportable) -> list[bytes]:
        """Returns the same records as separate objects, without frames."""

class SequenceExampleDecoder:
    """Decodes serialized ``tf.train.SequenceExample`` records into one Arrow record batch.

    The columns of the context are those of an `ExampleDecoder`. After them comes a struct column
    that is never null, with a field for each feature list: `large_list<item: large_list<item: T>>`,
    an inner list for each step. The outer list is null if the record does not have the feature
    list, and empty if it has no steps; the inner one is null if the step has no kind, and empty if
    it has no values. If the kind is unknown, the inner list is `large_list<item: null>`. See
    `SequenceDecodePlan` for when there is no struct column.

    The wire format is interpreted as for Examples; parts of a feature list within one map entry are
    joined. For `max_cells` a cell is a list of values or an outer list.

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

    The message (TensorFlow Serving, ``input.proto``) has a list of Examples as field 1 and a
    context Example shared by all of them as field 2. The batch is that of a
    `SequenceExampleDecoder` in which the Examples are the steps: each list of the struct column has
    as many inner lists as the record has Examples, null if an Example does not have the feature.
    For `max_cells` a cell of the struct column is an inner list.

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
