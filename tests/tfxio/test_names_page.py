"""What the page for users of tfx_bsl says of this library."""

from __future__ import annotations

import importlib
import re

import pytest

from tests.tfxio.names_page import PAGE, Name, read_names

NAMES = read_names()


def test_page_has_names() -> None:
    assert len(NAMES) > 100
    assert len({(name.theirs, name.name) for name in NAMES}) == len(NAMES)
    assert {name.theirs.rpartition(".")[0] for name in NAMES} == {
        "tfx_bsl.arrow",
        "tfx_bsl.coders",
        "tfx_bsl.public",
        "tfx_bsl.telemetry",
        "tfx_bsl.tfxio",
    }


def test_every_row_is_read() -> None:
    text = PAGE.read_text(encoding="utf-8")
    tables = text.partition("## Names")[2].partition("## Left out")[0]
    rows = [line for line in tables.splitlines() if re.match(r"\| `", line)]
    assert len(rows) == len(NAMES)


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_name_can_be_imported(name: Name) -> None:
    module = importlib.import_module(name.ours)
    assert hasattr(module, name.name) is not name.is_left_out


def test_modules_are_where_the_first_table_says() -> None:
    for name in NAMES:
        package, module = name.theirs.removeprefix("tfx_bsl.").split(".")
        folder = {"public": "", "tfxio": ""}.get(package, f".{package}")
        module = "" if package == "public" else f".{module}"
        assert name.ours == f"tfrecord_beam.tfxio{folder}{module}"
