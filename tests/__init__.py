"""Tests of tfrecord_beam; the folders mirror those of the package."""
