"""Converting files: Parquet to TFRecord and back, CSV and JSON lines to TFRecord, us a record.

Size: 300,000 census records (0.1 GB as TFRecord, 15 columns of single values); a tenth for text.
Copying Parquet by pyarrow alone is a bound, no peer. The peer is Spark with spark-tfrecord, warm,
on as many cores as there are: it needs the package pyspark and, in the environment variable
SPARK_TFRECORD_JAR, the path of the data source's jar. Without these it is left out, and said so.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import tfrecord_beam
from tests.bench import generate_data, harness, spark_peer

_CENSUS = generate_data.DATASETS["census"]


def _convert(source: Path, target: Path, schema: Path | None = None) -> int:
    [written] = tfrecord_beam.convert(source, target, schema, mode="overwrite")
    return written.num_records


def _convert_there_and_back(source: Path, folder: Path) -> int:
    records = folder / "there.tfrecord"
    _convert(source, records)
    return _convert(records, folder / "back.parquet", source)


def _copy_by_pyarrow(source: Path, target: Path) -> int:
    with pq.ParquetFile(source) as file, pq.ParquetWriter(target, file.schema_arrow) as writer:
        for batch in file.iter_batches():
            writer.write_batch(batch)
        return int(file.metadata.num_rows)


def _write_sources(records: int, folder: Path) -> dict[str, Path]:
    """Writes the same rows in each format."""
    tfrecord = generate_data.write_dataset("census", records, folder)
    paths = {"tfrecord": tfrecord}
    for suffix in ("parquet", "csv", "jsonl"):
        paths[suffix] = folder / f"census-{records}.{suffix}"
        if not paths[suffix].exists():
            tfrecord_beam.convert(tfrecord, paths[suffix], strings=_strings(tfrecord))
    return paths


def _strings(path: Path) -> list[str]:
    schema = next(tfrecord_beam.iter_batches(path, batch_size=1)).schema
    bytes_type = pa.large_list(pa.large_binary())
    return [field.name for field in schema if field.type == bytes_type]


def _case(name: str, records: int, source: Path, target: Path, schema: Path) -> harness.Case:
    convert = functools.partial(_convert, source, target, schema)
    return harness.Case(name, convert, records, source.stat().st_size)


def measure(run: harness.Run) -> None:
    records, few = run.count(300_000), run.count(30_000)
    paths, small = (_write_sources(count, run.folder) for count in (records, few))
    parquet, size = paths["parquet"], paths["tfrecord"].stat().st_size
    out = run.folder / "out"
    out.mkdir(exist_ok=True)
    there_and_back = functools.partial(_convert_there_and_back, parquet, out)
    cases = [
        harness.Case("tfrecord_beam convert", there_and_back, records, size),
        harness.Case(
            "Parquet copied by pyarrow",
            functools.partial(_copy_by_pyarrow, parquet, out / "copy.parquet"),
            records,
            size,
        ),
    ]
    jar = os.environ.get("SPARK_TFRECORD_JAR")
    if jar and harness.is_installed("pyspark"):
        with spark_peer.start_session(jar) as session:
            convert = functools.partial(
                spark_peer.convert_there_and_back, session, parquet, out / "spark"
            )
            cases.append(harness.Case("Spark, spark-tfrecord", convert, records, size))
            run.compare("Parquet -> TFRecord -> Parquet, census", cases)
    else:
        print("\nleft out: Spark (needs pyspark, and the jar's path in SPARK_TFRECORD_JAR)")
        run.compare("Parquet -> TFRecord -> Parquet, census", cases)
    steps = [
        _case("Parquet to TFRecord", records, parquet, out / "a.tfrecord", parquet),
        _case("TFRecord to Parquet", records, paths["tfrecord"], out / "a.parquet", parquet),
        _case("CSV to TFRecord", few, small["csv"], out / "b.tfrecord", parquet),
        _case("TFRecord to CSV", few, small["tfrecord"], out / "b.csv", parquet),
        _case("JSON lines to TFRecord", few, small["jsonl"], out / "c.tfrecord", parquet),
        _case("TFRecord to JSON lines", few, small["tfrecord"], out / "c.jsonl", parquet),
    ]
    run.compare("one step, census", steps)


if __name__ == "__main__":
    harness.main(measure, __doc__)
