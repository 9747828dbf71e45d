"""Paths and URLs: which of them a text is, how it is spelled, and what a URL means without Beam."""

from __future__ import annotations

import os
import re
from urllib.request import url2pathname

import pyarrow as pa
import pyarrow.fs

from tfrecord_beam.errors import render

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_LOCAL_URL = re.compile(r"file:(?://(?:localhost)?(?=/)|(?=/(?!/)))", re.IGNORECASE)
"""What comes before the path in a URL of a local file, by RFC 8089: of three forms."""


def has_scheme(path: str) -> bool:
    """Returns whether a path is a URL (``gs://...``), not a path of the operating system."""
    return _SCHEME.match(path) is not None


def normalize_path(path: str) -> str:
    """Returns a path or URL in the one spelling that the library uses.

    >>> normalize_path("file:///a%20b"), normalize_path("GS://Bucket/a%20b")
    ('/a b', 'gs://Bucket/a%20b')

    Args:
      path: a path, which stays as it is, but has slashes where the system has others; a URL of a
        local file (``file:/a``, ``file:///a``, ``file://localhost/a``), which becomes a path;
        another URL, whose scheme gets lower case.

    Raises:
      ValueError: there is a NUL or a lone surrogate in it, or it is the URL of a file of another
        machine.
    """
    if "\0" in path:
        raise ValueError(f"Expected a path without NUL characters, found {path!r}")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise ValueError(f"Expected a path that can be encoded, found {path!r}") from error
    local = _LOCAL_URL.match(path)
    if local:
        return url2pathname(path[local.end() :]).replace(os.sep, "/")
    scheme = _SCHEME.match(path)
    if not scheme:
        return path.replace(os.sep, "/")
    if scheme[0].lower() == "file://":
        hint = "write file:///folder/file, or the path alone"
        raise ValueError(render(f"Expected the URL of a local file, found {path!r}", hint=hint))
    return scheme[0].lower() + path[scheme.end() :]


def resolve_url(url: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """Returns the file system of a URL and the path in it, whose names are not percent-encoded.

    Raises:
      ValueError: pyarrow knows no such file system.
    """
    scheme, _, rest = url.partition("://")
    authority, slash, key = rest.partition("/")
    try:
        file_system, root = pyarrow.fs.FileSystem.from_uri(f"{scheme}://{authority or '/'}")
    except pa.ArrowInvalid as error:
        message = f"Expected a URL that pyarrow knows (gs://, s3://, hdfs://, ...), found {url!r}"
        raise ValueError(render(message, hint=str(error))) from error
    return file_system, root.rstrip("/") + slash + key
