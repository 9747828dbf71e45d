"""File access through Beam's FileSystems: the library reads and writes whatever Beam can open."""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar, cast

from apache_beam.io.filesystem import BeamIOError, CompressionTypes, FileSystem
from apache_beam.io.filesystems import FileSystems
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import render
from tfrecord_beam.records.decompression import BinaryFile
from tfrecord_beam.records.paths import (
    DirectFileSystem,
    FileEntry,
    find_folder,
    find_literal_prefix,
    match_files,
    matches,
    may_match_below,
)
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem
from tfrecord_beam.records.writing.stores import (
    IS_FOLDER,
    Listing,
    RawFile,
    Store,
    enter_all,
    refuse_if,
    select_entered,
)
from tfrecord_beam.schema.tfmd import load_schema
from tfrecord_beam.urls import has_scheme, normalize_path, split_root

_Source = TypeVar("_Source")

_AS_STORED = CompressionTypes.UNCOMPRESSED  # the library decompresses itself, by content

_FIRST_PATTERNS = 100
"""How many patterns of a list are checked when the pipeline is built. Workers check all of them."""

_FIRST_FILES = 1000
"""How many files of a URL pattern are checked before all of them are listed."""

_IS_FILE = "not a directory"
"""Part of HDFS's error for listing a file as if it were a folder."""

_RENAMES_TO_NEW_NAMES = "hdfs://"
"""Scheme of the store in which a rename cannot replace a file."""


class BeamFileSystem(DirectFileSystem):
    """Reads local paths directly, URLs through Beam. Patterns follow the rules of `paths`."""

    def get_file(self, path: str) -> FileEntry | None:
        check_name(path)
        if not has_scheme(path):
            return super().get_file(path)
        file_system = _find_file_system(path)
        if not file_system.exists(path):
            return None
        entry = FileEntry(path, file_system.size(path))
        return None if file_system.has_dirs() and _is_folder(entry) else entry

    def glob(self, pattern: str) -> Iterable[FileEntry]:
        if not has_scheme(pattern):
            return map(_check_entry, super().glob(pattern))
        return _glob_url(pattern)

    def check_match(self, patterns: Sequence[str]) -> None:
        """Raises NoMatchError if one of the first patterns matches no file.

        This is cheaper than matching all of them: at most some files of each are listed.
        """
        for pattern in patterns:
            check_name(pattern)
        for pattern in itertools.islice(patterns, _FIRST_PATTERNS):
            if self.get_file(pattern) is None and not self._has_match(pattern):
                match_files([pattern], self)

    def _has_match(self, pattern: str) -> bool:
        if has_scheme(pattern):
            return any(True for _ in _glob_url(pattern, most=_FIRST_FILES))
        return any(True for _ in super().glob(pattern))

    def open(self, path: str) -> BinaryFile:
        if not has_scheme(path):
            return super().open(path)
        return cast(BinaryFile, FileSystems.open(path, compression_type=_AS_STORED))


class BeamOutputFileSystem(DirectOutputFileSystem):
    """Writes local paths directly, URLs through Beam."""

    def store_of_urls(self) -> Store:
        return _BeamStore()

    def reading(self) -> BeamFileSystem:
        return BeamFileSystem()


class _BeamStore:
    def open(self, path: str) -> RawFile:
        file_system = _find_file_system(path)
        return cast(RawFile, file_system.create(path, compression_type=_AS_STORED))

    def make_folder(self, folder: str) -> None:
        try:
            FileSystems.mkdirs(folder)
        except OSError:  # Beam's errors are OSErrors
            if not FileSystems.exists(folder):  # else it already existed, or another was faster
                raise

    def rename(self, source: str, target: str, *, replace: bool) -> None:
        if not replace:
            refuse_if(FileSystems.exists(target))
        elif source.startswith(_RENAMES_TO_NEW_NAMES) and self.find_size(target) is not None:
            FileSystems.delete([target])
        try:
            FileSystems.rename([source], [target])
        except BeamIOError as error:
            if not FileSystems.exists(source):
                raise
            raise FileNotFoundError(str(error)) from error  # it may be the folder that is missing

    def delete(self, path: str) -> None:
        if FileSystems.exists(path):
            FileSystems.delete([path])

    def find_size(self, path: str) -> int | None:
        if entry := BeamFileSystem().get_file(path):
            return entry.size
        if _has_folders(path) and FileSystems.exists(path):
            raise IsADirectoryError(IS_FOLDER)
        return None

    def list_folder(
        self, folder: str, enter: Callable[[str], bool], prefixes: Sequence[str]
    ) -> Listing:
        folder = folder.rstrip("/")
        if not _has_folders(folder):
            results = FileSystems.match([f"{folder}/{prefix}**" for prefix in prefixes])
            found = itertools.chain.from_iterable(result.metadata_list for result in results)
            files = (file.path.removeprefix(f"{folder}/") for file in found)
            return select_entered(folder, files, enter)
        folders: list[str] = []

        def enter_and_note(path: str) -> bool:
            folders.append(path)
            return enter(path.rpartition("/")[2])

        paths = [entry.path for entry in _walk(folder, enter_and_note)]
        return Listing(sorted(paths), sorted(folders))

    def remove_folder(self, folder: str) -> None:
        FileSystems.delete(self.list_folder(folder, enter_all, [""]).files)
        if FileSystems.exists(folder):  # in stores where folders are not just prefixes of names
            FileSystems.delete([folder])


