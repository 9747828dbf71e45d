"""What is sent to Dataflow: the pipeline as Beam's portable form holds it."""

from __future__ import annotations

import pathlib
import pickle
import re
import subprocess
import sys
from typing import Any, NamedTuple

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.io.restriction_trackers import OffsetRange
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability.api import beam_runner_api_pb2 as runner_api
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.transforms.environments import DockerEnvironment
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.image.dockerfile import ROOT
from tests.tfxio.example_files import SCHEMA, write_files
from tfrecord_beam import BeamSource, InferSchema, ReadRecordBlocks, WriteToTFRecord
from tfrecord_beam.records.block import RecordBlock
from tfrecord_beam.records.ranges import FileRange
from tfrecord_beam.transforms.coders import RecordBatchCoder, RecordBlockCoder
from tfrecord_beam.transforms.source import ReadRange

IMAGE = "registry.example/tfrecord-beam-worker:1"

STEP_BYTES = 6_000
"""Bound on what a step is, pickled, for a small schema; measured: 3.8 kB with pickled classes."""

FEATURE_BYTES = 400
"""Bound on what a feature of the schema adds to a pipeline that reads and writes with it."""


class Sent(NamedTuple):
    """A pipeline in portable form, and the coders that its collections have here."""

    proto: runner_api.Pipeline
    coders: dict[str, beam.coders.Coder]

    def named(self, name: str) -> runner_api.PTransform:
        transforms = self.proto.components.transforms.values()
        return next(each for each in transforms if each.unique_name == name)

    def steps(self) -> dict[str, runner_api.ParDoPayload]:
        """Returns what runs on the workers, by name."""
        return {
            each.unique_name: runner_api.ParDoPayload.FromString(each.spec.payload)
            for each in self.proto.components.transforms.values()
            if each.spec.urn == "beam:transform:pardo:v1"
        }


def send(folder: pathlib.Path, schema: schema_pb2.Schema) -> Sent:
    """Returns the form of a pipeline that reads, writes and infers."""
    pipeline = beam.Pipeline(runner=FnApiRunner())
    batches = pipeline | BeamSource(f"{folder}/*.tfrecord", schema, columns=["id"])
    _ = batches | WriteToTFRecord(f"{folder}/out", schema, num_shards=3, compression="gzip")
    _ = batches | InferSchema(infer_shape=True)
    _ = pipeline | ReadRecordBlocks(f"{folder}/*.gz") | beam.Reshuffle()
    environment = DockerEnvironment.from_container_image(IMAGE)
    form: Any = pipeline.to_runner_api(return_context=True, default_environment=environment)
    proto, context = form
    coders = {
        name: context.coders.get_by_id(collection.coder_id)
        for name, collection in proto.components.pcollections.items()
    }
    return Sent(proto, coders)


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Sent:
    folder = tmp_path_factory.mktemp("sent")
    write_files(folder)
    return send(folder, SCHEMA)


def test_options_that_the_page_names_are_known_to_beam() -> None:
    page = (ROOT / "docs" / "dataflow.md").read_text(encoding="utf-8")
    named = {*re.findall(r"--(\w+)", page)} - {"target", "build", "version"}
    assert {"runner", "sdk_container_image", "max_num_workers"} <= named
    assert named <= {*PipelineOptions([]).get_all_options()}


def test_batches_and_blocks_are_not_pickled_by_beam(sent: Sent) -> None:
    for name, coder in (
        ("BeamSource/ReadRanges/ParDo(ReadRange)", RecordBlockCoder),
        ("BeamSource/Decode/ParDo(_DecodeFn)", RecordBatchCoder),
        ("ReadRecordBlocks/ReadRanges/ParDo(ReadRange)", RecordBlockCoder),
        ("Reshuffle", RecordBlockCoder),
    ):
        outputs = [sent.coders[output] for output in sent.named(name).outputs.values()]
        assert any(type(each) is coder for each in outputs), name


@pytest.mark.parametrize("element", [pa.RecordBatch, RecordBlock])
def test_what_is_grouped_keeps_its_coder(element: type) -> None:
    coder = beam.coders.registry.get_coder(beam.typehints.KV[str, element])
    assert type(coder.value_coder()) in (RecordBatchCoder, RecordBlockCoder)


