"""Records, and the schemas that TensorFlow Data Validation (TFDV) infers of them.

``inferred.txt`` was made with tensorflow-data-validation 1.16.1 and tfx-bsl 1.16.1::

    python -m tests.schema.inference_cases > tests/schema/inferred.txt

This module imports nothing of the library, for they may need another pyarrow than it does. Integers
are none of 0 and 1: of those TFDV also makes a ``bool_domain``.
"""

from __future__ import annotations

import importlib
import pathlib
import tempfile
from collections.abc import Iterable, Sequence
from typing import Any

from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.wire import (
    NO_KIND,
    bytes_list,
    entry,
    example,
    feature_list,
    floats,
    int64,
    sequence_example,
)

_GOLDENS = pathlib.Path(__file__).with_name("inferred.txt")
_MARK = "=== "
_MAX_DOMAIN = 3


def _examples(*features: bytes | None) -> list[bytes]:
    return [example() if each is None else example(entry("x", each)) for each in features]


def _sequences(*lists: Sequence[bytes] | None) -> list[bytes]:
    context = example(entry("c", floats(1)))
    return [
        sequence_example(*([] if steps is None else [feature_list("x", *steps)]), context=context)
        for steps in lists
    ]


EXAMPLES = {
    "one value": _examples(int64(7), int64(5)),
    "one value or missing": _examples(int64(7), None),
    "three values": _examples(int64(1, 2, 3), int64(5, 6, 7)),
    "one value or more": _examples(int64(7), int64(5, 6)),
    "two values or more": _examples(floats(1, 2), floats(1, 2, 3)),
    "two values or missing": _examples(floats(1, 2), None),
    "one value or none": _examples(floats(1), floats()),
    "two values or none": _examples(floats(1, 2), floats()),
    "no values": _examples(int64(), int64()),
    "no values or missing": _examples(bytes_list(), None),
    "no kind": _examples(NO_KIND, NO_KIND),
    "no kind or a value": _examples(NO_KIND, int64(7)),
    "few texts": _examples(bytes_list(b"b", "ä".encode()), bytes_list(b"b"), bytes_list(b"a")),
    "many texts": _examples(bytes_list(b"b", b"a"), bytes_list(b"c"), bytes_list(b"d")),
    "bytes": _examples(bytes_list(b"\xff"), bytes_list(b"a")),
    "order of names": [example(*(entry(name, int64(7)) for name in ("b", "a", "é", "B")))],
}
SEQUENCES = {
    "fixed steps": _sequences([int64(2), int64(3)], [int64(4), int64(5)]),
    "one step or more": _sequences([floats(1), floats(2)], [floats(1)]),
    "one value or more in a step": _sequences([int64(2, 3), int64(2)], [int64(2), int64(2)]),
    "steps or missing": _sequences([int64(2)], None),
    "steps or none": _sequences([int64(2)], []),
    "values or no kind in a step": _sequences([int64(2), NO_KIND], [int64(2)]),
    "values or none in a step": _sequences([int64(2), int64()], [int64(2)]),
    "steps without kind": _sequences([NO_KIND], [NO_KIND]),
    "no steps": _sequences([], []),
    "texts in steps": _sequences([bytes_list(b"b")], [bytes_list(b"a")]),
}
CASES = {**EXAMPLES, **SEQUENCES}


def goldens() -> dict[tuple[str, bool], schema_pb2.Schema]:
    """Returns the schemas of ``inferred.txt`` by name and whether shapes were inferred."""
    _, *parts = _GOLDENS.read_text(encoding="utf-8").split(_MARK)
    found = {}
    for part in parts:
        title, _, text = part.partition("\n")
        name, _, shape = title.partition(", shape ")
        found[name, shape == "True"] = text_format.Parse(text, schema_pb2.Schema())
    return found


def infer_with_tfdv(name: str, infer_shape: bool) -> schema_pb2.Schema:
    """Returns the schema that TFDV infers of a case."""
    beam: Any = importlib.import_module("apache_beam")
    runner: Any = importlib.import_module("apache_beam.runners.portability.fn_api_runner")
    tfdv: Any = importlib.import_module("tensorflow_data_validation")
    if name in EXAMPLES:
        coder: Any = importlib.import_module("tfx_bsl.coders.example_coder")
        decoder = coder.ExamplesToRecordBatchDecoder()
    else:
        coder = importlib.import_module("tfx_bsl.coders.sequence_example_coder")
        decoder = coder.SequenceExamplesToRecordBatchDecoder("##SEQUENCE##")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/statistics"
        with beam.Pipeline(runner=runner.FnApiRunner()) as pipeline:
            _ = (
                pipeline
                | beam.Create([decoder.DecodeBatch(CASES[name])])
                | tfdv.GenerateStatistics()
                | tfdv.WriteStatisticsToTFRecord(path)
            )
        statistics = tfdv.load_statistics(path)
    schema: schema_pb2.Schema = tfdv.infer_schema(
        statistics, infer_feature_shape=infer_shape, max_string_domain_size=_MAX_DOMAIN
    )
    return schema


def _write_goldens() -> Iterable[str]:
    for name in CASES:
        for infer_shape in (False, True):
            yield f"{_MARK}{name}, shape {infer_shape}"
            yield text_format.MessageToString(infer_with_tfdv(name, infer_shape), as_utf8=True)


if __name__ == "__main__":
    print("\n".join(_write_goldens()), end="")
