"""TFXIO for records that are serialized ``tf.train.SequenceExample`` messages."""

from __future__ import annotations

from collections.abc import Sequence

from tfrecord_beam.records.paths import FilePattern
from tfrecord_beam.schema.tfmd import SchemaSource
from tfrecord_beam.tfxio.example_based_tfxio import ExampleCollectionTFXIO, ExampleFilesTFXIO


class TFSequenceExampleRecord(ExampleFilesTFXIO):
    """Reads tf.SequenceExample records from TFRecord files.

    Columns are those of the context and, if there are feature lists, a struct ``##SEQUENCE##`` of
    `large_list<large_list<...>>`, an inner list for each step. The tensor of a feature list is
    named ``##SEQUENCE##.NAME``.

    Example::

      tfxio = TFSequenceExampleRecord("data/*.tfrecord", ["trainer"], schema="schema.pbtxt")
      batches = pipeline | tfxio.Project(["##SEQUENCE##.words"]).BeamSource()

    Args:
      file_pattern: path of a file, a pattern, or a folder, or a list of them.
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.
      validate: not used.
      schema: TFMD schema: a `Schema`, a serialized one or the path of its file. Its features are
        the columns of the context; the feature lists are the fields of its STRUCT feature
        ``##SEQUENCE##``. None: the columns of each batch are those found in its records.
      raw_record_column_name: name of a last column with each record's own bytes, or None.

    Raises:
      ValueError: there is no file pattern; the schema has a feature that is not INT, FLOAT or
        BYTES, or one with the name of the raw-record column.
    """

    _record_type = "SequenceExample"

    def __init__(
        self,
        file_pattern: FilePattern,
        telemetry_descriptors: Sequence[str] | None,
        validate: bool = True,
        schema: SchemaSource | None = None,
        raw_record_column_name: str | None = None,
    ) -> None:
        super().__init__(file_pattern, schema, raw_record_column_name, telemetry_descriptors)


class TFSequenceExampleBeamRecord(ExampleCollectionTFXIO):
    """Makes batches of a PCollection of serialized tf.SequenceExample records.

    `BeamSource` and `RawRecordBeamSource` are applied to that PCollection.

    Example::

      tfxio = TFSequenceExampleBeamRecord("text", ["trainer"], schema="schema.pbtxt")
      batches = records | tfxio.BeamSource()

    Args:
      physical_format: where the records come from, such as ``text``, for the metrics' names.
      telemetry_descriptors: names of the component that reads, for the metrics' namespace.
      schema: as for `TFSequenceExampleRecord`.
      raw_record_column_name: as for `TFSequenceExampleRecord`.

    Raises:
      ValueError: as for `TFSequenceExampleRecord`.
    """

    _record_type = "SequenceExample"

    def __init__(
        self,
        physical_format: str,
        telemetry_descriptors: Sequence[str] | None,
        schema: SchemaSource | None = None,
        raw_record_column_name: str | None = None,
    ) -> None:
        super().__init__(schema, raw_record_column_name, telemetry_descriptors, physical_format)
