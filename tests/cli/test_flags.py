"""Errors name options as they are written in the shell."""

from __future__ import annotations

import argparse
import os
import pathlib

import pytest

from tests.cli.files import PEOPLE, write
from tfrecord_beam.cli.flags import describe_error
from tfrecord_beam.cli.main import main
from tfrecord_beam.errors import Location, SchemaError


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*")
    parser.add_argument("-o", "--output")
    for name in ("--record-type", "--mode", "--columns"):
        parser.add_argument(name)
    parser.add_argument("--from", dest="source_format")
    return parser


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("give source_format: csv", "give --from: csv"),
        ("Expected mode to be one of a, b", "Expected --mode to be one of a, b"),
        ("mode='overwrite' replaces it", "--mode overwrite replaces it"),
        ("mode='x' without record_type", "--mode x without --record-type"),
        ("mode='x' without num_shards", "--mode x without num_shards"),
        ("on_conflict='drop' leaves", "--drop-conflicts leaves"),
        ("Expected different columns", "Expected different columns"),
        ("Expected file_pattern to be a path", "Expected FILES to be a path"),
        ("found 'record_type' - at a/record_type", "found 'record_type' - at a/record_type"),
        ("found {'a': 1}", "found {'a': 1}"),
    ],
)
def test_names(text: str, expected: str, parser: argparse.ArgumentParser) -> None:
    assert describe_error(ValueError(text), parser) == expected


def test_parts_of_an_error(parser: argparse.ArgumentParser) -> None:
    error = SchemaError("Expected", Location("a", 5, feature="mode"), "record_type='Example'")
    assert describe_error(error, parser) == (
        "Expected - at a:5, feature 'mode' (--record-type Example)"
    )


def test_hint_at_an_option_that_is_not_there(parser: argparse.ArgumentParser) -> None:
    for hint in ("null_values='drop' does", "raw_record_column_name may name it"):
        error = SchemaError("Expected mode to be x", Location("a"), hint)
        assert describe_error(error, parser) == "Expected --mode to be x - at a"


def test_errors_of_the_system() -> None:
    for error, text in (
        (PermissionError(13, "Permission denied", "a"), "Permission denied - at a"),
        (OSError(28, os.strerror(28)), "[Errno 28] No space left on device"),
        (OSError("broken"), "broken"),
    ):
        assert describe_error(error) == text


def test_errors_of_verbs(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE)
    target = str(tmp_path / "b.tfrecord")
    write(tmp_path, "b.tfrecord")
    for arguments, text in (
        (["convert", path, f"{target}.orc"], "(give --to: tfrecord, parquet, "),
        (["convert", f"{path}.orc", target], "Expected files at"),
        (["convert", path, target], f"found one - at {target} (--mode overwrite replaces it)"),
        (["convert", path, target, "--compression", "auo"], "Expected --compression to be "),
        (
            ["convert", path, f"{target}.gz", "--compression", "zlib"],
            "(write it with --compression gzip)",
        ),
        (["convert", path, "", "--to", "csv"], "Expected target to be a path, found ''"),
        (["head", ""], "Expected FILES to be a path"),
        (["infer-schema", path, "-o", ""], "Expected path to be a path, found ''"),
    ):
        assert main(arguments) == 2
        assert text in capsys.readouterr().err
