"""Spark with the data source spark-tfrecord, as a peer: what needs the package pyspark."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def start_session(jar: str) -> Iterator[Any]:
    """Yields a session on all cores of this machine, which knows the data source of a jar."""
    builder: Any = importlib.import_module("pyspark.sql").SparkSession.builder
    session = (
        builder.master(f"local[{os.cpu_count()}]")
        .config("spark.jars", jar)
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    try:
        session.sparkContext.setLogLevel("ERROR")
        yield session
    finally:
        session.stop()


def convert_there_and_back(session: Any, parquet: Path, folder: Path) -> int:
    """Converts Parquet to TFRecord and back, and returns the number of rows of what came back."""
    records, back = f"{folder}/records", f"{folder}/back"
    rows = session.read.parquet(str(parquet))
    rows.write.format("tfrecord").mode("overwrite").save(records)
    read = session.read.format("tfrecord").schema(rows.schema).load(records)
    read.write.mode("overwrite").parquet(back)
    return int(session.read.parquet(back).count())
