"""Writes the index of an existing file."""

from __future__ import annotations

import contextlib

import numpy as np

from tfrecord_beam.errors import Location, render
from tfrecord_beam.records.block import FOOTER_BYTES, HEADER_BYTES
from tfrecord_beam.records.compression import read_codec
from tfrecord_beam.records.files import OnProgress, iter_blocks
from tfrecord_beam.records.index import FileIndex, IndexBuilder, index_path
from tfrecord_beam.records.paths import DirectFileSystem
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem
from tfrecord_beam.records.writing.placing import write_new_file


def write_index(path: str, *, progress: OnProgress | None = None) -> FileIndex:
    """Reads a file, writes its index beside it, and returns it. An index that is there is replaced.

    Args:
      path: path or URL of a plain TFRecord file.
      progress: called with the bytes read and the bytes in all from time to time.

    Raises:
      ValueError: the file is compressed: it is not split, so that an index has no use.
      CorruptRecordError: the file is not whole.
      WriteError: the index cannot be written.
    """
    if (codec := find_codec(path)) != "none":
        message = f"Expected a plain file, found one compressed with {codec}"
        raise ValueError(render(message, Location(path), "it is not split: it needs no index"))
    builder = IndexBuilder()
    for block in iter_blocks(path, progress=progress):
        end = block.offsets[-1:] + block.lengths[-1:] + FOOTER_BYTES
        builder.add(np.concatenate([block.offsets - HEADER_BYTES, end]))
    index = builder.build()
    write_new_file(index_path(path), index.dump(), DirectOutputFileSystem(), overwrite=True)
    return index


def find_codec(path: str) -> str:
    """Returns the codec of a file, detected from its content; "none" if it is uncompressed."""
    with contextlib.closing(DirectFileSystem().open(path)) as file:
        return read_codec(file, path)
