"""Datasets of TensorFlow against tfx-bsl's, of the same files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests import frames, wire
from tests.compat.peers import import_peer
from tests.tensors.batches import dense, ragged, representation, sparse
from tfrecord_beam.tfxio import (
    TensorFlowDatasetOptions,
    TFExampleBeamRecord,
    TFExampleRecord,
    tensor_representation_util,
)

tf = import_peer("tensorflow")
peer = import_peer("tfx_bsl.tfxio.tf_example_record")

NUM_ROWS = 67
BATCH_SIZE = 16

Options = dict[str, Any]


def schema() -> schema_pb2.Schema:
    types = {"n": "INT", "s": "BYTES", "v": "FLOAT", "i": "INT", "unused": "INT", "r": "INT"}
    made = schema_pb2.Schema(feature=[{"name": n, "type": t} for n, t in types.items()])
    tensors = {
        "number": dense().replace('"v"', '"n"'),
        "words": 'varlen_sparse_tensor { column_name: "s" }',
        "sparse": sparse(100),
        "ragged": ragged(2, path="r"),
        "missing": dense(default="int_value: -1").replace('"v"', '"unused"'),
    }
    tensor_representation_util.SetTensorRepresentationsInSchema(
        made, {name: representation(text) for name, text in tensors.items()}
    )
    return made


def record(row: int) -> bytes:
    features = {
        "n": wire.int64(row),
        "s": wire.bytes_list(*[b"w%d" % row] * (row % 3)),
        "v": wire.floats(*[row + 0.5] * (row % 4)),
        "i": wire.int64(*range(row % 4)),
        "r": wire.int64(*[row] * (row % 3 * 2)),
    }
    return wire.example(*[wire.entry(name, kind) for name, kind in features.items()])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> str:
    """67 rows in three files."""
    folder = tmp_path_factory.mktemp("files")
    for i, rows in enumerate((range(30), range(30, 31), range(31, NUM_ROWS))):
        (folder / f"{i}.tfrecord").write_bytes(frames.framed(*map(record, rows)))
    return str(folder / "*.tfrecord")


def read(source: Any, **options: Any) -> list[dict[str, Any]]:
    """Returns the batches of a dataset, of an endless one five epochs."""
    options = {"batch_size": BATCH_SIZE, "shuffle": False, **options}
    dataset = source.TensorFlowDataset(TensorFlowDatasetOptions(**options))
    if options.get("num_epochs") is None:
        dataset = dataset.take(5 * NUM_ROWS // BATCH_SIZE)
    return list(dataset)


def rows_of(batches: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Returns each row of batches as a tuple of its tensors."""
    rows = []
    for batch in batches:
        columns = [
            batch["number"].numpy().tolist(),
            tf.RaggedTensor.from_sparse(batch["words"]).to_list(),
            tf.sparse.to_dense(batch["sparse"]).numpy().tolist(),
            batch["ragged"].to_list(),
            batch["missing"].numpy().tolist(),
        ]
        rows += [(n, *map(str, others)) for n, *others in zip(*columns)]
    return rows


def test_same_batches(files: str) -> None:
    found = read(TFExampleRecord(files, schema=schema()), num_epochs=1)
    # Its order of files is that of their reading, so that it reads one at a time here.
    expected = read(peer.TFExampleRecord(files, schema=schema()), num_epochs=1)
    assert [*map(sorted, found)] == [*map(sorted, expected)]
    assert sorted(rows_of(found)) == sorted(rows_of(expected))
    assert [row[0] for row in rows_of(found)] == list(range(NUM_ROWS))


def test_same_specs(files: str) -> None:
    options = TensorFlowDatasetOptions(BATCH_SIZE, num_epochs=1)
    found, expected = (
        source(files, schema=schema()).TensorFlowDataset(options).element_spec
        for source in (TFExampleRecord, peer.TFExampleRecord)
    )
    assert found == expected
    adapter = TFExampleRecord(files, schema=schema()).TensorAdapter()
    assert found == adapter.TypeSpecs()


@pytest.mark.parametrize("num_epochs", [0, 1, 2, None])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("drop_final_batch", [False, True])
def test_sizes_of_batches(
    files: str, num_epochs: int | None, shuffle: bool, drop_final_batch: bool
) -> None:
    batches = read(
        TFExampleRecord(files, schema=schema()),
        num_epochs=num_epochs,
        shuffle=shuffle,
        drop_final_batch=drop_final_batch,
    )
    total = (5 if num_epochs is None else num_epochs) * NUM_ROWS
    whole, rest = divmod(total, BATCH_SIZE)
    drops = drop_final_batch or num_epochs is None
    sizes = [BATCH_SIZE] * whole + [rest] * (rest > 0 and not drops)
    assert [len(batch["number"]) for batch in batches] == sizes


