"""Tests of tfrecord_beam.schema.statistics and inference: what batches say of their schema."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import text_format
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.schema.inference_cases import CASES, EXAMPLES, goldens
from tests.schema.schemas import parse_schema
from tfrecord_beam.errors import EncodeError, Location, SchemaError
from tfrecord_beam.kernel.plan import DecodePlan, Kind, SequenceDecodePlan
from tfrecord_beam.schema.inference import find_conflicts, make_schema
from tfrecord_beam.schema.statistics import DatasetStatistics, FeatureStatistics, InferenceOptions

ALL = InferenceOptions(
    infer_shape=True, int_domains=True, string_domains=2, content_domains=True, on_conflict="drop"
)


def infer(*batches: pa.RecordBatch, options: InferenceOptions = ALL) -> schema_pb2.Schema:
    statistics = DatasetStatistics(options)
    for batch in batches:
        statistics.add(batch)
    return make_schema(statistics)


def feature(*batches: dict[str, Any], options: InferenceOptions = ALL) -> schema_pb2.Feature:
    """Returns the only feature of batches."""
    [found] = infer(*map(pa.record_batch, batches), options=options).feature
    return found


def only(text: str) -> schema_pb2.Feature:
    return text_format.Parse(text, schema_pb2.Feature())


@pytest.mark.parametrize("infer_shape", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_schema_is_that_of_tfdv(kernel: Any, name: str, infer_shape: bool) -> None:
    decoder = (
        kernel.ExampleDecoder(DecodePlan())
        if name in EXAMPLES
        else kernel.SequenceExampleDecoder(SequenceDecodePlan())
    )
    options = InferenceOptions(infer_shape=infer_shape, string_domains=3)
    whole = infer(pa.record_batch(decoder.decode_records(CASES[name])[0]), options=options)
    assert whole == goldens()[name, infer_shape]
    single = [pa.record_batch(decoder.decode_records([each])[0]) for each in CASES[name]]
    assert infer(*single, options=options) == whole


def test_every_case_has_a_golden() -> None:
    assert set(goldens()) == {(name, shape) for name in CASES for shape in (False, True)}


def test_steps_of_no_kind_have_no_shape() -> None:
    """Different from TFDV: the tensor of such a shape could not be filled."""
    steps = pa.array([[[1], None], [[2], [3]]])
    [struct] = infer(pa.record_batch({"x": steps})).feature
    [found] = struct.struct_domain.feature
    assert not found.HasField("shape")
    assert (
        found.value_counts
        == only(
            "value_counts { value_count { min: 2 max: 2 } value_count { min: 1 max: 1 } }"
        ).value_counts
    )


def test_int_domain() -> None:
    first = {"x": pa.array([[5, -3], None])}
    assert feature(first, {"x": [[7]]}).int_domain == schema_pb2.IntDomain(min=-3, max=7)
    assert not feature({"x": pa.array([[]], pa.list_(pa.int64()))}).HasField("int_domain")
    assert not feature(first, options=InferenceOptions()).HasField("int_domain")


def test_string_domain() -> None:
    few = infer(pa.record_batch({"x": [["b"], ["b", "ä"]]}), pa.record_batch({"x": [["b"]]}))
    assert few.feature[0].domain == "x"
    assert list(few.string_domain) == [schema_pb2.StringDomain(name="x", value=["b", "ä"])]
    many = infer(pa.record_batch({"x": [["b"], ["a"]]}), pa.record_batch({"x": [["c"]]}))
    assert not many.string_domain
    assert not infer(pa.record_batch({"x": [[b"\xff"]]})).string_domain


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([b"\x89PNG\r\n\x1a\n\xff", b"\xff\xd8\xff\xe0", b"RIFF1234WEBPVP8 "], "image_domain {}"),
        (["a lazy dog", "the quick brown fox", "größe ist alles"], "natural_language_domain {}"),
        (["Ärger", "Wut", "Trost"], "annotation { tag: 'utf-8' }"),
        (["a b c", "d e f", "g h \0"], "annotation { tag: 'utf-8' }"),
        (["BMW", "BMX", "BMI"], "annotation { tag: 'utf-8' }"),  # BM begins a bitmap, too
        ([b"\xff\xd8\xff", b"a", b"b"], ""),
    ],
)
def test_content(values: list[Any], text: str) -> None:
    expected = only(text)
    found = feature({"x": values[:1]}, {"x": [None]}, {"x": values[1:]})
    for field in ("image_domain", "natural_language_domain", "annotation"):
        assert found.HasField(field) == expected.HasField(field)
        assert getattr(found, field) == getattr(expected, field)


def test_content_of_no_values() -> None:
    found = feature({"x": pa.array([[], None], pa.list_(pa.binary()))})
    assert found == only("name: 'x' type: BYTES presence { min_count: 1 }")


def test_columns_of_other_types() -> None:
    batch = pa.record_batch(
        {
            "date": pa.array([19000, None], pa.date32()),
            "fixed": pa.array([[1.5, 2], [3, 4]], pa.list_(pa.float64(), 2)),
            "flag": [True, False],
            "unknown": pa.nulls(2),
            "word": pa.array(["a", "a"]).dictionary_encode(),
        }
    )
    assert infer(batch) == parse_schema(
        """
        feature { name: "date" type: INT presence { min_count: 1 }
                  value_count { min: 1 max: 1 } int_domain { min: 19000 max: 19000 } }
        feature { name: "fixed" type: FLOAT presence { min_fraction: 1 min_count: 1 }
                  shape { dim { size: 2 } } }
        feature { name: "flag" type: INT presence { min_fraction: 1 min_count: 1 }
                  shape { dim { size: 1 } } int_domain { min: 0 max: 1 } }
        feature { name: "unknown" type: BYTES presence { min_count: 0 } }
        feature { name: "word" type: BYTES presence { min_fraction: 1 min_count: 1 }
                  shape { dim { size: 1 } } domain: "word" }
        string_domain { name: "word" value: "a" }
        """
    )


def test_type_says_the_kind_where_no_row_does() -> None:
    assert feature({"x": pa.nulls(2, pa.list_(pa.float32()))}).type == schema_pb2.FLOAT


def test_slices() -> None:
    whole = pa.record_batch({"x": [[9, 9], None, [1], [2]], "s": ["far", "a", "b", "b"]})
    part = whole.slice(2)
    assert infer(part) == infer(pa.RecordBatch.from_pylist(part.to_pylist()))


def test_refused_columns() -> None:
    with pytest.raises(SchemaError, match=r"^Expected numbers, bytes, strings .* 'x', found map"):
        infer(pa.record_batch({"x": pa.array([[]], pa.map_(pa.int64(), pa.int64()))}))
    with pytest.raises(EncodeError, match=r"^Expected an integer below 2\*\*63 .* at record 1"):
        infer(pa.record_batch({"x": pa.array([0, 1 << 63], pa.uint64())}))
    null = r"^Expected no null among the values of feature 'x', found one - at record 1"
    for values in ([["a"], ["b", None]], [None, [["a"], None, ["b", None]]]):
        with pytest.raises(EncodeError, match=null):
            infer(pa.record_batch({"x": values}))
    twice = pa.RecordBatch.from_arrays([pa.array([1])] * 2, ["x", "x"])
    with pytest.raises(SchemaError, match=r"^Expected different columns of a batch, found 'x'"):
        infer(twice)


def place(row: int) -> Location:
    return Location("a.tfrecord", 100 * row, row)


def test_conflict_names_the_first_places() -> None:
    statistics = DatasetStatistics()
    statistics.add(pa.record_batch({"x": [None, 1.5]}), lambda row: place(row + 2))
    statistics.add(pa.record_batch({"x": [None, 1]}), lambda row: place(row))
    statistics.add(pa.record_batch({"x": [4]}), lambda row: place(row + 5))
    [error] = find_conflicts(statistics)
    assert str(error) == (
        "Expected int64_list for feature 'x' as at a.tfrecord:100, record 1, found float_list - at "
        "a.tfrecord:300, record 3 (on_conflict='drop' leaves such features out)"
    )
    with pytest.raises(SchemaError) as caught:
        make_schema(statistics)
    assert (caught.value.offset, str(caught.value)) == (300, str(error))


def test_conflict_in_steps() -> None:
    """A row without steps, or with steps of no kind, is not the first place of a kind."""
    statistics = DatasetStatistics()
    steps = pa.array([[], [None], [None, [1]]], pa.list_(pa.list_(pa.int64())))
    statistics.add(pa.record_batch({"x": steps}), place)
    statistics.add(pa.record_batch({"x": pa.array([[[b"a"]]])}), lambda row: place(7))
    with pytest.raises(SchemaError, match=r"'##SEQUENCE##.x' as at a.tfrecord:200, record 2, f"):
        make_schema(statistics)


def test_conflict_without_places() -> None:
    text = r"^Expected int64_list for feature 'x', found float_list \(on_conflict="
    with pytest.raises(SchemaError, match=text):
        infer(*map(pa.record_batch, ({"x": [1]}, {"x": [1.5]})), options=InferenceOptions())


def test_conflict_that_is_dropped() -> None:
    with pytest.warns(UserWarning, match=r"^Left out a feature: Expected int64_list for .* 'x'"):
        schema = infer(*map(pa.record_batch, ({"x": [1], "y": [1]}, {"x": [1.5], "y": [2]})))
    assert [each.name for each in schema.feature] == ["y"]
    [comment] = schema.annotation.comment
    assert comment.startswith("Left out a feature: Expected int64_list for feature 'x'")


_COLUMNS: dict[str, st.SearchStrategy[Any]] = {
    "int": st.lists(st.integers(-3, 3), max_size=2),
    "text": st.lists(st.sampled_from(["a", "b", "c", "some words here"]), max_size=2),
    "any": st.lists(st.binary(max_size=2), max_size=1),
    "steps": st.lists(st.none() | st.lists(st.floats(width=32), max_size=2), max_size=2),
}
_TYPES = {
    "int": pa.list_(pa.int64()),
    "text": pa.large_list(pa.string()),
    "any": pa.list_(pa.binary()),
    "steps": pa.list_(pa.list_(pa.float32())),
}
_rows = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, values in _COLUMNS.items()}),
    max_size=6,
)


def statistics_of(rows: Sequence[dict[str, Any]], options: InferenceOptions) -> DatasetStatistics:
    statistics = DatasetStatistics(options)
    columns = {
        name: pa.array([row[name] for row in rows], data_type)
        for name, data_type in _TYPES.items()
        # As in records: a column that no row shows is not there, or has no type.
        if any(row[name] is not None for row in rows)
    }
    struct = pa.StructArray.from_buffers(
        pa.struct([(name, column.type) for name, column in columns.items()]),
        len(rows),
        [None],
        children=list(columns.values()),
    )
    statistics.add(pa.RecordBatch.from_struct_array(struct))
    return statistics


@given(rows=_rows, cuts=st.lists(st.integers(0, 6), max_size=3), data=st.data())
def test_parts_in_any_order_say_the_same(
    rows: list[dict[str, Any]], cuts: list[int], data: st.DataObject
) -> None:
    whole = make_schema(statistics_of(rows, ALL))
    shuffled = data.draw(st.permutations(rows))
    ends = [0, *sorted(cuts), len(rows)]
    parts = [statistics_of(shuffled[a:b], ALL) for a, b in itertools.pairwise(ends)]
    # Merged as runners do it: some with each other, the results again; and sent about.
    merged = [DatasetStatistics(ALL), DatasetStatistics(ALL)]
    for part in data.draw(st.permutations(parts)):
        merged[data.draw(st.integers(0, 1))].merge(pickle.loads(pickle.dumps(part)))
    merged[0].merge(merged[1])
    assert make_schema(merged[0]) == whole


def test_kinds_are_known_by_first_place_in_any_order() -> None:
    statistics = DatasetStatistics()
    for first in (5, 3, 4):
        other = DatasetStatistics()
        other.features[("x",)] = FeatureStatistics(kinds={Kind.INT64: place(first)})
        statistics.merge(other)
    assert statistics.features[("x",)].kinds == {Kind.INT64: place(3)}
