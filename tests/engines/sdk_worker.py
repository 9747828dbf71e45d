#!/usr/bin/env python
"""A worker process of Beam's worker pool, for engines that have several: `--container_executable`.

It differs from the process that the pool starts by itself in two things:

- No other worker has its numbers for metrics. Each Beam worker counts from 1, and Prism 2.77 takes
  the numbers of all workers of a job for one set.
- It ends when its engine closes the connection, and not when the pool is asked to stop it: two
  TaskManagers of Flink on one machine give their workers the same names, and the pool would stop
  that of the other.
"""

from __future__ import annotations

import argparse
import os
import sys


def _main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--id")
    parser.add_argument("--control_endpoint")
    arguments, _ = parser.parse_known_args()
    if os.fork():
        return
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # the pool does not read the output

    from apache_beam.runners.worker import sdk_worker

    sdk_worker.SHORT_ID_CACHE._last_short_id = os.getpid() << 20
    sdk_worker.SdkHarness(arguments.control_endpoint, worker_id=arguments.id).run()


if __name__ == "__main__":
    _main()
