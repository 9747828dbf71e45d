"""Random tensors as record batches, against tfx-bsl."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from tests.compat.peers import import_peer
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.tensors.to_arrow import TensorMismatchError
from tfrecord_beam.tfxio.tensor_to_arrow import TensorsToRecordBatchConverter as Converter

tf: Any = import_peer("tensorflow")
Peer: Any = import_peer("tfx_bsl.tfxio.tensor_to_arrow").TensorsToRecordBatchConverter

DTYPES = [tf.int8, tf.int32, tf.int64, tf.uint8, tf.uint64, tf.float16, tf.float32, tf.float64]
GENERIC = frozenset(["generic"])


def elements(dtype: Any, count: int) -> Any:
    if dtype == tf.string:
        return np.array([b"%d" % i * (i % 3) for i in range(count)], object)
    return (np.arange(count) * 3).astype(dtype.as_numpy_dtype)


def dtypes() -> st.SearchStrategy[Any]:
    return st.sampled_from([*DTYPES, tf.string])


@st.composite
def dense(draw: st.DrawFn, rows: int) -> tuple[Any, Any]:
    dtype, shape = draw(dtypes()), draw(st.lists(st.integers(0, 3), max_size=2))
    count = rows * int(np.prod(shape))
    values = elements(dtype, count).reshape(rows, *shape)
    return tf.TensorSpec([None, *shape], dtype), draw(
        st.sampled_from([values, tf.constant(values)])
    )


def eager_or_value(draw: st.DrawFn, eager: Any) -> Any:
    """Returns a composite tensor, or the tuple of numpy arrays that stands for it."""
    if draw(st.booleans()):
        return eager
    if isinstance(eager, tf.RaggedTensor):
        values = eager.values
        inner = eager_or_value(draw, values) if isinstance(values, tf.RaggedTensor) else values
        if isinstance(inner, tf.RaggedTensor):
            return eager
        inner = inner if isinstance(values, tf.RaggedTensor) else values.numpy()
        return tf.compat.v1.ragged.RaggedTensorValue(inner, eager.row_splits.numpy())
    parts = (eager.indices, eager.values, eager.dense_shape)
    return tf.compat.v1.SparseTensorValue(*(part.numpy() for part in parts))


@st.composite
def ragged(draw: st.DrawFn, rows: int) -> tuple[Any, Any]:
    dtype, rank = draw(dtypes()), draw(st.integers(1, 3))
    inner = draw(st.lists(st.integers(1, 2), max_size=2))
    splits_dtype = draw(st.sampled_from([tf.int32, tf.int64]))
    length, all_splits = rows, []
    for _ in range(rank):
        lengths = draw(st.lists(st.integers(0, 3), min_size=length, max_size=length))
        all_splits.append(tf.constant(np.concatenate([[0], np.cumsum(lengths)]), splits_dtype))
        length = sum(lengths)
    values = elements(dtype, length * int(np.prod(inner))).reshape(length, *inner)
    tensor = tf.RaggedTensor.from_nested_row_splits(tf.constant(values, dtype), all_splits)
    spec = tf.RaggedTensorSpec(
        [None] * (rank + 1) + inner, dtype, ragged_rank=rank, row_splits_dtype=splits_dtype
    )
    return spec, eager_or_value(draw, tensor)


@st.composite
def varlen(draw: st.DrawFn, rows: int) -> tuple[Any, Any]:
    dtype = draw(dtypes())
    lengths = draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    indices = [[row, i] for row, length in enumerate(lengths) for i in range(length)]
    size = max([*lengths, 0]) + draw(st.integers(0, 1))
    tensor = tf.SparseTensor(
        np.array(indices, np.int64).reshape(-1, 2), elements(dtype, len(indices)), [rows, size]
    )
    shape = draw(st.sampled_from([None, [None, None], [None, size]]))
    return tf.SparseTensorSpec(shape, dtype), eager_or_value(draw, tensor)


@st.composite
def sparse(draw: st.DrawFn, rows: int, rank: int | None = None) -> tuple[Any, Any]:
    dtype = draw(dtypes())
    sizes = [3] * ((rank or draw(st.integers(3, 4))) - 1)
    index = st.tuples(*(st.integers(0, size - 1) for size in [rows, *sizes]))
    indices = sorted(draw(st.sets(index, max_size=6))) if rows else []
    shape = [rows, *sizes]
    tensor = tf.SparseTensor(
        np.array(indices, np.int64).reshape(-1, len(shape)), elements(dtype, len(indices)), shape
    )
    spec_shape = [None, *draw(st.tuples(*(st.sampled_from([None, size]) for size in sizes)))]
    return tf.SparseTensorSpec(spec_shape, dtype), eager_or_value(draw, tensor)


@st.composite
def batches(draw: st.DrawFn) -> dict[str, tuple[Any, Any]]:
    rows = draw(st.integers(0, 4))
    kinds = {
        "dense": dense(rows),
        "ragged": ragged(rows),
        "varlen": varlen(rows),
        "sparse": sparse(rows),
        "generic": sparse(rows, rank=2),
    }
    return {name: draw(kinds[name]) for name in draw(st.sets(st.sampled_from(sorted(kinds))))}


@settings(deadline=None)
@given(batch=batches())
def test_same_batch_schema_and_representations(batch: dict[str, tuple[Any, Any]]) -> None:
    specs = {name: spec for name, (spec, _) in batch.items()}
    tensors = {name: tensor for name, (_, tensor) in batch.items()}
    ours = Converter(specs, Converter.Options(generic_sparse_tensor_names=GENERIC))
    theirs = Peer(specs, Peer.Options(generic_sparse_tensor_names=GENERIC))
    assert ours.arrow_schema().equals(theirs.arrow_schema())
    assert ours.tensor_representations() == theirs.tensor_representations()
    if tensors:
        found = ours.convert(tensors)
        found.validate(full=True)
        assert found.equals(theirs.convert(tensors))


def shapes() -> st.SearchStrategy[list[int | None] | None]:
    return st.none() | st.lists(st.sampled_from([None, 0, 2]), max_size=4)


@st.composite
def specs_of_any_kind(draw: st.DrawFn) -> Any:
    dtype = draw(
        st.sampled_from([tf.int64, tf.string, tf.bool, tf.complex64, tf.bfloat16, tf.variant])
    )
    shape = draw(shapes())
    kind = draw(st.sampled_from([tf.TensorSpec, tf.SparseTensorSpec, tf.RaggedTensorSpec]))
    if kind is tf.RaggedTensorSpec:
        rank = draw(st.integers(0, len(shape) - 1)) if shape else 1
        return tf.RaggedTensorSpec(shape or None, dtype, ragged_rank=rank)
    return kind(shape, dtype)


@settings(deadline=None, max_examples=300)
@given(spec=specs_of_any_kind(), name=st.sampled_from(["generic", "other"]))
def test_same_specs_are_refused(spec: Any, name: str) -> None:
    """But for ragged dimensions whose size is known to be 0, which tfx-bsl takes for ragged."""
    if isinstance(spec, tf.RaggedTensorSpec) and spec.shape.rank:
        assume(0 not in spec.shape.as_list()[1 : spec.ragged_rank + 1])
    try:
        theirs = Peer({name: spec}, Peer.Options(generic_sparse_tensor_names=GENERIC))
    except Exception:
        with pytest.raises(SchemaError, match=f"^Expected .* for tensor '{name}', found "):
            Converter({name: spec}, Converter.Options(generic_sparse_tensor_names=GENERIC))
    else:
        ours = Converter({name: spec}, Converter.Options(generic_sparse_tensor_names=GENERIC))
        assert ours.tensor_representations() == theirs.tensor_representations()


@pytest.mark.parametrize(
    ("spec", "tensor"),
    [
        (tf.TensorSpec([None], tf.int32), tf.constant([1.0])),
        (tf.TensorSpec([None, 2], tf.int32), tf.constant([[1]])),
        (tf.SparseTensorSpec([None, None], tf.int32), tf.sparse.from_dense([["a"]])),
        (tf.SparseTensorSpec([None, None], tf.int32), tf.constant([1])),
        (tf.RaggedTensorSpec([None, None], tf.int32), tf.ragged.constant([[1]], tf.int64)),
        (
            tf.RaggedTensorSpec([None, None], tf.int32),
            tf.ragged.constant([[1]], row_splits_dtype=tf.int32),
        ),
    ],
)
def test_mismatch_is_a_type_error_that_names_the_spec(spec: Any, tensor: Any) -> None:
    with pytest.raises(TypeError):
        Peer({"x": spec}).convert({"x": tensor})
    with pytest.raises(TensorMismatchError) as raised:
        Converter({"x": spec}).convert({"x": tensor})
    assert raised.value.message.startswith(f"Expected {spec} for tensor 'x', found ")


def test_templates_and_names_that_collide() -> None:
    specs = {
        "x": tf.SparseTensorSpec([None, 2, 2], tf.int64),
        "x/v": tf.TensorSpec([None], tf.int64),
    }
    ours = Converter(specs, Converter.Options("{tensor_name}/value", "{tensor_name}/{index}"))
    theirs = Peer(specs, Peer.Options("{tensor_name}/value", "{tensor_name}/{index}"))
    assert ours.arrow_schema().equals(theirs.arrow_schema())
    with pytest.raises(SchemaError, match=r"^Expected columns of different names, found 'x/v' "):
        Converter(specs, Converter.Options("{tensor_name}/v"))


def test_positions_that_tfx_bsl_loses_are_refused() -> None:
    tensor = tf.SparseTensor([[0, 1]], np.array([7], np.int64), [1, 2])
    specs = {"x": tf.SparseTensorSpec([None, None], tf.int64)}
    assert Peer(specs).convert({"x": tensor}).to_pydict() == {"x": [[7]]}
    with pytest.raises(SchemaError, match=r"^Expected index \[0, 0\] next, in rows without gaps"):
        Converter(specs).convert({"x": tensor})
