"""Inferring the schema of a file: us a record, without Beam and in a pipeline, start included.

Size: 300,000 census records (0.12 GB). The peer is TensorFlow Data Validation (TFDV), which reads
with tfx_bsl, and computes more statistics than a schema needs: it has no way to compute fewer. It
may need an older pyarrow than the library is measured with: the environment variable TFDV_PYTHON
names an interpreter that has TFDV, which does the peer's work.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import tfrecord_beam
from tests.bench import beam_readers, generate_data, harness, readers

_CENSUS = generate_data.DATASETS["census"]
_DOMAINS: dict[str, Any] = {"infer_shape": True, "int_domains": True, "string_domains": 100}


class _Peer:
    """TFDV in a process of its own.

    Attributes:
      is_there: whether the interpreter can import it.
    """

    def __init__(self, python: str) -> None:
        find = "import importlib.util as u; print(u.find_spec('tensorflow_data_validation'))"
        found = subprocess.run([python, "-c", find], capture_output=True, text=True, check=True)
        self.is_there = found.stdout.strip() != "None"
        self._command = [python, "-W", "ignore", "-m", "tests.bench.tfdv_peer"]

    def __enter__(self) -> _Peer:
        self._process: Any = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def infer(self, path: Path) -> int:
        """Returns the number of records whose schema it inferred."""
        print(path, file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())


def _infer(path: Path, count: int, **options: Any) -> int:
    schema = tfrecord_beam.infer_schema(path, **options)
    return count if len(schema.feature) == len(_CENSUS.features) else 0


def _cases(folder: Path, records: int, peer: _Peer) -> list[harness.Case]:
    path = generate_data.write_dataset("census", records, folder)
    infer = functools.partial(_infer, path, records)
    jobs = {
        "infer_schema": infer,
        "with domains": functools.partial(infer, **_DOMAINS),
        "InferSchema, in a pipeline": functools.partial(beam_readers.infer, path),
        "iter_batches without a schema": functools.partial(readers.iterate_batches, path, None),
    }
    if peer.is_there:
        jobs["TFDV"] = functools.partial(peer.infer, path)
    size = path.stat().st_size
    return [harness.Case(name, job, records, size) for name, job in jobs.items()]


def measure(run: harness.Run) -> None:
    with _Peer(os.environ.get("TFDV_PYTHON", sys.executable)) as peer:
        run.compare("infer the schema, census", _cases(run.folder, run.count(300_000), peer))


if __name__ == "__main__":
    harness.main(measure, __doc__)
