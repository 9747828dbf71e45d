"""SequenceExamples and their schema, and the rows that they hold."""

from __future__ import annotations

import gzip
import pathlib
from typing import Any

from tests.schema.schemas import parse_schema
from tests.wire import (
    NO_KIND,
    bytes_list,
    entry,
    example,
    example_list,
    feature_list,
    floats,
    int64,
    sequence_example,
)
from tfrecord_beam import kernel

SCHEMA = parse_schema(
    """
    feature { name: "id" type: INT }
    feature { name: "label" type: BYTES }
    feature {
      name: "##SEQUENCE##"
      type: STRUCT
      struct_domain {
        feature { name: "words" type: BYTES }
        feature { name: "ids" type: INT }
        feature { name: "unseen" type: FLOAT }
      }
    }
    """
)

NUM_RECORDS = 40


def record_of(i: int) -> bytes:
    """Returns a record with lists of every length, nulls, and features beyond the schema."""
    lists = [feature_list("beyond", floats(1.0))]
    if i % 4:
        steps = [int64(*range(step)) if step % 3 else NO_KIND for step in range(i % 5)]
        lists.append(feature_list("ids", *steps))
    lists.append(feature_list("words", *[bytes_list(b"w%d" % i)] * (i % 3)))
    return sequence_example(*lists, context=example(entry("id", int64(i))))


def row_of(i: int) -> dict[str, Any]:
    """Returns what `record_of(i)` holds, by the schema."""
    steps = [list(range(step)) if step % 3 else None for step in range(i % 5)]
    return {
        "id": [i],
        "label": None,
        "##SEQUENCE##": {
            "words": [[b"w%d" % i]] * (i % 3),
            "ids": steps if i % 4 else None,
            "unseen": None,
        },
    }


RECORDS = [record_of(i) for i in range(NUM_RECORDS)]
ROWS = [row_of(i) for i in range(NUM_RECORDS)]

EXAMPLE_LISTS = [
    example_list(
        *[example(entry("ids", int64(i, step)), entry("words", NO_KIND)) for step in range(i % 4)],
        context=example(entry("id", int64(i))),
    )
    for i in range(10)
]
EXAMPLE_LIST_ROWS = [
    {
        "id": [i],
        "label": None,
        "##SEQUENCE##": {
            "words": [None] * (i % 4),
            "ids": [[i, step] for step in range(i % 4)],
            "unseen": [None] * (i % 4),
        },
    }
    for i in range(10)
]


def write_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """Writes `RECORDS` to two files, one of them compressed."""
    parts = {"a.tfrecord": RECORDS[:25], "b.tfrecord.gz": RECORDS[25:]}
    for name, records in parts.items():
        data = kernel.frame(records)
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return [folder / name for name in parts]
