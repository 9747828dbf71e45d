"""Packages whose names are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping


def import_on_use(
    package: str, names: Mapping[str, Iterable[str]], submodules: Iterable[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Returns ``__getattr__``, ``__dir__`` and ``__all__`` of a package, as PEP 562 has them.

    Args:
      package: its ``__name__``.
      names: the names that it offers, by the module that has them.
      submodules: names of modules of the package that it offers, too.
    """
    module_of = {name: module for module, offered in names.items() for name in offered}
    submodules = frozenset(submodules)
    public = sorted([*module_of, *submodules])
    found = vars(sys.modules[package])

    def get(name: str) -> object:
        if name in submodules:
            return importlib.import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(module_of[name]), name)
        found[name] = value  # the next use finds it at once
        return value

    def list_names() -> list[str]:
        return sorted({*found, *public})

    return get, list_names, public
