"""Tests of tfrecord_beam.records.inference and `infer_schema`: what files say of their schema."""

from __future__ import annotations

import itertools
import pathlib
import pickle
import warnings
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tests import strategies
from tests.frames import framed
from tests.records.reading import flip, frame_starts, read_blocks
from tests.schema.inference_cases import CASES, EXAMPLES, goldens
from tests.schema.schemas import parse_schema
from tests.wire import (
    NO_KIND,
    bytes_list,
    entry,
    example,
    example_list,
    feature_list,
    floats,
    int64,
    sequence_example,
)
from tfrecord_beam import kernel
from tfrecord_beam.errors import DecodeError, SchemaError, TFRecordBeamError
from tfrecord_beam.kernel.plan import DecodePlan, Kind, RecordType
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.inference import RecordObserver, infer_schema
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.records.table import read_table
from tfrecord_beam.schema.inference import make_schema
from tfrecord_beam.schema.statistics import DatasetStatistics, InferenceOptions

INT, FLOAT = example(entry("x", int64(7))), example(entry("x", floats(1)))
OTHER = example(entry("y", bytes_list(b"a")))
DROP = InferenceOptions(on_conflict="drop")


def write(folder: pathlib.Path, *records: bytes, name: str = "a") -> pathlib.Path:
    (folder / name).write_bytes(framed(*records))
    return folder / name


@pytest.mark.parametrize("name", CASES)
def test_schema_of_files_is_that_of_tfdv(tmp_path: pathlib.Path, name: str) -> None:
    for index, record in enumerate(CASES[name]):
        write(tmp_path, record, name=str(index))
    schema = infer_schema(
        tmp_path,
        record_type="Example" if name in EXAMPLES else "SequenceExample",
        infer_shape=True,
        string_domains=3,
    )
    assert schema == goldens()[name, True]


@pytest.mark.parametrize("record_type", ["Example", "SequenceExample"])
def test_folders_are_features(tmp_path: pathlib.Path, record_type: RecordType) -> None:
    for folder in ("day=1/k=a", "day=2/k=b"):
        (tmp_path / folder).mkdir(parents=True)
        write(tmp_path / folder, INT)
    options: Any = {"record_type": record_type, "partition_columns": "hive"}
    schema = infer_schema(tmp_path, string_domains=5, **options)
    days, places, x = schema.feature
    assert (days.name, places.name, x.name) == ("day", "k", "x")
    assert days.type == schema_pb2.BYTES
    assert [list(domain.value) for domain in schema.string_domain] == [["1", "2"], ["a", "b"]]
    assert read_table(tmp_path, schema, **options).column_names == ["day", "k", "x"]
    observer = pickle.loads(pickle.dumps(RecordObserver(**options)))
    assert observer.__reduce__()[1] == (record_type, None, "hive")


