"""Tests of tfrecord_beam.tfxio.coders."""
