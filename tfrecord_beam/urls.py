"""Paths and URLs: which of them a text is, how it is spelled, and what a URL means without Beam."""

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
"""What comes before the path in a URL of a local file, by RFC 8089: of three forms."""


def has_scheme(path: str) -> bool:
    """Returns whether a path is a URL (``gs://...``), not a path of the operating system."""
    return _SCHEME.match(path) is not None


def normalize_path(path: str) -> str:
    """Returns a path or URL in the one spelling that the library uses.

    >>> normalize_path("file:///a%20b"), normalize_path("GS://Bucket/a%20b")
    ('/a b', 'gs://Bucket/a%20b')
    >>> normalize_path("s3://bucket/a/*?region=eu-west-1")
    's3://bucket?region=eu-west-1/a/*'

    Args:
      path: a path, which stays as it is, but has slashes where the system has others; a URL of a
        local file (``file:/a``, ``file:///a``, ``file://localhost/a``), which becomes a path;
        another URL, whose scheme gets lower case, and whose query comes before its path: there it
        is the same for all files of a folder.

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
    path = scheme[0].lower() + path[scheme.end() :]
    query = _QUERY.search(path)
    if query is None:
        return path
    root, rest = split_root(path[: query.start()])
    return root + query[0] + rest


def split_root(path: str) -> tuple[str, str]:
    """Returns what a normalized URL says of its store, which is no pattern, and the path there.

    >>> split_root("s3://bucket?region=eu-west-1/a/*"), split_root("/a")
    (('s3://bucket?region=eu-west-1', '/a/*'), ('', '/a'))
    """
    root = _ROOT.match(path)
    end = root.end() if root else 0
    return path[:end], path[end:]


def resolve_url(url: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """Returns the file system of a URL and the path in it, whose names are not percent-encoded.

    To make one takes 40 ms for S3, and more until it has its credentials and connections: a process
    makes one for all files of a bucket.

    Raises:
      ValueError: pyarrow knows no such file system.
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
    """Returns the file system of a store, which no fork of the process can use, and its path."""
    scheme, _, rest = root.partition("://")
    authority, mark, query = rest.partition("?")
    file_system, top = pyarrow.fs.FileSystem.from_uri(f"{scheme}://{authority or '/'}{mark}{query}")
    return file_system, top.rstrip("/")
