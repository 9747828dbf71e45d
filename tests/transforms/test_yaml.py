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

from tests.schema.schemas import parse_schema
from tfrecord_beam import read_table, write_table
from tfrecord_beam.schema.tfmd import load_schema, save_schema

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


def run_yaml(folder: pathlib.Path, transforms: str) -> None:
    """Runs transforms in a chain; FOLDER in them is a path."""
    text = f"""
    pipeline:
      type: chain
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
