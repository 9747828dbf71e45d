"""Reports in a real browser: nothing is loaded, all is seen, on a phone too, by light and dark."""

from __future__ import annotations

import dataclasses
import itertools
import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.frames import framed
from tests.report.pages import write_files
from tests.schema.schemas import parse_schema
from tests.sequence_files import write_files as write_sequence_files
from tests.wire import bytes_list, entry, example, floats, int64
from tfrecord_beam import write_report

PHONE, PAPER, DESK = 390, 794, 1280

SCHEMA = parse_schema("feature { name: 'label' type: INT } feature { name: 'scores' type: FLOAT }")

CONTRASTS = """() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => [r, g, b]
    .map(c => c / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const background = element => {
    for (; element; element = element.parentElement) {
      const found = channels(getComputedStyle(element).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll("body *")].filter(element =>
    [...element.childNodes].some(node => node.nodeType === 3 && node.textContent.trim()));
  return texts.map(element => {
    const [one, other] = [channels(getComputedStyle(element).color), background(element)]
      .map(luminance).sort((a, b) => b - a);
    return [element.tagName, (one + 0.05) / (other + 0.05)];
  });
}"""
"""The contrast of each text with what is behind it, by the formula of WCAG 2."""


SCROLLED = """box => new Promise(done => {
  const look = () => box.scrollLeft > 0 ? done() : requestAnimationFrame(look);
  look();
})"""
"""Waits until a box has scrolled."""


def write_wide(folder: pathlib.Path) -> pathlib.Path:
    """Writes records of 2,000 features, some with names that fit no screen."""
    names = ["n" * 3000, "long " * 500, *(f"feature_{number}" for number in range(1998))]
    records = [
        example(
            *(entry(name, int64(*range(i + 1))) for name in names),
            entry("t", bytes_list(b"x" * 9000)),
        )
        for i in range(3)
    ]
    path = folder / ("f" * 200)
    path.write_bytes(framed(*records))
    return path


def write_empty(folder: pathlib.Path) -> pathlib.Path:
    path = folder / "empty"
    path.write_bytes(b"")
    return path


def write_wild_numbers(folder: pathlib.Path) -> pathlib.Path:
    """Writes numbers that take much room."""
    numbers = (3.4028235e38, -3.4028235e38, 1e-45, float("nan"), float("inf"), 0.0)
    entries = (
        entry("x", floats(*numbers)),
        entry("y", int64(2**63 - 1, -(2**63), 12345678901234567)),
    )
    path = folder / "numbers"
    path.write_bytes(framed(example(*entries), example(*entries)))
    return path


DATA: dict[str, tuple[Callable[[pathlib.Path], Any], dict[str, Any]]] = {
    "damaged": (write_files, {}),
    "misfits": (write_files, {"schema": SCHEMA}),
    "wide": (write_wide, {}),
    "empty": (write_empty, {}),
    "numbers": (write_wild_numbers, {}),
    "steps": (write_sequence_files, {"record_type": "SequenceExample"}),
}


@dataclasses.dataclass
class Opened:
    """A page that is open, and what happened since.

    Attributes:
      page: Playwright's.
      requests: URLs that were asked for, but for data URLs.
      complaints: what the console and dialogs say: errors, violations of the policy, alerts.
    """

    page: Any
    requests: list[str] = dataclasses.field(default_factory=list)
    complaints: list[str] = dataclasses.field(default_factory=list)

    def open(self, path: pathlib.Path) -> None:
        self.page.on("request", self._add_request)
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", self._dismiss)
        self.page.goto(path.as_uri(), wait_until="load")

    def _add_request(self, request: Any) -> None:
        if not request.url.startswith("data:"):
            self.requests.append(request.url)

    def _dismiss(self, dialog: Any) -> None:
        self.complaints.append(dialog.message)
        dialog.dismiss()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """The pages by what they are about."""
    paths = {}
    for name, (write, options) in DATA.items():
        folder = tmp_path_factory.mktemp(name)
        paths[name] = folder / "report.html"
        write_report(write(folder), paths[name], **options)
    return paths


