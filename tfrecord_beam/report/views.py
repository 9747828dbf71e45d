"""The content of a page, in the form that its templates need: texts, charts and percentages."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Iterator
from typing import NamedTuple

from tfrecord_beam.errors import Location, render_place
from tfrecord_beam.report.charts import Chart, draw
from tfrecord_beam.report.feature import FeatureSummary
from tfrecord_beam.report.files import FileSummary
from tfrecord_beam.report.formats import format_number, format_range, format_share
from tfrecord_beam.report.numbers import NumberSummary
from tfrecord_beam.report.samples import show_bytes
from tfrecord_beam.report.strings import MAX_DISTINCT, MAX_VALUE_BYTES, StringSummary
from tfrecord_beam.report.summary import DatasetSummary
from tfrecord_beam.schema.building import Path
from tfrecord_beam.schema.statistics import FeatureStatistics
from tfrecord_beam.schema.text import make_printable

_MAX_FILES = 50
"""Maximum number of files that are listed: the largest ones."""

_MAX_FREQUENT = 8
"""Maximum number of values of a feature that are listed: the most frequent ones."""

_NAME_END = 100
"""Number of characters shown of either end of a name that is longer than both together."""

Fact = tuple[str, str]
"""A term and its value."""


class Figure(NamedTuple):
    """A chart with its caption."""

    caption: str
    chart: Chart


class Frequent(NamedTuple):
    """A frequent value: its count, its share of all values, and its percentage of the first."""

    value: str
    times: int
    share: str
    percent: float


@dataclasses.dataclass(frozen=True)
class FeatureView:
    """The content of the card of a feature."""

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
    """The content of the table of files: the largest ones, and the sum of the others."""

    count: int
    total: FileSummary
    codecs: str
    largest: list[tuple[str, FileSummary]]
    others: FileSummary


def name_of(path: Path) -> str:
    """Returns the name of a feature: for a feature of steps, ``STRUCT.NAME``.

    A very long name is shortened in the middle: some data sets use data as names.
    """
    name = make_printable(".".join(path)) or "(no name)"
    return name if len(name) <= 2 * _NAME_END else f"{name[:_NAME_END]}…{name[-_NAME_END:]}"


def view_files(files: dict[str, FileSummary]) -> FilesView:
    """Returns the content of the table of files, given their summaries by path."""
    by_size = sorted(files.items(), key=lambda each: (-each[1].size, each[0]))
    total, others = FileSummary(), FileSummary()
    for index, (_, file) in enumerate(by_size):
        total.merge(file)
        if index >= _MAX_FILES:
            others.merge(file)
    names = (file.codec or "none" for file in files.values())
    counts = collections.Counter("not compressed" if name == "none" else name for name in names)
    codecs = ", ".join(
        f"{name} ({count:,})" if len(counts) > 1 else name for name, count in sorted(counts.items())
    )
    return FilesView(len(files), total, codecs, by_size[:_MAX_FILES], others)


def view_feature(path: Path, summary: DatasetSummary) -> FeatureView:
    """Returns the content of the card of a feature."""
    known, rows = summary.statistics.features[path], summary.statistics.rows
    feature = summary.features.get(path, FeatureSummary())
    names = [kind.list_name.removesuffix("_list") for kind in sorted(known.kinds)]
    nouns = ["Per record"] if len(path) == 1 else ["Steps", "Per step"]
    facts: list[Fact] = []
    figures: list[Figure] = []
    is_mixed = bool(feature.ints.count and feature.floats.count)
    for kind, numbers in (("int64", feature.ints), ("float", feature.floats)):
        of_kind = f" ({kind})" if is_mixed else ""
        facts.extend((f"{term}{of_kind}", text) for term, text in number_facts(numbers))
        figures.extend(view_figures(numbers, f"Values{of_kind}"))
    facts.extend(_string_facts(feature.strings))
    if not feature.strings.frequencies:
        figures.extend(view_figures(feature.strings.lengths, "Bytes of a value"))
    for noun, counts in zip(nouns, feature.num_values, strict=False):
        facts.extend(_count_facts(noun, counts))
        figures.extend(view_figures(counts, noun if noun == "Steps" else f"Values {noun.lower()}"))
    return FeatureView(
        name=name_of(path),
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
        (kind.list_name, f"first at {render_place(Location(place.file, place.offset))}")
        for kind, place in sorted(known.kinds.items())
    ]


def view_figures(numbers: NumberSummary, caption: str) -> Iterator[Figure]:
    """Yields the chart of numbers, if there is one."""
    chart = draw(numbers)
    if chart is not None:
        yield Figure(caption, chart)


def _count_facts(noun: str, numbers: NumberSummary) -> Iterator[Fact]:
    if numbers.extremes is not None:
        yield noun, _range(*numbers.extremes)


def number_facts(numbers: NumberSummary, *, zeros: bool = True) -> Iterator[Fact]:
    """Yields the facts about numbers."""
    if numbers.extremes is not None and numbers.mean is not None:
        minimum, maximum = format_range(*numbers.extremes)
        yield "Minimum", minimum
        yield "Mean", format_number(numbers.mean)
        yield "Maximum", maximum
    if numbers.count and zeros:
        yield "Zeros", f"{numbers.zeros:,} ({format_share(numbers.zeros, numbers.count)})"
    for noun, count in (("NaN", numbers.nans), ("Infinite", numbers.infinities)):
        if count:
            yield noun, f"{count:,} ({format_share(count, numbers.count)})"


def _string_facts(strings: StringSummary) -> Iterator[Fact]:
    if strings.lengths.extremes is None:
        return
    minimum, maximum = strings.lengths.extremes
    yield "Bytes of a value", _range(minimum, maximum)
    if strings.frequencies is not None:
        yield "Different values", f"{len(strings.frequencies):,}"
    elif maximum <= MAX_VALUE_BYTES:
        yield "Different values", f"more than {MAX_DISTINCT:,}"


def _frequent(strings: StringSummary) -> Iterator[Frequent]:
    found = strings.most_frequent(_MAX_FREQUENT)
    for value, count in found:
        share = format_share(count, strings.lengths.count)
        yield Frequent(make_printable(show_bytes(value)), count, share, 100 * count / found[0][1])


def _range(minimum: float, maximum: float) -> str:
    if minimum == maximum:
        return format_number(minimum)
    return f"{format_number(minimum)} to {format_number(maximum)}"
