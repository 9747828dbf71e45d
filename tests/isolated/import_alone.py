"""Imports each of some modules as the first one of the package, with warnings as errors.

Usage: python -m tests.isolated.import_alone LIBRARIES MODULE... Imports the LIBRARIES (separated by
commas; those that are not installed are left out) once, then each MODULE in a process forked
from there: that is as good as a fresh interpreter and needs no second for Apache Beam each time.
Prints a line for each module that cannot be imported.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import warnings


def import_alone(module: str) -> None:
    """Imports `module` in a child process."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        warnings.simplefilter("error")
        importlib.import_module(module)
    except BaseException as error:
        print(f"{module}: {error!r}", flush=True)
    finally:
        os._exit(0)  # Without the shutdown of libraries that have threads in the parent only.


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for library in sys.argv[1].split(","):
        with contextlib.suppress(ModuleNotFoundError):
            importlib.import_module(library)
    for name in sys.argv[2:]:
        import_alone(name)
