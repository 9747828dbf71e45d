"""The Arrow PyCapsule protocol: who owns what, and that nothing but the protocol is needed.

https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
"""

from __future__ import annotations

import ctypes
import gc
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from tests import wire
from tests.decoding import INT64, contents, decode, plan_of
from tests.wire import entry, example, int64
from tfrecord_beam.kernel.plan import SequenceDecodePlan

RECORDS = [
    example(entry("a", int64(1, 2)), entry("b", wire.bytes_list(b"x"))),
    example(entry("b", wire.bytes_list())),
    b"",
]

_capsule_name = ctypes.pythonapi.PyCapsule_GetName
_capsule_name.restype, _capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype = ctypes.c_void_p
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]

# Where `release` stands in the two structs (spec, "Structure definitions").
_WORDS_BEFORE_RELEASE = {b"arrow_schema": 7, b"arrow_array": 8}


class OnlyTheProtocol:
    """Has nothing of a batch but the one method that consumers may call."""

    def __init__(self, exported: Any) -> None:
        self._exported = exported

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return self._exported.__arrow_c_array__(requested_schema)


def export(kernel: ModuleType) -> Any:
    """Returns what the kernel decoded, not yet taken by a consumer."""
    exported, _ = kernel.ExampleDecoder(plan_of()).decode_records(RECORDS)
    return exported


def release_pointer(capsule: object) -> int:
    """Returns the address of a capsule's release callback; 0 once the content was moved out."""
    name = _capsule_name(capsule)
    words = ctypes.cast(_capsule_pointer(capsule, name), ctypes.POINTER(ctypes.c_size_t))
    return words[_WORDS_BEFORE_RELEASE[name]]


def test_batch_by_the_protocol_alone(kernel: ModuleType) -> None:
    batch = pa.record_batch(OnlyTheProtocol(export(kernel)))
    assert contents(batch) == contents(decode(kernel, RECORDS))
    assert batch.to_pydict() == {"a": [[1, 2], None, None], "b": [[b"x"], [], None]}


def test_struct_array_by_the_protocol_alone(kernel: ModuleType) -> None:
    array = pa.array(OnlyTheProtocol(export(kernel)))
    assert array.type == pa.struct(list(decode(kernel, RECORDS).schema))
    assert (len(array), array.null_count) == (3, 0)


def test_capsule_names(kernel: ModuleType) -> None:
    schema, array = export(kernel).__arrow_c_array__()
    assert (_capsule_name(schema), _capsule_name(array)) == (b"arrow_schema", b"arrow_array")


def test_consumer_moves_the_content_out(kernel: ModuleType) -> None:
    schema, array = export(kernel).__arrow_c_array__()
    assert release_pointer(schema) and release_pointer(array)
    batch = pa.RecordBatch._import_from_c_capsule(schema, array)
    assert not release_pointer(schema) and not release_pointer(array)
    with pytest.raises(pa.ArrowInvalid, match="released"):
        pa.RecordBatch._import_from_c_capsule(schema, array)
    del schema, array
    gc.collect()
    assert contents(batch) == contents(decode(kernel, RECORDS))


def test_capsules_in_the_wrong_places(kernel: ModuleType) -> None:
    schema, array = export(kernel).__arrow_c_array__()
    with pytest.raises(ValueError):
        pa.RecordBatch._import_from_c_capsule(array, schema)
    assert pa.RecordBatch._import_from_c_capsule(schema, array).num_rows == 3


def test_capsules_that_nobody_takes(kernel: ModuleType) -> None:
    """Destroying them releases what they hold; that it is freed is for the leak tests."""
    exported = export(kernel)
    capsules = exported.__arrow_c_array__()
    del exported
    gc.collect()
    del capsules
    gc.collect()


def test_capsules_outlive_the_exporter(kernel: ModuleType) -> None:
    exported = export(kernel)
    schema, array = exported.__arrow_c_array__()
    del exported
    gc.collect()
    batch = pa.RecordBatch._import_from_c_capsule(schema, array)
    assert contents(batch) == contents(decode(kernel, RECORDS))


def test_parts_of_the_batch_outlive_it(kernel: ModuleType) -> None:
    batch = pa.record_batch(export(kernel))
    values = batch.column(0).values
    part = batch.column(1).slice(0, 1)
    del batch
    gc.collect()
    assert values.to_pylist() == [1, 2]
    assert part.to_pylist() == [[b"x"]]


def test_second_export(kernel: ModuleType) -> None:
    """It gives the same again or says that it cannot; what the first one gave stays as it was."""
    exported = export(kernel)
    first = pa.record_batch(exported)
    try:
        second = pa.record_batch(exported)
    except (ValueError, RuntimeError) as error:
        assert "once" in str(error) or "already" in str(error)
    else:
        assert contents(second) == contents(first)
        del second
    gc.collect()
    assert contents(first) == contents(decode(kernel, RECORDS))


def test_requested_schema(kernel: ModuleType) -> None:
    """A request that needs no cast is served."""
    schema = decode(kernel, RECORDS).schema
    batch = pa.record_batch(OnlyTheProtocol(export(kernel)), schema=schema)
    assert contents(batch) == contents(decode(kernel, RECORDS))
    by_keyword = export(kernel).__arrow_c_array__(requested_schema=None)
    assert pa.RecordBatch._import_from_c_capsule(*by_keyword).num_rows == 3


def test_children_survive_when_one_is_taken(kernel: ModuleType) -> None:
    """A consumer may move one column out and release the rest (spec, "Moving an array")."""
    exported, _ = kernel.ExampleDecoder(plan_of({"a": INT64}, "raw")).decode_records(RECORDS)
    array = pa.array(OnlyTheProtocol(exported))
    column = array.field("a")
    del array, exported
    gc.collect()
    assert column.to_pylist() == [[1, 2], None, None]


def test_nested_columns_survive_when_one_is_taken(kernel: ModuleType) -> None:
    """A field of the struct column outlives the batch; a second export still has all of them."""
    records = [
        wire.sequence_example(wire.feature_list("s", int64(1), int64()), context=RECORDS[0]),
        wire.sequence_example(wire.feature_list("t", wire.bytes_list(b"x"), wire.NO_KIND)),
    ]
    plan = SequenceDecodePlan(raw_record_column="raw")
    exported, _ = kernel.SequenceExampleDecoder(plan).decode_records(records)
    struct = pa.array(OnlyTheProtocol(exported)).field("##SEQUENCE##")
    steps = struct.field("s")
    whole = pa.record_batch(OnlyTheProtocol(exported))
    del struct, exported
    gc.collect()
    assert steps.to_pylist() == [[[1], []], None]
    del steps
    gc.collect()
    assert whole.column("##SEQUENCE##").to_pylist() == [
        {"s": [[1], []], "t": None},
        {"s": None, "t": [[b"x"], None]},
    ]
