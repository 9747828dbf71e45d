"""Writes records to one TFRecord file, which is complete or absent."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Literal, NoReturn

import pyarrow as pa

from tfrecord_beam.caller import warn_caller
from tfrecord_beam.errors import EncodeError, Location, WriteError
from tfrecord_beam.options import check_choice, check_path
from tfrecord_beam.records.block import FRAME_BYTES, MAX_RECORD_BYTES
from tfrecord_beam.records.encode import RecordEncoder
from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.writing.batches import BatchEncoder
from tfrecord_beam.records.writing.compression import Compression
from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem
from tfrecord_beam.records.writing.frame_file import FrameFile
from tfrecord_beam.records.writing.names import check_file_path
from tfrecord_beam.records.writing.placing import (
    check_free,
    make_hidden_path,
    put_in_place,
)
from tfrecord_beam.schema.encoding import NullValues
from tfrecord_beam.schema.features import EncodedType
from tfrecord_beam.schema.tfmd import SchemaSource
from tfrecord_beam.urls import normalize_path

WriterMode = Literal["error", "overwrite"]

_PENDING_BYTES = 1 << 20
"""How many bytes of frames `TFRecordWriter.write` gathers: framed one by one they cost more."""


class TFRecordWriter:
    """Writes one TFRecord file, which appears at its path when it is closed, and only if complete.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with TFRecordWriter(f"{folder}/new/a.tfrecord.gz", compression="gzip") as writer:
    ...         writer.write(b"a record")
    ...         writer.write_batch(pa.record_batch({"age": [42, 43]}))
    >>> writer.num_records
    3

    As a context manager it is closed at the end of the block. If the block or closing fails,
    nothing is left: neither a new file nor a temporary one, and an old file is unchanged.

    This holds if the process dies, but not if the machine loses power: files are not synced to disk
    (no fsync).

    Until it is closed the file has a hidden name in the same folder, ``.<name>-temp-<id>``, which
    is left behind if the process dies. Some MiB of records are buffered in memory: `flush` writes
    them. Records are in the file in the order of the calls. A writer belongs to the process that
    created it, and may be used by one thread at a time.

    Args:
      path: path or URL of the file, whose folder is made if it is not there. The suffix may be any
        but that of another codec.
      schema: a TFMD `Schema`, a serialized one, or the path of its file: batches must have its
        features and no others. None: they may have any.
      record_type: what the rows of batches are written as: "Example", "SequenceExample", or
        "ByteArray" for records that are there already. What `write` takes is written as it is.
      compression: None, "gzip", "zlib", "bz2", "zstd", "lz4" or "snappy". TensorFlow reads the
        first three.
      compression_level: how hard the codec tries: 0 to 9 for gzip and zlib, 1 to 9 for bz2, 1 to 22
        for zstd, 1 to 12 for lz4. None: gzip and zlib are fast, and make files up to a third larger
        than at their usual level, 6; the others are as they usually are.
      mode: "error" if there may be no such file yet, "overwrite" to replace it.
      null_as_absent: leave out the features of null rows. By default they have no kind.
      null_values: what becomes of a null among the values of a list: "error", "drop" or "fill".
      feature_list_columns: names of the columns that are feature lists. None: those of lists of
        lists.

    Raises:
      ValueError: an option is out of range, or the path names another codec.
      SchemaError: the schema cannot be used.
      WriteError: here and in every method: there is such a file, or it cannot be written. Then
        nothing is left of the new one, and the writer can do no more.
    """

    _state: Literal["open", "closed", "failed"] = "closed"  # while it is made

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: SchemaSource | None = None,
        *,
        record_type: EncodedType = "Example",
        compression: str | None = None,
        compression_level: int | None = None,
        mode: WriterMode = "error",
        null_as_absent: bool = False,
        null_values: NullValues = "error",
        feature_list_columns: Sequence[str] | None = None,
    ) -> None:
        check_path("path", path)
        check_choice("mode", mode, WriterMode)
        self.path = normalize_path(os.fspath(path))
        check_file_path("path", self.path)
        resolved = Compression.resolve(compression, compression_level)
        resolved.check_path(self.path)
        encoder = RecordEncoder(
            schema,
            record_type=record_type,
            feature_list_columns=feature_list_columns,
            null_as_absent=null_as_absent,
            null_values=null_values,
            match_schema=True,
        )
        self._batches = BatchEncoder(encoder)
        resolved.warn_if_foreign()
        self._may_replace = mode == "overwrite"
        self._file_system = DirectOutputFileSystem()
        check_free(self.path, self._file_system, overwrite=self._may_replace)
        self._file = FrameFile(self._file_system, make_hidden_path(self.path), resolved)
        self._process = os.getpid()
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._state = "open"

    @property
    def num_records(self) -> int:
        """How many records were written so far."""
        return self._file.num_records + len(self._pending)

    @property
    def num_bytes(self) -> int:
        """Size of the file as stored: of a closed one, or so far, without what is in memory."""
        return self._file.num_bytes

    def write(self, record: bytes | bytearray | memoryview) -> None:
        """Adds a record, whose bytes are written as they are.

        Raises:
          EncodeError: it is not bytes, or has 2 GiB or more. The writer goes on without it.
        """
        if self._state != "open":  # spares a call for each record
            self._check_open()
        if type(record) is not bytes or len(record) > MAX_RECORD_BYTES:
            record = self._to_bytes(record)
        self._pending.append(record)
        self._pending_bytes += len(record) + FRAME_BYTES
        if self._pending_bytes >= _PENDING_BYTES:
            self._write_pending()

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Adds a record for each row of a batch.

        Raises:
          SchemaError: the columns do not fit the schema or those of earlier batches, or their types
            no feature.
          EncodeError: a value does not fit into a record. After both the writer goes on without the
            batch.
        """
        self._check_open()
        frames = self._batches.encode(batch)
        self._write_pending()
        with self._discarding():
            self._file.write(frames)

    def flush(self) -> None:
        """Hands all records on to the file system, so that an error of it comes now.

        They are then in the file of the hidden name, but for what a codec keeps in order to
        compress it with what follows. Nothing is at the path before the writer is closed.
        """
        self._check_open()
        self._write_pending()
        with self._discarding():
            self._file.flush()

    def close(self) -> None:
        """Gives the complete file its name. Closing it again has no effect.

        Of an old file that it replaces, the index goes then, and the checksum that Hadoop keeps.

        Raises:
          WriteError: also where an earlier call has failed, so that the file is not whole.
        """
        if self._state == "closed":
            return
        self._check_open()
        self._write_pending()
        with self._discarding():
            self._file.close()
            put_in_place(self._file.path, self.path, self._file_system, overwrite=self._may_replace)
        self._state = "closed"

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            self.close()
        elif self._state == "open":
            self._discard()

    def __del__(self) -> None:
        if self._state == "open" and self._process == os.getpid():
            self._discard()
            warn_caller(
                f"The writer of {self.path} was not closed: its records are lost",
                ResourceWarning,
                source=self,
            )

    def __reduce__(self) -> NoReturn:
        raise self._wrong_process_error("pickled or copied")

    def _write_pending(self) -> None:
        records, self._pending, self._pending_bytes = self._pending, [], 0
        with self._discarding():
            self._file.write(FramedRecords.from_records(records))

    @contextlib.contextmanager
    def _discarding(self) -> Iterator[None]:
        """Lets the file be written to; after an error it is not whole any more, and goes."""
        if self._process != os.getpid():
            raise self._wrong_process_error("in a fork of that")
        try:
            yield
        except BaseException:
            self._discard()
            raise

    def _discard(self) -> None:
        self._state = "failed"
        if self._process == os.getpid():  # else it is another's
            self._file.discard()

    def _check_open(self) -> None:
        """Raises WriteError for a call that comes too late."""
        if self._state != "open":
            found = "it closed" if self._state == "closed" else "that an earlier call had failed"
            raise WriteError(f"Expected an open writer, found {found}", Location(self.path))

    def _wrong_process_error(self, where: str) -> WriteError:
        """Returns the error for a writer that comes to another process."""
        return WriteError(
            f"Expected a writer to stay in the process that made it, found it {where}",
            Location(self.path),
            "make one in each process, each with a path of its own",
        )

    def _to_bytes(self, record: object) -> bytes:
        """Returns the bytes of an object that is no `bytes`, or too large."""
        try:
            view = memoryview(record)  # type: ignore[arg-type]
        except TypeError:
            expected, found = "records as bytes", type(record).__name__
        else:
            if view.nbytes <= MAX_RECORD_BYTES:
                return view.tobytes()
            expected, found = f"at most {MAX_RECORD_BYTES} bytes in a record", str(view.nbytes)
        raise EncodeError(
            f"Expected {expected}, found {found}", Location(self.path, record=self.num_records)
        )
