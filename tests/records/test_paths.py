"""Tests of tfrecord_beam.records.paths: what patterns mean, on paths and on URLs alike."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, strategies as st

from tests.records.writing.beam_urls import FOLDERS_SCHEME
from tfrecord_beam.errors import NoMatchError
from tfrecord_beam.records import paths
from tfrecord_beam.records.paths import (
    DirectFileSystem,
    FileEntry,
    FileSystem,
    find_literal_prefix,
    match_files,
    matches,
    normalize_patterns,
)
from tfrecord_beam.transforms.filesystem import BeamFileSystem

Find = Callable[..., list[str]]


_PLACES: dict[str, tuple[str, FileSystem]] = {
    "path": ("", DirectFileSystem()),
    "arrow": ("file://", DirectFileSystem()),  # by way of pyarrow.fs, as object stores are
    "beam folders": (FOLDERS_SCHEME, BeamFileSystem()),
}


@pytest.fixture(params=list(_PLACES))
def find(request: pytest.FixtureRequest, tmp_path: Path) -> Find:
    """Writes files into a folder and returns those that patterns mean there, by relative path."""
    scheme, file_system = _PLACES[request.param]
    root = f"{scheme}{tmp_path}"

    def find(files: list[str], *patterns: str) -> list[str]:
        for name in files:
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"x" * len(name))
        entries = match_files([f"{root}/{pattern}" for pattern in patterns], file_system)
        names = [entry.path.removeprefix(f"{root}/") for entry in entries]
        assert [entry.size for entry in entries] == [len(name) for name in names]
        return names

    return find


_TREE = [
    "a-1.tfrecord",
    "a-2.tfrecord",
    "b-1.tfrecord",
    "other.txt",
    "_SUCCESS",
    ".a-1.tfrecord.crc",
    "day=1/a-1.tfrecord",
    "day=1/_SUCCESS",
    "day=1/_temporary/a-1.tfrecord",
    "day=2/hour=3/a-1.tfrecord",
    "_temporary/a-9.tfrecord",
    ".hidden/a-9.tfrecord",
]
_UNDER_DAYS = ["day=1/a-1.tfrecord", "day=2/hour=3/a-1.tfrecord"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("b-1.tfrecord", ["b-1.tfrecord"]),
        ("*.tfrecord", ["a-1.tfrecord", "a-2.tfrecord", "b-1.tfrecord"]),
        ("a-?.tfrecord", ["a-1.tfrecord", "a-2.tfrecord"]),
        ("[ab]-1*", ["a-1.tfrecord", "b-1.tfrecord"]),
        ("[!a]-*", ["b-1.tfrecord"]),
        ("*/*.tfrecord", ["day=1/a-1.tfrecord"]),
        ("*", ["a-1.tfrecord", "a-2.tfrecord", "b-1.tfrecord", "other.txt"]),
        ("**/a-1.tfrecord", ["a-1.tfrecord", *_UNDER_DAYS]),
        ("day=*/**", _UNDER_DAYS),
        ("day=*/", _UNDER_DAYS),
        ("day=*/**/hour=*/*", ["day=2/hour=3/a-1.tfrecord"]),
        ("day=2", ["day=2/hour=3/a-1.tfrecord"]),
        ("day=2/", ["day=2/hour=3/a-1.tfrecord"]),
        ("", ["a-1.tfrecord", "a-2.tfrecord", "b-1.tfrecord", *_UNDER_DAYS, "other.txt"]),
    ],
)
def test_pattern_means_these_files(find: Find, pattern: str, expected: list[str]) -> None:
    assert find(_TREE, pattern) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("_SUCCESS", ["_SUCCESS"]),
        ("_*", ["_SUCCESS"]),
        (".a*", [".a-1.tfrecord.crc"]),
        ("_temporary", ["_temporary/a-9.tfrecord"]),
        (".hidden/*", [".hidden/a-9.tfrecord"]),
        ("*/_SUCCESS", ["day=1/_SUCCESS"]),
        ("**/_temporary/*", ["_temporary/a-9.tfrecord", "day=1/_temporary/a-1.tfrecord"]),
    ],
)
def test_hidden_names_are_meant_where_they_are_spelled(
    find: Find, pattern: str, expected: list[str]
) -> None:
    assert find(_TREE, pattern) == expected


@pytest.mark.parametrize("name", ["a[1].tfrecord", "a*b", "a?", "a,b", "a b%20é", "[x]/a*b"])
def test_existing_file_is_meant_whatever_its_name(find: Find, name: str) -> None:
    assert find([name, "a1.tfrecord", "axb", "ab", "x/axb"], name) == [name]


def test_bracket_can_be_spelled(find: Find) -> None:
    assert find(["a[1].x", "a1.x"], "a[[]1].*") == ["a[1].x"]


def test_patterns_keep_their_order_and_files_are_given_once(find: Find) -> None:
    assert find(_TREE, "b*", "*.tfrecord", "a-1.tfrecord", "day=1", "day=*/*") == [
        "b-1.tfrecord",
        "a-1.tfrecord",
        "a-2.tfrecord",
        "day=1/a-1.tfrecord",
    ]


def test_empty_files_count(tmp_path: Path) -> None:
    (tmp_path / "empty.tfrecord").touch()
    entries = match_files([f"{tmp_path}/*"], DirectFileSystem())
    assert entries == [FileEntry(f"{tmp_path}/empty.tfrecord", 0)]


def test_two_spellings_of_a_path_are_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").touch()
    monkeypatch.chdir(tmp_path)
    patterns = ["a/*", "./a/*", "a//x", f"{tmp_path}/a/../a/x", "**/x", "."]
    for first in patterns:
        [entry] = match_files([first, *patterns], DirectFileSystem())
        assert os.path.samefile(entry.path, "a/x")
    assert match_files(["./a/*"], DirectFileSystem())[0].path == "./a/x"
    assert match_files(["a/*"], DirectFileSystem())[0].path == "a/x"


def test_symbolic_links_are_followed_but_not_round_in_circles(tmp_path: Path) -> None:
    (tmp_path / "data" / "sub").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "data" / "x").touch()
    (tmp_path / "elsewhere" / "y").touch()
    (tmp_path / "data" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "back").symlink_to(tmp_path / "data")
    (tmp_path / "data" / "sub" / "up").symlink_to("..")
    entries = match_files([f"{tmp_path}/data"], DirectFileSystem())
    assert [entry.path for entry in entries] == [f"{tmp_path}/data/link/y", f"{tmp_path}/data/x"]


def test_dangling_link_is_an_error_where_it_is_meant(tmp_path: Path) -> None:
    (tmp_path / "a-1").touch()
    (tmp_path / "a-2").symlink_to("gone")
    (tmp_path / ".#a-1").symlink_to("gone")
    with pytest.raises(FileNotFoundError, match="a-2"):
        match_files([f"{tmp_path}/a-*"], DirectFileSystem())
    (tmp_path / "a-2").unlink()
    assert len(match_files([f"{tmp_path}"], DirectFileSystem())) == 1


def _no_match(pattern: str) -> NoMatchError:
    with pytest.raises(NoMatchError) as caught:
        match_files([pattern], DirectFileSystem())
    assert isinstance(caught.value, FileNotFoundError)
    assert caught.value.message == f"Expected files at {pattern!r}, found none"
    return caught.value


@pytest.mark.parametrize("scheme", ["", "file://"])
@pytest.mark.parametrize("pattern", ["*.tfrecord", "a.tfrecord", "a.tfrecord/", "a-[12]"])
def test_pattern_without_files_is_an_error_that_names_others(
    tmp_path: Path, scheme: str, pattern: str
) -> None:
    for name in ("1.csv", "2.csv"):
        (tmp_path / name).touch()
    error = _no_match(f"{scheme}{tmp_path}/{pattern}")
    assert error.hint == f"there is '{scheme}{tmp_path}/1.csv', '{scheme}{tmp_path}/2.csv'"
    assert str(error) == f"{error.message} ({error.hint})"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_error_names_few_files(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.csv").touch()
    hint = _no_match(f"{tmp_path}/*.tfrecord").hint
    assert hint is not None and hint.endswith(".csv', ...") and hint.count(".csv") == 3


def test_error_names_the_likest_files(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.csv").touch()
    (tmp_path / "train.tfrecord").touch()
    for mistake in ("trian.tfrecord", "*.tfrecords"):
        hint = _no_match(f"{tmp_path}/{mistake}").hint
        assert hint is not None and hint.startswith(f"there is '{tmp_path}/train.tfrecord', ")


def test_error_looks_one_level_deeper(tmp_path: Path) -> None:
    (tmp_path / "day=1").mkdir()
    (tmp_path / "day=1" / "a.tfrecord").touch()
    assert _no_match(f"{tmp_path}/*.tfrecord").hint == f"there is '{tmp_path}/day=1/a.tfrecord'"
    assert _no_match(f"{tmp_path}/day=*").hint == (
        "end it with '/' for the files in the folders that it matches"
    )


@pytest.mark.parametrize("pattern", ["missing/*.tfrecord", "missing", "empty", "empty/", "**"])
def test_nothing_near_leaves_no_hint(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "empty").mkdir()
    assert _no_match(f"{tmp_path}/{pattern}").hint is None


def test_relative_pattern_without_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").touch()
    monkeypatch.chdir(tmp_path)
    assert _no_match("*.tfrecord").hint == "there is 'a.csv'"
    assert _no_match("a.tfrecord").hint == "there is 'a.csv'"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a,b.tfrecord", ("a,b.tfrecord",)),
        (Path("a/b"), ("a/b",)),
        (["b", Path("a"), "b"], ("b", "a", "b")),
        (("a",), ("a",)),
        ((name for name in "ab"), ("a", "b")),
        ("file:///a/b%20c*", ("/a/b c*",)),
        ("gs://bucket/b%20c", ("gs://bucket/b%20c",)),
    ],
)
def test_patterns_are_normalized(given: Any, expected: tuple[str, ...]) -> None:
    assert normalize_patterns(given) == expected


class _BytesPath:
    def __fspath__(self) -> bytes:
        return b"a"


@pytest.mark.parametrize("given", [b"a", None, 3, [], "", [""], ["a", 3], [["a"]], _BytesPath()])
def test_other_patterns_are_refused(given: Any) -> None:
    with pytest.raises(ValueError, match=r"Expected file_pattern to be .*str.*PathLike.*, found"):
        normalize_patterns(given)


def test_refusal_shows_what_was_given() -> None:
    with pytest.raises(ValueError, match=r"found \['a', None\]$"):
        normalize_patterns(["a", None])  # type: ignore[list-item]


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_files_are_opened_as_they_are_stored(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "a#b?.gz").write_bytes(b"content")
    file = DirectFileSystem().open(f"{scheme}{tmp_path}/a#b?.gz")
    target = bytearray(5)
    assert (file.read(2), file.readinto(memoryview(target))) == (b"co", 5)
    assert (bytes(target), file.read(9)) == (b"ntent", b"")
    file.close()
    with pytest.raises(FileNotFoundError):
        DirectFileSystem().open(f"{scheme}{tmp_path}/missing")


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("gs://bucket/a/b", "gs://bucket", True),
        ("gs://bucket/a/b", "gs://bucket/*", False),
        ("gs://bucket/a/b", "gs://bucket/*/b", True),
        ("gs://bucket/a2/b", "gs://bucket/a", False),
        ("/data/a.x/b", "/data/*.x", False),
        ("/data/a.x/b", "/data/*.x/", True),
        ("/data/a", "/data/a/**", True),
    ],
)
def test_paths_match_without_a_file_system(path: str, pattern: str, expected: bool) -> None:
    assert matches(path, pattern) is expected


_NAMES = st.text("ab._", min_size=1, max_size=3)
_PATHS = st.lists(_NAMES, min_size=1, max_size=4)


@given(_PATHS)
def test_path_matches_itself(names: list[str]) -> None:
    assert matches("/".join(names), "/".join(names))


@given(_PATHS, st.data())
def test_stars_match_what_is_not_hidden(names: list[str], data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(names) - 1))
    visible = names[index][0] not in "._"
    starred = "/".join([*names[:index], "*", *names[index + 1 :]])
    assert matches("/".join(names), starred) is visible
    deep = "/".join([*names[:index], "**", *names[index + 1 :]])
    assert visible <= matches("/".join(names), deep)
    assert matches("/".join(names), "/".join([*names[:index], "**", *names[index:]]))
    assert matches("/".join(names), "**") is all(name[0] not in "._" for name in names)


@given(_PATHS, st.lists(st.sampled_from(["*", "?", "**", "[ab]", "a", ".b"]), max_size=4))
def test_what_matches_begins_with_the_literal_prefix(names: list[str], levels: list[str]) -> None:
    pattern = "/".join([names[0], *levels])
    if matches("/".join(names), pattern):
        assert "/".join(names).startswith(find_literal_prefix(pattern).rstrip("/"))


def test_dangling_link_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "b").symlink_to("gone")
    for pattern in (f"{tmp_path}", f"{tmp_path}/*"):
        with pytest.raises(NoMatchError) as caught:
            match_files([pattern], DirectFileSystem())
        assert str(caught.value) == (
            f"Expected a file at '{tmp_path}/b', found a link to none (remove the link)"
        )


@pytest.mark.slow
def test_folders_deeper_than_functions_may_call_each_other(tmp_path: Path) -> None:
    folders = [f"{tmp_path}" + "/d" * depth for depth in range(1, 1100)]
    for folder in folders:
        os.mkdir(folder)
    (Path(folders[-1]) / "x").touch()
    entries = match_files([f"{tmp_path}/**/x"], DirectFileSystem())
    assert [entry.path for entry in entries] == [f"{folders[-1]}/x"]
    os.unlink(entries[0].path)
    for folder in reversed(folders):  # pytest could not
        os.rmdir(folder)


def test_many_levels_of_two_stars_are_one(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "x").touch()
    for stars in ("**/" * 3000, "**/" * 3000 + "x", "**/" * 3000 + "b/" + "**/" * 3000):
        entries = match_files([f"{tmp_path}/{stars}"], DirectFileSystem())
        assert [entry.path for entry in entries] == [f"{tmp_path}/a/b/x"]


def test_links_beside_each_other_do_not_multiply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two links at each of 30 levels: 2**30 ways to the last file."""
    folder = tmp_path
    for _ in range(30):
        for link in ("a-link", "z-link"):
            (folder / link).symlink_to("real")
        (folder / "real").mkdir()
        folder /= "real"
    (folder / "x").touch()
    listed: list[str] = []
    list_folder = os.listdir

    def list_and_note(path: str) -> list[str]:
        listed.append(path)
        return list_folder(path)

    monkeypatch.setattr(os, "listdir", list_and_note)
    for pattern in (f"{tmp_path}", f"{tmp_path}/**", f"{tmp_path}/**/real/**/x"):
        listed.clear()
        entries = match_files([pattern], DirectFileSystem())
        assert [entry.path for entry in entries] == [f"{folder}/x"]
        assert len(listed) <= 2 * 31


