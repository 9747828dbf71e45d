"""URLs that only Beam knows: ``beamtest:///folder/file`` is a local file; folders are none."""

from __future__ import annotations

import os
from typing import Any, BinaryIO

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.localfilesystem import LocalFileSystem

SCHEME = "beamtest://"

_LOCAL: Any = LocalFileSystem(None)


class LocalFilesByUrl(LocalFileSystem):
    """Registered with Beam by being there."""

    @classmethod
    def scheme(cls) -> str:
        return SCHEME.removesuffix("://")

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


def _to_path(url: str) -> str:
    return url.removeprefix(SCHEME)