@pytest.mark.parametrize(
    "options",
    [
        {"shuffle": True, "shuffle_buffer_size": 10},
        {"shuffle": True},
        {"reader_num_threads": 3},
        {"reader_num_threads": 2, "parser_num_threads": 4, "sloppy_ordering": True},
        {"prefetch_buffer_size": 0},
        {"prefetch_buffer_size": 3, "parser_num_threads": 2},
    ],
    ids=str,
)
def test_each_row_comes_once_and_whole(files: str, options: Options) -> None:
    source = TFExampleRecord(files, schema=schema())
    plain = rows_of(read(source, num_epochs=1))
    assert sorted(rows_of(read(source, num_epochs=1, **options))) == plain
    assert sorted(rows_of(read(source, num_epochs=2, **options))) == sorted(plain * 2)


def numbers(files: str, **options: Any) -> list[int]:
    source = TFExampleRecord(files, schema=schema()).Project(["number"])
    batches = read(source, num_epochs=1, **options)
    return [number for batch in batches for number in batch["number"].numpy().tolist()]


def test_order(files: str) -> None:
    in_order = list(range(NUM_ROWS))
    assert numbers(files) == numbers(files, parser_num_threads=4) == in_order
    by_turns = numbers(files, reader_num_threads=3)
    assert by_turns != in_order
    assert by_turns == numbers(files, reader_num_threads=3, parser_num_threads=2)


def test_shuffling(files: str) -> None:
    seeded = numbers(files, shuffle=True, shuffle_seed=1)
    assert seeded != sorted(seeded)
    assert seeded == numbers(files, shuffle=True, shuffle_seed=1, parser_num_threads=3)
    assert seeded != numbers(files, shuffle=True, shuffle_seed=2)
    assert numbers(files, shuffle=True) != numbers(files, shuffle=True)


def test_dataset_can_be_iterated_again(files: str) -> None:
    source = TFExampleRecord(files, schema=schema())
    dataset = source.TensorFlowDataset(
        TensorFlowDatasetOptions(BATCH_SIZE, num_epochs=1, shuffle=False)
    )
    assert len(list(dataset)) == len(list(dataset)) == 5
    assert len(list(dataset.take(1))) == 1  # the reading threads end, too


def test_projected_data(files: str) -> None:
    (batch, *_) = read(TFExampleRecord(files, schema=schema()).Project(["words"]), num_epochs=1)
    assert [*batch] == ["words"]


def test_label(files: str) -> None:
    source = TFExampleRecord(files, schema=schema())
    pairs: Any = read(source, num_epochs=1, label_key="number")
    features, label = pairs[0]
    assert label.numpy().tolist() == list(range(BATCH_SIZE))
    assert sorted(features) == ["missing", "ragged", "sparse", "words"]
    with pytest.raises(ValueError, match=r"label_key.* found 'other'"):
        read(source, label_key="other")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("batch_size", 0),
        ("num_epochs", -1),
        ("shuffle_buffer_size", 0),
        ("prefetch_buffer_size", -2),
        ("reader_num_threads", 0),
        ("parser_num_threads", -2),
        ("sloppy_ordering", 1),
    ],
)
def test_options_out_of_range(files: str, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^Expected {name} to be "):
        read(TFExampleRecord(files, schema=schema()), **{name: value})


def test_options_of_tfx_bsl(files: str) -> None:
    options = import_peer("tfx_bsl.tfxio.dataset_options").TensorFlowDatasetOptions
    assert options._field_defaults == {}  # they are in its __new__
    theirs, ours = options(BATCH_SIZE), TensorFlowDatasetOptions(BATCH_SIZE)
    assert tuple(theirs) == tuple(ours)
    assert theirs._fields == ours._fields
    source = TFExampleRecord(files, schema=schema())
    assert source.TensorFlowDataset(theirs).element_spec == source.TensorAdapter().TypeSpecs()


def test_sparse_dimension_of_open_size(files: str) -> None:
    made = schema()
    tensor_representation_util.SetTensorRepresentationsInSchema(
        made, {"open": representation(sparse(-1))}
    )
    found, expected = (
        read(source(files, schema=made).Project(["open"]), num_epochs=1)[0]["open"]
        for source in (TFExampleRecord, peer.TFExampleRecord)
    )
    assert found.indices.numpy()[:4].tolist() == [[1, 0], [2, 0], [2, 1], [3, 0]]
    assert found.dense_shape.numpy().tolist() == [BATCH_SIZE, -1]
    assert found.indices.numpy().tolist() == expected.indices.numpy().tolist()
    assert found.dense_shape.numpy().tolist() == expected.dense_shape.numpy().tolist()


def test_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(frames.framed(record(0), record(1))[:-1])
    with pytest.raises(tf.errors.OpError, match="damaged"):
        read(TFExampleRecord(str(path), schema=schema()), num_epochs=1)


def test_data_that_cannot_be_a_dataset(files: str) -> None:
    options = TensorFlowDatasetOptions(BATCH_SIZE)
    with pytest.raises(ValueError, match="Expected a TFMD schema"):
        TFExampleRecord(files).TensorFlowDataset(options)
    with pytest.raises(NotImplementedError, match="TFExampleBeamRecord"):
        TFExampleBeamRecord("memory", schema=schema()).TensorFlowDataset(options)
