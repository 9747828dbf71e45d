"""The page of a report: what a template needs of a summary, and the HTML that it makes."""

from __future__ import annotations

import base64
import dataclasses
import functools
import hashlib
import importlib.resources
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from tfrecord_beam.errors import Location, TFRecordBeamError, render
from tfrecord_beam.report.charts import HEIGHT, WIDTH, Chart, draw
from tfrecord_beam.report.files import FileSummary
from tfrecord_beam.report.formats import format_number, format_share, format_size
from tfrecord_beam.report.numbers import NumberSummary
from tfrecord_beam.report.samples import show_bytes
from tfrecord_beam.report.strings import MAX_DISTINCT, MAX_VALUE_BYTES, StringSummary
from tfrecord_beam.report.summary import DatasetSummary
from tfrecord_beam.schema.building import Path
from tfrecord_beam.schema.statistics import FeatureStatistics
from tfrecord_beam.schema.text import make_printable
from tfrecord_beam.schema.validation import Anomaly

if TYPE_CHECKING:
    import jinja2

_MAX_FILES = 50
_MAX_FREQUENT = 8
_MAX_FEATURES = 2000
_MAX_COLUMNS = 50
_TEMPLATES = "templates"

Fact = tuple[str, str]
"""A term and what is to be said of it."""


class Figure(NamedTuple):
    """A chart with its caption."""

    caption: str
    chart: Chart


class Frequent(NamedTuple):
    """A value that comes often: how often, as a share of all, and as a percentage of the first."""

    value: str
    times: int
    share: str
    percent: float


@dataclasses.dataclass(frozen=True)
class FeatureView:
    """What is shown of a feature."""

    name: str
    kinds: str
    present: int
    percent: float
    share: str
    facts: list[Fact]
    figures: list[Figure]
    frequent: list[Frequent]
    conflict: list[Fact]


@dataclasses.dataclass(frozen=True)
class FilesView:
    """What is shown of the files: the largest of them, and those that are left out together."""

    count: int
    total: FileSummary
    codecs: str
    largest: list[tuple[str, FileSummary]]
    others: FileSummary


def render_page(summary: DatasetSummary, anomalies: Sequence[Anomaly] | None = None) -> str:
    """Returns the page, which is the same for the same summary.

    Args:
      summary: what is known of a data set.
      anomalies: what of it does not fit a schema; None: there was none to fit.

    Raises:
      TFRecordBeamError: Jinja2, which fills in the page, is not installed.
    """
    paths = sorted(summary.features, key=lambda path: (len(path), path))
    style = _read_style()
    page: str = (
        load_environment()
        .get_template("report.html")
        .render(
            style=style,
            style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            summary=summary,
            files=_view_files(summary.files),
            record_lengths=list(_figures(summary.record_lengths, "Bytes of a record")),
            record_facts=list(_number_facts(summary.record_lengths, zeros=False)),
            features=[
                _view_feature(path, summary.statistics.features[path], summary)
                for path in paths[:_MAX_FEATURES]
            ],
            num_features=len(paths),
            anomalies=anomalies and sorted(anomalies, key=lambda each: (each.feature, each.reason)),
            columns=[path for path in paths if any(path in row.cells for row in summary.rows)],
            max_columns=_MAX_COLUMNS,
        )
    )
    return page


@functools.cache
def load_environment() -> jinja2.Environment:
    """Returns what fills templates in, with the error of `render_page`."""
    try:
        import jinja2
    except ImportError as error:
        raise TFRecordBeamError(
            "Expected the package jinja2, found none",
            hint="a report needs it: pip install 'tfrecord-beam[report]'",
        ) from error
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tfrecord_beam.report", _TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(chart_width=WIDTH, chart_height=HEIGHT)
    environment.filters.update(
        number=format_number,
        size=format_size,
        printable=make_printable,
        name=_name,
        base64=lambda data: base64.b64encode(data).decode(),
        place=lambda location: render("", Location(location.file, location.offset))[
            len(" - at ") :
        ],
    )
    return environment


def _read_style() -> str:
    files = importlib.resources.files("tfrecord_beam.report")
    return files.joinpath(_TEMPLATES, "report.css").read_text(encoding="utf-8")


def _name(path: Path) -> str:
    return make_printable(".".join(path))


