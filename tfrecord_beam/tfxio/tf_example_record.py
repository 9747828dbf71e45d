"""TFXIO for records that are serialized ``tf.train.Example`` messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfrecord_beam.records.paths import FilePattern
from tfrecord_beam.schema.tfmd import SchemaSource
from tfrecord_beam.tensors.parser_config import example_parser_configs
from tfrecord_beam.tfxio.example_based_tfxio import ExampleCollectionTFXIO, ExampleFilesTFXIO


class TFExampleRecord(ExampleFilesTFXIO):
    """Reads tf.Example records from TFRecord files.

    Example::

      tfxio = TFExampleRecord("data/*.tfrecord", schema="schema.pbtxt")
      batches = pipeline | tfxio.Project(["age"]).BeamSource(batch_size=1000)

    Args:
      file_pattern: path of a file, a pattern, or a folder, or a list of them.
      validate: not used.
      schema: TFMD schema whose features are the columns: a `Schema`, a serialized one or the path
        of its file. None: the columns of each batch are those found in its records.
      raw_record_column_name: name of a last column with each record's own bytes, or None.
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.

    Raises:
      ValueError: there is no file pattern; the schema has a feature that is not INT, FLOAT or
        BYTES, or one with the name of the raw-record column.
    """

    _record_type = "Example"

    def __init__(
        self,
        file_pattern: FilePattern,
        validate: bool = True,
        schema: SchemaSource | None = None,
        raw_record_column_name: str | None = None,
        telemetry_descriptors: Sequence[str] | None = None,
    ) -> None:
        super().__init__(file_pattern, schema, raw_record_column_name, telemetry_descriptors)

    def _GetTfExampleParserConfig(self) -> tuple[dict[str, Any], dict[str, str]]:
        """Returns the configurations for `tf.io.parse_example`, and the tensor of each key.

        Subclasses written for TFXIO call it.
        """
        return example_parser_configs(self.schema, self.TensorRepresentations())


class TFExampleBeamRecord(ExampleCollectionTFXIO):
    """Makes batches of a PCollection of serialized tf.Example records.

    `BeamSource` and `RawRecordBeamSource` are applied to that PCollection.

    Example::

      tfxio = TFExampleBeamRecord("text", schema="schema.pbtxt")
      batches = records | tfxio.BeamSource()

    Args:
      physical_format: where the records come from, such as ``text``, for the metrics' names.
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.
      schema: as for `TFExampleRecord`.
      raw_record_column_name: as for `TFExampleRecord`.

    Raises:
      ValueError: as for `TFExampleRecord`.
    """

    _record_type = "Example"

    def __init__(
        self,
        physical_format: str,
        telemetry_descriptors: Sequence[str] | None = None,
        schema: SchemaSource | None = None,
        raw_record_column_name: str | None = None,
    ) -> None:
        super().__init__(schema, raw_record_column_name, telemetry_descriptors, physical_format)
