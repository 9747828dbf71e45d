"""Reading without Beam beside other readers of TFRecord: the package tfrecord, Ray Data and Spark.

Size: 100,000 census records in one uncompressed file (20,000 for the package tfrecord, which
reads record by record in Python). Each case has a process of its own, which has read a file of one
record before, so that the start of Ray and of Spark does not count. Ray and Spark may use all CPUs.
Spark needs pyspark, Java, and the jar of the spark-tfrecord connector, whose path is in the
environment variable SPARK_TFRECORD_JAR.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench import generate_data, harness, readers, spark_peer

_SCHEMA = generate_data.DATASETS["census"].schema()


def _read_tfrecord(path: Path) -> int:
    reader: Any = importlib.import_module("tfrecord.reader")
    return sum(1 for _ in reader.tfrecord_loader(str(path), None))


def _read_ray(path: Path) -> int:
    ray: Any = importlib.import_module("ray")
    ray.init(ignore_reinit_error=True, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    return sum(
        len(batch["age"])
        for batch in ray.data.read_tfrecords(str(path)).iter_batches(
            batch_size=readers.BATCH_SIZE, batch_format="pyarrow"
        )
    )


@functools.cache
def _start_spark(jar: str) -> Any:
    """Returns a session, which ends with the process."""
    return contextlib.ExitStack().enter_context(spark_peer.start_session(jar))


def _read_spark(path: Path) -> int:
    sql: Any = importlib.import_module("pyspark.sql")
    session = _start_spark(os.environ["SPARK_TFRECORD_JAR"])
    frame = session.read.format("tfrecord").option("recordType", "Example").load(str(path))
    counts = [sql.functions.count(sql.functions.col(f"`{name}`")) for name in frame.columns]
    return int(frame.agg(*counts).collect()[0][0])


def measure(run: harness.Run) -> None:
    smallest = generate_data.write_dataset("census", 1, run.folder)
    jobs: list[tuple[str, Callable[[Path], int], str | None, int]] = [
        (
            "iter_batches, one thread",
            functools.partial(readers.iterate_batches, schema=_SCHEMA, threads=1),
            None,
            100_000,
        ),
        (
            "iter_batches",
            functools.partial(readers.iterate_batches, schema=_SCHEMA),
            None,
            100_000,
        ),
        ("tfrecord", _read_tfrecord, "tfrecord", 20_000),
        ("Ray Data", _read_ray, "ray", 100_000),
    ]
    if "SPARK_TFRECORD_JAR" in os.environ:
        jobs.append(("Spark", _read_spark, "pyspark", 100_000))
    cases = []
    for name, read, needs, records in jobs:
        count = run.count(records)
        path = generate_data.write_dataset("census", count, run.folder)
        job, warm_up = functools.partial(read, path), functools.partial(read, smallest)
        size = path.stat().st_size
        cases.append(harness.Case(name, job, count, size, needs, warm_up=warm_up))
    run.compare("read census beside others", cases, isolated=True)


if __name__ == "__main__":
    harness.main(measure, __doc__)
