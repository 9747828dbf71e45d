"""What an engine is told of a pipeline, whichever it is: Beam's portable form."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.portability import common_urns
from apache_beam.portability.api import beam_runner_api_pb2

from tests.records.writing.beam_urls import SCHEME, LocalFilesByUrl
from tests.tfxio.example_files import SCHEMA, write_files
from tfrecord_beam import (
    BeamSource,
    InferSchema,
    NoMatchError,
    RawRecordBeamSource,
    ReadRecordBlocks,
    WriteToTFRecord,
)
from tfrecord_beam.records import paths

KNOWN = {
    common_urns.primitives.IMPULSE.urn,
    common_urns.primitives.PAR_DO.urn,
    common_urns.primitives.GROUP_BY_KEY.urn,
    common_urns.primitives.FLATTEN.urn,
    common_urns.primitives.ASSIGN_WINDOWS.urn,
}
"""What every engine has; all else is made of these."""


def portable(*transforms: beam.PTransform) -> beam_runner_api_pb2.Pipeline:
    """Returns the portable form of a pipeline of transforms, one after the other."""
    pipeline = beam.Pipeline()
    step: beam.Pipeline | beam.PCollection = pipeline
    for transform in transforms:
        step = step | transform
    return pipeline.to_runner_api()


def urns_of(proto: beam_runner_api_pb2.Pipeline) -> set[str]:
    """Returns what kinds of transforms do the work: those that are not made of others."""
    return {
        transform.spec.urn
        for transform in proto.components.transforms.values()
        if transform.spec.urn
        and not transform.subtransforms
        and {*transform.outputs.values()} - {*transform.inputs.values()}
    }


def test_only_a_few_primitives_are_asked_for(tmp_path: pathlib.Path) -> None:
    (tmp_path / "in").mkdir()
    write_files(tmp_path / "in")
    write = WriteToTFRecord(tmp_path / "out" / "a", SCHEMA, num_shards=3)
    assert urns_of(portable(BeamSource(tmp_path / "in", SCHEMA), write)) <= KNOWN
    assert urns_of(portable(InferSchema(tmp_path / "in"))) <= KNOWN


def test_ranges_are_spread_and_split_by_the_engine(tmp_path: pathlib.Path) -> None:
    write_files(tmp_path)
    proto = portable(BeamSource(tmp_path, SCHEMA))
    assert common_urns.requirements.REQUIRES_SPLITTABLE_DOFN.urn in proto.requirements
    by_name = {each.unique_name: each for each in proto.components.transforms.values()}
    reshuffle = by_name["BeamSource/Reshuffle"].spec.urn
    assert reshuffle == common_urns.composites.RESHUFFLE.urn  # an engine has one of its own


def test_pipeline_is_no_larger_for_many_files(tmp_path: pathlib.Path) -> None:
    sizes = []
    for number in range(200):
        (tmp_path / f"file-{number}.tfrecord").touch()
        if number in (0, 199):
            sizes.append(portable(BeamSource(tmp_path, SCHEMA)).ByteSize())
    assert sizes[0] == sizes[1]


SOURCES: list[Any] = [BeamSource, RawRecordBeamSource, ReadRecordBlocks, InferSchema]


@pytest.mark.parametrize("source", SOURCES)
def test_one_file_of_a_pattern_is_looked_at(
    source: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All others are the workers' business, as is what the one holds."""
    for number in range(200):
        (tmp_path / f"file-{number}.tfrecord").touch()
    looked_at: list[str] = []

    def note(path: str) -> os.stat_result:
        looked_at.append(path)
        return os.stat(path)

    monkeypatch.setattr(paths, "_read_status", note)
    monkeypatch.setattr(paths, "open", None, raising=False)
    portable(source(f"{tmp_path}/*.tfrecord"))
    assert len(looked_at) == 1


@pytest.mark.parametrize("source", SOURCES)
def test_some_files_of_a_url_pattern_are_listed(
    source: Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.tfrecord").touch()
    limits: list[list[int] | None] = []
    match = LocalFilesByUrl.match

    def note(self: LocalFilesByUrl, patterns: list[str], limit: list[int] | None = None) -> Any:
        limits.append(limit)
        return match(self, patterns, limit)

    monkeypatch.setattr(LocalFilesByUrl, "match", note)
    portable(source(f"{SCHEME}{tmp_path}/*.tfrecord"))
    assert limits == [[1000]]


@pytest.mark.parametrize("source", SOURCES)
def test_some_of_many_paths_are_looked_at(source: Any, tmp_path: pathlib.Path) -> None:
    (tmp_path / "there").touch()
    portable(source([f"{tmp_path}/there"] * 100 + [f"{tmp_path}/missing"]))
    with pytest.raises(NoMatchError):
        source([f"{tmp_path}/there"] * 99 + [f"{tmp_path}/missing"])


def test_pipeline_is_no_larger_for_many_shards(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").touch()
    few, many = (
        portable(
            RawRecordBeamSource(tmp_path / "a"),
            WriteToTFRecord(f"{tmp_path}/out/", num_shards=num_shards),
        )
        for num_shards in (101, 10_101)
    )
    assert many.ByteSize() - few.ByteSize() < 100
