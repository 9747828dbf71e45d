"""The parts of a Dockerfile, and what .dockerignore leaves of a folder."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Instruction(NamedTuple):
    """One instruction: its keyword, its flags without dashes, and the rest."""

    keyword: str
    flags: dict[str, str]
    text: str


class Stage(NamedTuple):
    """One stage: its name, its image, what `${...}` stand for in it, and its instructions."""

    name: str
    image: str
    variables: dict[str, str]
    instructions: list[Instruction]

    def select(self, keyword: str) -> list[Instruction]:
        return [each for each in self.instructions if each.keyword == keyword]


def parse_dockerfile(text: str) -> list[Stage]:
    """Returns the stages; arguments have their defaults."""
    stages: list[Stage] = []
    arguments: dict[str, str] = {}
    for instruction in _split_instructions(text):
        keyword, _, rest = instruction
        if keyword == "FROM":
            image, _, name = rest.partition(" AS ")
            stages.append(Stage(name, expand(image, arguments), {}, []))
        elif keyword == "ARG":
            name, _, value = rest.partition("=")
            variables = stages[-1].variables if stages else arguments
            variables[name] = expand(value, arguments) or arguments[name]
        else:
            stages[-1].instructions.append(instruction)
    return stages


def expand(text: str, variables: dict[str, str]) -> str:
    """Puts values for `${...}`; a name without one is a KeyError."""
    return re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], text)


def list_context(root: Path) -> list[str]:
    """Returns the paths of the files that `COPY .` would take, as .dockerignore says."""
    rules = [
        (_compile(line.lstrip("!")), line.startswith("!"))
        for line in (root / ".dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    paths = (path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())
    return sorted(path for path in paths if _is_taken(path, rules))


def _is_taken(path: str, rules: list[tuple[re.Pattern[str], bool]]) -> bool:
    taken = True  # the last rule that matches decides
    for pattern, is_exception in rules:
        if pattern.match(path):
            taken = is_exception
    return taken


def _compile(pattern: str) -> re.Pattern[str]:
    """A pattern also means all that is in a folder of that name."""
    parts = {"**/": "(?:.*/)?", "*": "[^/]*"}
    split = re.findall(r"\*\*/|\*|[^*]+", pattern)
    return re.compile("".join(parts.get(part) or re.escape(part) for part in split) + "(?:/|$)")


def _split_instructions(text: str) -> Iterator[Instruction]:
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for line in re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines():
        if line:
            keyword, rest = line.split(maxsplit=1)
            flags = re.match(r"(?:--\S+\s+)*", rest)
            assert flags is not None
            yield Instruction(
                keyword,
                dict(flag[2:].split("=", 1) for flag in flags[0].split()),
                rest[flags.end() :].strip(),
            )
