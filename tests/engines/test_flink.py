"""Flink: its cluster starts, loses a TaskManager and stops; and what only its jobs show.

What all engines have in common is tested in the other modules, there with the parameter `flink`.
"""

from __future__ import annotations

import functools
import os
import pathlib
import signal
import socket

import apache_beam as beam
import pytest

from tests.engines.engine import Collect, Engine, collected
from tests.engines.flink import FlinkCluster, explain_missing, flink_cluster
from tests.engines.holding import hold, when_held
from tests.records.writing.folders import paths_in, records_in
from tests.tfxio.example_files import RECORDS
from tfrecord_beam import ReadRecordBlocks, WriteToTFRecord, kernel

RANGE_BYTES = 300


def test_cluster_loses_a_task_manager_and_stops(tmp_path: pathlib.Path) -> None:
    if missing := explain_missing():
        pytest.skip(missing)
    with flink_cluster(tmp_path, task_managers=2) as cluster:
        lost = cluster.task_managers[0]
        lost.send_signal(signal.SIGKILL)
        cluster.wait_for_task_managers(1)
        cluster.start_task_manager()
        cluster.wait_for_task_managers(2)
        assert [process.poll() for process in cluster.task_managers] == [
            -signal.SIGKILL,
            None,
            None,
        ]
        host, port = cluster.address.split(":")
    for process in cluster.task_managers:
        with pytest.raises(ProcessLookupError):
            os.kill(process.pid, 0)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)))


def read_and_hold(folder: pathlib.Path) -> beam.PTransform:
    """Reads a file of many ranges, with `hold` for each block."""
    (folder / "a.tfrecord").write_bytes(kernel.frame(RECORDS))
    hold_each = functools.partial(hold, folder=str(folder / "holding"))
    read = ReadRecordBlocks(folder / "a.tfrecord", desired_bundle_bytes=RANGE_BYTES)
    return read | beam.FlatMap(hold_each).with_output_types(bytes)


def test_task_managers_share_a_file(flink_engine: Engine, tmp_path: pathlib.Path) -> None:
    read = read_and_hold(tmp_path)
    with when_held(tmp_path / "holding", 2, lambda processes: None):
        flink_engine.run(lambda pipeline: pipeline | read | Collect(tmp_path / "records"))
    assert sorted(collected(tmp_path / "records")) == sorted(RECORDS)


def test_task_manager_that_is_killed(
    flink_engine: Engine, flink: FlinkCluster, tmp_path: pathlib.Path
) -> None:
    read, out = read_and_hold(tmp_path), tmp_path / "out"

    def replace_task_manager(_: list[int]) -> None:
        flink.task_managers[-1].send_signal(signal.SIGKILL)
        flink.start_task_manager()

    with when_held(tmp_path / "holding", 2, replace_task_manager):
        flink_engine.run(
            lambda pipeline: pipeline | read | WriteToTFRecord(f"{out}/", num_shards=2)
        )
    assert len(paths_in(out)) == 2
    assert sorted(records_in(out)) == sorted(RECORDS)
