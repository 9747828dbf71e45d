"""Inferring the schema of a file: us a record, without Beam and in a pipeline, start included.

Size: 500,000 census records (0.2 GB) for the library, 50,000 for TensorFlow Data Validation
(TFDV), which makes more statistics than a schema needs and has no way to make fewer. It reads with
tfx_bsl. The versions of pyarrow that it needs may be older than the library's:
the environment variable TFDV_PYTHON names an interpreter that has it, which does the peer's work.
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


def _cases(folder: Path, records: int, peer_records: int, peer: _Peer) -> list[harness.Case]:
    path, peer_path = (
        generate_data.write_dataset("census", count, folder) for count in (records, peer_records)
    )
    size = path.stat().st_size
    infer = functools.partial(_infer, path, records)
    read = functools.partial(readers.iterate_batches, path, None)
    in_pipeline = functools.partial(beam_readers.infer, path)
    cases = [
        harness.Case("infer_schema", infer, records, size),
        harness.Case("with domains", functools.partial(infer, **_DOMAINS), records, size),
        harness.Case("InferSchema, in a pipeline", in_pipeline, records, size),
        harness.Case("iter_batches without a schema", read, records, size),
    ]
    if peer.is_there:
        of_peer = functools.partial(peer.infer, peer_path)
        cases.append(harness.Case("TFDV", of_peer, peer_records, peer_path.stat().st_size))
    return cases


def measure(run: harness.Run) -> None:
    with _Peer(os.environ.get("TFDV_PYTHON", sys.executable)) as peer:
        cases = _cases(run.folder, run.count(500_000), run.count(50_000), peer)
        run.compare("infer the schema, census", cases)


if __name__ == "__main__":
    harness.main(measure, __doc__)
