"""The command line itself: verbs, exit codes, and what goes where."""

from __future__ import annotations

import json
import os
import pathlib
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

import tfrecord_beam
from tests.cli.files import PEOPLE, damage, write
from tests.wire import bytes_list, entry, example
from tfrecord_beam.cli import count
from tfrecord_beam.cli.main import main

_UNKNOWN = "unrecognized arguments: "

PROGRAM = [sys.executable, "-m", "tfrecord_beam"]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main(["--version"])
    assert exit_info.value.code == 0
    assert capsys.readouterr().out == f"tfrecord-beam {tfrecord_beam.__version__}\n"


@pytest.mark.parametrize("verb", ["convert", "report -o", "infer-schema -o"])
def test_no_file_is_named_as_stdout_often_is(
    verb: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE)
    name, *option = verb.split()
    with pytest.raises(SystemExit) as exit_info:
        main([name, path, *option, "-"])
    assert exit_info.value.code == 2
    assert "expected a file, found '-': none is written to stdout" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["head", "count", "verify", "index", "schema", "convert", "read"])
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
        (["head", "a", "--colums", "b"], f"{_UNKNOWN}--colums (did you mean --columns?)"),
        (["head", "a", "--files=b"], f"{_UNKNOWN}--files=b"),  # FILES is no option
        (
            ["convert", "a", "b", "--num-shard=4"],
            f"{_UNKNOWN}--num-shard=4 (did you mean --num-shards?)",
        ),
        (
            ["convert", "a", "b", "--num_shards", "4"],
            f"{_UNKNOWN}--num_shards (did you mean --num-shards?)",
        ),
        (["read", "a", "--colums=b"], f"{_UNKNOWN}--colums=b (did you mean --columns?)"),
        (["head", "a", "-n", "0"], "argument -n: expected a number of at least 1, found '0'"),
        (
            ["head", "a", "-n", "9" * 19],
            "argument -n: expected a number of at most 9223372036854775807, "
            "found '9999999999999999999'",
        ),
        (["head", "a", "-n", "many"], "argument -n: expected a number of at least 1, found 'many'"),
    ],
)
def test_wrong_usage(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main(arguments)
    assert exit_info.value.code == 2
    assert capsys.readouterr().err.endswith(f"error: {text}\n")


@pytest.mark.parametrize("verb", ["head", "count", "verify", "index", "schema", "read"])
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
        "tfrecord-beam: error: Expected a schema at 'nothing.pbtxt', found no file\n"
    )


@pytest.mark.parametrize("verb", ["head", "count", "index", "schema", "read"])
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


def _wrong_inputs(folder: pathlib.Path) -> dict[str, tuple[list[str], str]]:
    """Returns arguments behind a verb, and how the error begins."""
    good = write(folder, "a.tfrecord", *PEOPLE)
    (folder / "empty").mkdir()
    (folder / "bad.pbtxt").write_text("no schema")
    (folder / "empty.pbtxt").touch()
    os.mkfifo(folder / "pipe")
    return {
        "folder": ([f"{folder}/empty"], f"Expected files at '{folder}/empty', found none"),
        "pattern": ([f"{folder}/*.x"], f"Expected files at '{folder}/*.x', found none (there is"),
        "pipe": ([f"{folder}/pipe"], f"Expected a regular file at '{folder}/pipe', found a pipe"),
        "URL": (["foo://x"], "Expected a URL that "),
        "host": (["file://host/x"], "Expected the URL of a local file, found 'file://host/x'"),
        "no name": ([""], "Expected FILES to be a path or pattern"),
        "control": (["\x1b[2J\n"], "Expected files at '\\x1b[2J\\n', found none"),
        "schema": ([good, "--schema", f"{folder}/bad.pbtxt"], "Expected a TFMD Schema as "),
        "empty schema": ([good, "--schema", f"{folder}/empty.pbtxt"], "Expected a TFMD Schema as "),
        "no schema": ([good, "--schema", ""], "Expected a TFMD Schema, its serialized bytes or "),
        "schema folder": (
            [good, "--schema", str(folder)],
            f"Expected a schema at {str(folder)!r}, found a folder",
        ),
        "columns": (
            [good, "--columns", "age,age"],
            "Expected different columns, found 'age' twice",
        ),
    }


