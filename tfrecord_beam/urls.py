"""Paths and URLs: distinguishes and normalizes them, and resolves URLs without Beam."""

from __future__ import annotations

import functools
import os
import re
from urllib.request import url2pathname

import pyarrow as pa
import pyarrow.fs

from tfrecord_beam.errors import render

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_QUERY = re.compile(r"\?[a-z_]+=[^/?*\[]*\Z")
"""Options of a store at the end of a URL; any other question mark is a wildcard."""

_ROOT = re.compile(r"[a-z][a-z0-9+.-]*://[^/]*", re.IGNORECASE)
_LOCAL_URL = re.compile(r"file:(?://(?:localhost)?(?=/)|(?=/(?!/)))", re.IGNORECASE)
"""The part before the path in the URL of a local file, in the three forms of RFC 8089."""


def has_scheme(path: str) -> bool:
    """Returns whether a path is a URL (``gs://...``), not a path of the operating system."""
    return _SCHEME.match(path) is not None


def normalize_path(path: str) -> str:
    """Returns a path or URL in the canonical spelling of the library.

    >>> normalize_path("file:///a%20b"), normalize_path("GS://Bucket/a%20b")
    ('/a b', 'gs://Bucket/a%20b')
    >>> normalize_path("s3://bucket/a/*?region=eu-west-1")
    's3://bucket?region=eu-west-1/a/*'

    Args:
      path: a path, which is unchanged except that the system's separators become slashes; the URL
        of a local file (``file:/a``, ``file:///a``, ``file://localhost/a``), which becomes a path;
        or another URL, whose scheme becomes lower case, and whose query is moved before its path,
        where it is the same for all files of a folder.

    Raises:
      ValueError: it contains a NUL or a lone surrogate, or is the URL of a file on another machine.
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
    path = scheme[0].lower() + path[scheme.end() :]
    query = _QUERY.search(path)
    if query is None:
        return path
    root, rest = split_root(path[: query.start()])
    return root + query[0] + rest


def split_root(path: str) -> tuple[str, str]:
    """Returns the store part of a normalized URL, which is not a pattern, and the path in it.

    >>> split_root("s3://bucket?region=eu-west-1/a/*"), split_root("/a")
    (('s3://bucket?region=eu-west-1', '/a/*'), ('', '/a'))
    """
    root = _ROOT.match(path)
    end = root.end() if root else 0
    return path[:end], path[end:]


def resolve_url(url: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """Returns the file system of a URL and the path in it, whose names are not percent-encoded.

    Creating one takes 40 ms for S3, plus the time for credentials and connections, so a process
    creates only one for all files of a bucket.

    Raises:
      ValueError: pyarrow does not support the file system.
    """
    root, key = split_root(url)
    try:
        file_system, top = _connect(root, os.getpid())
    except pa.ArrowInvalid as error:
        message = f"Expected a URL that pyarrow knows (gs://, s3://, hdfs://, ...), found {url!r}"
        raise ValueError(render(message, hint=str(error))) from error
    return file_system, top + key


@functools.cache
def _connect(root: str, process: int) -> tuple[pyarrow.fs.FileSystem, str]:
    """Returns the file system of a store, and its path. A forked process cannot reuse it."""
    scheme, _, rest = root.partition("://")
    authority, mark, query = rest.partition("?")
    file_system, top = pyarrow.fs.FileSystem.from_uri(f"{scheme}://{authority or '/'}{mark}{query}")
    return file_system, top.rstrip("/")
