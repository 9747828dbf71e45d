"""Checks that the names a user gives are distinct and exist."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.options import check_distinct as check_distinct, describe

_SHOWN = 10
"""How many names an error text lists. A schema may have thousands."""


def as_names(names: Iterable[str], what: str) -> tuple[str, ...]:
    """Returns `names` as a tuple, after checking that it is a list of strings and not one string.

    Args:
      names: as given by the user.
      what: the plural noun for what they name, for error texts: "columns".

    Raises:
      SchemaError: `names` is not a list (but, for example, a str), or holds anything other than
        str, or a str that cannot be encoded as UTF-8.
    """
    is_one = isinstance(names, (str, bytes))
    if is_one or not isinstance(names, Iterable):
        hint = f"write [{describe(names)}]" if is_one else None
        raise SchemaError(f"Expected a list of {what}, found {describe(names)}", hint=hint)
    result = tuple(names)
    for name in result:
        if not isinstance(name, str):
            raise SchemaError(f"Expected names of {what} as str, found {describe(name)}")
        try:
            name.encode()
        except UnicodeEncodeError as error:
            raise SchemaError(f"Expected names of {what} in UTF-8, found {name!r}") from error
    return result


def check_known(names: Iterable[str], known: Collection[str], what: str) -> None:
    """Raises SchemaError if a name is not among `known`; the text lists the known ones."""
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SchemaError(
            f"Expected {what} among {shortened(known)}, found {shortened(unknown)}",
            hint=suggest(unknown, known),
        )


def shortened(names: Collection[str]) -> str:
    """Returns many names in short for an error text: the first few, and how many there are."""
    if not names:
        return "none at all"
    shown = [repr(name) for name in list(names)[:_SHOWN]]
    if len(names) > _SHOWN:
        shown.append(f"... ({len(names)} in all)")
    return ", ".join(shown)


def suggest(unknown: Iterable[str], known: Collection[str]) -> str | None:
    """Returns a hint with the known names that were probably meant; None if none is similar.

    >>> suggest(["num_shard"], ["num_shards", "mode"])
    "did you mean 'num_shards'?"
    """
    close = {match for name in unknown for match in difflib.get_close_matches(name, known, n=1)}
    if not close:
        return None
    return "did you mean " + ", ".join(repr(name) for name in sorted(close)) + "?"
