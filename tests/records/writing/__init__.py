"""Tests of tfrecord_beam.records."""
