"""Paths of columns, under the name that TFXIO users know."""

from tfrecord_beam.schema.column_path import ColumnPath as ColumnPath
