"""Finds the files that match a file pattern, by the same rules on every file system.

A pattern is the path of a file, a path with wildcards, or a folder. A folder matches all files
under it at every level, because Spark and Hive lay out partitions that way; a pattern with
wildcards that ends with ``/`` does the same for each folder that it matches. Without the slash it
matches files. Wildcards match within one level: ``*``, ``?``, ``[ab]`` and ``[!ab]``; a level that
is ``**`` matches any number of levels, including none. ``[[]`` is a literal bracket.

Symbolic links are followed, but no file is read twice under the same name: a folder is visited once
for each remaining part of the pattern, under its own name rather than that of a link to it. A link
to a file counts as a separate file: shards are sometimes repeated that way on purpose.

Wildcards and folders do not match names that begin with ``.`` or ``_``, which tools use for markers
and unfinished output. They match only if the pattern spells them out.
"""

from __future__ import annotations

import collections
import contextlib
import difflib
import fnmatch
import functools
import itertools
import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import pyarrow.fs

from tfrecord_beam.errors import NoMatchError
from tfrecord_beam.options import describe
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.urls import has_scheme, normalize_path, resolve_url, split_root

_HIDDEN = "._"
_NAMES_SHOWN = 3
_NAMES_COMPARED = 200
_WILDCARD = re.compile(r"[*?[]")

_Levels = tuple[str, ...]


class FileEntry(NamedTuple):
    """A file that was found.

    Attributes:
      path: path or URL, for `FileSystem.open`.
      size: in bytes.
    """

    path: str
    size: int


class FileSystem(Protocol):
    """The file system operations that reading needs."""

    def get_file(self, path: str) -> FileEntry | None:
        """Returns the file with exactly this path; None if it does not exist or is a folder."""

    def glob(self, pattern: str) -> Iterable[FileEntry]:
        """Returns all files whose path `matches` the pattern, in any order; may be none."""

    def open(self, path: str) -> BinaryFile:
        """Opens a file for reading as stored, without decompressing it."""


