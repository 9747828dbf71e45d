"""Runs a command in a network of its own that has nothing but the loopback interface.

Prism, Beam's worker pool and its job server listen on all interfaces, and have no option for that.
Where a namespace is not allowed the command runs as it is, with one line that says so::

  python -m tests.engines.loopback pytest tests/engines
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

_NAMESPACE = ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]


def _is_allowed() -> bool:
    if shutil.which(_NAMESPACE[0]) is None:
        return False
    return subprocess.run([*_NAMESPACE, "true"], capture_output=True).returncode == 0


def _main() -> None:
    command = sys.argv[1:]
    if _is_allowed():
        command = [*_NAMESPACE, *command]
    else:
        print("no network namespace is allowed: servers listen on all interfaces", file=sys.stderr)
    os.execvp(command[0], command)


if __name__ == "__main__":
    _main()
