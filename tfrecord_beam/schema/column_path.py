"""The path of a column: its name and, inside structs, the names of the fields down to it."""

from __future__ import annotations

from collections.abc import Iterable

from tensorflow_metadata.proto.v0 import path_pb2

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.schema.names import as_names


class ColumnPath(tuple[str, ...]):
    """The name of a column, followed by the names of the fields down to a leaf.

    It is a tuple of these names, and compares, sorts and hashes like one. `str` joins them with
    dots.

    >>> path = ColumnPath(["user", "address"]).child("city")
    >>> str(path), path.initial_step(), path.parent().steps()
    ('user.address.city', 'user', ('user', 'address'))

    Args:
      steps: the names; a str is one name, including any dots. Without steps it is the root.

    Raises:
      SchemaError: a step is not a str.
    """

    __slots__ = ()

    def __new__(cls, steps: Iterable[str]) -> ColumnPath:
        return super().__new__(
            cls, (steps,) if isinstance(steps, str) else as_names(steps, "steps")
        )

    @staticmethod
    def from_proto(path_proto: path_pb2.Path) -> ColumnPath:
        """Returns the path in a TFMD `Path`."""
        return ColumnPath(path_proto.step)

    def to_proto(self) -> path_pb2.Path:
        """Returns the path as a TFMD `Path`."""
        return path_pb2.Path(step=self)

    def steps(self) -> tuple[str, ...]:
        """Returns the names as a plain tuple."""
        return tuple(self)

    def initial_step(self) -> str:
        """Returns the name of the column.

        Raises:
          SchemaError: this is the root, which has no step.
        """
        if not self:
            raise SchemaError("Expected a column path with a step, found the root")
        return self[0]

    def parent(self) -> ColumnPath:
        """Returns the path without its last step.

        Raises:
          SchemaError: this is the root, which has no parent.
        """
        if not self:
            raise SchemaError("Expected a column path with a parent, found the root")
        return self.prefix(-1)

    def child(self, child_step: str) -> ColumnPath:
        """Returns the path of a field below this one."""
        return ColumnPath((*self, child_step))

    def prefix(self, ending_index: int) -> ColumnPath:
        """Returns the path of the steps before `ending_index`, which may be negative."""
        return ColumnPath(self[:ending_index])

    def suffix(self, starting_index: int) -> ColumnPath:
        """Returns the path of the steps from `starting_index` on."""
        return ColumnPath(self[starting_index:])

    def __str__(self) -> str:
        return ".".join(self)

    def __repr__(self) -> str:
        return f"ColumnPath({list(self)!r})"
