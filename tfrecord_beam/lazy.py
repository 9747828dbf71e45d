"""Lazy imports: the public names of packages, and the libraries of the extras."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping

from tfrecord_beam.errors import MissingLibraryError

EXTRAS = {"jinja2": "report", "tensorflow": "tensorflow", "torch": "torch"}
"""The extra of this package that installs each library."""


def import_on_use(
    package: str, names: Mapping[str, Iterable[str]], submodules: Iterable[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Returns ``__getattr__``, ``__dir__`` and ``__all__`` for a package, see PEP 562.

    Args:
      package: its ``__name__``.
      names: its public names, by the module that defines them.
      submodules: names of its public modules.
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
        found[name] = value  # later lookups find it directly
        return value

    def list_names() -> list[str]:
        return sorted({*found, *public})

    return get, list_names, public


class ExtraImport:
    """Context manager for importing a library of an extra: the error names the extra.

    Raises:
      MissingLibraryError: the library is not installed.
    """

    # Not a `contextlib` generator: some imports run for each tensor, and that would take 1 us.
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        # Any other name is a part of the library, or one of its dependencies.
        if isinstance(error, ModuleNotFoundError) and error.name in EXTRAS:
            raise MissingLibraryError(
                f"Expected the package {error.name}, found none",
                hint=f"pip install 'tfrecord-beam[{EXTRAS[error.name]}]'",
            ) from error