FilePattern = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A path, a pattern, a folder, or several of them."""


def normalize_patterns(file_pattern: FilePattern) -> tuple[str, ...]:
    """Returns the patterns of a `file_pattern` argument as strings.

    Args:
      file_pattern: one path or pattern, or several. A comma is part of the name. See
        `tfrecord_beam.urls.normalize_path` for how URLs are normalized.

    Raises:
      ValueError: for anything else, and for an empty list.
    """
    given = file_pattern
    if isinstance(file_pattern, (str, os.PathLike)):
        file_pattern = [file_pattern]
    if isinstance(file_pattern, Iterable) and not isinstance(file_pattern, (bytes, bytearray)):
        patterns = [
            os.fspath(each) if isinstance(each, os.PathLike) else each for each in file_pattern
        ]
        if patterns and all(isinstance(each, str) and each for each in patterns):
            return tuple(map(normalize_path, patterns))
    raise ValueError(
        "Expected file_pattern to be a path or pattern (str or os.PathLike) or a list of at least "
        f"one of them, found {describe(given)}"
    )


def match_files(patterns: Iterable[str], file_system: FileSystem) -> list[FileEntry]:
    """Returns the files that match the patterns, each once.

    They are in the order of the patterns, and sorted by path for each pattern. A pattern that is
    exactly the path of a file means that file, whatever wildcards its name contains. Empty files
    are included.

    Args:
      patterns: result of `normalize_patterns`.
      file_system: where to look.

    Raises:
      NoMatchError: a pattern matches no file.
    """
    return distinct_files(
        entry for pattern in patterns for entry in match_pattern(pattern, file_system)
    )


def match_pattern(pattern: str, file_system: FileSystem) -> list[FileEntry]:
    """Returns the files that match one pattern, as `match_files`, under every matching path."""
    exact = file_system.get_file(pattern)
    entries = [exact] if exact else sorted(file_system.glob(pattern))
    if not entries:
        try:
            hint = _describe_alternatives(pattern, file_system)
        except (OSError, ValueError):  # the lookup for the hint must not fail the call
            hint = None
        raise NoMatchError(f"Expected files at {pattern!r}, found none", hint=hint)
    return entries


def distinct_files(entries: Iterable[FileEntry]) -> list[FileEntry]:
    """Returns the files in order, each under the first of the paths that lead to it."""
    find_folder = functools.cache(os.path.realpath)  # most files share a folder
    found: dict[str, FileEntry] = {}
    for entry in entries:
        name = entry.path
        if not has_scheme(name):
            folder, base = os.path.split(name)
            name = os.path.join(find_folder(folder), base)
        found.setdefault(name, entry)
    return list(found.values())


def has_file(files: Iterable[FileEntry], path: str) -> bool:
    """Returns whether a path leads to one of the files, even if theirs is spelled differently."""
    status = None
    if not has_scheme(path):
        with contextlib.suppress(OSError):
            status = os.stat(path)
    return any(
        file.path == path
        or (status and not has_scheme(file.path) and os.path.samestat(status, os.stat(file.path)))
        for file in files
    )


def matches(path: str, pattern: str) -> bool:
    """Returns whether the path of a file matches a pattern.

    >>> matches("data/day=1/a", "data"), matches("data/_temporary/a", "data")
    (True, False)
    """
    return _accepts(_find_rests(path, pattern))


def may_match_below(folder: str, pattern: str) -> bool:
    """Returns whether files in or below a folder may match a pattern.

    >>> may_match_below("data/day=1", "data"), may_match_below("data/day=1", "data/*.csv")
    (True, False)
    """
    return any(_find_rests(folder, pattern))


def _find_rests(path: str, pattern: str) -> set[_Levels]:
    rests = {_split_levels(pattern)}
    for name in _split_names(path):
        rests = _advance(rests, name)
    return rests


def find_folder(pattern: str) -> str:
    """Returns the folder that contains, at some level, every path that matches a pattern."""
    return _split_folder(pattern)[0]


def find_literal_prefix(pattern: str) -> str:
    """Returns the part before the first wildcard, with which every matching path begins."""
    root, path = split_root(pattern)
    return root + _WILDCARD.split(path, maxsplit=1)[0]


class DirectFileSystem:
    """File access without Beam: paths through the operating system, URLs through `pyarrow.fs`."""

    def get_file(self, path: str) -> FileEntry | None:
        if not has_scheme(path):
            return _find_local(path)
        file_system, key = resolve_url(path)
        info = file_system.get_file_info(key)
        return FileEntry(path, info.size) if info.is_file else None

    def glob(self, pattern: str) -> Iterable[FileEntry]:
        return _glob_url(pattern) if has_scheme(pattern) else _glob_local(pattern)

    def open(self, path: str) -> BinaryFile:
        if not has_scheme(path):
            return open(path, "rb", buffering=0)
        file_system, key = resolve_url(path)
        file: BinaryFile = file_system.open_input_file(key)
        return file


def _glob_local(pattern: str) -> Iterator[FileEntry]:
    folder, levels = _split_folder(pattern.replace(os.sep, "/"))
    return _walk(folder, levels) if os.path.isdir(folder or os.curdir) else iter(())


def _find_local(path: str) -> FileEntry | None:
    try:
        status = os.stat(path)
    except PermissionError:
        raise
    except OSError:  # it does not exist, or it is a pattern that cannot be a name
        return None
    if stat.S_ISREG(status.st_mode):
        return FileEntry(path, status.st_size)
    if stat.S_ISDIR(status.st_mode):
        return None
    raise NoMatchError(
        f"Expected a regular file at {path!r}, found a pipe, a device or a socket",
        hint="save its output to a file: files are split, and so must have a known size",
    )


def _walk(folder: str, levels: _Levels) -> Iterator[FileEntry]:
    """Yields the files under a folder that match the levels of a pattern."""
    pending = collections.deque([(folder, frozenset({levels}))])
    seen = set()
    while pending:
        folder, rests = pending.popleft()
        if (identity := (os.path.realpath(folder), rests)) in seen:
            continue
        seen.add(identity)
        folders = []
        with os.scandir(folder or os.curdir) as entries:  # lazily: some callers want only one
            for entry in entries:
                below = _advance(rests, entry.name)
                path = os.path.join(folder, entry.name)
                if os.path.isdir(path) if entry.is_symlink() else entry.is_dir():
                    if further := frozenset(filter(None, below)):
                        folders.append((path, further))
                elif _accepts(below):
                    status = _read_status(path)
                    if stat.S_ISREG(status.st_mode):  # opening a pipe could block for ever
                        yield FileEntry(path, status.st_size)
        for path, further in sorted(folders):
            # Links come last, so that their targets are found under their own names if possible.
            add = pending.append if os.path.islink(path) else pending.appendleft
            add((path, further))


def _read_status(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except FileNotFoundError as error:
        raise NoMatchError(
            f"Expected a file at {path!r}, found a link to none", hint="remove the link"
        ) from error


def _glob_url(pattern: str) -> Iterator[FileEntry]:
    folder = _split_folder(pattern)[0].rstrip("/")
    file_system, key = resolve_url(folder)
    selector = pyarrow.fs.FileSelector(key, allow_not_found=True, recursive=True)
    for info in file_system.get_file_info(selector):
        path = folder + info.path.removeprefix(key)
        if info.is_file and matches(path, pattern):
            yield FileEntry(path, info.size)


def _split_names(path: str) -> _Levels:
    return tuple(name for name in path.replace(os.sep, "/").split("/") if name)


def _split_levels(pattern: str) -> _Levels:
    is_folder = pattern.endswith("/") or find_literal_prefix(pattern) == pattern
    levels = _split_names(pattern) + (("**",) if is_folder else ())
    # Consecutive ``**`` levels are equivalent to one.
    return tuple(
        level
        for before, level in zip(("", *levels), levels, strict=False)
        if (before, level) != ("**", "**")
    )


def _split_folder(pattern: str) -> tuple[str, _Levels]:
    """Returns the literal folder of a pattern, and the levels of the pattern below it."""
    prefix = find_literal_prefix(pattern)
    if prefix == pattern:
        return pattern, ("**",)
    end = prefix.rfind("/") + 1
    return pattern[:end], _split_levels(pattern[end:])


def _advance(rests: Iterable[_Levels], name: str) -> set[_Levels]:
    """Returns the rest of a pattern after matching a name, for each way in which it matches.

    There are several if ``**`` may end at more than one level.
    """
    below: set[_Levels] = set()
    for rest in filter(None, rests):
        level, others = rest[0], rest[1:]
        if level == "**":
            below |= _advance({others}, name)
            level, others = "*", rest
        if _fits(name, level):
            below.add(others)
    return below


def _fits(name: str, level: str) -> bool:
    is_hidden = name[0] in _HIDDEN and name[0] != level[0]
    return not is_hidden and fnmatch.fnmatchcase(name, level)


def _accepts(rests: set[_Levels]) -> bool:
    """Whether a path may end here."""
    return any(all(level == "**" for level in rest) for rest in rests)


def _describe_alternatives(pattern: str, file_system: FileSystem) -> str | None:
    """Returns a hint for a pattern without matches: similar existing files, most similar first."""
    folder, _ = _split_folder(pattern)
    if folder == pattern:
        folder = pattern.rstrip("/")[: pattern.rstrip("/").rfind("/") + 1]
    elif next(iter(file_system.glob(pattern + "/")), None):
        return "end it with '/' for the files in the folders that it matches"
    nearby = itertools.chain.from_iterable(
        file_system.glob(folder + levels) for levels in ("*", "*/*")
    )
    names = sorted(entry.path for entry in itertools.islice(nearby, _NAMES_COMPARED))
    if not names:
        return None
    closest = sorted(names, key=lambda name: _similarity(name, pattern), reverse=True)
    shown = ", ".join(map(repr, closest[:_NAMES_SHOWN])) + ", ..." * (len(names) > _NAMES_SHOWN)
    return f"there is {shown}"


def _similarity(name: str, pattern: str) -> float:
    return difflib.SequenceMatcher(None, name, pattern, autojunk=False).ratio()
