"""What is imported when it is first used: names of packages, and libraries of the extras."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping

from tfrecord_beam.errors import MissingLibraryError

EXTRAS = {"jinja2": "report", "tensorflow": "tensorflow", "torch": "torch"}
"""Which extra of this package installs a library."""


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


class ExtraImport:
    """Names, in the error for a library that is missing, the extra of this package that has it.

    The body imports the library.

    Raises:
      MissingLibraryError: the library is not installed.
    """

    # No generator with `contextlib`: some imports are run for each tensor, and it takes 1 us.
    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        # Of another name is a part of the library, or what that needs.
        if isinstance(error, ModuleNotFoundError) and error.name in EXTRAS:
            raise MissingLibraryError(
                f"Expected the package {error.name}, found none",
                hint=f"pip install 'tfrecord-beam[{EXTRAS[error.name]}]'",
            ) from error
