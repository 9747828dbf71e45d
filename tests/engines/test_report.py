"""Reports made by workers: their summaries meet from several bundles and processes."""

from __future__ import annotations

import pathlib

from tests.engines.engine import Engine
from tests.frames import framed
from tests.records.reading import flip
from tests.tfxio.example_files import RECORDS, SCHEMA, write_files
from tfrecord_beam import WriteReport, write_report


def test_page(engine: Engine, tmp_path: pathlib.Path) -> None:
    (tmp_path / "in").mkdir()
    write_files(tmp_path / "in")
    (tmp_path / "in" / "damaged.tfrecord").write_bytes(flip(framed(*RECORDS), 12))
    made, expected = tmp_path / "made.html", tmp_path / "expected.html"
    report = WriteReport(tmp_path / "in", made, SCHEMA, desired_bundle_bytes=300)
    engine.run(lambda pipeline: pipeline | report)
    write_report(tmp_path / "in", expected, SCHEMA)
    assert made.read_bytes() == expected.read_bytes()