def test_folder_with_the_name_of_a_feature(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x=1").mkdir()
    write(tmp_path / "x=1", INT)
    with pytest.raises(SchemaError, match=r"^Expected no feature 'x' in records of a folder x=..."):
        infer_schema(tmp_path, partition_columns="hive")
    with pytest.raises(
        ValueError, match=r"^Expected partition_columns to be one of hive, found 'H"
    ):
        infer_schema(tmp_path, partition_columns="Hive")  # type: ignore[arg-type]


def test_domains(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, INT, OTHER, INT)
    assert infer_schema(path, int_domains=True, content_domains=True) == parse_schema(
        """
        feature { name: "x" type: INT presence { min_count: 1 } value_count { min: 1 max: 1 }
                  int_domain { min: 7 max: 7 } }
        feature { name: "y" type: BYTES presence { min_count: 1 } value_count { min: 1 max: 1 }
                  annotation { tag: "utf-8" } }
        """
    )


def test_no_records(tmp_path: pathlib.Path) -> None:
    assert infer_schema(write(tmp_path)) == parse_schema("")
    assert infer_schema(write(tmp_path, b"", b"")) == parse_schema("")


def test_steps_of_a_list_of_examples(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, example_list(INT, INT, context=OTHER), example_list(INT, INT))
    schema = infer_schema(path, record_type="ExampleListWithContext", infer_shape=True)
    context, struct = schema.feature
    assert (context.name, struct.name) == ("y", "##SEQUENCE##")
    assert [dim.size for dim in struct.struct_domain.feature[0].shape.dim] == [2, 1]


def test_progress(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, INT, INT)
    seen: list[tuple[int, int]] = []
    infer_schema(path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (path.stat().st_size,) * 2


@pytest.mark.parametrize("between", [0, 3])
def test_conflict_in_one_file(tmp_path: pathlib.Path, between: int) -> None:
    path = write(tmp_path, OTHER, INT, *[INT] * between, FLOAT)
    records = [OTHER, INT, *[INT] * between]
    first = len(framed(OTHER))
    with pytest.raises(SchemaError) as caught:
        infer_schema(path)
    assert str(caught.value) == (
        f"Expected int64_list for feature 'x' as at {path}:{first}, record 1, found float_list - "
        f"at {path}:{len(framed(*records))}, record {len(records)} "
        "(on_conflict='drop' leaves such features out)"
    )


def test_conflict_between_files(tmp_path: pathlib.Path) -> None:
    first, second = write(tmp_path, FLOAT, name="1"), write(tmp_path, OTHER, INT, name="2")
    text = (
        rf"^Expected float_list for feature 'x' as at {first}:0, record 0, found int64_list "
        rf"- at {second}:{len(framed(OTHER))}, record 1 \("
    )
    with pytest.raises(SchemaError, match=text):
        infer_schema(tmp_path)
    with pytest.warns(
        UserWarning, match="Left out a feature: Expected float_list for feature 'x'"
    ) as found:
        schema = infer_schema(tmp_path, on_conflict="drop")
    assert found[0].filename == __file__
    assert [feature.name for feature in schema.feature] == ["y"]
    assert schema.feature[0].presence.min_count == 1


def test_features_of_steps_may_have_the_name_of_one_of_the_context(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, sequence_example(feature_list("x", floats(1)), context=INT))
    context, struct = infer_schema(path, record_type="SequenceExample").feature
    assert (context.type, struct.struct_domain.feature[0].type) == (
        schema_pb2.INT,
        schema_pb2.FLOAT,
    )


def test_inferred_schema_reads_the_files(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, OTHER, INT, example(entry("nothing", NO_KIND)))
    schema = infer_schema(path)
    table = read_table(path, schema)
    assert table.column_names == ["nothing", "x", "y"]
    assert table.column("nothing").to_pylist() == [None] * 3


def test_corrupt_records(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, INT, b"\xff", INT)
    path.write_bytes(path.read_bytes() + flip(framed(OTHER), 20))
    with pytest.raises(DecodeError, match=rf"- at {path}:{len(framed(INT))}, record 1"):
        infer_schema(path)
    corrupt: list[CorruptRecord] = []
    schema = infer_schema(path, error_handler=corrupt.append)
    assert [record.record for record in corrupt] == [1, 3]
    assert [feature.name for feature in schema.feature] == ["x"]
    assert schema.feature[0].presence.min_fraction == 1
    with pytest.raises(TFRecordBeamError, match=r"^Expected at most 1 corrupt record, found 2"):
        infer_schema(path, error_handler=corrupt.append, max_corrupt_records=1)


def observe(
    records: Sequence[bytes], record_type: RecordType = "Example", batch_size: int | None = None
) -> DatasetStatistics:
    """Returns the statistics of the records of a file, by an observer that was sent about."""
    statistics = DatasetStatistics(DROP)
    observer = pickle.loads(pickle.dumps(RecordObserver(record_type)))
    for block in read_blocks(framed(*records), ReadOptions(batch_size=batch_size)):
        observer.observe(block, statistics)
    return statistics


def test_records_of_mixed_kinds_count_for_their_other_features() -> None:
    kinds = [int64(1), floats(1), bytes_list(b"a")]
    records = [
        example(entry("x", x), entry("y", y), entry("z", int64(1)))
        for x, y in itertools.product(kinds, kinds)
    ]
    statistics = observe(records)
    starts = frame_starts(records)
    assert statistics.rows == statistics.features[("z",)].present == 9
    assert {
        name: {kind: place.offset for kind, place in feature.kinds.items()}
        for (name,), feature in statistics.features.items()
    } == {
        "x": {Kind.INT64: 0, Kind.FLOAT: starts[3], Kind.BYTES: starts[6]},
        "y": {Kind.INT64: 0, Kind.FLOAT: starts[1], Kind.BYTES: starts[2]},
        "z": {Kind.INT64: 0},
    }


@pytest.mark.parametrize("record_type", ["SequenceExample", "ExampleListWithContext"])
@pytest.mark.parametrize("others", [0, 2])
def test_record_of_mixed_kinds_in_itself(record_type: RecordType, others: int) -> None:
    """Its other features count, those of its context too."""
    context = example(entry("c", int64(1)))
    if record_type == "SequenceExample":
        lists = [
            feature_list("x", int64(1), floats(1)),
            feature_list("y", int64(1), int64(2)),
            feature_list("z", int64(1), bytes_list(b"a")),
        ]
        mixed = sequence_example(*lists, context=context)
        good = sequence_example(feature_list("x", int64(1)), context=context)
    else:
        steps = [
            example(entry("x", x), entry("y", int64(1)), entry("z", z))
            for x, z in [(int64(1), int64(1)), (floats(1), bytes_list(b"a"))]
        ]
        mixed = example_list(*steps, context=context)
        good = example_list(INT, context=context)
    statistics = observe([mixed, *[good] * others, mixed], record_type)
    assert statistics.rows == others + 2
    features = statistics.features
    assert features[("c",)].present == others + 2
    assert features[("##SEQUENCE##", "y")].present == 2
    assert set(features[("##SEQUENCE##", "x")].kinds) == {Kind.INT64, Kind.FLOAT}
    assert set(features[("##SEQUENCE##", "z")].kinds) == {Kind.INT64, Kind.BYTES}
    assert features[("##SEQUENCE##", "z")].kinds[Kind.BYTES].offset == 0


@given(mutated=strategies.mutated_records(), batch_size=st.integers(1, 4))
def test_blocks_of_any_size_say_the_same(
    mutated: tuple[object, list[bytes]], batch_size: int
) -> None:
    _, records = mutated
    good = [record for record in records if _is_good(record)]
    whole, cut = observe(good), observe(good, batch_size=batch_size)
    assert whole.rows == cut.rows == len(good)
    assert whole.features.keys() == cut.features.keys()
    for path, feature in whole.features.items():
        assert feature == cut.features[path]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert make_schema(whole) == make_schema(cut)


def _is_good(record: bytes) -> bool:
    _, failures = kernel.ExampleDecoder(DecodePlan()).decode_records(
        [record], collect_failures=True
    )
    return not failures
