"""Arrow record batches to records."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tfrecord_beam import kernel
from tfrecord_beam.errors import SchemaError
from tfrecord_beam.kernel.plan import SEQUENCE_COLUMN, EncodePlan
from tfrecord_beam.records.writing.frames import FramedRecords
from tfrecord_beam.schema.encoding import to_features
from tfrecord_beam.schema.names import check_distinct
from tfrecord_beam.schema.ragged import ragged_columns, split_ragged
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema


class RecordEncoder:
    """Encodes the rows of record batches as ``tf.train.Example``s. Threads may share it.

    What becomes of which Arrow type, and of nulls, is told in `tfrecord_beam.schema.encoding`.
    Features stand in the order of the columns, the same one in each record, and the same batch
    gives the same bytes. A batch with the struct column `sequence_column` becomes
    ``tf.train.SequenceExample``s: its fields are feature lists, the other columns the context.

    >>> batch = pa.record_batch({"age": [42], "tags": [["a", "b"]]})
    >>> [record] = RecordEncoder().encode_records(batch)
    >>> from tfrecord_beam.kernel.reference.protos import Example
    >>> Example.FromString(record).features.feature["tags"].bytes_list.value
    [b'a', b'b']

    Args:
      schema: what `load_schema` takes. Of it only the ragged tensor representations count: a column
        with the name of such a tensor is written as values and row lengths. None: there are none.
      null_as_absent: leave out features without a kind, as those of null rows. By default they are
        there and have no kind. Both are read as null.
      sequence_column: name of the struct column, or None: a struct is refused.

    Raises:
      SchemaError: `schema` cannot be used.
    """

    def __init__(
        self,
        schema: SchemaSource | None = None,
        *,
        null_as_absent: bool = False,
        sequence_column: str | None = SEQUENCE_COLUMN,
    ) -> None:
        self._ragged = {} if schema is None else ragged_columns(load_schema(schema))
        self._null_as_absent = null_as_absent
        self._sequence_column = sequence_column

    def encode(self, batch: pa.RecordBatch) -> tuple[memoryview, memoryview]:
        """Returns all records in one piece of memory, and int64 offsets, one more than records.

        Record i is ``data[offsets[i] : offsets[i + 1]]``.

        Raises:
          SchemaError: a column of a type that cannot be encoded, names that come twice.
          EncodeError: a value that a record cannot hold, with its row and feature.
        """
        encoder, struct = self._prepare(batch)
        return encoder.encode(struct)

    def encode_frames(self, batch: pa.RecordBatch) -> FramedRecords:
        """Returns the same records as they stand in a file, with the same errors as `encode`."""
        encoder, struct = self._prepare(batch)
        data, offsets = encoder.encode_frames(struct)
        return FramedRecords(data, np.asarray(offsets))

    def encode_records(self, batch: pa.RecordBatch) -> list[bytes]:
        """Returns the same records as objects of their own, with the same errors as `encode`."""
        encoder, struct = self._prepare(batch)
        return encoder.encode_records(struct)

    def _prepare(self, batch: pa.RecordBatch) -> tuple[kernel.ExampleEncoder, pa.StructArray]:
        if not isinstance(batch, pa.RecordBatch):
            raise SchemaError(f"Expected a pyarrow.RecordBatch, found {type(batch).__name__}")
        check_distinct(batch.schema.names, "columns of a batch")
        context: list[tuple[str, pa.Array]] = []
        feature_lists: list[tuple[str, pa.Array]] | None = None
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if name == self._sequence_column:
                feature_lists = _feature_lists(name, column)
            elif name in self._ragged:
                context += split_ragged(name, column, self._ragged[name]).items()
            else:
                context.append((name, to_features(name, column)))
        check_distinct((name for name, _ in context), "features")
        plan = EncodePlan(
            tuple(name for name, _ in context),
            None if feature_lists is None else tuple(name for name, _ in feature_lists),
            self._null_as_absent,
        )
        arrays = [array for _, array in (*context, *(feature_lists or ()))]
        # A struct keeps the number of rows also when there is no column; names are in the plan.
        fields = [pa.field("", array.type) for array in arrays]
        struct = pa.StructArray.from_buffers(
            pa.struct(fields), batch.num_rows, [None], children=arrays
        )
        return kernel.ExampleEncoder(plan), struct


def _feature_lists(name: str, column: pa.Array) -> list[tuple[str, pa.Array]]:
    """Returns the feature lists in a struct column; where the struct is null they are."""
    if not pa.types.is_struct(column.type):
        raise SchemaError(
            f"Expected a struct of feature lists in column {name!r}, found {column.type}"
        )
    names = [field.name for field in column.type]
    check_distinct(names, "feature lists")
    return [
        (child_name, to_features(child_name, child, is_feature_list=True))
        for child_name, child in zip(names, column.flatten(), strict=True)
    ]
