"""Jobs for Dataflow, as its runner makes them, up to the call that submits one."""

from __future__ import annotations

import pathlib
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.portability.api import beam_runner_api_pb2 as runner_api
from apache_beam.runners.dataflow.dataflow_runner import DataflowRunner
from apache_beam.runners.portability.fn_api_runner import FnApiRunner

from tests.compat.peers import import_peer
from tests.tfxio.example_files import SCHEMA, write_files
from tests.transforms.test_dataflow import IMAGE
from tfrecord_beam import BeamSource, InferSchema, WriteToTFRecord

import_peer("apitools")  # which comes with apache-beam[gcp]
apiclient = import_peer("apache_beam.runners.dataflow.internal.apiclient")

OPTIONS = [
    "--project=some-project",
    "--region=europe-west1",
    "--temp_location=gs://some-bucket/temp",
    "--staging_location=gs://some-bucket/staging",
    f"--sdk_container_image={IMAGE}",
    "--sdk_location=container",
    "--no_auth",
]


class SubmittedError(Exception):
    """Ends a submission in place of the call."""


def submit(pipeline: beam.Pipeline, monkeypatch: pytest.MonkeyPatch) -> runner_api.Pipeline:
    def create_job(_: object, job: Any) -> None:
        raise SubmittedError(job)

    monkeypatch.setattr(apiclient.DataflowApplicationClient, "create_job", create_job)
    with pytest.raises(SubmittedError) as caught:
        DataflowRunner().run_pipeline(pipeline, PipelineOptions(OPTIONS))
    proto: runner_api.Pipeline = caught.value.args[0].proto_pipeline
    return proto


def test_job_of_reading_writing_and_inferring(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path)
    pipeline = beam.Pipeline(runner=FnApiRunner())
    batches = pipeline | BeamSource(f"{tmp_path}/*", SCHEMA)
    _ = batches | WriteToTFRecord(f"{tmp_path}/out", num_shards=3)
    _ = batches | InferSchema()
    proto = submit(pipeline, monkeypatch)
    [environment] = proto.components.environments.values()
    payload = runner_api.DockerPayload.FromString(environment.payload)
    assert payload.container_image == IMAGE
    assert not environment.dependencies  # nothing that each worker would install when it starts
    assert [*proto.requirements] == ["beam:requirement:pardo:splittable_dofn:v1"]
    names = {each.unique_name for each in proto.components.transforms.values()}
    assert {"BeamSource/ReadRanges", "WriteToTFRecord/Publish", "InferSchema/Observe"} <= names
    assert len(proto.SerializeToString()) < 100_000  # Dataflow takes 10 MB