def fetch_schema(source: _Source) -> _Source | schema_pb2.Schema:
    """Returns the schema at a URL, read through Beam like the data; other sources unchanged.

    Raises:
      SchemaError: the file is not a schema.
      NoMatchError: the file does not exist.
    """
    path = os.fspath(source) if isinstance(source, os.PathLike) else source
    if isinstance(path, str) and has_scheme(normalize_path(path)):
        return load_schema(path, _open_existing)
    return source


def _open_existing(path: str) -> BinaryFile:
    file_system = BeamFileSystem()
    if file_system.get_file(path) is None:
        raise FileNotFoundError(path)
    return file_system.open(path)


def _find_file_system(url: str) -> FileSystem:
    if "?" in split_root(url)[0]:
        message = f"Expected a URL without a query, found {url!r}"
        hint = "Beam takes options of a store as pipeline options, such as --s3_endpoint_url"
        raise ValueError(render(message, hint=hint))
    try:
        return FileSystems.get_filesystem(url)
    except ValueError as error:
        message = f"Expected a URL that Beam knows, found {url!r}"
        hint = "install what Beam needs for it, such as apache-beam[gcp] for gs://"
        raise ValueError(render(message, hint=hint)) from error


def _glob_url(pattern: str, *, most: int | None = None) -> Iterable[FileEntry]:
    """Returns the files that match a pattern; without folders, among the first `most` paths."""
    if _has_folders(pattern):
        enter = functools.partial(may_match_below, pattern=pattern)
        entries = _walk(find_folder(pattern), enter)
    else:
        [result] = FileSystems.match([find_literal_prefix(pattern) + "**"], limits=[most])
        entries = (FileEntry(found.path, found.size_in_bytes) for found in result.metadata_list)
    return (entry for entry in entries if matches(entry.path, pattern))


def _has_folders(url: str) -> bool:
    """Returns whether a store has folders: then a listing has one level, including folders."""
    return bool(_find_file_system(url).has_dirs())


def _walk(folder: str, enter: Callable[[str], bool]) -> Iterator[FileEntry]:
    """Yields the files below a folder of a store that has folders.

    Args:
      folder: its URL; a folder that does not exist is empty.
      enter: called with the URL of each folder below it; returns whether to descend into it.
    """
    if FileSystems.exists(folder):
        yield from _enter(_list_level(folder) or (), enter)


def _enter(level: Iterable[FileEntry], enter: Callable[[str], bool]) -> Iterator[FileEntry]:
    for entry in level:
        below = _list_level(entry.path) if _may_be_folder(entry) else None
        if below is None:
            yield entry
        elif enter(entry.path):
            yield from _enter(below, enter)


def _is_folder(entry: FileEntry) -> bool:
    return _may_be_folder(entry) and _list_level(entry.path) is not None


def _may_be_folder(entry: FileEntry) -> bool:
    return not entry.size  # Beam's metadata contain nothing better


def _list_level(folder: str) -> list[FileEntry] | None:
    """Returns the entries of a folder; None if it is a file."""
    if find_literal_prefix(folder) != folder:
        raise ValueError(f"Expected folders without *, ? and [ in their names, found {folder!r}")
    above = folder if folder.endswith("/") else f"{folder}/"
    try:
        [result] = FileSystems.match([f"{above}*"])
    except BeamIOError as error:
        if _IS_FILE in str(error).lower():
            return None
        raise
    return [FileEntry(found.path, found.size_in_bytes) for found in result.metadata_list]


def _check_entry(entry: FileEntry) -> FileEntry:
    check_name(entry.path)
    return entry


def check_name(path: str) -> None:
    """Raises ValueError for a name that Beam's coder for str cannot encode."""
    try:
        path.encode()
    except UnicodeEncodeError as error:
        message = f"Expected file names in UTF-8, found {path!r}"
        hint = "Beam cannot pass on others: rename the file, or do without Beam"
        raise ValueError(render(message, hint=hint)) from error
