"""A dataset of PyTorch over TFRecord files, with and without the workers of a DataLoader."""

from __future__ import annotations

import collections
import gzip
import pathlib
import pickle
from typing import Any

import pytest
from tensorflow_metadata.proto.v0 import schema_pb2

from tests import frames, wire
from tests.schema.schemas import parse_schema
from tests.tensors.batches import RAGGED, dense, representation
from tfrecord_beam import tensors
from tfrecord_beam.errors import (
    CorruptRecordError,
    DecodeError,
    NoMatchError,
    SchemaError,
)
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.schema.representations import set_tensor_representations

torch = pytest.importorskip("torch", reason="needs PyTorch")

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),  # more workers than CPUs
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),
]

NUM_ROWS = 300
"""Rows in the files: 0 to 199 in one, 10 in one that is compressed, the rest in one."""

Options = dict[str, Any]


def schema() -> schema_pb2.Schema:
    types = {"n": "INT", "s": "BYTES", "v": "FLOAT"}
    made = schema_pb2.Schema(feature=[{"name": n, "type": t} for n, t in types.items()])
    representations = {
        "number": dense().replace('"v"', '"n"'),
        "words": 'varlen_sparse_tensor { column_name: "s" }',
        "ragged": RAGGED,
    }
    set_tensor_representations(
        made, {n: representation(text) for n, text in representations.items()}
    )
    return made


def record(row: int) -> bytes:
    features = {
        "n": wire.int64(row),
        "s": wire.bytes_list(*[b"w%d" % row] * (row % 3)),
        "v": wire.floats(*[row + 0.5] * (row % 4)),
    }
    return wire.example(*[wire.entry(name, kind) for name, kind in features.items()])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("files")
    records = [*map(record, range(NUM_ROWS))]
    (folder / "0").write_bytes(frames.framed(*records[:200]))
    (folder / "1.gz").write_bytes(gzip.compress(frames.framed(*records[200:210])))
    (folder / "2").write_bytes(frames.framed(*records[210:]))
    return str(folder)


def make(files: str | pathlib.Path, **options: Any) -> Any:
    return tensors.TorchDataset(
        files, schema(), **{"batch_size": 16, "tensor_names": ["number"], **options}
    )


def load(dataset: Any, num_workers: int = 0, **options: Any) -> Any:
    return torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=num_workers, **options)


def numbers(batches: Any) -> list[int]:
    return [number for batch in batches for number in batch["number"].tolist()]


