"""Tests of tfrecord_beam.schema."""
