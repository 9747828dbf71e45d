"""What an engine is told of a pipeline, whichever it is: Beam's portable form."""

from __future__ import annotations

import pathlib

import apache_beam as beam
from apache_beam.portability import common_urns
from apache_beam.portability.api import beam_runner_api_pb2

from tests.tfxio.example_files import SCHEMA, write_files
from tfrecord_beam import BeamSource, InferSchema, WriteToTFRecord

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
