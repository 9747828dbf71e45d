"""Schemas inferred by workers: their statistics meet from several bundles and processes."""

from __future__ import annotations

import pathlib

from tests.engines.engine import Collect, Engine, collected
from tests.tfxio.example_files import write_files
from tfrecord_beam import InferSchema, infer_schema


def test_schema(engine: Engine, tmp_path: pathlib.Path) -> None:
    write_files(tmp_path)
    infer = InferSchema(
        tmp_path / "*.tfrecord*", infer_shape=True, int_domains=True, desired_bundle_bytes=300
    )
    engine.run(lambda pipeline: pipeline | infer | Collect(tmp_path / "schemas"))
    [schema] = collected(tmp_path / "schemas")
    expected = infer_schema(tmp_path / "*.tfrecord*", infer_shape=True, int_domains=True)
    assert {feature.name for feature in expected.feature} > {"id", "name", "score"}
    assert schema == expected