@pytest.fixture(params=[PHONE, DESK], ids=["phone", "desk"])
def width(request: pytest.FixtureRequest) -> int:
    found: int = request.param
    return found


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def opened(browser: Any, width: int, scheme: str) -> Iterator[Opened]:
    page = browser.new_page(viewport={"width": width, "height": 844}, color_scheme=scheme)
    yield Opened(page)
    page.close()


@pytest.mark.parametrize("name", DATA)
def test_page(reports: dict[str, pathlib.Path], opened: Opened, name: str) -> None:
    opened.open(reports[name])
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    images = page.evaluate(
        "[...document.images].map(image => [image.complete, image.naturalWidth > 0])"
    )
    assert images == [[True, True]] * (12 if name in ("damaged", "misfits") else 0)
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map(h => +h.tagName[1])")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    too_faint = [each for each in page.evaluate(CONTRASTS) if each[1] < 4.5]
    assert too_faint == []
    assert opened.requests == [reports[name].as_uri()]
    assert opened.complaints == []


def test_contrasts_are_computed(reports: dict[str, pathlib.Path], opened: Opened) -> None:
    opened.open(reports["empty"])
    opened.page.evaluate("document.body.style.color = document.body.style.background = '#777'")
    assert min(each[1] for each in opened.page.evaluate(CONTRASTS)) == 1


def test_policy_holds(
    reports: dict[str, pathlib.Path], browser: Any, tmp_path: pathlib.Path
) -> None:
    """What would get past the escapes is stopped, and the test above would see it."""
    evil = "<script>alert(1)</script><p style='color:red'>a</p><img src='file:///x.png'>"
    path = tmp_path / "evil.html"
    path.write_text(
        reports["empty"].read_text("utf-8").replace("</main>", f"{evil}</main>"), "utf-8"
    )
    opened = Opened(browser.new_page())
    opened.open(path)
    assert opened.requests == [path.as_uri(), "file:///x.png"]
    assert len(opened.complaints) == 3
    assert all("Content Security Policy" in each for each in opened.complaints)
    opened.page.close()


def test_schemes_differ(reports: dict[str, pathlib.Path], browser: Any) -> None:
    colors = set()
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(reports["empty"].as_uri())
        colors.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.close()
    assert len(colors) == 2


def test_wide_tables_scroll_in_their_box(reports: dict[str, pathlib.Path], browser: Any) -> None:
    page = browser.new_page(viewport={"width": PHONE, "height": 844})
    page.goto(reports["damaged"].as_uri())
    boxes = page.locator(".scroll")
    assert boxes.count() == 3
    for box in boxes.all():
        assert box.evaluate("box => box.scrollWidth > box.clientWidth")
        box.focus()
        page.keyboard.press("ArrowRight")
        box.evaluate(SCROLLED)
    page.close()


def test_links_lead_to_their_sections(reports: dict[str, pathlib.Path], browser: Any) -> None:
    page = browser.new_page(viewport={"width": PHONE, "height": 844})
    page.goto(reports["misfits"].as_uri())
    links = page.locator("nav a")
    assert links.count() == 7
    for link in links.all():
        target = link.get_attribute("href")
        link.click()
        assert page.locator(target).is_visible()
    page.close()


@pytest.mark.parametrize("name", ["damaged", "misfits", "wide"])
def test_prints(reports: dict[str, pathlib.Path], browser: Any, name: str) -> None:
    page = browser.new_page(viewport={"width": PAPER, "height": 1123})
    page.goto(reports[name].as_uri())
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("nav").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    if name != "wide":  # a thousand sheets
        assert page.pdf().startswith(b"%PDF")
    page.close()


@pytest.mark.parametrize("name", ["damaged", "misfits", "empty", "steps"])
def test_accessibility(reports: dict[str, pathlib.Path], opened: Opened, name: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe")
    opened.page.goto(reports[name].as_uri())
    found = axe.Axe().run(opened.page)
    assert len(found.response["passes"]) > 20
    assert found.response["violations"] == []
