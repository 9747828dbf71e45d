"""What tests of writing share."""

from __future__ import annotations

import pathlib

import pytest


@pytest.fixture
def plan(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """An empty folder for the faults that a `FaultyFileSystem` is to have."""
    return tmp_path_factory.mktemp("plan")
