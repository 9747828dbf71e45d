"""The command line itself: verbs, exit codes, and what goes where."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

import tfrecord_beam
from tests.cli.files import PEOPLE, write
from tfrecord_beam.cli import count
from tfrecord_beam.cli.main import main

PROGRAM = [sys.executable, "-m", "tfrecord_beam"]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main(["--version"])
    assert exit_info.value.code == 0
    assert capsys.readouterr().out == f"tfrecord-beam {tfrecord_beam.__version__}\n"


@pytest.mark.parametrize("verb", ["head", "count", "verify", "schema", "read"])
def test_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main([verb, "--help"])
    assert exit_info.value.code == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: tfrecord-beam {verb} ")
    assert "--json" in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "the following arguments are required: VERB"),
        (["count"], "the following arguments are required: FILES"),
        (["count", "a", "--schema", "b"], "unrecognized arguments: --schema b"),
        (["count", "a", "--js"], "unrecognized arguments: --js"),
        (["head", "a", "-n", "0"], "argument -n: expected a number of at least 1, found '0'"),
        (["head", "a", "-n", "many"], "argument -n: expected a number of at least 1, found 'many'"),
    ],
)
def test_wrong_usage(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main(arguments)
    assert exit_info.value.code == 2
    assert capsys.readouterr().err.endswith(f"error: {text}\n")


@pytest.mark.parametrize("verb", ["head", "count", "verify", "schema", "read"])
def test_missing_file(
    verb: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nothing"
    assert main([verb, str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"tfrecord-beam: error: Expected files at {str(path)!r}, found none\n"


@pytest.mark.parametrize("verb", ["head", "verify", "schema", "read"])
def test_missing_schema(
    verb: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE)
    assert main([verb, path, "--schema", "nothing.pbtxt"]) == 2
    assert capsys.readouterr().err == (
        "tfrecord-beam: error: [Errno 2] No such file or directory: 'nothing.pbtxt'\n"
    )


@pytest.mark.parametrize("verb", ["head", "count", "schema", "read"])
def test_corrupt_file(verb: str, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "text.tfrecord"
    path.write_text("no TFRecord file at all")
    assert main([verb, str(path)]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(
        f"tfrecord-beam: error: Expected a TFRecord file, found text - at {path}:0, record 0"
    )
    assert captured.err.count("\n") == 1  # no traceback, no log


def test_interrupt(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> Iterator[object]:
        raise KeyboardInterrupt

    monkeypatch.setattr(count, "iter_blocks", interrupt)
    assert main(["count", write(tmp_path, "a.tfrecord", *PEOPLE)]) == 130
    assert capsys.readouterr() == ("", "")


def test_closed_pipe(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE * 3000)
    with subprocess.Popen(
        [*PROGRAM, "head", path, "--json", "-n", "9000"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline().startswith(b'{"age": [39]')
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_terminal_shows_progress(tmp_path: pathlib.Path) -> None:
    pty = pytest.importorskip("pty")
    path = write(tmp_path, "a.tfrecord", *PEOPLE)
    terminal, stderr = pty.openpty()
    with open(terminal, "rb", buffering=0) as screen, open(stderr, "wb") as target:
        finished = subprocess.run(
            [*PROGRAM, "count", path], stdout=subprocess.PIPE, stderr=target, check=True
        )
        assert finished.stdout.decode() == f"3 {path}\n"
        assert b"Counting" in screen.read(4096)


def test_no_terminal_no_progress(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in ("head", "count", "verify", "schema"):
        assert main([verb, write(tmp_path, "a.tfrecord", *PEOPLE)]) == 0
        captured = capsys.readouterr()
        assert captured.out
        assert captured.err == ""
