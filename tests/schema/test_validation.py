"""Tests of tfrecord_beam.schema.validation: whether batches fit a schema."""

from __future__ import annotations

import functools
import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from tests.schema.schemas import parse_schema
from tfrecord_beam.errors import Location, SchemaError
from tfrecord_beam.schema.inference import make_schema
from tfrecord_beam.schema.statistics import DatasetStatistics, InferenceOptions
from tfrecord_beam.schema.validation import Anomaly, Findings, SchemaValidator, validate_batch

STEPS = pa.array([[[1], [2, 3]], None, [], [[1], None]], pa.list_(pa.list_(pa.int64())))


@pytest.mark.parametrize(
    ("feature", "values", "text"),
    [
        ("type: FLOAT", [[1], None], "type FLOAT for feature 'x', found int64_list in 1 record 0"),
        ("type: INT presence { min_fraction: 1 }", [[1], None, [], None],
         "a value for feature 'x', found none in 2 records 1"),
        ("type: INT value_count { min: 1 max: 2 }", [[1], None, [], [1, 2, 3]],
         "1 to 2 values for feature 'x', found another number in 2 records 2"),
        ("type: INT value_count { min: 2 }", [[1, 2], [1]],
         "at least 2 values for feature 'x', found another number in 1 record 1"),
        ("type: INT value_count { min: 1 max: 1 }", [1, None, 2], ""),
        ("type: INT value_count { min: 2 max: 2 }", [None, 1],
         "2 values for feature 'x', found another number in 1 record 1"),
        ("type: INT shape { dim { size: 2 } dim { size: 3 } }", [[1] * 6, [1] * 5],
         "6 values for feature 'x', found another number in 1 record 1"),
        ("type: INT shape {}", [[1], [1, 2]],
         "1 value for feature 'x', found another number in 1 record 1"),
        ("type: INT shape { dim { size: -1 } }", [[1], [1, 2]], ""),
        ("type: INT int_domain { min: 0 max: 3 }", [[1, 5, 6], None, [-1]],
         "values of 0 to 3 for feature 'x', found others in 2 records 0"),
        ("type: INT int_domain {}", [[1]], ""),
        ("type: INT domain: 'd'", [[4], [5]],
         "values of at most 4 for feature 'x', found others in 1 record 1"),
        ("type: FLOAT float_domain { min: 0.5 }", [[0.5], [0.25, float("nan")], [float("nan")]],
         "values of at least 0.5 for feature 'x', found others in 1 record 1"),
        ("type: BYTES domain: 's'", [["a", "b"], ["a", "c", "d"], []],
         "values among the 2 of its domain for feature 'x', found others in 1 record 1"),
        ("type: BYTES string_domain { value: 'ä' }", [["ä"], ["a"]],
         "values among the 1 of its domain for feature 'x', found others in 1 record 1"),
        ("type: BYTES domain: 'lost'", [["a"]], ""),
        ("type: BYTES int_domain { min: 1 }", [["0"]], ""),
        ("type: BYTES float_domain { min: 1 }", [["0"]], ""),
        ("type: INT string_domain { value: 'a' }", [[1]], ""),
        ("type: BYTES deprecated: true presence { min_fraction: 1 }", [None], ""),
        ("type: BYTES lifecycle_stage: PLANNED presence { min_fraction: 1 }", [None], ""),
    ],
)  # fmt: skip
def test_rule(feature: str, values: list[Any], text: str) -> None:
    schema = parse_schema(
        f"feature {{ name: 'x' {feature} }} "
        "int_domain { name: 'd' max: 4 } string_domain { name: 's' value: 'a' value: 'b' }"
    )
    anomalies = validate_batch(schema, pa.record_batch({"x": values, "y": values}))
    expected = re.sub(r"( records?) (\d+)$", r"\1 - at record \2", f"Expected {text}")
    assert list(map(str, anomalies)) == ([expected] if text else [])


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        ("type: INT value_counts { value_count { min: 1 } value_count { max: 1 } }",
         ["at least 1 steps 1 2", "0 to 1 values in each step 1 0"]),
        ("type: INT shape { dim { size: 2 } dim { size: 1 } }",
         ["2 steps 1 2", "1 value in each step 1 0"]),
        ("type: INT int_domain { max: 2 }", ["values of at most 2 1 0"]),
        ("type: INT presence { min_fraction: 1 }", ["a value 1 1"]),
    ],
)  # fmt: skip
def test_rule_for_steps(feature: str, text: list[str]) -> None:
    schema = parse_schema(
        "feature { name: '##SEQUENCE##' type: STRUCT "
        f"struct_domain {{ feature {{ name: 'x' {feature} }} }} }}"
    )
    found = validate_batch(schema, pa.record_batch({"x": STEPS}))
    assert [
        f"{each.reason.removeprefix('Expected ').partition(' for feature')[0]} {each.count} "
        f"{each.first.record}"
        for each in found
    ] == text
    assert {each.feature for each in found} == {"##SEQUENCE##.x"}


def test_steps_of_single_values() -> None:
    schema = parse_schema(
        "feature { name: '##SEQUENCE##' type: STRUCT struct_domain { feature { name: 'x' type: INT "
        "value_counts { value_count { max: 1 } value_count { min: 2 } } } } }"
    )
    steps = pa.array([{"x": [1, 2]}, {"x": [3]}, {"x": None}])
    assert list(map(str, validate_batch(schema, pa.record_batch({"##SEQUENCE##": steps})))) == [
        "Expected 0 to 1 steps for feature '##SEQUENCE##.x', found another number in 1 record "
        "- at record 0",
        "Expected at least 2 values in each step for feature '##SEQUENCE##.x', found another "
        "number in 2 records - at record 0",
    ]
    assert validate_batch(schema, pa.record_batch({"y": [1]})) == []


