"""write_report: what becomes of the page, and of wrong arguments."""

from __future__ import annotations

import os
import pathlib
from typing import Any

import pytest

from tests.frames import framed
from tests.report.pages import write_files
from tests.schema.schemas import parse_schema
from tests.wire import entry, example, int64
from tfrecord_beam import NoMatchError, SchemaError, WriteError, write_report

RECORDS = framed(*(example(entry("x", int64(i))) for i in range(3)))


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(RECORDS)
    return path


def test_what_is_returned(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    page = tmp_path / "new" / "page.html"
    written = write_report(data, page)
    assert written[:3] == (str(page), 3, page.stat().st_size)
    assert os.listdir(page.parent) == ["page.html"]


def test_the_same_page_each_time(tmp_path: pathlib.Path) -> None:
    data = write_files(tmp_path)
    pages = [tmp_path / name for name in "pq"]
    for page in pages:
        write_report(data, page)
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_existing_page(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    with pytest.raises(WriteError) as caught:
        write_report(data, page)
    assert str(caught.value) == (
        f"Expected no file of this name, found one - at {page} (mode='overwrite' replaces it)"
    )
    assert page.read_text() == "mine"
    write_report(data, page, mode="overwrite")
    assert page.read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("spelling", ["./a.tfrecord", "sub/../a.tfrecord", "link", "sub/link"])
@pytest.mark.parametrize("read", ["a.tfrecord", "sub/link"])
def test_a_file_to_read_by_another_path(
    data: pathlib.Path, monkeypatch: pytest.MonkeyPatch, spelling: str, read: str
) -> None:
    monkeypatch.chdir(data.parent)
    os.symlink("a.tfrecord", "link")
    os.mkdir("sub")
    os.symlink("../a.tfrecord", "sub/link")
    with pytest.raises(ValueError, match=f"apart from the files to read, found '{spelling}'$"):
        write_report(read, spelling, mode="overwrite")
    assert data.read_bytes() == RECORDS


def test_nothing_is_left_of_an_error(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WriteError):
        write_report(data, tmp_path / "file" / "page.html")
    assert sorted(os.listdir(tmp_path)) == ["a.tfrecord", "file"]


def test_progress(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    calls: list[tuple[int, int]] = []
    write_report(data, tmp_path / "p", progress=lambda *call: calls.append(call))
    assert calls[-1] == (len(RECORDS), len(RECORDS))


def test_validate_crc(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    content = bytearray(RECORDS)
    content[-1] ^= 1
    data.write_bytes(content)
    assert write_report(data, tmp_path / "p").num_records == 2
    assert write_report(data, tmp_path / "q", validate_crc=False).num_records == 3


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        ({"output": ""}, ValueError, "Expected output to be a path, found ''"),
        ({"output": 3}, ValueError, "Expected output to be a path, found 3"),
        ({"output": "new/"}, ValueError, "Expected output to be that of a file, found 'new/'"),
        ({"output": "a*.html"}, ValueError, "Expected output without the pattern characters"),
        ({"mode": "append"}, ValueError, "Expected mode to be one of error, overwrite, found"),
        ({"record_type": "Row"}, ValueError, "Expected record_type to be one of Example, "),
        ({"compression": "rar"}, ValueError, "Expected compression to be None or one of "),
        ({"progress": 1}, ValueError, "Expected progress to be None or a function, found 1"),
        ({"schema": 7}, SchemaError, "Expected a TFMD Schema, its serialized bytes or the path"),
        ({"file_pattern": []}, ValueError, "Expected file_pattern to be a path or pattern"),
        ({"file_pattern": "none"}, NoMatchError, "Expected files at 'none', found none"),
        ({"file_pattern": ["a.tfrecord", "p"], "output": "./p", "mode": "overwrite"}, ValueError,
         "Expected output apart from the files to read, found './p'"),
    ],
)  # fmt: skip
def test_wrong_arguments(
    data: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    kind: type[Exception],
    text: str,
) -> None:
    monkeypatch.chdir(data.parent)
    pathlib.Path("p").write_bytes(b"")
    with pytest.raises(kind, match=f"^{text}".replace("(", r"\(")):
        write_report(**{"file_pattern": "a.tfrecord", "output": "page.html", **options})
    assert sorted(os.listdir()) == ["a.tfrecord", "p"]


def test_a_schema_that_cannot_be_used(data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    schema = tmp_path / "schema.pbtxt"
    schema.write_text("feature {")
    with pytest.raises(SchemaError):
        write_report(data, tmp_path / "p", schema)
    write_report(data, tmp_path / "p", parse_schema("feature { name: 'x' type: INT }"))
