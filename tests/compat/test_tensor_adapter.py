"""Tensors of TensorFlow of random record batches against tfx-bsl's.

Where tfx-bsl has tensors, the library has the same, but for batches that tfx-bsl makes wrong
tensors of, which the library refuses; each of those has a test of its own.
"""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.compat.peers import import_peer
from tests.tensors.batches import (
    DENSE,
    INT64,
    RAGGED,
    VARLEN,
    dense,
    int_batch,
    ragged,
    representation,
    sparse,
)
from tests.tensors.test_to_numpy import INTEGERS, NUMBERS
from tfrecord_beam.tensors import to_tensorflow
from tfrecord_beam.tfxio.tensor_adapter import TensorAdapter, TensorAdapterConfig

tf = import_peer("tensorflow")
peer = import_peer("tfx_bsl.tfxio.tensor_adapter")


# --- Random batches ---------------------------------------------------------------------

STRINGS = [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()]
VALUE_TYPES = [*(pa.from_numpy_dtype(np.dtype(name)) for name in NUMBERS), *STRINGS]
INTEGER_TYPES = [pa.from_numpy_dtype(np.dtype(name)) for name in INTEGERS]


@dataclasses.dataclass(frozen=True)
class Case:
    """A batch and how one tensor is made of it."""

    batch: pa.RecordBatch
    text: str


def values(type_: pa.DataType) -> st.SearchStrategy[Any]:
    if type_ in STRINGS:
        return st.sampled_from(["", "a", "é", "long " * 10, "\0"])
    return st.integers(0, 100)


def rows_of(draw: st.DrawFn, type_: pa.DataType, lengths: list[int | None]) -> list[Any]:
    return [
        None if n is None else draw(st.lists(values(type_), min_size=n, max_size=n))
        for n in lengths
    ]