def test_all_is_of_the_forms_that_runners_know(sent: Sent) -> None:
    transforms = sent.proto.components.transforms
    leaves = {
        each.spec.urn
        for each in transforms.values()
        # A step of Beam's own that does nothing here.
        if not each.subtransforms and not each.unique_name.endswith("/MaybeReshuffle")
    }
    assert leaves == {
        "beam:transform:group_by_key:v1",
        "beam:transform:impulse:v1",
        "beam:transform:pardo:v1",
    }
    reshuffles = {each.unique_name for each in transforms.values() if "reshuffle" in each.spec.urn}
    assert "BeamSource/Reshuffle" in reshuffles  # so that the ranges are spread
    assert [*sent.proto.requirements] == ["beam:requirement:pardo:splittable_dofn:v1"]


def test_image_is_that_of_every_step(sent: Sent) -> None:
    [environment] = sent.proto.components.environments.values()
    assert environment.urn == "beam:env:docker:v1"
    payload = runner_api.DockerPayload.FromString(environment.payload)
    assert payload.container_image == IMAGE


def test_ranges_are_split_by_the_runner(sent: Sent) -> None:
    splittable = {name for name, step in sent.steps().items() if step.restriction_coder_id}
    assert splittable == {
        "BeamSource/ReadRanges/ParDo(ReadRange)",
        "ReadRecordBlocks/ReadRanges/ParDo(ReadRange)",
    }


def test_size_of_a_range_is_that_of_its_bytes() -> None:
    signature = beam.runners.common.DoFnSignature(ReadRange(None, collect_corrupt=False))  # type: ignore[arg-type]
    provider = signature.get_restriction_provider()
    element = (("key", 0), FileRange("f", 100, 1100, 5000))
    restriction = provider.initial_restriction(element)
    assert (restriction.start, restriction.stop) == (100, 1100)
    assert provider.restriction_size(element, restriction) == 1000
    assert provider.restriction_size(element, OffsetRange(600, 1100)) == 500


def test_display_data(sent: Sent) -> None:
    def shown(name: str) -> dict[str, object]:
        found = {}
        for each in sent.named(name).display_data:
            payload = runner_api.LabelledPayload.FromString(each.payload)
            found[payload.key or payload.label] = getattr(payload, str(payload.WhichOneof("value")))
        return found

    source = shown("BeamSource")
    assert str(source["file_pattern"]).endswith("*.tfrecord")
    assert (source["columns"], source["compression"]) == ("id", "auto")
    write = shown("WriteToTFRecord")
    assert (write["num_shards"], write["compression"]) == (3, "gzip")
    assert shown("InferSchema")["infer_shape"] is True


def test_steps_are_small(sent: Sent) -> None:
    sizes = {name: len(step.do_fn.payload) for name, step in sent.steps().items()}
    assert max(sizes.values()) < STEP_BYTES, sizes
    assert len(sent.proto.SerializeToString()) < 100_000


def test_steps_grow_little_with_the_schema(sent: Sent, tmp_path: pathlib.Path) -> None:
    write_files(tmp_path)
    schema = schema_pb2.Schema()
    schema.CopyFrom(SCHEMA)
    for i in range(1000):
        schema.feature.add(name=f"feature_{i:04}", type=schema_pb2.FLOAT)
    wide = len(send(tmp_path, schema).proto.SerializeToString())
    assert wide - len(sent.proto.SerializeToString()) < 1000 * FEATURE_BYTES


def test_steps_need_no_session_of_the_launcher(sent: Sent, tmp_path: pathlib.Path) -> None:
    """A process that has never seen the pipeline's program restores them."""
    payloads = {
        name: step.do_fn.payload
        for name, step in sent.steps().items()
        if step.do_fn.urn == "beam:dofn:pickled_python_info:v1"
    }
    assert len(payloads) > 10
    (tmp_path / "steps").write_bytes(pickle.dumps(payloads))
    script = (
        "import pickle, sys; from apache_beam.internal import pickler\n"
        "for payload in pickle.load(open(sys.argv[1], 'rb')).values(): pickler.loads(payload)\n"
        "print(*sorted(name for name in sys.modules if name.startswith('tests')))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, str(tmp_path / "steps")],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stdout.split() == []
