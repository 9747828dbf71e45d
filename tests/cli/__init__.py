"""Tests of tfrecord_beam.cli."""
