"""Encodes Arrow record batches as records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tfrecord_beam import kernel
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.kernel.plan import EncodePlan
from tfrecord_beam.options import check_bool
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.schema.encoding import NullValues
from tfrecord_beam.schema.features import (
    EncodedType,
    FeatureKinds,
    are_ready,
    check_kinds,
    feature_kinds,
    feature_rules,
    record_values,
    schema_kinds,
    to_record_features,
)
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema


class RecordEncoder:
    """Encodes the rows of record batches as records. Threads may share it.

    See `tfrecord_beam.schema.encoding` for how Arrow types and nulls are stored, and
    `tfrecord_beam.schema.features` for which columns are features and which are feature lists. In
    each record features are in the order of the columns, and the same batch gives the same bytes.

    >>> batch = pa.record_batch({"age": [42], "tags": [["a", "b"]]})
    >>> [record] = RecordEncoder().encode_records(batch)
    >>> from tfrecord_beam.kernel.reference.protos import Example
    >>> Example.FromString(record).features.feature["tags"].bytes_list.value
    [b'a', b'b']

    Args:
      schema: anything `load_schema` accepts. Its ragged tensor representations are used: a column
        with the name of such a tensor is written as values and row lengths. None: there are none.
      record_type: "Example", "SequenceExample", or "ByteArray" for records that are already
        serialized: the values of the only column, bytes or strings.
      feature_list_columns: names of exactly the columns that are feature lists, for records of type
        "SequenceExample". None: those of nested lists, and the fields of the struct column
        ``##SEQUENCE##``.
      null_as_absent: omit features without a kind, such as those of null rows. By default they are
        written without a kind. Both are read as null.
      null_values: how to handle a null among the values of a list: "error", "drop", or "fill"
        (with 0, 0.0 or empty bytes).
      match_schema: whether a batch must have exactly the features of the schema, with their kinds.
        By default the features of the schema do not matter.

    Raises:
      SchemaError: `schema` cannot be used.
      ValueError: an option has an unknown value, or one that the record type does not allow.
    """

    def __init__(
        self,
        schema: SchemaSource | None = None,
        *,
        record_type: EncodedType = "Example",
        feature_list_columns: Sequence[str] | None = None,
        null_as_absent: bool = False,
        null_values: NullValues = "error",
        match_schema: bool = False,
    ) -> None:
        check_bool("null_as_absent", null_as_absent)
        loaded = None if schema is None else load_schema(schema)
        self._rules = feature_rules(
            loaded,
            record_type=record_type,
            feature_list_columns=feature_list_columns,
            null_values=null_values,
        )
        self._expected: FeatureKinds | None = None
        if loaded is not None and match_schema:
            self._expected = schema_kinds(loaded, record_type)
        self._null_as_absent = null_as_absent
        # The last schema of batches that need no conversion; the next batch mostly has the same.
        self._ready: tuple[pa.Schema, kernel.ExampleEncoder] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ready": None}

    def encode_frames(self, batch: pa.RecordBatch) -> FramedRecords:
        """Returns one record for each row, as frames in the form stored in a file.

        Raises:
          SchemaError: a column of a type that cannot be encoded, duplicate names, or features that
            differ from those of the schema.
          EncodeError: a value that a record cannot hold, with its row and feature.
        """
        _check_batch(batch)
        if self._rules.record_type == "ByteArray":
            return FramedRecords.from_records(record_values(batch))
        encoder, struct = self._prepare(batch)
        data, offsets = encoder.encode_frames(struct)
        return FramedRecords(data, np.asarray(offsets))

    def encode_records(self, batch: pa.RecordBatch) -> list[bytes]:
        """Returns the same records as separate objects, without frames."""
        _check_batch(batch)
        if self._rules.record_type == "ByteArray":
            return record_values(batch)
        encoder, struct = self._prepare(batch)
        return encoder.encode_records(struct)

    def kinds(self, batch: pa.RecordBatch) -> FeatureKinds:
        """Returns the kinds of the features of a batch according to its types, whatever its rows.

        >>> RecordEncoder().kinds(pa.record_batch({"age": pa.array([], pa.int8())}))
        {'age': <Kind.INT64: 3>}

        Raises:
          SchemaError: as `encode_frames`, for errors that follow from the types alone.
        """
        _check_batch(batch)
        if self._rules.record_type == "ByteArray":
            return {}
        return feature_kinds(to_record_features(batch[:0], self._rules))

    def _prepare(
        self, batch: pa.RecordBatch
    ) -> tuple[kernel.ExampleEncoder, kernel.ArrowArrayExportable]:
        ready = self._ready
        if ready is not None and batch.schema.equals(ready[0]):
            return ready[1], batch
        features = to_record_features(batch, self._rules)
        if self._expected is not None:
            check_kinds(feature_kinds(features), self._expected)
        context, feature_lists = features
        plan = EncodePlan(
            tuple(context),
            None if feature_lists is None else tuple(feature_lists),
            self._null_as_absent,
        )
        arrays = [*context.values(), *(feature_lists or {}).values()]
        # A struct keeps the number of rows even without columns; names are in the plan.
        fields = [pa.field("", array.type) for array in arrays]
        struct = pa.StructArray.from_buffers(
            pa.struct(fields), batch.num_rows, [None], children=arrays
        )
        encoder = kernel.ExampleEncoder(plan)
        if are_ready(batch.schema, self._rules):
            self._ready = batch.schema, encoder
        return encoder, struct


def _check_batch(batch: object) -> None:
    if not isinstance(batch, pa.RecordBatch):
        raise SchemaError(f"Expected a pyarrow.RecordBatch, found {type(batch).__name__}")
