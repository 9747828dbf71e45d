"""URLs that only Beam knows, of local files: one store without folders, and one that has them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any, BinaryIO

from apache_beam.io.filesystem import BeamIOError, CompressionTypes, FileMetadata, FileSystem
from apache_beam.io.localfilesystem import LocalFileSystem

SCHEME = "beamtest://"
FOLDERS_SCHEME = "beamfolders://"

_LOCAL: Any = LocalFileSystem(None)


class LocalFilesByUrl(LocalFileSystem):
    """Lists files at every level, as object stores do. Registered with Beam by being there."""

    @classmethod
    def scheme(cls) -> str:
        return SCHEME.removesuffix("://")

    def has_dirs(self) -> bool:
        return False

    def create(
        self,
        path: str,
        mime_type: str = "application/octet-stream",
        compression_type: str = CompressionTypes.AUTO,
    ) -> BinaryIO:
        file: BinaryIO = _LOCAL.create(_to_path(path), mime_type, compression_type)
        return file

    def open(
        self,
        path: str,
        mime_type: str = "application/octet-stream",
        compression_type: str = CompressionTypes.AUTO,
    ) -> BinaryIO:
        file: BinaryIO = _LOCAL.open(_to_path(path), mime_type, compression_type)
        return file

    def rename(self, sources: list[str], targets: list[str]) -> None:
        _LOCAL.rename([*map(_to_path, sources)], [*map(_to_path, targets)])

    def exists(self, path: str) -> bool:
        return os.path.exists(_to_path(path))

    def size(self, path: str) -> int:
        return os.path.getsize(_to_path(path))

    def mkdirs(self, path: str) -> None:
        _LOCAL.mkdirs(_to_path(path))

    def delete(self, paths: list[str]) -> None:
        _LOCAL.delete([*map(_to_path, paths)])

    def match(self, patterns: list[str], limits: list[int] | None = None) -> Any:
        results = _LOCAL.match([*map(_to_path, patterns)], limits)
        for result in results:
            files = [found for found in result.metadata_list if os.path.isfile(found.path)]
            for found in files:
                found.path = f"{SCHEME}{found.path}"
            result.metadata_list = files
        return results


class LocalFoldersByUrl(LocalFilesByUrl):
    """Lists one level, with the folders in it, and asks no more than Beam's HDFS does."""

    @classmethod
    def scheme(cls) -> str:
        return FOLDERS_SCHEME.removesuffix("://")

    def has_dirs(self) -> bool:
        return True

    def size(self, path: str) -> int:
        return super().size(path) if os.path.isfile(_to_path(path)) else 0

    def delete(self, paths: list[str]) -> None:
        for path in map(_to_path, paths):
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def match(self, patterns: list[str], limits: list[int] | None = None) -> Any:
        return FileSystem.match(self, patterns, limits)

    def _url_dirname(self, url_or_path: str) -> Any:
        return FileSystem._url_dirname(self, url_or_path)

    def _list(self, dir_or_prefix: str) -> Iterator[FileMetadata]:
        try:
            names = os.listdir(_to_path(dir_or_prefix))
        except OSError as error:
            raise BeamIOError("List operation failed", {dir_or_prefix: error}) from error
        for path in (f"{dir_or_prefix}/{name}" for name in names):
            yield FileMetadata(path, self.size(path), 0.0)


def _to_path(url: str) -> str:
    return url.partition("://")[2]
