"""Runs what the Dockerfile says, without Docker: each stage in a fresh virtual environment.

    python -m tests.image.build FOLDER

An image's own Python becomes an environment of this one, and the absolute folders that the stages
share become those of FOLDER. Users are not made, and the images themselves are not there: so what
is shown is that the wheel builds of the files that .dockerignore lets through, installs beside that
Beam, and works.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tests.image.dockerfile import ROOT, Instruction, Stage, list_context, parse_dockerfile

SHARED = ("/src", "/wheels")


def build_image(root: Path, folder: Path) -> None:
    """Runs the stages of the Dockerfile in a folder one after the other.

    Raises:
      CalledProcessError: a command failed.
      FileNotFoundError: the command of an image is not in it.
    """
    for stage in parse_dockerfile((root / "Dockerfile").read_text()):
        print(f"=== {stage.name}", flush=True)
        _build_stage(stage, root, folder)


def _build_stage(stage: Stage, root: Path, folder: Path) -> None:
    environment = folder / stage.name
    uses_pip = any("pip " in each.text for each in stage.select("RUN"))
    venv.create(environment, with_pip=uses_pip)
    path = f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, **stage.variables, "PATH": path}
    env.pop("PYTHONPATH", None)
    for instruction in stage.instructions:
        match instruction:
            case Instruction("COPY", _, text):
                source, target = text.split()
                assert source == "."
                _copy_context(root, Path(_move(target, folder)))
            case Instruction("ENV", _, text):
                name, _, value = text.partition("=")
                env[name] = value
            case Instruction("RUN", _, command) if not command.startswith("useradd"):
                print("+", command, flush=True)
                command = _move(command, folder)
                subprocess.run(["sh", "-ec", command], cwd=folder, env=env, check=True)
            case Instruction("ENTRYPOINT", _, text):
                command = re.findall(r'"([^"]*)"', text)[0]
                if not (environment / "bin" / command).exists():
                    raise FileNotFoundError(f"Expected {command} in the image, found none")


def _copy_context(root: Path, target: Path) -> None:
    for name in list_context(root):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, target / name)


def _move(text: str, folder: Path) -> str:
    return re.sub(rf"(?<!\S)({'|'.join(SHARED)})\b", lambda found: f"{folder}{found[0]}", text)


if __name__ == "__main__":
    build_image(ROOT, Path(sys.argv[1]).resolve())
