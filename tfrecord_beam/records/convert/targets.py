"""Writes record batches to files of other formats, each of which is complete or absent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Protocol

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from tfrecord_beam.errors import EncodeError, Location, SchemaError
from tfrecord_beam.options import describe
from tfrecord_beam.records.compression import codec_of_name
from tfrecord_beam.records.convert.formats import Format
from tfrecord_beam.records.writing.compression import Compression, ContentFile
from tfrecord_beam.records.writing.file_system import OutputFileSystem
from tfrecord_beam.records.writing.placing import new_file

_CODECS = {
    Format.PARQUET: ("snappy", "none", "gzip", "zstd", "lz4"),
    Format.ARROW: ("none", "zstd", "lz4"),
    Format.ARROW_STREAM: ("none", "zstd", "lz4"),
}
"""The compression that is part of a format; the first is the default."""

_ROW_GROUP_BYTES = 64 << 20
"""Size in memory of a row group of Parquet. One is held at a time."""


class _BatchWriter(Protocol):
    """The common interface of pyarrow's writers."""

    def write_batch(self, batch: pa.RecordBatch, /) -> None: ...
    def close(self) -> None: ...


def write_file(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    path: str,
    file_format: Format,
    file_system: OutputFileSystem,
    *,
    compression: str | None = None,
    with_names: bool = True,
    overwrite: bool = False,
    is_remade: bool = False,
) -> tuple[int, int]:
    """Writes a file, and returns its number of rows and its size in bytes.

    It is written under a hidden name in the same folder, and renamed when it is complete.

    Args:
      batches: the rows; every batch has the schema.
      schema: the columns. For CSV each has one value per row, and text instead of bytes.
      path: path or URL.
      file_format: any but TFRecord.
      file_system: where the file is.
      compression: a codec. None: for text that of the path's suffix, for Parquet snappy, for Arrow
        none.
      with_names: whether the first line of CSV has the names of the columns.
      overwrite: replace an existing file; False: it is an error.
      is_remade: whether a file with equal bytes is from an earlier attempt, see `put_in_place`.

    Raises:
      ValueError: as for `choose_codec`.
      SchemaError: the format does not support the type of a column, or rows without columns.
      WriteError: the file already exists, or cannot be written.
    """
    codec = choose_codec(path, file_format, compression)
    start = _choose_writer(file_format, schema, codec.codec, with_names)
    num_rows = 0
    with new_file(path, file_system, overwrite=overwrite, is_remade=is_remade) as file:
        content = (codec if file_format.is_text else Compression()).compress(file)
        writer = start(pa.PythonFile(_Sink(content), mode="w"))
        for batch in batches:
            if not len(schema) and batch.num_rows and file_format is not Format.JSON:
                raise SchemaError(f"Expected columns for {file_format.value}, found none")
            writer.write_batch(batch)
            num_rows += batch.num_rows
        writer.close()
        content.close()
    return num_rows, file.num_bytes


def choose_codec(path: str, file_format: Format, compression: str | None) -> Compression:
    """Returns the compression of a file; arguments are those of `write_file`.

    Raises:
      ValueError: the format does not support the compression, or the suffix is that of another.
    """
    named = codec_of_name(path)
    if file_format.is_text:
        codec = Compression.resolve(named if compression is None else compression)
        codec.check_path(path)
        return codec
    if named != "none":
        raise ValueError(
            f"Expected a name without the suffix of a codec for {file_format.value}, which is "
            f"compressed inside, found {describe(path)}"
        )
    known = _CODECS[file_format]
    codec = Compression.resolve(known[0] if compression is None else compression)
    if codec.codec not in known:
        raise ValueError(
            f"Expected compression of {file_format.value} to be None or one of "
            f"{', '.join(known)}, found {codec.codec!r}"
        )
    return codec


class _Sink:
    """A file with the interface that Arrow writes to. Arrow does not close it."""

    closed = False

    def __init__(self, content: ContentFile) -> None:
        self.write = content.write

    def flush(self) -> None: ...
    def close(self) -> None: ...


def _choose_writer(
    file_format: Format, schema: pa.Schema, codec: str, with_names: bool
) -> Callable[[pa.PythonFile], _BatchWriter]:
    if file_format is Format.CSV:
        _check_csv_columns(schema)
        csv_options = pa.csv.WriteOptions(include_header=with_names)
        return lambda sink: pa.csv.CSVWriter(sink, schema, write_options=csv_options)
    if file_format is Format.JSON:
        return _JsonWriter
    if file_format is Format.PARQUET:
        return lambda sink: _ParquetWriter(sink, schema, codec)
    options = pa.ipc.IpcWriteOptions(compression=None if codec == "none" else codec)
    new = pa.ipc.new_file if file_format is Format.ARROW else pa.ipc.new_stream
    return lambda sink: new(sink, schema, options=options)


def _check_csv_columns(schema: pa.Schema) -> None:
    for field in schema:
        if pa.types.is_nested(field.type):
            raise SchemaError(
                f"Expected one value a row in column {field.name!r} for CSV, found {field.type}",
                Location(feature=field.name),
                "other formats hold lists",
            )


class _ParquetWriter:
    """Collects batches into row groups."""

    def __init__(self, sink: pa.PythonFile, schema: pa.Schema, codec: str) -> None:
        self._writer = pa.parquet.ParquetWriter(sink, schema, compression=codec)
        self._schema = schema
        self._batches: list[pa.RecordBatch] = []
        self._num_bytes = 0

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._num_bytes += batch.nbytes
        if self._num_bytes >= _ROW_GROUP_BYTES:
            self._write()

    def close(self) -> None:
        self._write()
        self._writer.close()

    def _write(self) -> None:
        if self._batches:
            self._writer.write_table(pa.Table.from_batches(self._batches, self._schema))
            self._batches, self._num_bytes = [], 0


class _JsonWriter:
    """Writes one object per line. Non-finite numbers are NaN and Infinity, as in Python."""

    def __init__(self, sink: pa.PythonFile) -> None:
        self._sink = sink

    def write_batch(self, batch: pa.RecordBatch) -> None:
        lines = (
            json.dumps(row, ensure_ascii=False, default=_to_text) + "\n"
            for row in batch.to_pylist()
        )
        self._sink.write("".join(lines).encode())

    def close(self) -> None: ...


def _to_text(value: object) -> str:
    """Returns bytes in nested lists as text, the only values that need conversion for JSON."""
    try:
        return bytes(value).decode()  # type: ignore[call-overload, no-any-return]
    except UnicodeDecodeError:
        raise EncodeError(f"Expected UTF-8 text for JSON, found {describe(value)}") from None
