"""Writes in both ways, and reads what stands in files without the library."""

from __future__ import annotations

import bz2
import gzip
import pathlib
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import apache_beam as beam
import cramjam
import pyarrow as pa
import zstandard

from tests.frames import framed
from tests.tfxio.pipelines import run
from tfrecord_beam import WriteToTFRecord, WrittenFile, read_table, write_table

SUFFIXES = {
    None: "",
    "gzip": ".gz",
    "zlib": ".deflate",
    "bz2": ".bz2",
    "zstd": ".zst",
    "lz4": ".lz4",
    "snappy": ".snappy",
}
"""By codec: what a file's name ends in."""

_DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".deflate": zlib.decompress,
    ".bz2": bz2.decompress,
    ".zst": lambda data: zstandard.ZstdDecompressor().stream_reader(data).read(),
    # Of several frames, as flushing makes them, the oldest cramjam reads the first one only.
    ".lz4": lambda data: pa.CompressedInputStream(pa.BufferReader(data), "lz4").read(),
    ".snappy": lambda data: bytes(cramjam.snappy.decompress(data)),
}


class Write(Protocol):
    """Writes batches by one of the two ways."""

    def __call__(
        self, batches: Sequence[pa.RecordBatch], prefix: pathlib.Path, /, **options: Any
    ) -> list[WrittenFile]: ...


def write_by_table(
    batches: Sequence[pa.RecordBatch], prefix: pathlib.Path, /, **options: Any
) -> list[WrittenFile]:
    """Writes with `write_table`."""
    return write_table(iter(batches), str(prefix), **options)


def write_by_beam(
    batches: Sequence[Any], prefix: pathlib.Path, /, **options: Any
) -> list[WrittenFile]:
    """Writes with `WriteToTFRecord` in a pipeline of its own."""
    return run(beam.Create(batches, reshuffle=False), WriteToTFRecord(str(prefix), **options))[0]


WAYS: dict[str, Write] = {"table": write_by_table, "beam": write_by_beam}


class Each(beam.PTransform[Any, Any]):
    """Applies several transforms to one input; its output are pairs of name and element."""

    def __init__(self, transforms: Mapping[str, beam.PTransform[Any, Any]]) -> None:
        super().__init__()
        self._transforms = transforms

    def expand(self, input_or_inputs: Any) -> Any:
        outputs = [
            input_or_inputs | name >> each | f"Name {name}" >> beam.Map(_pair, name)
            for name, each in self._transforms.items()
        ]
        return outputs | beam.Flatten()


def _pair(element: Any, name: str) -> tuple[str, Any]:
    return name, element


def write_each(
    elements: Iterable[Any], transforms: Mapping[str, beam.PTransform[Any, Any]]
) -> dict[str, list[WrittenFile]]:
    """Runs several writes of the same elements in one pipeline; returns the files of each."""
    pairs = run(beam.Create(elements, reshuffle=False), Each(transforms)).elements
    return {name: sorted(file for key, file in pairs if key == name) for name in transforms}


def numbers(start: int, stop: int) -> pa.RecordBatch:
    """Returns a batch of the integers of a range as column `x`, and a text of each as `s`."""
    values = range(start, stop)
    texts = pa.array([f"text {value}" for value in values], pa.string())
    return pa.record_batch({"x": pa.array(values, pa.int64()), "s": texts})


def x_of(path: Any, **options: Any) -> list[int]:
    """Returns the values of column `x` in files, in the files' order; records may have none."""
    table = read_table(path, **options)
    if "x" not in table.column_names:
        return []
    return [value for row in table.column("x").to_pylist() for value in row or ()]


def stored(path: str | pathlib.Path) -> list[bytes]:
    """Returns the records of a file by its suffix; every byte is checked."""
    path = pathlib.Path(path)
    data = path.read_bytes()
    if path.suffix in _DECOMPRESS:
        data = _DECOMPRESS[path.suffix](data)
    records = list(_payloads(data))
    assert framed(*records) == data
    return records


def _payloads(data: bytes) -> Iterator[bytes]:
    offset = 0
    while offset < len(data):
        length = int.from_bytes(data[offset : offset + 8], "little")
        yield data[offset + 12 : offset + 12 + length]
        offset += 16 + length


def tree(folder: pathlib.Path) -> dict[str, bytes | None]:
    """Returns all that is in a folder, hidden or not: files with their bytes, folders with None."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def names(folder: pathlib.Path) -> list[str]:
    """Returns the paths of all files in a folder, hidden ones too, in order."""
    return sorted(name for name, data in tree(folder).items() if data is not None)


def visible(folder: pathlib.Path) -> list[str]:
    """Returns the paths of the files in a folder that readers see, in order."""
    return [name for name in names(folder) if not re.search(r"(^|/)[._]", name)]


def check_written(written: Sequence[WrittenFile], folder: pathlib.Path) -> None:
    """Checks that what a write told is what stands in a folder in which nothing else is."""
    assert sorted(file.path for file in written) == [str(folder / name) for name in names(folder)]
    for file in written:
        assert file.num_records == len(stored(file.path))
        assert file.num_bytes == pathlib.Path(file.path).stat().st_size
        assert file.host is None


def records_of(written: Iterable[WrittenFile]) -> Counter[bytes]:
    """Returns the records of files, counted."""
    return Counter(record for file in written for record in stored(file.path))


@contextmanager
def no_warnings() -> Iterator[None]:
    """Lets codecs that TensorFlow cannot read pass."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
