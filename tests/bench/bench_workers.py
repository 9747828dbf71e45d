"""Two worker processes against one, on one uncompressed file, with `BeamSource`.

Size: 4 GB of census records. Beam's `multi_processing` mode, in which the start of the workers
takes seconds: it is measured by itself with a file of one record, and the last line gives the
ratio without it. Two free CPUs can give 2 at most.
"""

from __future__ import annotations

import functools

from tests.bench import beam_readers, generate_data, harness


def _compare(run: harness.Run, title: str, records: int) -> dict[str, float]:
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


def _main() -> None:
    parser = harness.argument_parser(__doc__)
    parser.add_argument("--gigabytes", type=float, default=4.0)
    arguments = parser.parse_args()
    records = generate_data.count_for_bytes("census", round(arguments.gigabytes * 1e9))
    with harness.start(arguments) as run:
        start_sec = _compare(run, "start", 1)
        whole_sec = _compare(run, f"read {records:,} records, start included", records)
        two, one = (whole_sec[name] - start_sec[name] for name in whole_sec)
        print(f"without start: {two:.2f} s with two workers, {one:.2f} s with one: {one / two:.2f}")


if __name__ == "__main__":
    _main()
