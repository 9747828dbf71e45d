"""Tests of tfrecord_beam.transforms."""
