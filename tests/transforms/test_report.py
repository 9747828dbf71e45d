"""WriteReport writes the page that `write_report` writes, however the files are split."""

from __future__ import annotations

import pathlib
from typing import Any

import apache_beam as beam
import pytest

from tests.frames import framed
from tests.report.pages import records, write_files
from tests.schema.schemas import parse_schema
from tests.sequence_files import write_files as write_sequence_files
from tests.tfxio.pipelines import run
from tfrecord_beam import WriteError, WriteReport, WriteToTFRecord, WrittenReport, write_report
from tfrecord_beam.records.paths import FileEntry
from tfrecord_beam.transforms.filesystem import BeamFileSystem
from tfrecord_beam.transforms.metrics import NAMESPACE

SCHEMA = parse_schema(
    """
    feature { name: "age" type: INT int_domain { min: 30 } }
    feature { name: "label" type: INT presence { min_fraction: 1 min_count: 1 } }
    """
)


def both(path: Any, folder: pathlib.Path, **options: Any) -> tuple[bytes, bytes]:
    """Returns the pages that are written without Beam and with it."""
    alone, page = folder / "alone.html", folder / "pages" / "beam.html"
    expected = write_report(path, alone, **options)
    [written] = run(WriteReport(path, page, desired_bundle_bytes=700, **options)).elements
    assert written == expected._replace(path=str(page))
    assert [each.name for each in page.parent.iterdir()] == [page.name]
    return alone.read_bytes(), page.read_bytes()


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["no schema", "schema"])
def test_the_same_page(tmp_path: pathlib.Path, schema: Any) -> None:
    alone, page = both(write_files(tmp_path), tmp_path, schema=schema)
    assert page == alone


def test_the_same_page_of_steps(tmp_path: pathlib.Path) -> None:
    files = write_sequence_files(tmp_path)
    alone, page = both(files, tmp_path, record_type="SequenceExample")
    assert page == alone


def test_the_same_page_of_nothing(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    alone, page = both(tmp_path / "empty", tmp_path)
    assert page == alone


def test_metrics_and_display_data(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(framed(*records(), b"\xff"))
    transform = WriteReport(path, tmp_path / "p")
    assert transform.display_data()["output"] == str(tmp_path / "p")
    metrics = run(transform).in_namespace(NAMESPACE)
    assert (metrics["records"], metrics["files"]) == (41, 1)
    assert metrics["corrupt_records"] == 1


def test_existing_page(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "p"
    page.write_text("mine")
    path = tmp_path / "a.tfrecord"
    path.write_bytes(framed(*records()))
    with pytest.raises(WriteError, match="mode='overwrite' replaces it"):
        WriteReport(path, page)
    assert page.read_text() == "mine"
    [written] = run(WriteReport(path, page, mode="overwrite")).elements
    assert page.stat().st_size == written.num_bytes


def test_page_that_comes_between(tmp_path: pathlib.Path) -> None:
    page, path = tmp_path / "p", tmp_path / "a.tfrecord"
    path.write_bytes(framed(*records()))
    transform = WriteReport(path, page)
    page.write_text("mine")
    with pytest.raises(Exception, match=r"Expected no file of this name, found one - at .*/p "):
        run(transform)
    assert page.read_text() == "mine"


def test_page_of_an_earlier_attempt(tmp_path: pathlib.Path) -> None:
    page, path = tmp_path / "p", tmp_path / "a.tfrecord"
    path.write_bytes(framed(*records()))
    again = WriteReport(path, page)
    first, before = run(WriteReport(path, page)).elements, page.stat().st_ino
    assert run(again).elements == first
    assert page.stat().st_ino == before


def test_files_are_matched_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(framed(*records()))
    transform = WriteReport(str(tmp_path / "*.tfrecord"), tmp_path / "p")
    patterns = []

    def glob(file_system: BeamFileSystem, pattern: str) -> list[FileEntry]:
        patterns.append(pattern)
        return [FileEntry(str(path), path.stat().st_size)]

    monkeypatch.setattr(BeamFileSystem, "glob", glob)
    run(transform)
    assert len(patterns) == 1


def test_page_among_the_files(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(ValueError, match="Expected output apart from the files to read"):
        run(WriteReport(tmp_path, tmp_path / "a", mode="overwrite"))


def test_type_of_output(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    output = beam.Pipeline() | WriteReport(tmp_path / "a", tmp_path / "p")
    assert output.element_type is WrittenReport


def test_what_it_is_applied_to(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(framed(*records()))
    with pytest.raises(ValueError, match=r"^Expected no file_pattern where the input is a PColl"):
        run(beam.Create([str(path)]), WriteReport(path, tmp_path / "p"))


def test_without_files(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=r"^Expected file_pattern to be a path .*, found None$"):
        WriteReport(None, tmp_path / "p")  # type: ignore[arg-type]


@pytest.mark.parametrize("transform", [WriteReport, WriteToTFRecord])
def test_name_that_is_not_utf8(transform: Any, tmp_path: pathlib.Path) -> None:
    name = f"{tmp_path}/p\udcff"
    given = (tmp_path, name) if transform is WriteReport else (name,)
    with pytest.raises(ValueError, match=r"^Expected file names in UTF-8, found '.*/p\\udcff' \("):
        transform(*given)