def _view_files(files: dict[str, FileSummary]) -> FilesView:
    by_size = sorted(files.items(), key=lambda each: (-each[1].size, each[0]))
    total, others = FileSummary(), FileSummary()
    counts: dict[str, int] = {}
    for index, (_, file) in enumerate(by_size):
        total.merge(file)
        if index >= _MAX_FILES:
            others.merge(file)
        counts[file.codec or "none"] = counts.get(file.codec or "none", 0) + 1
    codecs = ", ".join(
        f"{'not compressed' if codec == 'none' else codec}"
        + (f" ({count:,})" if len(counts) > 1 else "")
        for codec, count in sorted(counts.items())
    )
    return FilesView(len(files), total, codecs, by_size[:_MAX_FILES], others)


def _view_feature(path: Path, known: FeatureStatistics, summary: DatasetSummary) -> FeatureView:
    feature = summary.features[path]
    rows = summary.statistics.rows
    names = [kind.list_name.removesuffix("_list") for kind in sorted(known.kinds)]
    nouns = ["Per record"] if len(path) == 1 else ["Steps", "Per step"]
    facts: list[Fact] = []
    figures: list[Figure] = []
    for numbers in (feature.ints, feature.floats):
        facts.extend(_number_facts(numbers))
        figures.extend(_figures(numbers, "Values"))
    facts.extend(_string_facts(feature.strings))
    if not feature.strings.frequencies:
        figures.extend(_figures(feature.strings.lengths, "Bytes of a value"))
    for noun, counts in zip(nouns, feature.num_values, strict=False):
        facts.extend(_count_facts(noun, counts))
        figures.extend(_figures(counts, noun if noun == "Steps" else f"Values {noun.lower()}"))
    return FeatureView(
        name=_name(path),
        kinds=" and ".join(names) or "no kind",
        present=known.present,
        percent=100 * known.present / max(rows, 1),
        share=format_share(known.present, rows),
        facts=facts,
        figures=figures,
        frequent=list(_frequent(feature.strings)),
        conflict=_conflict(known),
    )


def _conflict(known: FeatureStatistics) -> list[Fact]:
    """Returns where each kind was first found, if there are several."""
    if len(known.kinds) < 2:
        return []
    return [
        (kind.list_name, render("first", Location(place.file, place.offset)))
        for kind, place in sorted(known.kinds.items())
    ]


def _figures(numbers: NumberSummary, caption: str) -> Iterator[Figure]:
    chart = draw(numbers)
    if chart is not None:
        yield Figure(caption, chart)


def _count_facts(noun: str, numbers: NumberSummary) -> Iterator[Fact]:
    if numbers.least is not None and numbers.most is not None:
        yield noun, _range(numbers.least, numbers.most)


def _number_facts(numbers: NumberSummary, *, zeros: bool = True) -> Iterator[Fact]:
    if numbers.least is not None and numbers.most is not None and numbers.mean is not None:
        yield "Minimum", format_number(numbers.least)
        yield "Mean", format_number(numbers.mean)
        yield "Maximum", format_number(numbers.most)
    if numbers.count and zeros:
        yield "Zeros", f"{numbers.zeros:,} ({format_share(numbers.zeros, numbers.count)})"
    for noun, count in (("NaN", numbers.nans), ("Infinite", numbers.infinities)):
        if count:
            yield noun, f"{count:,} ({format_share(count, numbers.count)})"


def _string_facts(strings: StringSummary) -> Iterator[Fact]:
    least, most = strings.lengths.least, strings.lengths.most
    if least is None or most is None:
        return
    yield "Bytes of a value", _range(least, most)
    if strings.frequencies is not None:
        yield "Different values", f"{len(strings.frequencies):,}"
    elif most <= MAX_VALUE_BYTES:
        yield "Different values", f"more than {MAX_DISTINCT:,}"


def _frequent(strings: StringSummary) -> Iterator[Frequent]:
    found = strings.most_frequent(_MAX_FREQUENT)
    for value, count in found:
        share = format_share(count, strings.lengths.count)
        yield Frequent(make_printable(show_bytes(value)), count, share, 100 * count / found[0][1])


def _range(least: float, most: float) -> str:
    if least == most:
        return format_number(least)
    return f"{format_number(least)} to {format_number(most)}"
