"""Imports the peers, which are no dependency of the library."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import pytest


def import_peer(module: str) -> Any:
    """Returns a module of a peer; where it is not installed, what imports this is skipped."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except ImportError as error:
        return pytest.skip(f"{module} cannot be imported: {error}", allow_module_level=True)