def list_types(value_types: list[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    kinds = st.sampled_from([pa.list_, pa.large_list])
    return st.builds(lambda kind, value: kind(value), kinds, st.sampled_from(value_types))


def lengths(most: int = 4) -> st.SearchStrategy[list[int | None]]:
    return st.lists(st.none() | st.integers(0, most), max_size=6)


@st.composite
def dense_cases(draw: st.DrawFn) -> Case:
    shape = draw(st.lists(st.integers(0, 3), max_size=2))
    size = int(np.prod(shape))
    type_ = draw(list_types(VALUE_TYPES))
    default = ""
    if draw(st.booleans()):
        kinds = {"f": "float_value: 1.5", "i": "int_value: 7", "u": "uint_value: 7"}
        is_string = type_.value_type in STRINGS
        name = "" if is_string else pa.array([], type_.value_type).to_numpy().dtype.kind
        default = 'bytes_value: "d"' if is_string else kinds[name]
    num_values = st.none() | st.just(size) if default else st.just(size)
    rows = rows_of(draw, type_.value_type, draw(st.lists(num_values, max_size=6)))
    return Case(pa.record_batch({"v": pa.array(rows, type_)}), dense(*shape, default=default))


@st.composite
def varlen_cases(draw: st.DrawFn) -> Case:
    type_ = draw(list_types(VALUE_TYPES))
    rows = rows_of(draw, type_.value_type, draw(lengths()))
    return Case(pa.record_batch({"v": pa.array(rows, type_)}), VARLEN)


@st.composite
def sparse_cases(draw: st.DrawFn) -> Case:
    counts = draw(lengths())
    sizes = draw(st.lists(st.just(-1) | st.integers(101, 110), max_size=2))
    type_ = draw(list_types(VALUE_TYPES))
    columns = {"v": pa.array(rows_of(draw, type_.value_type, counts), type_)}
    for name in "ij":
        type_ = draw(list_types(INTEGER_TYPES))
        columns[name] = pa.array(rows_of(draw, type_.value_type, counts), type_)
    return Case(pa.record_batch(columns), sparse(*sizes))


@st.composite
def ragged_cases(draw: st.DrawFn) -> Case:
    """Lists of which inner ones, if there are partitions, have the lengths that those say."""
    first: list[int | str] = draw(st.sampled_from([[], ["i"], [2]]))
    partitions = [*first, *draw(st.lists(st.integers(1, 3), max_size=2))]
    inner = int(np.prod([one for one in partitions if isinstance(one, int)]))
    outer = draw(lengths(3))
    row_lengths = [
        None if n is None else draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
        for n in outer
    ]
    counts = [
        None if n is None else inner * (sum(lengths_) if "i" in partitions else n)
        for n, lengths_ in zip(outer, [one or [] for one in row_lengths])
    ]
    type_ = draw(list_types(VALUE_TYPES))
    column = pa.array(rows_of(draw, type_.value_type, counts), type_)
    columns = {"v": column, "i": pa.array(row_lengths, draw(list_types(INTEGER_TYPES)))}
    dtype = draw(st.sampled_from(["INT64", "INT32", "UNSPECIFIED"]))
    if draw(st.booleans()):
        struct = pa.StructArray.from_arrays(list(columns.values()), list(columns))
        return Case(pa.record_batch({"s": struct}), ragged(*partitions, path="s.v", dtype=dtype))
    return Case(pa.record_batch(columns), ragged(*partitions, dtype=dtype))


@st.composite
def nested_cases(draw: st.DrawFn) -> Case:
    type_ = draw(list_types(VALUE_TYPES))
    row = st.none() | st.lists(st.none() | st.lists(values(type_.value_type), max_size=2))
    column = pa.array(draw(st.lists(row, max_size=4)), pa.large_list(type_))
    return Case(pa.record_batch({"v": column}), RAGGED)


CASES = st.one_of(dense_cases(), varlen_cases(), sparse_cases(), ragged_cases(), nested_cases())


def config_of(case: Case) -> TensorAdapterConfig:
    return TensorAdapterConfig(case.batch.schema, {"t": representation(case.text)})


def check_equal(found: Any, expected: Any) -> None:
    """Checks that two tensors, or their values, are of one kind, dtype, shape and content."""
    assert type(found) is type(expected)
    if isinstance(expected, (tf.SparseTensor, tf.compat.v1.SparseTensorValue)):
        for name in ("indices", "values", "dense_shape"):
            check_equal_arrays(getattr(found, name), getattr(expected, name))
    elif isinstance(expected, (tf.RaggedTensor, tf.compat.v1.ragged.RaggedTensorValue)):
        check_equal(found.values, expected.values)
        check_equal_arrays(found.row_splits, expected.row_splits)
    else:
        check_equal_arrays(found, expected)
    if isinstance(expected, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)):
        assert found.shape.as_list() == expected.shape.as_list()


def check_equal_arrays(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert (
        found.tolist() == [*map(as_bytes, expected)]
        if expected.ndim == 1
        else (found.tolist() == as_bytes(expected.tolist()))
    )


def as_bytes(value: Any) -> Any:
    """Returns text, which tfx-bsl hands on in numpy arrays, as bytes."""
    if isinstance(value, list):
        return [*map(as_bytes, value)]
    return value.encode() if isinstance(value, str) else value


@given(case=CASES, eager=st.booleans())
def test_same_tensors(case: Case, eager: bool) -> None:
    config = config_of(case)
    found, expected = TensorAdapter(config), peer.TensorAdapter(config)
    assert found.TypeSpecs() == expected.TypeSpecs()
    tensor = found.ToBatchTensors(case.batch, eager)["t"]
    check_equal(tensor, expected.ToBatchTensors(case.batch, eager)["t"])
    if eager:
        assert found.TypeSpecs()["t"].is_compatible_with(tensor)


SPARSE_CASES = st.one_of(varlen_cases(), sparse_cases())


@given(case=SPARSE_CASES)
def test_fields_of_sparse_tensors(case: Case) -> None:
    """They are set without TensorFlow's constructor, and are those that it sets."""
    tensor = TensorAdapter(config_of(case)).ToBatchTensors(case.batch, True)["t"]
    built = tf.SparseTensor(tensor.indices, tensor.values, tensor.dense_shape)
    fields, expected = vars(tensor), vars(built)
    assert fields.keys() == expected.keys()
    for name, field in fields.items():
        if name == "_dense_shape_default":
            assert field.as_list() == expected[name].as_list()
        else:
            assert field is expected[name]


@given(case=SPARSE_CASES)
def test_sparse_tensors_of_other_fields(case: Case) -> None:
    """A TensorFlow whose sparse tensors have other fields makes them itself."""
    adapter = TensorAdapter(config_of(case))
    expected = adapter.ToBatchTensors(case.batch, True)["t"]
    with mock.patch.object(to_tensorflow, "_sparse_tensor_has_known_fields", lambda: False):
        check_equal(adapter.ToBatchTensors(case.batch, True)["t"], expected)


RAGGED_CASES = st.one_of(ragged_cases(), nested_cases())


@given(case=RAGGED_CASES)
def test_fields_of_ragged_tensors(case: Case) -> None:
    """They are set without the constructors of TensorFlow, and equal the ones these set."""
    assert to_tensorflow._ragged_tensor_has_known_fields()
    tensor = TensorAdapter(config_of(case)).ToBatchTensors(case.batch, True)["t"]
    while isinstance(tensor, tf.RaggedTensor):
        built = tf.RaggedTensor.from_row_splits(tensor.values, tensor.row_splits, validate=False)
        for part, expected in ((tensor, built), (tensor._row_partition, built._row_partition)):
            assert type(part) is type(expected)
            assert vars(part).keys() == vars(expected).keys()
        assert tensor._values is built._values
        assert vars(tensor._row_partition) == vars(built._row_partition)
        tensor = tensor.values


@given(case=RAGGED_CASES)
def test_ragged_tensors_of_other_fields(case: Case) -> None:
    """A TensorFlow whose ragged tensors have other fields makes them itself."""
    adapter = TensorAdapter(config_of(case))
    expected = adapter.ToBatchTensors(case.batch, True)["t"]
    with mock.patch.object(to_tensorflow, "_ragged_tensor_has_known_fields", lambda: False):
        check_equal(adapter.ToBatchTensors(case.batch, True)["t"], expected)


@given(case=CASES)
def test_tensors_can_be_computed_with(case: Case) -> None:
    """TensorFlow ends the process at a tensor whose memory is not as it has to be."""
    tensor = TensorAdapter(config_of(case)).ToBatchTensors(case.batch)["t"]
    for part in tf.nest.flatten(tensor, expand_composites=True):
        computed = tf.strings.join([part, part]) if part.dtype == tf.string else part + part
        assert computed.shape == part.shape


@pytest.mark.parametrize("start", range(10))
@pytest.mark.parametrize("text", [DENSE, VARLEN, RAGGED])
def test_slices_can_be_computed_with(start: int, text: str) -> None:
    batch = int_batch(v=[[i] for i in range(100)]).slice(start)
    tensor = TensorAdapter(config_of(Case(batch, text))).ToBatchTensors(batch)["t"]
    part = tensor if text == DENSE else tensor.values
    assert (part + part).numpy().tolist() == [2 * i for i in range(start, 100)]


def test_tensors_outlive_their_batch() -> None:
    def tensor() -> Any:
        batch = int_batch(v=[list(range(100_000))])
        return TensorAdapter(config_of(Case(batch, RAGGED))).ToBatchTensors(batch)["t"]

    tensors = [tensor() for _ in range(3)]
    int_batch(v=[[7] * 100_000])
    for one in tensors:
        assert np.array_equal(one.values.numpy(), np.arange(100_000))


# --- The same refusals ------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        'varlen_sparse_tensor { column_name: "x" }',
        dense(-1),
        dense(default="float_value: 1"),
        'dense_tensor { column_name: "v" default_value {} }',
        sparse(1, 2, indices=["i"]),
        ragged(0),
        ragged(-1),
        ragged("x"),
        ragged(path="v.a"),
        "ragged_tensor {}",
    ],
)
def test_representations_that_both_refuse(text: str) -> None:
    config = config_of(Case(int_batch(v=[], i=[]), text))
    with pytest.raises((ValueError, KeyError)):
        peer.TensorAdapter(config)
    with pytest.raises(ValueError, match=r"^Expected "):
        TensorAdapter(config)


