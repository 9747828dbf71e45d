"""Decoding of SequenceExamples against tfx-bsl: the same batch, or refused by both.

Where the library means to differ, a test says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tests import strategies, wire
from tests.compat.peers import import_peer
from tests.compat.test_decode import TYPES
from tests.decoding import contents
from tests.sequence_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tests.tfxio.pipelines import run
from tests.wire import bytes_list, entry, example, feature_list, floats, int64, sequence_example
from tfrecord_beam.errors import DecodeError, SchemaError
from tfrecord_beam.kernel.plan import SEQUENCE_COLUMN, Kind
from tfrecord_beam.tfxio.coders.sequence_example_coder import SequenceExamplesToRecordBatchDecoder
from tfrecord_beam.tfxio.tf_sequence_example_record import TFSequenceExampleRecord

peer = import_peer("tfx_bsl.coders.sequence_example_coder")
peer_record = import_peer("tfx_bsl.tfxio.tf_sequence_example_record")

NAMES: dict[str, Kind | None] = {"a": Kind.INT64, "b": Kind.BYTES, "größe": Kind.FLOAT}


def serialized_schema(
    context: Mapping[str, Kind], steps: Mapping[str, Kind] | None = None
) -> bytes:
    """Returns a TFMD schema of these features; None: without the STRUCT feature."""
    features = [{"name": name, "type": TYPES[kind]} for name, kind in context.items()]
    schema = schema_pb2.Schema(feature=features)
    if steps is not None:
        fields = [{"name": name, "type": TYPES[kind]} for name, kind in steps.items()]
        schema.feature.add(name=SEQUENCE_COLUMN, type="STRUCT", struct_domain={"feature": fields})
    data: bytes = schema.SerializeToString()
    return data


def ours(records: Sequence[bytes], schema: bytes = b"") -> pa.RecordBatch | None:
    """Returns the batch of the library; None if it refuses the records."""
    try:
        return SequenceExamplesToRecordBatchDecoder(SEQUENCE_COLUMN, schema).DecodeBatch(records)
    except DecodeError:
        return None


def theirs(records: Sequence[bytes], schema: bytes = b"") -> pa.RecordBatch | None:
    """Returns the batch of tfx-bsl; None if it refuses the records."""
    try:
        decoder = peer.SequenceExamplesToRecordBatchDecoder(SEQUENCE_COLUMN, schema)
        return decoder.DecodeBatch(list(records))
    except RuntimeError:
        return None


def assert_equal(found: pa.RecordBatch | None, expected: pa.RecordBatch | None) -> None:
    """Checks that batches are the same; of integers of steps tfx-bsl keeps but 32 bits."""
    assert (found is None) == (expected is None)
    if found is None or expected is None:
        return
    assert found.schema.equals(expected.schema)
    assert found.num_rows == expected.num_rows
    for ours, theirs in zip(contents(found), contents(expected)):
        assert (_cut(ours) if ours[0] == SEQUENCE_COLUMN else ours) == theirs


def _cut(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_cut, value))
    return (value + 2**31) % 2**32 - 2**31 if isinstance(value, int) else value


@given(records=st.lists(strategies.wire_sequence_examples(NAMES), max_size=4), data=st.data())
def test_records_of_a_schema(records: list[bytes], data: st.DataObject) -> None:
    kinds = {name: kind for name, kind in NAMES.items() if kind is not None}
    context = data.draw(st.permutations(list(kinds)))[: data.draw(st.integers(0, 3))]
    steps = data.draw(st.permutations(list(kinds)))[: data.draw(st.integers(0, 3))]
    schema = serialized_schema(
        {name: kinds[name] for name in context}, {name: kinds[name] for name in steps}
    )
    batch = ours(records, schema)
    assert batch is not None
    assert_equal(batch, theirs(records, schema))
    decoders = (peer.SequenceExamplesToRecordBatchDecoder, SequenceExamplesToRecordBatchDecoder)
    for decoder in decoders:
        assert batch.schema.equals(decoder(SEQUENCE_COLUMN, schema).ArrowSchema())


@given(records=st.lists(strategies.wire_sequence_examples(NAMES), max_size=4))
def test_records_without_a_schema(records: list[bytes]) -> None:
    assert_equal(ours(records), theirs(records))


@given(
    records=st.lists(
        strategies.wire_sequence_examples(dict.fromkeys(("a", "b"))), min_size=1, max_size=3
    )
)
def test_records_that_may_disagree_about_kinds(records: list[bytes]) -> None:
    assert_equal(ours(records), theirs(records))


@pytest.mark.parametrize(
    "lists",
    [
        [],
        [feature_list("f")],
        [entry("f")],
        [feature_list("f", wire.NO_KIND)],
        [feature_list("f", int64(), floats())],
        [feature_list("f", floats(1.0)), feature_list("f", int64(1))],
    ],
)
def test_odd_feature_lists(lists: list[bytes]) -> None:
    record = sequence_example(*lists)
    assert_equal(ours([record]), theirs([record]))
    assert_equal(ours([b"", record, b""]), theirs([b"", record, b""]))
    schema = serialized_schema({}, {"f": Kind.INT64})
    assert_equal(ours([record], schema), theirs([record], schema))


def test_the_files_of_the_tests() -> None:
    schema = SCHEMA.SerializeToString()
    assert_equal(ours(RECORDS, schema), theirs(RECORDS, schema))
    assert_equal(ours(RECORDS), theirs(RECORDS))


def test_beam_sources_give_the_same(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = [str(path) for path in write_files(tmp_path_factory.mktemp("files"))]
    found = []
    for record in (TFSequenceExampleRecord, peer_record.TFSequenceExampleRecord):
        source = record(files, ["me"], schema=SCHEMA)
        batches = run(source.BeamSource(8)).elements
        rows = [row for batch in batches for row in batch.to_pylist()]
        found.append((source.ArrowSchema(), sorted(rows, key=lambda row: row["id"])))
        assert len(rows) == NUM_RECORDS
    assert found[0] == found[1]


def test_projections_keep_the_same_columns(tmp_path_factory: pytest.TempPathFactory) -> None:
    """But for unknown names, for which tfx-bsl has a TypeError."""
    files = [str(path) for path in write_files(tmp_path_factory.mktemp("files"))]
    names = ["##SEQUENCE##.ids", "label"]
    sources = [
        record(files, ["me"], schema=SCHEMA)
        for record in (TFSequenceExampleRecord, peer_record.TFSequenceExampleRecord)
    ]
    schemas = [source.Project(names).ArrowSchema() for source in sources]
    assert schemas[0].equals(schemas[1])
    with pytest.raises(SchemaError, match="Expected tensors among"):
        sources[0].Project(["nope"])
    with pytest.raises(TypeError):
        sources[1].Project(["nope"])


def test_context_feature_with_the_name_of_the_struct_column() -> None:
    """Refused on purpose: tfx-bsl gives two columns of one name."""
    record = sequence_example(
        feature_list("f", int64(1)), context=example(entry(SEQUENCE_COLUMN, bytes_list(b"x")))
    )
    assert ours([record]) is None
    batch = theirs([record])
    assert batch is not None
    assert batch.schema.names == [SEQUENCE_COLUMN] * 2


def test_integers_of_steps_stay_whole() -> None:
    """tfx-bsl cuts those of feature lists to 32 bits, and says nothing."""
    record = sequence_example(feature_list("f", int64(2**40 + 5, -1)))
    found, expected = ours([record]), theirs([record])
    assert found is not None and expected is not None
    assert found.column(0).field("f").to_pylist() == [[[2**40 + 5, -1]]]
    assert expected.column(0).field("f").to_pylist() == [[[5, -1]]]
