"""Tests of tfrecord_beam.report.page: what is on the page, and that nothing of the data acts."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import os
import pathlib
import re
import sys
from typing import Any

import pytest

from tests.frames import framed
from tests.report.images import IMAGES
from tests.report.pages import HOSTILE, Page, write_files
from tests.schema.schemas import parse_schema
from tests.sequence_files import write_files as write_sequence_files
from tests.wire import entry, example, feature_list, floats, int64, sequence_example
from tfrecord_beam import MissingLibraryError, write_report
from tfrecord_beam.report.page import load_environment, render_page
from tfrecord_beam.report.summary import DatasetSummary

SHOWN = HOSTILE.replace("\x1b", r"\x1b").replace("\u202e", r"\u202e")
"""`HOSTILE` on a page."""


def make_page(path: Any, folder: pathlib.Path, *arguments: Any, **options: Any) -> Page:
    """Returns the page about files."""
    output = folder / "out" / "report.html"
    write_report(path, output, *arguments, **options)
    content = output.read_text("utf-8")
    style = re.search("(?s)<style>(.*?)</style>", content)
    assert style is not None
    return Page(content.replace(style[1], ""))


@pytest.fixture
def page(tmp_path: pathlib.Path) -> Page:
    return make_page(write_files(tmp_path), tmp_path)


def test_sections(page: Page) -> None:
    assert page.texts_in("h1") == ["TFRecord report"]
    assert page.texts_in("h2") == [
        "Corrupt places", "Files", "Record lengths", "Features", "Images", "First records",
    ]  # fmt: skip
    targets = [f"#{attributes['id']}" for attributes in page.all("h2")]
    assert [attributes["href"] for attributes in page.all("a")] == targets
    assert [f"#{each['aria-labelledby']}" for each in page.all("section")] == targets


def test_numbers_of_all(page: Page) -> None:
    # Of 41 records one is damaged, and one is behind the end of the compressed file.
    assert page.texts_in("dd")[:5] == ["121", "4", "29.0 KiB", "7", "4"]
    assert "Of 119 records that could be decoded." in " ".join(page.texts_in("p"))


def test_nothing_of_the_data_acts(page: Page) -> None:
    tags = {tag for tag, _ in page.elements}
    assert tags.isdisjoint({"script", "iframe", "object", "link", "form", "base"})
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    texts = page.texts_in("bdi")
    assert texts.count(SHOWN) >= 3  # the feature, its value, and the row of it
    assert any(text.endswith(f"data/b{SHOWN.replace('/', '')}.tfrecord") for text in texts)


def test_nothing_is_loaded(page: Page) -> None:
    [policy] = [each for each in page.all("meta") if "http-equiv" in each]
    style = (importlib.resources.files("tfrecord_beam.report") / "templates/report.css").read_text(
        "utf-8"
    )
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy["http-equiv"] == "Content-Security-Policy"
    assert policy["content"] == f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'"
    assert "url(" not in style and "@import" not in style
    sources = [
        f"data:{media_type};base64,{base64.b64encode(data).decode()}"
        for media_type, data in IMAGES.items()
    ]
    assert [image["src"] for image in page.all("img")] == (sources * 3)[:12]


def test_texts_instead_of_pictures(page: Page) -> None:
    assert page.all("img")[1]["alt"] == "Value of image in the record at offset 325"
    pictures = [each for each in page.all("svg") if "aria-hidden" not in each]
    labels = [each["aria-label"] for each in pictures]
    assert {each["role"] for each in pictures} == {"img"}
    assert len({*labels}) == len(labels) == 6
    assert (
        "Values, age: 15 bars from 20 to 49; the highest, from 20 to 21, holds 12 of 119" in labels
    )


def test_tables(page: Page) -> None:
    captions = page.texts_in("caption")
    assert len(captions) == len(page.all("table")) == 5
    assert captions[:2] == ["All of them, by file and offset", "4 files, by size"]
    regions = [each for each in page.all("div") if each.get("class") == "scroll"]
    assert len(regions) == 3
    assert all(each["tabindex"] == "0" and each["aria-label"] for each in regions)


def test_of_many_files_the_largest(tmp_path: pathlib.Path) -> None:
    (tmp_path / "data").mkdir()
    for number in range(60):
        (tmp_path / "data" / f"{number:02}").write_bytes(framed(*[b""] * number))
    page = make_page(tmp_path / "data", tmp_path)
    assert page.texts_in("caption")[0] == "The largest 50 of 60"
    rows = page.texts_in("td")
    assert rows[:4] == ["944 bytes", "59", "none", "0"]
    assert rows[200:203] == ["720 bytes", "45", "0"]  # the ten others, which have 0 to 9 records
    assert rows[203:207] == ["27.7 KiB", "1,770", "not compressed", "0"]


def test_without_records(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    page = make_page(tmp_path / "empty", tmp_path)
    assert {"There is no record.", "No record shows a feature.", "There is none."} <= {
        *page.texts_in("p")
    }


def test_all_records_corrupt(tmp_path: pathlib.Path) -> None:
    (tmp_path / "bad").write_bytes(framed(*[b"\xff"] * 300))
    page = make_page(tmp_path / "bad", tmp_path)
    assert page.texts_in("dd")[0] == "300" and page.texts_in("dd")[4] == "300"
    assert page.texts_in("caption")[0] == "The first 100, by file and offset"
    assert "No record shows a feature." in page.texts_in("p")


def test_records_without_features(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_bytes(framed(b"", b""))
    page = make_page(tmp_path / "a", tmp_path)
    assert page.texts_in("caption")[-1] == "The first 2, by file and offset"


def test_kinds_that_differ(tmp_path: pathlib.Path) -> None:
    first = example(entry("x", int64(7)))
    (tmp_path / "a").write_bytes(framed(first, example(entry("x", floats(1)))))
    page = make_page(tmp_path / "a", tmp_path)
    places = [f"first at {tmp_path / 'a'}:{offset}" for offset in (len(framed(first)), 0)]
    assert [text for text in page.texts_in("bdi") if text.startswith("first")] == places
    assert "float and int64" in page.texts_in("p")
    terms = {*page.texts_in("dt")}
    assert {"Mean (int64)", "Mean (float)"} <= terms
    assert "Zeros" not in terms


def test_names_that_are_too_long_or_none(tmp_path: pathlib.Path) -> None:
    name = "a" * 5000 + "z"
    (tmp_path / "a").write_bytes(framed(example(entry(name, int64(1)), entry("", int64(1)))))
    schema = parse_schema(f"feature {{ name: '{name}' type: FLOAT }}")
    page = make_page(tmp_path / "a", tmp_path, schema)
    texts = page.texts_in("bdi")
    short = f"{'a' * 100}…{'a' * 99}z"
    assert texts.count(short) == 3  # the misfit, the feature, the row
    assert texts.count("(no name)") >= 2
    assert name not in texts


@pytest.mark.parametrize(
    ("schema", "misfits"),
    [
        ("feature { name: 'x' type: INT int_domain { min: 1 } }", ["1"]),
        ("feature { name: 'x' type: INT }", []),
    ],
)
def test_fit_to_a_schema(tmp_path: pathlib.Path, schema: str, misfits: list[str]) -> None:
    (tmp_path / "a").write_bytes(framed(*(example(entry("x", int64(i))) for i in range(3))))
    page = make_page(tmp_path / "a", tmp_path, parse_schema(schema))
    assert page.texts_in("dd")[5] == str(len(misfits))
    assert ("All records fit it." in page.texts_in("p")) is not bool(misfits)
    if misfits:
        assert page.texts_in("td")[0] == "1"
        assert f"{tmp_path / 'a'}:0" in page.texts_in("bdi")
        assert "Expected values of at least 1 for feature 'x', found others" in page.texts_in("bdi")


def test_steps(tmp_path: pathlib.Path) -> None:
    page = make_page(write_sequence_files(tmp_path), tmp_path, record_type="SequenceExample")
    assert page.texts_in("h3") == [] and "##SEQUENCE##.words" in page.texts_in("bdi")
    assert {"Steps", "Per step"} <= {*page.texts_in("dt")}


def test_kinds_that_differ_from_step_to_step(tmp_path: pathlib.Path) -> None:
    record = sequence_example(feature_list("x", int64(1), floats(1)), feature_list("y", int64(1)))
    (tmp_path / "a").write_bytes(framed(record))
    page = make_page(tmp_path / "a", tmp_path, record_type="SequenceExample")
    assert page.texts_in("dd")[3] == "2"
    assert "float and int64" in page.texts_in("p")


def test_bytes(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a").write_bytes(framed(b"one", b"two", b"two"))
    page = make_page(tmp_path / "a", tmp_path, record_type="ByteArray")
    assert page.texts_in("bdi").count("byteArray") == 2
    assert "two" in page.texts_in("bdi") and "bytes" in page.texts_in("p")


def test_many_features(tmp_path: pathlib.Path) -> None:
    names = ["n" * 5000, *(f"feature_{number}" for number in range(2000))]
    record = example(*(entry(name, int64(1)) for name in names))
    (tmp_path / "a").write_bytes(framed(record))
    page = make_page(tmp_path / "a", tmp_path)
    assert page.texts_in("dd")[3] == "2,001"
    assert len(page.all("article")) == 2000
    assert any(text.endswith("Shown are the first 2,000, by name.") for text in page.texts_in("p"))
    assert page.texts_in("caption")[-1].endswith("50 of 2,001 features")


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_names_of_files_that_are_no_text(tmp_path: pathlib.Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    pathlib.Path(path).write_bytes(framed(b""))
    assert f"{tmp_path}/\\udcff" in make_page(path, tmp_path).texts_in("bdi")


def test_without_jinja2(monkeypatch: pytest.MonkeyPatch) -> None:
    load_environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingLibraryError) as caught:
        render_page(DatasetSummary())
    assert str(caught.value) == (
        "Expected the package jinja2, found none (pip install 'tfrecord-beam[report]')"
    )
