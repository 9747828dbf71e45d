r"""Partitions as folders, in the layout of Hive and Spark: ``day=2024-01-01/country=de/``.

A folder is ``name=value``. In both parts control characters and ``" # % ' * / : = ? [ \ ] ^ {`` are
written as ``%`` and two hexadecimal digits. So is a leading ``.`` or ``_`` of a name, because such
a folder would be hidden. On reading, every ``%`` with two such digits is decoded to that byte.

A null is ``name=__HIVE_DEFAULT_PARTITION__``, an empty text ``name=``, and the text
``__HIVE_DEFAULT_PARTITION__`` itself has its first character escaped. So two values never share a
folder, except on case-insensitive file systems (such as those of Windows and macOS), where ``a``
and ``A`` are the same folder.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

from tfrecord_beam.errors import Location, SchemaError
from tfrecord_beam.options import describe
from tfrecord_beam.schema.names import as_names, check_distinct

Partition = tuple[tuple[str, str | None], ...]
"""Names of columns with the text of their value, outermost folder first; None is null."""

MAX_FOLDER_BYTES = 255
"""Maximum length of a folder name on all common file systems."""

_NULL = "__HIVE_DEFAULT_PARTITION__"
_UNSAFE = re.compile(r"""[\x00-\x1f\x7f"#%'*/:=?\[\\\]^{]""")


def check_partition_by(names: Iterable[str]) -> tuple[str, ...]:
    """Returns the names of partition columns as a tuple.

    Raises:
      SchemaError: they are not a list of str, or one occurs twice or is empty.
    """
    columns = as_names(names, "partition columns")
    check_distinct(columns, "partition columns")
    if "" in columns:
        raise SchemaError(f"Expected names of partition columns, found {describe(columns)}")
    return columns


def format_folder(name: str, value: str | None) -> str:
    """Returns the folder for a value of a column.

    >>> format_folder("day", "a/b"), format_folder("day", None)
    ('day=a%2Fb', 'day=__HIVE_DEFAULT_PARTITION__')
    """
    if value is None:
        escaped = _NULL
    elif value == _NULL:
        escaped = _escape_first(value)
    else:
        escaped = _escape(value)
    hidden = name[0] in "._"
    return f"{_escape_first(name) if hidden else _escape(name)}={escaped}"


def format_path(partition: Partition) -> str:
    """Returns the folders of a partition as a relative path, without a slash at its end.

    >>> format_path((("y", "2024"), ("m", None)))
    'y=2024/m=__HIVE_DEFAULT_PARTITION__'
    """
    return "/".join(format_folder(name, value) for name, value in partition)


def parse_path(path: str) -> dict[str, bytes | None]:
    """Returns the partition values in the path of a file, by name, outermost first.

    >>> parse_path("out/y=2024/m=__HIVE_DEFAULT_PARTITION__/part-0.tfrecord")
    {'y': b'2024', 'm': None}

    Args:
      path: of a file. Every folder ``name=value`` in it counts, at any position.

    Raises:
      SchemaError: a name occurs twice, or is not UTF-8.
    """
    found: dict[str, bytes | None] = {}
    for folder in path.replace(os.sep, "/").split("/")[:-1]:
        escaped_name, equals, escaped = folder.partition("=")
        if not (escaped_name and equals):
            continue
        try:
            name = _unescape(escaped_name).decode()
        except UnicodeDecodeError:
            raise SchemaError(
                f"Expected UTF-8 as name of a partition column, found {escaped_name!r}",
                Location(file=path),
            ) from None
        if name in found:
            raise SchemaError(
                f"Expected different partition columns, found {name!r} twice", Location(file=path)
            )
        found[name] = None if escaped == _NULL else _unescape(escaped)
    return found


def _escape(text: str) -> str:
    return _UNSAFE.sub(lambda match: _percent(match[0]), text)


def _escape_first(text: str) -> str:
    return _percent(text[0]) + _escape(text[1:])


def _percent(character: str) -> str:
    return f"%{ord(character):02X}"


def _unescape(text: str) -> bytes:
    return unquote_to_bytes(text.encode("utf-8", "surrogateescape"))
