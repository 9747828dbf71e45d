"""Renders the page of a report from a template."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.resources
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrecord_beam.errors import Location, render_place
from tfrecord_beam.lazy import ExtraImport
from tfrecord_beam.report.charts import HEIGHT, WIDTH
from tfrecord_beam.report.formats import format_number, format_size
from tfrecord_beam.report.summary import DatasetSummary
from tfrecord_beam.report.views import (
    name_of,
    number_facts,
    view_feature,
    view_figures,
    view_files,
)
from tfrecord_beam.schema.text import make_printable
from tfrecord_beam.schema.validation import Anomaly

if TYPE_CHECKING:
    import jinja2

_MAX_FEATURES = 2000
"""Maximum number of features that are shown."""

_MAX_COLUMNS = 50
"""Maximum number of columns in the table of the first records."""

_TEMPLATES = "templates"


def render_page(summary: DatasetSummary, anomalies: Sequence[Anomaly] | None = None) -> str:
    """Returns the page. Equal summaries give equal pages.

    Args:
      summary: the summary of a data set.
      anomalies: anomalies against a schema; None: there was no schema.

    Raises:
      MissingLibraryError: Jinja2, which renders the page, is not installed.
    """
    paths = sorted(summary.statistics.features, key=lambda path: (len(path), path))
    style = _read_style()
    page: str = (
        load_environment()
        .get_template("report.html")
        .render(
            style=style,
            style_hash=_base64(hashlib.sha256(style.encode()).digest()),
            summary=summary,
            files=view_files(summary.files),
            record_lengths=list(view_figures(summary.record_lengths, "Bytes of a record")),
            record_facts=list(number_facts(summary.record_lengths, zeros=False)),
            features=[view_feature(path, summary) for path in paths[:_MAX_FEATURES]],
            num_features=len(paths),
            anomalies=anomalies and sorted(anomalies, key=lambda each: (each.feature, each.reason)),
            columns=[path for path in paths if any(path in row.cells for row in summary.rows)],
            max_columns=_MAX_COLUMNS,
        )
    )
    return page


@functools.cache
def load_environment() -> jinja2.Environment:
    """Returns the environment that renders templates, with the error of `render_page`."""
    with ExtraImport():
        import jinja2
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
        name=name_of,
        base64=_base64,
        place=_place,
    )
    return environment


def _read_style() -> str:
    files = importlib.resources.files("tfrecord_beam.report")
    return files.joinpath(_TEMPLATES, "report.css").read_text(encoding="utf-8")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _place(location: Location) -> str:
    return render_place(Location(location.file, location.offset))
