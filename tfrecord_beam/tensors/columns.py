"""List columns as numpy arrays, for tensors: located in a schema once, read from each batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfrecord_beam import kernel
from tfrecord_beam.errors import DecodeError, Location, SchemaError
from tfrecord_beam.records.block import Int64Array
from tfrecord_beam.tensors.lists import flatten
from tfrecord_beam.tensors.specs import AnyArray, BoolArray

_SHOWN = 10
"""How many names an error text lists. A schema may have thousands."""

_BINARY = {
    pa.string(): pa.binary(),
    pa.large_string(): pa.large_binary(),
    pa.binary(): pa.binary(),
    pa.large_binary(): pa.large_binary(),
}
"""String types, and the types over the same memory that numpy reads as `bytes`."""

_FIELD_OF_LISTS = None
"""The step from lists to their elements; other steps are indices of struct fields."""

_ONE_LIST = (_FIELD_OF_LISTS,)


class Lists(NamedTuple):
    """The lists in a column. Null lists are empty.

    Attributes:
      splits: for each level of lists, outermost first: list i spans splits[i] to splits[i + 1] of
        the elements of the next level. The first split is 0.
      values: those of all lists, end to end.
      longest: the length of the longest list of the innermost level.
    """

    splits: tuple[Int64Array, ...]
    values: AnyArray
    longest: int

    def row_of_value(self, position: int) -> int:
        """Returns the row of the batch that a value belongs to."""
        return find_row(self.splits, position)

    def row_of_list(self, position: int) -> int:
        """Returns the row of the batch that a list of the innermost level belongs to."""
        return find_row(self.splits[:-1], position)


@dataclasses.dataclass(frozen=True)
class ListColumn:
    """A column, or a field of a column of structs, that holds lists of values for a tensor.

    Attributes:
      tensor: name of the tensor, for error texts.
      name: of the column, followed by the names of the fields down to it, with dots in between.
      dtype: of the values; object stands for `bytes`.
      value_type: the Arrow type as which values are read.
      depth: number of levels of lists, at least 1.
      index: index of the column in the batch.
      steps: the path from the column to its values.
    """

    tensor: str
    name: str
    dtype: np.dtype[Any]
    value_type: pa.DataType
    depth: int
    index: int
    steps: tuple[int | None, ...]

    def is_null(self, batch: kernel.BatchReader) -> BoolArray:
        """Returns which rows of the column are null."""
        is_null: BoolArray = batch.column(self.index).is_null().to_numpy(zero_copy_only=False)
        return is_null

    def read(self, batch: kernel.BatchReader) -> Lists:
        """Returns the lists of the column; numbers without nulls are not copied.

        Raises:
          DecodeError: a value, and not only a list, is null.
        """
        if self.steps == _ONE_LIST:
            found = batch.value_lists(self.index)
            if found is not None:
                splits, longest, values = found
                return Lists((splits,), values, longest)
        array = batch.column(self.index)
        levels: list[Int64Array] = []
        longest = 0
        for step in self.steps:
            if step is _FIELD_OF_LISTS:
                splits, longest, array = flatten(array)
                levels.append(splits)
            else:
                array = pc.struct_field(array, [step])  # null where the struct is null
        if array.null_count:
            position = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
            raise self.error("Expected no null value", "one", find_row(levels, position))
        if array.type != self.value_type:
            array = array.cast(self.value_type)
        values = array.to_numpy(zero_copy_only=self.dtype.kind != "O")
        return Lists(tuple(levels), values, longest)

    def error(self, expected: str, found: str, row: int, hint: str | None = None) -> DecodeError:
        """Returns an error for a row of a batch."""
        return DecodeError(
            f"{expected} in column {self.name!r} for tensor {self.tensor!r}, found {found}",
            Location(record=row),
            hint,
        )


def find_column(
    schema: pa.Schema, path: Sequence[str], tensor: str, *, depth: int | None = None
) -> ListColumn:
    """Returns the column of lists of numbers, binary or string values at a path.

    Args:
      schema: that of the batches.
      path: name of the column, followed by the names of the fields down to it if it is a struct.
      tensor: name of the tensor for which it is used.
      depth: required number of levels of lists; None: at least one.

    Raises:
      SchemaError: the column does not exist, or has another type.
    """
    if not path or not path[0]:
        raise SchemaError(f"Expected the name of a column for tensor {tensor!r}, found none")
    index = _find_name(schema, path[0], f"column {path[0]!r} for tensor {tensor!r}")
    type_, steps = _unwrap_lists(schema.field(index).type)
    for i, name in enumerate(path[1:], 1):
        above = f"column {'.'.join(path[:i])!r} for tensor {tensor!r}"
        if not pa.types.is_struct(type_):
            raise SchemaError(f"Expected a struct in {above}, found {schema.field(index).type}")
        field = _find_name(type_, name, f"field {name!r} in {above}")
        type_, lists = _unwrap_lists(type_[field].type)
        steps += [field, *lists]
    name = ".".join(path)
    levels = steps.count(_FIELD_OF_LISTS)
    value_type = _BINARY.get(type_, type_)
    dtype = _numpy_dtype(value_type)
    if dtype is None or not levels or depth not in (None, levels):
        wanted = "lists" if depth is None else f"lists of depth {depth}"
        raise SchemaError(
            f"Expected {wanted} of integer, float, binary or string values in column {name!r} "
            f"for tensor {tensor!r}, found {schema.field(index).type}"
        )
    return ListColumn(tensor, name, dtype, value_type, levels, index, tuple(steps))


def find_row(levels: Sequence[Int64Array], position: int) -> int:
    """Returns the index of the outermost list that contains an element.

    Args:
      levels: the splits of each level of lists, as in `Lists`.
      position: index of the element among those of the last level.
    """
    for splits in reversed(levels):
        position = int(np.searchsorted(splits, position, side="right")) - 1
    return position


def list_lengths(splits: Int64Array) -> Int64Array:
    """Returns the lengths of the lists with these splits, in half the time of `np.diff`."""
    return splits[1:] - splits[:-1]


def to_splits(lengths: Int64Array) -> Int64Array:
    """Returns the splits of lists with these lengths: 0, then where each list ends."""
    splits = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    return splits


def _find_name(fields: pa.Schema | pa.StructType, name: str, what: str) -> int:
    index: int = fields.get_field_index(name)
    if index >= 0:
        return index
    names = [field.name for field in fields]
    if name in names:
        raise SchemaError(f"Expected {what} once, found it {names.count(name)} times")
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    shown = ", ".join(map(repr, names[:_SHOWN])) or "none at all"
    raise SchemaError(f"Expected {what}, found only {shown}{more}")


def _unwrap_lists(type_: pa.DataType) -> tuple[pa.DataType, list[int | None]]:
    steps: list[int | None] = []
    while pa.types.is_list(type_) or pa.types.is_large_list(type_):
        type_ = type_.value_type
        steps.append(_FIELD_OF_LISTS)
    return type_, steps


def _numpy_dtype(type_: pa.DataType) -> np.dtype[Any] | None:
    """Returns the dtype of values of an Arrow type, None if tensors cannot have it."""
    if pa.types.is_integer(type_) or pa.types.is_floating(type_) or type_ in _BINARY:
        dtype: np.dtype[Any] = pa.array([], type_).to_numpy(zero_copy_only=False).dtype
        return dtype
    return None