@pytest.mark.parametrize(
    "case",
    [
        Case(int_batch(v=[[1, 2], [3]]), dense(2)),
        Case(int_batch(v=[[1], None]), dense()),
        Case(int_batch(v=[[1, 2, 3]]), ragged(2)),
        Case(int_batch(v=[[1]], i=[[]]), sparse(1)),
    ],
    ids=str,
)
def test_batches_that_both_refuse(case: Case) -> None:
    for adapter in (peer.TensorAdapter, TensorAdapter):
        with pytest.raises(ValueError, match="Error raised when handling tensor 't'") as caught:
            adapter(config_of(case)).ToBatchTensors(case.batch)
        assert isinstance(caught.value.__cause__, ValueError)


def test_batch_of_another_schema() -> None:
    case = Case(int_batch(v=[[1]]), DENSE)
    for adapter in (peer.TensorAdapter, TensorAdapter):
        with pytest.raises(ValueError, match=r"Expected same schema\."):
            adapter(config_of(case)).ToBatchTensors(int_batch(w=[[1]]))


def test_eager_tensors_in_graph_mode() -> None:
    case = Case(int_batch(v=[[1]]), DENSE)
    with tf.Graph().as_default():
        for adapter in (peer.TensorAdapter, TensorAdapter):
            assert adapter(config_of(case)).ToBatchTensors(case.batch)["t"].tolist() == [1]
            with pytest.raises(RuntimeError, match=r"[Ee]ager mode"):
                adapter(config_of(case)).ToBatchTensors(case.batch, produce_eager_tensors=True)