@pytest.mark.parametrize("flags", [[], ["--json"]], ids=["text", "JSON"])
@pytest.mark.parametrize("verb", ["head", "count", "verify", "index", "schema", "read"])
def test_wrong_input_is_an_error_in_one_line(
    verb: str, flags: list[str], tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    takes = {"--schema": verb not in ("count", "index"), "--columns": verb in ("head", "read")}
    for arguments, text in _wrong_inputs(tmp_path).values():
        if all(takes.get(argument, True) for argument in arguments):
            assert main([verb, *arguments, *flags]) == 2
            captured = capfd.readouterr()
            assert captured.out == ""
            assert captured.err.startswith(f"tfrecord-beam: error: {text}")
            assert captured.err.count("\n") == 1


def test_names_cannot_control_the_terminal(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "a\x1b[2J\n\u202eb"
    record = example(entry(name, bytes_list(b"\x1b[2J")))
    path = write(tmp_path, "\x1b]0;title\x07\udcff.tfrecord", record)
    for verb in ("head", "count", "schema", "verify"):
        assert main([verb, path, *["--record-type=Example"] * (verb == "verify")]) == 0
        captured = capsys.readouterr()
        assert all(line.isprintable() for line in captured.out.splitlines())
        if verb in ("head", "schema"):
            assert "a\\x1b[2J\\n\\u202eb" in captured.out
        assert captured.err == ""
    assert main(["head", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {name: ["\x1b[2J"]}
    assert main(["count", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"][0]["file"] == path
    damage(path, 12)
    assert main(["verify", path]) == 1
    assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())


def test_characters_that_the_terminal_lacks(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, "größe.tfrecord", *PEOPLE)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    for verb in ("head", "count"):
        finished = subprocess.run(
            [*PROGRAM, verb, path], capture_output=True, text=True, env=environment, check=True
        )
        assert ("Zo\\xeb" if verb == "head" else "gr\\xf6\\xdfe") in finished.stdout


@pytest.mark.parametrize(
    ("redirection", "code", "text"),
    [
        (">&-", 2, "tfrecord-beam: error: Expected stdout to be open, found it closed\n"),
        (">/dev/full", 2, "tfrecord-beam: error: [Errno 28] No space left on device\n"),
        ("2>&-", 0, ""),
        (">&- 2>&-", 2, ""),
    ],
)
def test_output_that_takes_nothing(
    redirection: str, code: int, text: str, tmp_path: pathlib.Path
) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE)
    command = shlex.join([*PROGRAM, "count", path])
    finished = subprocess.run(
        f"{command} {redirection}", shell=True, stderr=subprocess.PIPE, text=True, check=False
    )
    assert (finished.returncode, finished.stderr) == (code, text)


@pytest.mark.parametrize("verb", ["--help", "head", "schema"])
def test_output_into_a_closed_pipe(tmp_path: pathlib.Path, verb: str) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE)
    reader, writer = os.pipe()
    os.close(reader)
    finished = subprocess.run(
        [*PROGRAM, verb, path],
        stdout=writer,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
        check=False,
    )
    os.close(writer)
    assert (finished.returncode, finished.stderr) == (141, b"")


@pytest.mark.filterwarnings("default::UserWarning")
def test_warning_of_the_library(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, "a.tfrecord", *PEOPLE)
    assert main(["convert", path, str(tmp_path / "b.tfrecord.zst")]) == 0
    error = capsys.readouterr().err
    assert error.startswith("tfrecord-beam: warning: TensorFlow cannot read TFRecord files ")
    assert error.count("\n") == 1


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
