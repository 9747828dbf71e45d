"""Tensor representations of random schemas against tfx-bsl.

Where tfx-bsl has a result, the library has the same. It also has one in a few cases where tfx-bsl
has none, each of which is told by the function that lets it pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import path_pb2, schema_pb2
from tensorflow_metadata.proto.v0.schema_pb2 import Schema, TensorRepresentation as Representation

from tests.compat.peers import import_peer
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.tfxio import tensor_representation_util as ours

theirs = import_peer("tfx_bsl.tfxio.tensor_representation_util")

NAMES = ("a", "b", "c", "d", "e", "a.b")
GROUPS = ("", "other")


# --- Random schemas ---------------------------------------------------------------------


def names() -> st.SearchStrategy[str]:
    return st.sampled_from(NAMES)


def shapes() -> st.SearchStrategy[schema_pb2.FixedShape]:
    sizes = st.lists(st.integers(-1, 3), max_size=2)
    return sizes.map(lambda dims: schema_pb2.FixedShape(dim=[{"size": size} for size in dims]))


def stages() -> st.SearchStrategy[int]:
    """Stages of life, mostly none."""
    return st.just(0) | st.sampled_from(schema_pb2.LifecycleStage.values())


@st.composite
def features(draw: st.DrawFn, name: str, depth: int = 2) -> schema_pb2.Feature:
    """A feature of any type, at times with a shape, a domain, or at the end of its life."""
    types = ["INT", "FLOAT", "BYTES", "TYPE_UNKNOWN"] + (["STRUCT"] if depth else [])
    feature = schema_pb2.Feature(name=name, type=draw(st.sampled_from(types)))
    if feature.type == schema_pb2.STRUCT:
        for child in draw(st.lists(names(), max_size=2, unique=True)):
            feature.struct_domain.feature.append(draw(features(child, depth - 1)))
        return feature
    if draw(st.booleans()):
        feature.presence.min_fraction = 1.0
    if draw(st.integers(0, 3)) == 0:
        feature.shape.CopyFrom(draw(shapes()))
    if draw(st.booleans()):
        feature.int_domain.SetInParent()
        feature.int_domain.min = draw(st.sampled_from([0, 0, 0, 1]))
        feature.int_domain.max = draw(st.integers(1, 9))
    feature.deprecated = draw(st.integers(0, 7)) == 0
    feature.lifecycle_stage = draw(stages())
    return feature


@st.composite
def sparse_features(draw: st.DrawFn) -> schema_pb2.SparseFeature:
    indices = draw(st.lists(names(), max_size=2))
    return schema_pb2.SparseFeature(
        name=draw(st.sampled_from(["sparse", "a", "b"])),
        index_feature=[{"name": name} for name in indices],
        value_feature={"name": draw(names())},
        is_sorted=draw(st.booleans()),
        lifecycle_stage=draw(stages()),
    )


@st.composite
def representations(draw: st.DrawFn) -> Representation:
    """An explicit representation of any kind, at times of none."""
    kind = draw(st.sampled_from(["dense", "varlen", "sparse", "ragged", "none"]))
    if kind == "dense":
        return Representation(dense_tensor={"column_name": draw(names()), "shape": draw(shapes())})
    if kind == "varlen":
        return Representation(varlen_sparse_tensor={"column_name": draw(names())})
    if kind == "sparse":
        sparse = Representation.SparseTensor(
            index_column_names=draw(st.lists(names(), max_size=2)), dense_shape=draw(shapes())
        )
        if draw(st.booleans()):
            sparse.value_column_name = draw(names())
        return Representation(sparse_tensor=sparse)
    if kind == "ragged":
        path = path_pb2.Path(step=draw(st.lists(names(), min_size=1, max_size=2)))
        lengths = names().map(lambda name: {"row_length": name})
        partitions = lengths | st.just({"uniform_row_length": 2})
        return Representation(
            ragged_tensor={
                "feature_path": path,
                "partition": draw(st.lists(partitions, max_size=2)),
            }
        )
    return Representation()


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """A schema of any features, and at times explicit representations that may not fit them."""
    schema = Schema(represent_variable_length_as_ragged=draw(st.booleans()))
    for name in draw(st.lists(names(), max_size=5, unique=True)):
        schema.feature.append(draw(features(name)))
    schema.sparse_feature.extend(draw(st.lists(sparse_features(), max_size=1)))
    for group in draw(st.sets(st.sampled_from(GROUPS))):
        tensors = schema.tensor_representation_group[group].tensor_representation
        for name in draw(st.sets(names() | st.just("tensor"), max_size=3)):
            tensors[name].CopyFrom(draw(representations()))
    return schema


# --- The same ---------------------------------------------------------------------------


def result_of(function: Callable[..., Any], *arguments: Any) -> Any:
    """Returns what a function of tfx-bsl gives; the error if it refuses."""
    try:
        return function(*arguments)
    except (ValueError, NotImplementedError, KeyError) as error:
        return error


def check_equal_or_refused(name: str, *arguments: Any) -> None:
    """Checks that a function gives what its namesake of tfx-bsl gives, or refuses as it does."""
    expected = result_of(getattr(theirs, name), *arguments)
    if isinstance(expected, Exception):
        with pytest.raises(SchemaError):
            getattr(ours, name)(*arguments)
    else:
        assert getattr(ours, name)(*arguments) == expected


@given(schema=schemas())
def test_inferred_from_features(schema: Schema) -> None:
    check_equal_or_refused("InferTensorRepresentationsFromSchema", schema)


@given(schema=schemas())
def test_inferred_from_a_mixed_schema(schema: Schema) -> None:
    """A feature that an explicit representation uses need not have one that can be inferred."""
    expected = result_of(theirs.InferTensorRepresentationsFromMixedSchema, schema)
    if isinstance(expected, Exception):
        explicit = ours.GetTensorRepresentationsFromSchema(schema)
        if explicit is None:
            with pytest.raises(SchemaError):
                ours.InferTensorRepresentationsFromMixedSchema(schema)
        return
    assert ours.InferTensorRepresentationsFromMixedSchema(schema) == expected


@given(schema=schemas(), group=st.sampled_from([*GROUPS, "missing"]))
def test_of_a_group(schema: Schema, group: str) -> None:
    check_equal_or_refused("GetTensorRepresentationsFromSchema", schema, group)
    expected = result_of(theirs.ValidateTensorRepresentationsInSchema, schema, group)
    found = result_of(ours.ValidateTensorRepresentationsInSchema, schema, group)
    assert isinstance(found, ValueError) == isinstance(expected, ValueError)


@given(
    schema=schemas(),
    tensors=st.dictionaries(names(), representations(), max_size=3),
    group=st.sampled_from(GROUPS),
)
def test_set(schema: Schema, tensors: dict[str, Representation], group: str) -> None:
    found, expected = Schema(), Schema()
    found.CopyFrom(schema)
    expected.CopyFrom(schema)
    ours.SetTensorRepresentationsInSchema(found, tensors, group)
    theirs.SetTensorRepresentationsInSchema(expected, tensors, group)
    assert found == expected


@given(representation=representations())
def test_source_columns(representation: Representation) -> None:
    columns = theirs.GetSourceColumnsFromTensorRepresentation(representation)
    assert ours.GetSourceColumnsFromTensorRepresentation(representation) == [
        path.steps() for path in columns
    ]
    value = result_of(theirs.GetSourceValueColumnFromTensorRepresentation, representation)
    if isinstance(value, KeyError):
        with pytest.raises(SchemaError):
            ours.GetSourceValueColumnFromTensorRepresentation(representation)
    else:
        assert ours.GetSourceValueColumnFromTensorRepresentation(representation) == value.steps()


@given(schema=schemas(), data=st.data())
def test_projection(schema: Schema, data: st.DataObject) -> None:
    """Fields of a STRUCT, and inferred tensors beside explicit ones, can be projected too."""
    known = result_of(theirs.InferTensorRepresentationsFromMixedSchema, schema)
    if isinstance(known, Exception):
        return
    tensors = data.draw(st.lists(st.sampled_from([*known, "unknown"]), unique=True))
    expected = result_of(theirs.ProjectTensorRepresentationsInSchema, schema, tensors)
    if not isinstance(expected, Exception):
        assert ours.ProjectTensorRepresentationsInSchema(schema, tensors) == expected
    elif "unknown" in tensors:
        with pytest.raises(SchemaError, match="'unknown'"):
            ours.ProjectTensorRepresentationsInSchema(schema, tensors)


# --- Different on purpose ---------------------------------------------------------------


def tensor_names(schema: Schema) -> Sequence[str]:
    return sorted(ours.InferTensorRepresentationsFromMixedSchema(schema))


def test_feature_of_an_explicit_tensor_needs_no_inferred_one() -> None:
    schema = Schema(feature=[{"name": "a", "type": "INT", "shape": {}}])
    tensors = {"x": Representation(varlen_sparse_tensor={"column_name": "a"})}
    ours.SetTensorRepresentationsInSchema(schema, tensors)
    assert isinstance(
        result_of(theirs.InferTensorRepresentationsFromMixedSchema, schema), ValueError
    )
    assert tensor_names(schema) == ["x"]


def test_inferred_tensors_can_be_projected_beside_explicit_ones() -> None:
    schema = Schema(feature=[{"name": "a", "type": "INT"}, {"name": "b", "type": "INT"}])
    tensors = {"x": Representation(varlen_sparse_tensor={"column_name": "a"})}
    ours.SetTensorRepresentationsInSchema(schema, tensors)
    assert isinstance(
        result_of(theirs.ProjectTensorRepresentationsInSchema, schema, ["b"]), ValueError
    )
    projected = ours.ProjectTensorRepresentationsInSchema(schema, ["b"])
    assert [feature.name for feature in projected.feature] == ["b"]
    assert tensor_names(projected) == ["b"]


def test_fields_of_a_struct_can_be_projected() -> None:
    children = [{"name": "x", "type": "INT"}, {"name": "y", "type": "INT"}]
    schema = Schema(
        feature=[{"name": "s", "type": "STRUCT", "struct_domain": {"feature": children}}]
    )
    assert isinstance(
        result_of(theirs.ProjectTensorRepresentationsInSchema, schema, ["s.x"]), ValueError
    )
    projected = ours.ProjectTensorRepresentationsInSchema(schema, ["s.x"])
    assert tensor_names(projected) == ["s.x"]
