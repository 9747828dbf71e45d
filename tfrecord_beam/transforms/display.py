"""Display data of transforms, which Beam shows on the page of a job."""

from __future__ import annotations

from collections.abc import Sequence


def show_options(**options: object) -> dict[str, object]:
    """Returns options as display data, without those that are None and so have no effect.

    >>> show_options(columns=["age", "name"], batch_size=None, with_filename=True)
    {'columns': 'age, name', 'with_filename': True}

    Args:
      options: strings, numbers, lists of strings; for anything else its type is shown.
    """
    return {name: _show(value) for name, value in options.items() if value is not None}


def _show(value: object) -> object:
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Sequence):
        return ", ".join(value)
    return type(value).__name__
