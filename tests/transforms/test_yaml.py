"""Pipelines of Beam YAML with the library's provider."""

from __future__ import annotations

import importlib
import pathlib
from importlib.resources import files
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tests.frames import framed
from tests.records.reading import flip, frame_starts
from tests.schema.schemas import parse_schema
from tests.wire import bytes_list, entry, example, int64
from tfrecord_beam import read_table, write_table
from tfrecord_beam.records.writing.schema_file import save_schema
from tfrecord_beam.schema.tfmd import load_schema
from tfrecord_beam.transforms.yaml import ReadFromTFExample, WriteToTFExample

try:
    yaml_transform: Any = importlib.import_module("apache_beam.yaml.yaml_transform")
except ImportError as error:
    pytest.skip(f"Beam YAML needs apache-beam[yaml]: {error}", allow_module_level=True)

PROVIDERS = files("tfrecord_beam.transforms") / "providers.yaml"
SCHEMA = parse_schema(
    """
    feature { name: "name" type: BYTES shape {} string_domain { value: "Ann" } }
    feature { name: "age" type: INT shape {} }
    feature { name: "scores" type: FLOAT }
    """
)


@pytest.fixture
def people(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with data and their schema."""
    save_schema(SCHEMA, tmp_path / "schema.pbtxt")
    rows = {"name": ["Ann", "Bo", None], "age": [42, 17, 7], "scores": [[0.5], [], [1.0, 2.0]]}
    write_table(rows, tmp_path / "people.tfrecord")
    return tmp_path


def run_yaml(folder: pathlib.Path, transforms: str, *, kind: str = "chain") -> None:
    """Runs transforms, by default in a chain; FOLDER in them is a path."""
    text = f"""
    pipeline:
      type: {kind}
      transforms:
{transforms.replace("FOLDER", str(folder))}
    providers:
      - include: {PROVIDERS}
    """
    options = PipelineOptions(["--pickle_library=cloudpickle"])
    pipeline = beam.Pipeline(runner=FnApiRunner(), options=options)
    yaml_transform.expand_pipeline(pipeline, text)
    pipeline.run().wait_until_finish()


def test_read_and_write(people: pathlib.Path) -> None:
    run_yaml(
        people,
        """
        - type: ReadFromTFExample
          config: {path: FOLDER/people*, schema: FOLDER/schema.pbtxt, columns: [name, age]}
        - type: Filter
          config: {language: python, keep: "age > 10 and name.startswith('A')"}
        - type: WriteToTFExample
          config: {path: FOLDER/out/a, num_shards: 1, compression: gzip}
        - type: WriteToTFExample
          config: {path: FOLDER/written/a, num_shards: 1}
        """,
    )
    [path] = (people / "out").glob("a-*.tfrecord.gz")
    assert read_table(path).to_pylist() == [{"name": [b"Ann"], "age": [42]}]
    [written] = read_table(people / "written").to_pylist()  # a row for each file
    assert written["path"] == [str(path).encode()]
    assert written["num_records"] == [1]


def test_corrupt_records_are_another_output(people: pathlib.Path) -> None:
    records = [example(entry("age", int64(age))) for age in (42, 17)]
    wrong = example(entry("age", bytes_list(b"old")))
    data = framed(records[0], records[1], wrong)
    file = people / "damaged.tfrecord"
    file.write_bytes(flip(data, frame_starts(records)[1] + 12))
    run_yaml(
        people,
        """
        - type: ReadFromTFExample
          name: Read
          config:
            path: FOLDER/damaged*
            schema: FOLDER/schema.pbtxt
            error_handling: {output: corrupt}
        - type: WriteToTFExample
          name: WriteGood
          input: Read
          config: {path: FOLDER/good/a, num_shards: 1}
        - type: WriteToTFExample
          name: WriteCorrupt
          input: Read.corrupt
          config: {path: FOLDER/corrupt/a, num_shards: 1}
        """,
        kind="composite",
    )
    assert read_table(people / "good")["age"].to_pylist() == [[42]]
    rows = sorted(read_table(people / "corrupt").to_pylist(), key=lambda row: row["offset"])
    assert [row["offset"] for row in rows] == [[start] for start in frame_starts(records)[1:]]
    assert {path for row in rows for path in row["file"]} == {str(file).encode()}
    [[mismatch], [kind]] = [row["reason"] for row in rows]
    assert mismatch.startswith(b"Payload CRC mismatch: stored 0x")
    assert kind == b"Expected int64_list for feature 'age', found bytes_list"
    assert rows[1]["sample"] == [wrong]


def test_rows_that_do_not_fit_are_another_output(people: pathlib.Path) -> None:
    (people / "ages.pbtxt").write_text('feature { name: "age" type: INT }')
    run_yaml(
        people,
        """
        - type: Create
          config: {elements: [{age: 42}, {age: "old"}, {age: 17}]}
        - type: WriteToTFExample
          name: Write
          input: Create
          config:
            path: FOLDER/good/a
            num_shards: 1
            schema: FOLDER/ages.pbtxt
            error_handling: {output: refused}
        - type: StripErrorMetadata
          input: Write.refused
        - type: WriteToTFExample
          name: WriteElements
          input: StripErrorMetadata
          config: {path: FOLDER/elements/a, num_shards: 1}
        - type: MapToFields
          input: Write.refused
          config: {language: python, fields: {msg: msg}}
        - type: WriteToTFExample
          name: WriteTexts
          input: MapToFields
          config: {path: FOLDER/texts/a, num_shards: 1}
        """,
        kind="composite",
    )
    assert sorted(read_table(people / "good")["age"].to_pylist()) == [[17], [42]]
    assert read_table(people / "elements").to_pylist() == [{"age": [b"old"]}]
    assert read_table(people / "texts").to_pylist() == [
        {
            "msg": [
                b"Expected int64_list for feature 'age', found bytes_list "
                b"(cast the column, or change the schema)"
            ]
        }
    ]


@pytest.mark.parametrize("transform", [ReadFromTFExample, WriteToTFExample])
@pytest.mark.parametrize("error_handling", [[], {}, {"output": "a", "threshold": 1}])
def test_error_handling_that_is_none(transform: Any, error_handling: Any) -> None:
    with pytest.raises(ValueError, match=r"^Expected error_handling to have output and nothing "):
        transform("a", "b", error_handling=error_handling)


@pytest.mark.parametrize("output", ["good", "", None, 3])
def test_output_of_corrupt_records_without_a_name_of_its_own(output: Any) -> None:
    with pytest.raises(ValueError, match=r"^Expected the output of error_handling to have a name "):
        ReadFromTFExample("a", "b", error_handling={"output": output})


def test_infer_of_files(people: pathlib.Path) -> None:
    run_yaml(
        people,
        """
        - type: InferTFExampleSchema
          config: {path: FOLDER/people*, string_domains: 5}
        - type: WriteToTFExample
          config: {path: FOLDER/schema-rows/a, num_shards: 1}
        """,
    )
    [[text]] = read_table(people / "schema-rows").column("schema").to_pylist()
    (people / "inferred.pbtxt").write_bytes(text)
    inferred = load_schema(people / "inferred.pbtxt")
    assert {feature.name for feature in inferred.feature} == {"name", "age", "scores"}


def test_infer_of_rows(people: pathlib.Path) -> None:
    run_yaml(
        people,
        """
        - type: Create
          config: {elements: [{size: 1}, {size: 2}]}
        - type: InferTFExampleSchema
        - type: WriteToTFExample
          config: {path: FOLDER/schema-rows/a, num_shards: 1}
        """,
    )
    [[text]] = read_table(people / "schema-rows").column("schema").to_pylist()
    assert b'name: "size"' in text


def test_wrong_option_is_refused(people: pathlib.Path) -> None:
    with pytest.raises(Exception, match="colums"):
        run_yaml(
            people,
            """
        - type: ReadFromTFExample
          config: {path: FOLDER/people*, schema: FOLDER/schema.pbtxt, colums: [name]}
            """,
        )
