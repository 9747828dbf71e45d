"""Column paths."""

from __future__ import annotations

import pickle

import pytest
from tensorflow_metadata.proto.v0 import path_pb2

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.schema.column_path import ColumnPath

ROOT = ColumnPath(())
PATH = ColumnPath(["a", "b", "c"])


def test_is_the_tuple_of_its_steps() -> None:
    assert PATH.steps() == ("a", "b", "c")
    assert type(PATH.steps()) is tuple
    assert PATH == ("a", "b", "c")
    assert hash(PATH) == hash(("a", "b", "c"))
    assert len(PATH) == 3
    assert PATH
    assert not ROOT


def test_str_is_one_step() -> None:
    assert ColumnPath("a.b").steps() == ("a.b",)


@pytest.mark.parametrize("other", ["a.b.c", ["a", "b", "c"], None, 3])
def test_is_unequal_to_other_types(other: object) -> None:
    assert other != PATH


def test_sorts_step_by_step() -> None:
    paths = [ColumnPath("b"), ColumnPath(["a.b"]), ColumnPath(["a", "z"]), ColumnPath("a"), ROOT]
    assert sorted(paths) == [(), ("a",), ("a", "z"), ("a.b",), ("b",)]


def test_related_paths() -> None:
    related = [PATH.parent(), PATH.child("d"), PATH.prefix(1), PATH.prefix(-1), PATH.suffix(1)]
    assert related == [("a", "b"), ("a", "b", "c", "d"), ("a",), ("a", "b"), ("b", "c")]
    assert all(type(path) is ColumnPath for path in related)
    assert PATH.initial_step() == "a"


def test_root_has_neither_parent_nor_step() -> None:
    with pytest.raises(SchemaError, match=r"^Expected a column path with a parent, found the root"):
        ROOT.parent()
    with pytest.raises(ValueError, match=r"^Expected a column path with a step, found the root$"):
        ROOT.initial_step()


def test_proto_and_pickle_round_trip() -> None:
    assert PATH.to_proto() == path_pb2.Path(step=["a", "b", "c"])
    for copy in (ColumnPath.from_proto(PATH.to_proto()), pickle.loads(pickle.dumps(PATH))):
        assert copy == PATH
        assert type(copy) is ColumnPath


def test_texts() -> None:
    assert str(PATH) == "a.b.c"
    assert repr(PATH) == "ColumnPath(['a', 'b', 'c'])"
    assert str(ROOT) == ""
