"""Serialized ``tf.train.Example`` records to one Arrow record batch: what decoding means."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from google.protobuf.message import DecodeError as ProtobufDecodeError

from tfrecord_beam.errors import Location, render
from tfrecord_beam.kernel.faults import check_plan, decode_error
from tfrecord_beam.kernel.plan import DecodeFailure, DecodeFault, DecodePlan, Kind
from tfrecord_beam.kernel.reference.protos import ContentExample, Envelope, OutlineExample

if TYPE_CHECKING:
    from typing_extensions import Buffer

_KINDS = {kind.list_name: kind for kind in Kind}


class ExampleDecoder:
    """Decodes serialized ``tf.train.Example`` records into one Arrow record batch.

    >>> from tfrecord_beam.kernel.plan import Column
    >>> from tfrecord_beam.kernel.reference.protos import Example
    >>> example = Example()
    >>> example.features.feature["age"].int64_list.value.append(42)
    >>> decoder = ExampleDecoder(DecodePlan((Column("age"),)))
    >>> batch, failures = decoder.decode_records([example.SerializeToString(), b""])
    >>> pa.record_batch(batch).to_pydict(), failures
    ({'age': [[42], None]}, [])
    """

    def __init__(self, plan: DecodePlan) -> None:
        check_plan(plan)
        self._planned: dict[bytes, Kind | None] | None = None
        if plan.columns is not None:
            self._planned = {column.name.encode(): column.kind for column in plan.columns}
        raw_name = plan.raw_record_column
        self._raw_name = None if raw_name is None else raw_name.encode()

    def decode(
        self,
        data: Buffer,
        offsets: Buffer,
        lengths: Buffer,
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[pa.RecordBatch, list[DecodeFailure]]:
        """Decodes the records ``data[offsets[i] : offsets[i] + lengths[i]]`` (int64 buffers)."""
        records = _slice_records(data, offsets, lengths)
        return self.decode_records(records, collect_failures=collect_failures, max_cells=max_cells)

    def decode_records(
        self,
        records: Sequence[Buffer],
        *,
        collect_failures: bool = False,
        max_cells: int | None = None,
    ) -> tuple[pa.RecordBatch, list[DecodeFailure]]:
        """Decodes records that are objects of their own (`bytes`, ...)."""
        kinds = dict(self._planned or {})
        rows: list[dict[bytes, Any]] = []
        raw_records: list[bytes] = []
        failures: list[DecodeFailure] = []
        for index, buffer in enumerate(records):
            if rows and max_cells is not None and (len(rows) + 1) * len(kinds) > max_cells:
                break
            record = memoryview(buffer).tobytes()
            result = self._read_features(index, record, kinds)
            if isinstance(result, DecodeFailure):
                if not collect_failures:
                    raise decode_error(result)
                failures.append(result)
                continue
            columns = len(kinds.keys() | result.keys())
            if rows and max_cells is not None and (len(rows) + 1) * columns > max_cells:
                break
            for name, feature in result.items():
                kinds[name] = kinds.get(name) or _kind_of(feature)
            rows.append(result)
            raw_records.append(record)
        return self._build_batch(kinds, rows, raw_records), failures

    def _read_features(
        self, index: int, record: bytes, kinds: Mapping[bytes, Kind | None]
    ) -> dict[bytes, Any] | DecodeFailure:
        """Returns the wanted features of one record in output order, or what is wrong with it."""
        try:
            outline = OutlineExample.FromString(record)
            content = _read_content(outline, self._planned)
        except ProtobufDecodeError:
            return DecodeFailure(DecodeFault.MALFORMED, index)
        if not all(_is_utf8(name) for entry in _entries(outline) for name in entry.key):
            return DecodeFailure(DecodeFault.NAME_NOT_UTF8, index)
        if outline.feature_lists:
            return DecodeFailure(DecodeFault.FEATURE_LISTS, index)
        if any(_is_nested_example(entry) for entry in _entries(outline)):
            return DecodeFailure(DecodeFault.NESTED_EXAMPLE, index)
        if self._planned is None and self._raw_name in content:
            return DecodeFailure(DecodeFault.RAW_COLUMN_COLLISION, index, self._raw_name)
        order = sorted(content) if self._planned is None else self._planned
        for name in order if self._planned is None else ():
            if b"\0" in name:
                return DecodeFailure(DecodeFault.NAME_WITH_NUL, index, name)
        features = {name: content[name] for name in order if name in content}
        for name, feature in features.items():
            expected, found = kinds.get(name), _kind_of(feature)
            if expected and found and expected != found:
                return DecodeFailure(DecodeFault.KIND_MISMATCH, index, name, expected, found)
        return features

    def _build_batch(
        self,
        kinds: Mapping[bytes, Kind | None],
        rows: Sequence[Mapping[bytes, Any]],
        raw_records: Sequence[bytes],
    ) -> pa.RecordBatch:
        names = sorted(kinds) if self._planned is None else list(self._planned)
        columns = [_build_column([row.get(name) for row in rows], kinds[name]) for name in names]
        if self._raw_name is not None:
            names.append(self._raw_name)
            singletons = pa.array(range(len(rows) + 1), pa.int64())
            values = pa.array(raw_records, pa.large_binary())
            columns.append(pa.LargeListArray.from_arrays(singletons, values))
        # By way of a struct, which keeps the number of rows also when there is no column.
        named = zip(names, columns, strict=True)
        fields = [pa.field(name.decode(), column.type) for name, column in named]
        struct = pa.StructArray.from_buffers(pa.struct(fields), len(rows), [None], children=columns)
        return pa.RecordBatch.from_struct_array(struct)


def _read_content(outline: Any, planned: Container[bytes] | None) -> dict[bytes, Any]:
    """Returns the planned features (None: all) of an outlined Example."""
    wanted = OutlineExample()
    for entry in _entries(outline):
        if planned is None or _name_of(entry) in planned:
            wanted.features.add().feature.append(entry)
    content = ContentExample.FromString(wanted.SerializeToString())
    return {_name_of(entry): entry.value for entry in _entries(content)}  # The last one stays.


def _entries(example: Any) -> list[Any]:
    return [entry for features in example.features for entry in features.feature]


def _name_of(entry: Any) -> bytes:
    return entry.key[-1] if entry.key else b""


def _kind_of(feature: Any) -> Kind | None:
    return _KINDS.get(feature.WhichOneof("kind"))


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_nested_example(entry: Any) -> bool:
    """Whether an entry has no value, and its name is a message of nothing but fields 1 and 2."""
    if entry.value:
        return False
    try:
        envelope = Envelope.FromString(_name_of(entry))
    except ProtobufDecodeError:
        return False
    size = envelope.ByteSize()
    envelope.DiscardUnknownFields()
    return bool(size > 0 and size == envelope.ByteSize())


def _build_column(features: Sequence[Any | None], kind: Kind | None) -> pa.Array:
    """Returns the values of one feature, a row for each record: null where it has no kind."""
    if kind is None:
        return pa.nulls(len(features))
    starts: list[int | None] = []
    values: list[Any] = []
    for feature in features:
        if feature is None or _kind_of(feature) is None:
            starts.append(None)
        else:
            starts.append(len(values))
            values.extend(getattr(feature, kind.list_name).value)
    offsets = pa.array([*starts, len(values)], pa.int64())
    return pa.LargeListArray.from_arrays(offsets, _build_values(values, kind))


def _build_values(values: Sequence[Any], kind: Kind) -> pa.Array:
    if kind is Kind.FLOAT:  # Read as fixed32, see `protos`: bit-exact.
        return pa.array(values, pa.uint32()).view(pa.float32())
    return pa.array(values, pa.large_binary() if kind is Kind.BYTES else pa.int64())


def _slice_records(data: Buffer, offsets: Buffer, lengths: Buffer) -> list[memoryview]:
    view = memoryview(data).cast("B")
    starts = _read_int64("offsets", offsets)
    sizes = _read_int64("lengths", lengths)
    if len(starts) != len(sizes):
        raise ValueError(
            f"Expected as many lengths as offsets, found {len(sizes)} and {len(starts)}"
        )
    spans = list(zip(starts, sizes, strict=True))
    for index, (start, size) in enumerate(spans):
        if start < 0 or size < 0 or start + size > len(view):
            found = f"found {size} bytes from {start} on"
            raise ValueError(
                render(f"Expected a span within {len(view)} bytes, {found}", Location(record=index))
            )
    return [view[start : start + size] for start, size in spans]


def _read_int64(name: str, numbers: Buffer) -> list[int]:
    view = memoryview(numbers)
    if view.format not in ("q", "l") or view.itemsize != 8:
        raise ValueError(f"Expected {name} as int64, found buffer format {view.format!r}")
    return view.tolist()