def test_schema_of_other_records(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_bytes(frames.framed(wire.example(wire.entry("agee", wire.int64(1)))))
    other = parse_schema('feature { name: "age" type: INT }')
    dataset = tensors.TorchDataset(tmp_path, other, batch_size=1, pad=True)
    text = r"^Expected features of the schema among 'agee', found 'age', which no record has"
    with pytest.warns(UserWarning, match=text):
        assert len([*dataset]) == 1
    other.feature.add(name="agee", type=schema_pb2.INT)
    dataset = tensors.TorchDataset(tmp_path, other, batch_size=1, pad=True, tensor_names=["age"])
    assert len([*dataset]) == 1


# --- Each row once ------------------------------------------------------------------------


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("world_size", [1, 3])
@pytest.mark.parametrize("num_workers", [0, 2, 8])
def test_each_row_once_over_workers_and_ranks(
    files: str, num_workers: int, world_size: int, shuffle: bool
) -> None:
    found = collections.Counter[int]()
    for rank in range(world_size):
        dataset = make(
            files, rank=rank, world_size=world_size, shuffle=shuffle, shuffle_buffer_size=50
        )
        rows = numbers(load(dataset, num_workers))
        assert len(rows) > NUM_ROWS / world_size / 2
        found.update(rows)
    assert found == dict.fromkeys(range(NUM_ROWS), 1)


def test_fewer_files_than_workers(files: str) -> None:
    rows = numbers(load(make(f"{files}/0"), 8))
    assert rows != sorted(rows)  # more than one worker has some
    assert sorted(rows) == [*range(200)]


def test_without_workers_rows_come_in_the_order_of_the_files(files: str) -> None:
    batches = [*make(files)]
    assert numbers(batches) == [*range(NUM_ROWS)]
    assert [len(batch["number"]) for batch in batches] == [16] * 18 + [12]


def test_workers_that_are_spawned(files: str) -> None:
    loader = load(make(files, shuffle=True), 2, multiprocessing_context="spawn")
    assert sorted(numbers(loader)) == [*range(NUM_ROWS)]


def test_pickled(files: str) -> None:
    dataset = make(files, shuffle=True, shuffle_seed=3)
    dataset.set_epoch(2)
    assert numbers(pickle.loads(pickle.dumps(dataset))) == numbers(dataset)


@pytest.mark.parametrize("num_epochs", [0, 1, 2, 3])
@pytest.mark.parametrize("drop_final_batch", [False, True])
def test_sizes_of_batches(files: str, num_epochs: int, drop_final_batch: bool) -> None:
    batches = make(files, num_epochs=num_epochs, drop_final_batch=drop_final_batch)
    whole, rest = divmod(num_epochs * NUM_ROWS, 16)
    sizes = [16] * whole + [rest] * (rest > 0 and not drop_final_batch)
    assert [len(batch["number"]) for batch in batches] == sizes


def test_endless(files: str) -> None:
    batches = iter(make(files, num_epochs=None, batch_size=NUM_ROWS))
    for _ in range(5):
        assert sorted(next(batches)["number"].tolist()) == [*range(NUM_ROWS)]


# --- Tensors ------------------------------------------------------------------------------


@pytest.mark.parametrize("num_workers", [0, 1])
@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_stay_one(files: str, shuffle: bool, num_workers: int) -> None:
    seen = 0
    dataset = make(files, tensor_names=None, shuffle=shuffle, shuffle_buffer_size=40)
    for batch in load(dataset, num_workers):
        assert [*batch] == ["number", "ragged", "words"]
        splits = batch["ragged"].offsets().tolist()
        for row, number in enumerate(batch["number"].tolist()):
            values = batch["ragged"].values()[splits[row] : splits[row + 1]]
            assert values.tolist() == [number + 0.5] * (number % 4)
            words = batch["words"].values[batch["words"].indices[:, 0].numpy() == row]
            assert words.tolist() == [b"w%d" % number] * (number % 3)
            seen += 1
    assert seen == NUM_ROWS


def test_padded(files: str) -> None:
    for batch in make(files, tensor_names=["words", "ragged"], pad=True):
        assert [*batch] == ["words", "ragged"]
        assert batch["words"].shape[1] == 2
        assert batch["ragged"].shape[1] == 3


def test_sequence_examples(tmp_path: pathlib.Path) -> None:
    steps = [wire.feature_list("step", wire.int64(row), wire.int64(row, row)) for row in range(5)]
    path = tmp_path / "a"
    path.write_bytes(frames.framed(*[wire.sequence_example(each) for each in steps]))
    steps_schema = parse_schema(
        """feature {
          name: "##SEQUENCE##"
          type: STRUCT
          struct_domain { feature { name: "step" type: INT } }
        }"""
    )
    dataset = tensors.TorchDataset(
        path, steps_schema, batch_size=5, record_type="SequenceExample", pad=True
    )
    batches: list[Any] = [*dataset]
    (batch,) = batches
    assert batch["##SEQUENCE##.step"].tolist() == [[[i, 0], [i, i]] for i in range(5)]


# --- Random order -------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"shuffle_buffer_size": 20}], ids=str)
def test_a_seed_repeats_the_order_and_epochs_differ(files: str, options: Options) -> None:
    dataset = make(files, shuffle=True, shuffle_seed=7, **options)
    first, again = numbers(dataset), numbers(dataset)
    assert first == again != [*range(NUM_ROWS)]
    dataset.set_epoch(1)
    assert numbers(dataset) != first
    dataset.set_epoch(0)
    assert numbers(dataset) == first
    assert numbers(make(files, shuffle=True, shuffle_seed=8, **options)) != first


def test_epochs_of_one_iteration_differ(files: str) -> None:
    rows = numbers(make(files, shuffle=True, shuffle_seed=7, num_epochs=2))
    assert sorted(rows[:NUM_ROWS]) == sorted(rows[NUM_ROWS:]) == [*range(NUM_ROWS)]
    assert rows[:NUM_ROWS] != rows[NUM_ROWS:]


@pytest.mark.parametrize("persistent", [False, True])
def test_the_epoch_reaches_workers(files: str, persistent: bool) -> None:
    dataset = make(files, shuffle=True, shuffle_seed=7)
    loader = load(dataset, 2, persistent_workers=persistent)
    orders = []
    for epoch in (0, 1, 0):
        dataset.set_epoch(epoch)
        orders.append(numbers(loader))
    assert orders[0] == orders[2] != orders[1]


def test_workers_and_ranks_have_orders_of_their_own(tmp_path: pathlib.Path) -> None:
    data = frames.framed(*map(record, range(100)))
    for name in "01":
        (tmp_path / name).write_bytes(data)
    first, second = (
        numbers(make(tmp_path, rank=rank, world_size=2, shuffle=True, shuffle_seed=7))
        for rank in range(2)
    )
    assert first != second


@pytest.mark.parametrize("num_workers", [0, 1])
def test_without_a_seed_torch_draws_one(files: str, num_workers: int) -> None:
    loader = load(make(files, shuffle=True), num_workers)
    torch.manual_seed(1)
    first, second = numbers(loader), numbers(loader)
    assert first != second
    torch.manual_seed(1)
    assert numbers(loader) == first


# --- Ranks --------------------------------------------------------------------------------


def test_torch_distributed_tells_the_rank(files: str, tmp_path: pathlib.Path) -> None:
    dataset = make(files)  # made before there is a rank
    store = torch.distributed.FileStore(str(tmp_path / "store"), 1)
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        # Only one of two is here: a group of one stands in for it.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.distributed, "get_world_size", lambda: 2)
            for_spawned = pickle.dumps(dataset)
            here, forked = numbers(dataset), numbers(load(dataset, 1))
    finally:
        torch.distributed.destroy_process_group()
    other = numbers(make(files, rank=1, world_size=2))
    assert here == forked == numbers(pickle.loads(for_spawned))
    assert sorted(here + other) == [*range(NUM_ROWS)]
    assert here
    assert other


# --- Errors -------------------------------------------------------------------------------


@pytest.mark.parametrize("num_workers", [0, 2])
def test_damage_is_named_by_file_and_offset(tmp_path: pathlib.Path, num_workers: int) -> None:
    records = [*map(record, range(50))]
    data = bytearray(frames.framed(*records))
    offset = len(frames.framed(*records[:30]))
    data[offset + 12] ^= 1
    path = tmp_path / "a"
    path.write_bytes(data)
    with pytest.raises(CorruptRecordError, match=rf"Payload CRC mismatch: .* at {path}:{offset}"):
        numbers(load(make(path), num_workers))
    aside: list[CorruptRecord] = []
    rows = numbers(make(path, error_handler=aside.append))
    assert rows == [*range(30), *range(31, 50)]
    assert [each.offset for each in aside] == [offset]


@pytest.mark.parametrize("num_workers", [0, 2])
def test_a_record_of_another_kind(tmp_path: pathlib.Path, num_workers: int) -> None:
    records = [record(0), wire.example(wire.entry("n", wire.floats(1.0)))]
    path = tmp_path / "a"
    path.write_bytes(frames.framed(*records))
    place = rf"at {path}:{len(frames.framed(records[0]))}"
    with pytest.raises(DecodeError, match=f"Expected int64_list for feature 'n', .* {place}"):
        numbers(load(make(path), num_workers))
    aside: list[CorruptRecord] = []
    assert numbers(make(path, error_handler=aside.append)) == [0]
    assert len(aside) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, r"^Expected batch_size to be an int of at least 1, found 0$"),
        ({"pad": 1}, r"^Expected pad to be True or False, found 1$"),
        ({"shuffle": None}, r"^Expected shuffle to be True or False, found None$"),
        ({"shuffle_buffer_size": 0}, r"^Expected shuffle_buffer_size to be an int of at least 1"),
        ({"shuffle_seed": -1}, r"^Expected shuffle_seed to be None or an int of at least 0"),
        ({"num_epochs": "1"}, r"^Expected num_epochs to be None or an int of at least 0"),
        ({"drop_final_batch": 1}, r"^Expected drop_final_batch to be True or False, found 1$"),
        ({"rank": 0}, r"^Expected world_size to be an int of at least 1, found None$"),
        ({"world_size": 2}, r"^Expected rank to be an int of at least 0, found None$"),
        ({"rank": 2, "world_size": 2}, r"^Expected rank to be an int of at most 1, found 2$"),
        ({"record_type": "Row"}, r"^Expected record_type to be one of Example, "),
        ({"compression": "rar"}, r"^Expected compression to be None or one of "),
        ({"validate_crc": 1}, r"^Expected validate_crc to be True or False, found 1$"),
        ({"error_handler": 1}, r"^Expected error_handler to be None or a function, found 1$"),
    ],
    ids=str,
)
def test_options_that_cannot_be(files: str, options: Options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(files, **options)


def test_other_arguments_that_cannot_be(files: str) -> None:
    with pytest.raises(NoMatchError, match=r"^Expected files at "):
        make(f"{files}/none")
    with pytest.raises(SchemaError, match=r"^Expected tensors among 'number', .*, found 'n'"):
        make(files, tensor_names=["n"])
    with pytest.raises(SchemaError, match=r"^Expected a list of tensors, found 'number' \(write "):
        make(files, tensor_names="number")
    with pytest.raises(ValueError, match=r"^Expected epoch to be an int of at least 0, found -1$"):
        make(files).set_epoch(-1)
