"""TFXIO classes whose columns and tensors are those of a TFMD schema."""

from __future__ import annotations

import copy
from collections.abc import Sequence

from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import SchemaError
from tfrecord_beam.schema.projection import project_tensor_representations
from tfrecord_beam.schema.representation_inference import (
    infer_tensor_representations_from_mixed_schema,
)
from tfrecord_beam.schema.representations import TensorRepresentations
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema
from tfrecord_beam.tfxio.record_based_tfxio import RecordBasedTFXIO
from tfrecord_beam.tfxio.tfxio import TFXIO
from tfrecord_beam.transforms.filesystem import fetch_schema


class SchemaBasedTFXIO(RecordBasedTFXIO):
    """Records whose columns and tensors are those of a TFMD schema, if there is one.

    Args:
      schema: a `Schema`, a serialized one or the path of its file. None: columns are those found in
        the data.
      telemetry_descriptors: as for `RecordBasedTFXIO`, as are the other arguments.
    """

    def __init__(
        self,
        schema: SchemaSource | None,
        telemetry_descriptors: Sequence[str] | None,
        logical_format: str,
        physical_format: str,
        raw_record_column_name: str | None = None,
    ) -> None:
        super().__init__(
            telemetry_descriptors, logical_format, physical_format, raw_record_column_name
        )
        self._schema: schema_pb2.Schema | None = None
        if schema is not None:
            # A copy, so that later changes by the caller have no effect.
            self._schema = schema_pb2.Schema()
            self._schema.CopyFrom(load_schema(fetch_schema(schema)))

    @property
    def schema(self) -> schema_pb2.Schema:
        """The TFMD schema.

        Raises:
          SchemaError: there is none.
        """
        if self._schema is None:
            raise SchemaError(
                "Expected a TFMD schema to derive columns and tensors from, found none",
                hint=f"give schema= to {type(self).__name__}",
            )
        return self._schema

    def TensorRepresentations(self) -> TensorRepresentations:
        return infer_tensor_representations_from_mixed_schema(self.schema)

    def _ProjectImpl(self, tensor_names: Sequence[str]) -> TFXIO:
        projected = copy.copy(self)
        projected._schema = project_tensor_representations(self.schema, tensor_names)
        return projected