def test_column_that_is_not_there() -> None:
    schema = parse_schema("feature { name: 'x' type: INT presence { min_fraction: 1 } }")
    assert validate_batch(schema, pa.record_batch({"y": [1, 2]})) == [
        Anomaly("x", "Expected a value for feature 'x', found none", 2, Location(record=0))
    ]


@pytest.mark.parametrize(
    ("presence", "wanted"), [("min_fraction: 0.5", 3), ("min_count: 3", 3), ("min_count: 2", None)]
)
def test_presence_in_all_records_together(presence: str, wanted: int | None) -> None:
    schema = parse_schema(f"feature {{ name: 'x' type: INT presence {{ {presence} }} }}")
    validator, findings = SchemaValidator(schema), Findings()
    for values in ([1, None, None], [2, None]):
        batch = pa.record_batch({"x": values})
        findings.merge(validator.find(batch, lambda row: Location("a", row)))
    assert list(map(str, validator.anomalies(findings))) == (
        []
        if wanted is None
        else ["Expected values in 3 records for feature 'x', found some in 2 records"]
    )


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1, 2], ["Expected values in 3 records for feature 'x', found some in 2 records"]),
        (
            [1, None],
            [
                "Expected a value for feature 'x', found none in 1 record - at record 1",
                "Expected values in 3 records for feature 'x', found some in 1 record",
            ],
        ),
        (
            [None, None],
            ["Expected a value for feature 'x', found none in 2 records - at record 0"],
        ),
        ([], ["Expected values in 3 records for feature 'x', found some in 0 records"]),
        ([1, 2, 3], []),
    ],
)
def test_presence_in_all_records_and_in_so_many(values: list[int | None], texts: list[str]) -> None:
    schema = parse_schema(
        "feature { name: 'x' type: INT presence { min_fraction: 1 min_count: 3 } }"
    )
    batch = pa.record_batch({"x": pa.array(values, pa.int64())})
    assert list(map(str, validate_batch(schema, batch))) == texts


def test_presence_in_one_record() -> None:
    schema = parse_schema("feature { name: 'x' type: INT presence { min_count: 1 } }")
    assert list(map(str, validate_batch(schema, pa.record_batch({"y": [1, 2]})))) == [
        "Expected values in 1 record for feature 'x', found some in 0 records"
    ]


def test_counts_of_several_batches() -> None:
    validator = SchemaValidator(
        parse_schema("feature { name: 'x' type: INT int_domain { max: 1 }}")
    )
    findings = Findings()
    for values in ([1], [1, 2], [3]):
        place_of = functools.partial(Location, str(values), None)
        findings.merge(validator.find(pa.record_batch({"x": values}), place_of))
    [anomaly] = validator.anomalies(findings)
    assert (anomaly.count, anomaly.first) == (2, Location("[1, 2]", record=1))


def test_refused() -> None:
    with pytest.raises(SchemaError, match=r"^Expected a pyarrow.RecordBatch, found 5"):
        validate_batch(parse_schema(""), 5)
    with pytest.raises(SchemaError, match=r"^Expected a TFMD Schema, its serialized bytes or"):
        validate_batch(5, pa.record_batch({"a": [1]}))  # type: ignore[arg-type]


_lists = st.none() | st.lists(st.integers(0, 5), max_size=3)


@given(
    rows=st.lists(st.tuples(_lists, st.none() | st.lists(_lists, max_size=2)), max_size=5),
    infer_shape=st.booleans(),
)
def test_data_fit_the_schema_that_was_inferred_of_them(
    rows: list[tuple[Any, Any]], infer_shape: bool
) -> None:
    flat, steps = ([row[index] for row in rows] for index in range(2))
    batch = pa.record_batch(
        {
            "int": pa.array(flat, pa.list_(pa.int64())),
            "text": pa.array(
                [None if each is None else list(map(str, each)) for each in flat],
                pa.list_(pa.string()),
            ),
            "steps": pa.array(steps, pa.list_(pa.list_(pa.int64()))),
        }
    )
    options = InferenceOptions(infer_shape=infer_shape, int_domains=True, string_domains=9)
    statistics = DatasetStatistics(options)
    statistics.add(batch)
    assert validate_batch(make_schema(statistics), batch) == []


def test_missing_beside_another_type() -> None:
    schema = parse_schema("feature { name: 'x' type: FLOAT presence { min_fraction: 1 } }")
    assert list(map(str, validate_batch(schema, pa.record_batch({"x": [1, None]})))) == [
        "Expected a value for feature 'x', found none in 1 record - at record 1",
        "Expected type FLOAT for feature 'x', found int64_list in 1 record - at record 0",
    ]


def test_findings_of_parts_are_those_of_all() -> None:
    schema = parse_schema("feature { name: 'x' type: INT int_domain { max: 1 } }")
    validator = SchemaValidator(schema)
    parts = [
        validator.find(pa.record_batch({"x": numbers}), lambda row, at=offset: Location("f", at))  # type: ignore[misc]
        for offset, numbers in ((20, [5, 1]), (0, [2]), (10, [0]))
    ]
    merged = Findings()
    for part in parts:
        merged.merge(part)
    assert merged.rows == 4
    [anomaly] = validator.anomalies(merged)
    assert (anomaly.count, anomaly.first) == (2, Location("f", 0))
    assert validator.anomalies(Findings()) == []
