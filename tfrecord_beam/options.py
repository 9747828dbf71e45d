"""Checks of options, with uniform errors, and descriptions of values for error texts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import get_args

from tfrecord_beam.errors import SchemaError

MAX_INT = (1 << 63) - 1
"""The largest int that the kernel, Arrow and Beam's offsets can represent."""

_SHOWN = 200
"""How many characters of a value an error text shows. A schema or a list may have millions."""


def check_int(
    name: str, value: object, *, least: int, most: int = MAX_INT, optional: bool = False
) -> None:
    """Raises ValueError unless the option `name` is an int within these bounds.

    >>> check_int("max_corrupt_records", 0, least=0, optional=True)

    Args:
      name: of the option, as the user wrote it.
      value: as given by the user.
      least: the smallest int allowed.
      most: the largest int allowed.
      optional: whether None is allowed too.
    """
    if value is None and optional:
        return
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        bound = f"at least {least}"
    elif value > most:
        bound = f"at most {most}"
    else:
        return
    allowed = "None or an int" if optional else "an int"
    raise ValueError(f"Expected {name} to be {allowed} of {bound}, found {describe(value)}")


def check_bool(name: str, value: object) -> None:
    """Raises ValueError unless the option `name` is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"Expected {name} to be True or False, found {describe(value)}")


def check_choice(name: str, value: object, choices: object) -> None:
    """Raises ValueError unless the option `name` is one of the strings of a `Literal`.

    >>> from typing import Literal
    >>> check_choice("mode", "append", Literal["append", "overwrite"])
    """
    known = get_args(choices)
    if not isinstance(value, str) or value not in known:
        raise ValueError(
            f"Expected {name} to be one of {', '.join(known)}, found {describe(value)}"
        )


def check_instance(name: str, value: object, kind: type) -> None:
    """Raises ValueError unless the argument `name` is of a type.

    >>> check_instance("namespace", "tfx", str)
    """
    if not isinstance(value, kind):
        raise ValueError(f"Expected {name} to be of type {kind.__name__}, found {describe(value)}")


def check_path(name: str, value: object) -> None:
    """Raises ValueError unless the option `name` is a path."""
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
        raise ValueError(f"Expected {name} to be a path, found {describe(value)}")


def check_function(name: str, value: Callable[..., object] | None) -> None:
    """Raises ValueError unless the option `name` is None or can be called."""
    if value is not None and not callable(value):
        raise ValueError(f"Expected {name} to be None or a function, found {describe(value)}")


def check_list(name: str, value: object) -> None:
    """Raises ValueError unless the option `name` is an iterable other than str or bytes."""
    if isinstance(value, (str, bytes, bytearray)) or not isinstance(value, Iterable):
        raise ValueError(f"Expected {name} to be a list, found {describe(value)}")


def check_distinct(names: Iterable[str], what: str) -> None:
    """Raises SchemaError if a name occurs twice.

    Args:
      names: of columns, in Arrow or in a record.
      what: the plural noun for what they name, for the error text: "columns".
    """
    seen = set()
    for name in names:
        if name in seen:
            raise SchemaError(f"Expected different {what}, found {name!r} twice")
        seen.add(name)


def describe(value: object) -> str:
    """Returns a user's value for an error text: its repr, shortened if it is long.

    If the repr has several lines, only the first one is used.

    >>> describe("3"), describe(None)
    ("'3'", 'None')
    """
    try:
        text = repr(value)
    except Exception:  # such as an int of too many digits to print
        return f"a value of type {type(value).__name__}"
    line = text.partition("\n")[0]
    shown = line if len(line) <= _SHOWN else line[: _SHOWN - 3]
    return text if shown == text else f"{shown}..."


def count_of(number: int, noun: str, plural: str | None = None) -> str:
    """Returns a number with its noun in singular or plural.

    >>> count_of(1, "record"), count_of(3, "record"), count_of(0, "batch", "batches")
    ('1 record', '3 records', '0 batches')
    """
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"
