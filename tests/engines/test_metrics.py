"""The counters of the library as Prism gives them."""

from __future__ import annotations

import pathlib

from tests.engines.engine import Engine
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA
from tfrecord_beam import BeamSource, WriteToTFRecord, kernel


def test_counters(prism_engine: Engine, tmp_path: pathlib.Path) -> None:
    # One range, so one bundle: of counters that several bundles bring for the first time at the
    # same time, Prism 2.77 keeps those of one of them only.
    file = tmp_path / "a.tfrecord"
    file.write_bytes(kernel.frame(RECORDS))
    source = BeamSource(file, SCHEMA, batch_size=10)
    out = tmp_path / "out"
    counters = prism_engine.run(
        lambda pipeline: pipeline | source | WriteToTFRecord(out, SCHEMA, num_shards=1),
        "--experiments=prism_disable_sdf_split",
    )
    for name in ("read_msec", "decode_msec", "encode_msec", "write_msec"):
        assert counters.pop(name) >= 0
    [file] = tmp_path.glob("out-*")
    assert counters == {
        "files": 1,
        "blocks": 6,
        "records": NUM_RECORDS,
        "bytes": sum(map(len, RECORDS)),
        "batches": 6,
        f"kernel_{kernel.implementation}": 1 + 6,
        "files_written": 1,
        "records_written": NUM_RECORDS,
        "bytes_written": file.stat().st_size,
    }
