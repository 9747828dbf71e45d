"""Tests of Dockerfile, .dockerignore and of what builds them without Docker."""

from __future__ import annotations

import pathlib
import re
import subprocess

import pytest

from tests.image.build import build_image
from tests.image.dockerfile import ROOT, Stage, list_context, parse_dockerfile

STAGES = {stage.name: stage for stage in parse_dockerfile((ROOT / "Dockerfile").read_text())}
IMAGES = ["worker", "command"]


def test_stages() -> None:
    # The last one is what is built by default.
    assert list(STAGES) == [
        "wheel",
        "worker",
        "command",
    ]


@pytest.mark.parametrize("stage", STAGES.values(), ids=list(STAGES))
def test_images_have_versions(stage: Stage) -> None:
    assert re.fullmatch(r"[\w./]+:\d+\.\d+[\w.-]*", stage.image)


def test_images_have_one_python_and_one_beam() -> None:
    assert STAGES["wheel"].image == "python:3.12-bookworm"
    assert STAGES["command"].image == "python:3.12-slim-bookworm"
    beam = STAGES["worker"].variables["BEAM_VERSION"]
    assert STAGES["worker"].image == f"apache/beam_python3.12_sdk:{beam}"
    assert STAGES["command"].variables["BEAM_VERSION"] == beam
    least = re.search(r'"apache-beam>=2\.(\d+)"', (ROOT / "pyproject.toml").read_text())
    assert least is not None
    assert int(least[1]) <= int(beam.split(".")[1])


@pytest.mark.parametrize("name", IMAGES)
def test_user_is_not_root(name: str) -> None:
    *before, last = [each for each in STAGES[name].instructions if each.keyword in ("RUN", "USER")]
    assert (last.keyword, last.text) == ("USER", "1000")  # a number: a host knows no names
    assert any(re.search("useradd --uid 1000 ", each.text) for each in before)


@pytest.mark.parametrize("name", IMAGES)
def test_wheels_come_from_the_stage_that_builds_them(name: str) -> None:
    [build] = STAGES["wheel"].select("RUN")
    assert "--wheel-dir /wheels /src" in build.text
    [mount] = [each.flags["mount"] for each in STAGES[name].select("RUN") if each.flags]
    assert mount == "type=bind,from=wheel,source=/wheels,target=/wheels"


@pytest.mark.parametrize("name", IMAGES)
def test_missing_extension_is_an_error(name: str) -> None:
    assert [each.text for each in STAGES[name].select("ENV")] == ["TFRECORD_BEAM_KERNEL=native"]


def test_context_is_what_the_wheel_is_built_of() -> None:
    context = list_context(ROOT)
    assert {"pyproject.toml", "setup.py", "README.md", "LICENSE", "MANIFEST.in"} <= {*context}
    package = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tfrecord_beam").rglob("*")
        if path.is_file() and path.suffix not in (".so", ".pyc", ".pyd")
    }
    assert {path for path in context if path.startswith("tfrecord_beam/")} == package
    for path in context:
        assert "/" not in path or path in package


def test_copied_sources_exist() -> None:
    copies = [each.text for stage in STAGES.values() for each in stage.select("COPY")]
    assert copies == [". /src"]
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if line.startswith("!"):
            assert (ROOT / line[1:]).exists(), line


def write_project(folder: pathlib.Path, dockerfile: str) -> None:
    for name in ("kept.txt", "sub/kept.txt", "sub/other.so", "left/out.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    (folder / ".dockerignore").write_text("# nothing but\n*\n!kept.txt\n!sub\n**/*.so\n")
    (folder / "Dockerfile").write_text(dockerfile)


def test_commands_are_run(tmp_path: pathlib.Path) -> None:
    project, built = tmp_path / "project", tmp_path / "built"
    write_project(
        project,
        "ARG A=1\nARG B=${A}.2\nFROM python:${B} AS one\nCOPY . /src\nRUN cat /src/kept.txt > c\n"
        "FROM python:${A} AS two\nARG B\nENV C=3\n"
        'RUN --mount=type=bind,from=one \\\n  python -c \\\n  "import os, sys; '
        "print(os.environ['B'], os.environ['C'], sys.prefix, file=open('d', 'w'))\"\n"
        'RUN useradd nobody\nENTRYPOINT ["python", "-V"]\n',
    )
    assert [stage.image for stage in parse_dockerfile((project / "Dockerfile").read_text())] == [
        "python:1.2",
        "python:1",
    ]
    build_image(project, built)
    copied = {path.relative_to(built / "src").as_posix() for path in (built / "src").rglob("*.*")}
    assert copied == {"kept.txt", "sub/kept.txt"}
    assert (built / "c").read_text() == "kept.txt"
    assert (built / "d").read_text() == f"1.2 3 {built / 'two'}\n"


def test_failures_show(tmp_path: pathlib.Path) -> None:
    write_project(tmp_path, "FROM python:1 AS one\nRUN false\n")
    with pytest.raises(subprocess.CalledProcessError):
        build_image(tmp_path, tmp_path / "built")
    write_project(tmp_path, 'FROM python:1 AS one\nENTRYPOINT ["no-such-command"]\n')
    with pytest.raises(FileNotFoundError, match="Expected no-such-command in the image"):
        build_image(tmp_path, tmp_path / "built")
