"""The two ways of writing, in turn."""

from __future__ import annotations

import pytest

from tests.contract.writing import WAYS, Write


@pytest.fixture(params=list(WAYS))
def write(request: pytest.FixtureRequest) -> Write:
    """Writes batches with `write_table` or `WriteToTFRecord`."""
    return WAYS[request.param]
