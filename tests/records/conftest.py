"""Fixtures of the tests of records."""

from __future__ import annotations

import pytest

from tests.records.damaging import OPTIONS
from tfrecord_beam.records.reader import ReadOptions


@pytest.fixture(params=OPTIONS.values(), ids=list(OPTIONS))
def options(request: pytest.FixtureRequest) -> ReadOptions:
    """Ways to read in turn."""
    found: ReadOptions = request.param
    return found
