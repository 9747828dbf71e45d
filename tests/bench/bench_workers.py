"""Two worker processes against one, on one uncompressed file, with `BeamSource`.

Size: 4 GB of census records. Beam's `multi_processing` mode, in which the start of the workers
takes seconds: it is measured by itself with a file of one record, and the last table is without
it. Two free CPUs can give 2 at most.
"""

from __future__ import annotations

import functools

from tests.bench import beam_readers, generate_data, harness


def _compare(run: harness.Run, title: str, records: int) -> harness.Samples:
    schema = generate_data.DATASETS["census"].schema()
    path = generate_data.write_dataset("census", records, run.folder)
    cases = [
        harness.Case(
            f"worker processes: {workers}",
            functools.partial(beam_readers.read_batches, path, schema, workers=workers),
            records,
            path.stat().st_size,
        )
        for workers in (2, 1)
    ]
    return run.compare(title, cases, isolated=True)


def measure(run: harness.Run) -> None:
    records = run.count(generate_data.count_for_bytes("census", 4 * 10**9))
    start = _compare(run, "worker processes, start", 1)
    whole = _compare(run, f"worker processes, {records:,} records, start included", records)
    run.report("worker processes, without start", harness.subtract(whole, start))


if __name__ == "__main__":
    harness.main(measure, __doc__)