# --- Different on purpose ---------------------------------------------------------------


@pytest.mark.parametrize(
    "case",
    [
        Case(int_batch(v=[[1], [2]], i=[[0], [9]]), sparse(5)),
        Case(int_batch(v=[[1], [2]], i=[[0, 1], []]), sparse(5)),
        Case(int_batch(v=[[1, 2], [3]], i=[[1], [2]]), ragged("i")),
        Case(
            pa.record_batch(
                {"v": pa.LargeListArray.from_arrays([0, 1], pa.array([None], "int64"))}
            ),
            VARLEN,
        ),
    ],
    ids=str,
)
def test_wrong_tensors_are_refused(case: Case) -> None:
    peer.TensorAdapter(config_of(case)).ToBatchTensors(case.batch)
    with pytest.raises(ValueError, match=r"^Error raised when handling tensor 't': Expected "):
        TensorAdapter(config_of(case)).ToBatchTensors(case.batch)


def test_dense_rows_of_other_sizes_with_the_right_sum() -> None:
    case = Case(int_batch(v=[[1], [2, 3, 4]]), dense(2))
    shifted = peer.TensorAdapter(config_of(case)).ToBatchTensors(case.batch)["t"]
    assert shifted.numpy().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="found one of length 1 - at record 0"):
        TensorAdapter(config_of(case)).ToBatchTensors(case.batch)


def test_ragged_tensors_of_slices() -> None:
    batch = int_batch(v=[[1], [2, 3], [4]]).slice(1)
    config = config_of(Case(batch, RAGGED))
    with pytest.raises(ValueError, match="handling tensor"):
        peer.TensorAdapter(config).ToBatchTensors(batch)
    assert TensorAdapter(config).ToBatchTensors(batch)["t"].to_list() == [[2, 3], [4]]


# --- The config -------------------------------------------------------------------------


def test_config_is_one_of_tfx_bsl() -> None:
    config = config_of(Case(int_batch(v=[]), DENSE))
    assert isinstance(config, TensorAdapterConfig)
    assert isinstance(config, peer.TensorAdapterConfig)


def test_config_can_be_pickled() -> None:
    config = config_of(Case(int_batch(v=[]), DENSE))
    config = dataclasses.replace(config, original_type_specs=TensorAdapter(config).TypeSpecs())
    copy = pickle.loads(pickle.dumps(config))
    assert copy == config
    assert type(copy) is type(config)
    assert copy != dataclasses.replace(config, original_type_specs=None)


def test_original_type_specs() -> None:
    case = Case(int_batch(v=[], w=[]), DENSE)
    specs = {"t": tf.TensorSpec([None], tf.int64), "u": tf.TensorSpec([None], tf.string)}
    config = dataclasses.replace(config_of(case), original_type_specs=specs)
    for adapter in (peer.TensorAdapter(config), TensorAdapter(config)):
        assert adapter.OriginalTypeSpecs() == specs
        assert adapter.TypeSpecs() == {"t": specs["t"]}
    for wrong in ({"u": specs["u"]}, {"t": specs["u"]}):
        config = dataclasses.replace(config, original_type_specs=wrong)
        for adapter in (peer.TensorAdapter, TensorAdapter):
            with pytest.raises((ValueError, KeyError)):
                adapter(config)


def test_config_of_projected_data() -> None:
    from tfrecord_beam.tfxio import TFExampleRecord

    schema = schema_pb2.Schema(feature=[{"name": name, "type": "INT"} for name in ("a", "b")])
    source = TFExampleRecord("unread", schema=schema).Project(["b"])
    config = source.TensorAdapterConfig()
    assert config.arrow_schema == pa.schema({"b": INT64})
    assert [*config.tensor_representations] == ["b"]
    sparse_spec = tf.SparseTensorSpec([None, None], tf.int64)
    assert config.original_type_specs == {"a": sparse_spec, "b": sparse_spec}
    assert source.TensorAdapter().TypeSpecs() == {"b": sparse_spec}
    assert source.TensorAdapter().OriginalTypeSpecs() == config.original_type_specs