def test_link_to_a_folder_leads_to_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    (tmp_path / "folder").symlink_to(".")
    for patterns in (["*"], ["x", "folder/x"], ["folder/folder/x"], ["*/*", "*"]):
        paths = [f"{tmp_path}/{pattern}" for pattern in patterns]
        assert len(match_files(paths, DirectFileSystem())) == 1


def test_link_to_a_file_repeats_it(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    (tmp_path / "link").symlink_to("x")
    entries = match_files([f"{tmp_path}/*"], DirectFileSystem())
    assert [entry.path for entry in entries] == [f"{tmp_path}/link", f"{tmp_path}/x"]


@pytest.mark.parametrize("form", ["pipe", "link to a pipe", "device"])
def test_what_is_no_regular_file_is_refused(tmp_path: Path, form: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link to a pipe").symlink_to("pipe")
    path = os.devnull if form == "device" else str(tmp_path / form)
    with pytest.raises(NoMatchError) as caught:
        match_files([path], DirectFileSystem())
    assert caught.value.message == (
        f"Expected a regular file at {path!r}, found a pipe, a device or a socket"
    )


def test_folder_that_must_not_be_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str) -> os.stat_result:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "stat", refuse)
    with pytest.raises(PermissionError, match=r"Permission denied: '/closed/a'"):
        DirectFileSystem().get_file("/closed/a")


@pytest.mark.parametrize("name", ["x" * 300, "x" * 5000, "~", "["])
def test_name_that_no_file_has(tmp_path: Path, name: str) -> None:
    assert _no_match(f"{tmp_path}/{name}").hint is None


def test_pipe_in_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    os.mkfifo(tmp_path / "pipe")
    assert [file.path for file in match_files([str(tmp_path)], DirectFileSystem())] == [
        str(tmp_path / "a")
    ]


def test_hint_that_cannot_be_found_hides_no_error() -> None:
    class Closed(DirectFileSystem):
        def glob(self, pattern: str) -> Iterable[FileEntry]:
            if pattern.endswith(("*/*", "/")):
                raise PermissionError(pattern)
            return []

    with pytest.raises(NoMatchError, match="found none"):
        match_files(["typo*"], Closed())


def test_first_file_is_found_without_a_look_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        (tmp_path / f"{number}.tfrecord").touch()
    look = mock.Mock(wraps=paths._advance)
    monkeypatch.setattr(paths, "_advance", look)
    assert next(iter(DirectFileSystem().glob(f"{tmp_path}/*"))).size == 0
    assert look.call_count == 1
