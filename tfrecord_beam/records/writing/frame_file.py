"""Writes frames to one file, which is complete once it is closed."""

from __future__ import annotations

from types import TracebackType

from tfrecord_beam.records.frames import FramedRecords
from tfrecord_beam.records.writing.compression import Compression
from tfrecord_beam.records.writing.file_system import OutputFileSystem, discard


class FrameFile:
    """Writes frames to one file, under a temporary name.

    >>> import tempfile
    >>> from tfrecord_beam.records.writing.file_system import DirectOutputFileSystem
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with FrameFile(DirectOutputFileSystem(), f"{folder}/a", Compression("gzip")) as file:
    ...         file.write(FramedRecords.from_records([b"one", b"two"]))
    >>> file.num_records
    2

    As a context manager it is closed at the end, or discarded after an error.

    Args:
      file_system: where it is.
      path: of the file. What is there is lost.
      compression: how it is compressed.

    Attributes:
      path: of the file.
      num_records: how many it has taken.

    Raises:
      WriteError: here and in all methods but `discard`: the file cannot be written. All that is
        left to do then is to discard it.
    """

    def __init__(self, file_system: OutputFileSystem, path: str, compression: Compression) -> None:
        self._file_system = file_system
        self._file = file_system.create(path)
        self._content = compression.compress(self._file)
        self.path = path
        self.num_records = 0

    @property
    def num_bytes(self) -> int:
        """Bytes as stored: of a closed file its size, before that what has been handed on."""
        return self._file.num_bytes

    def write(self, frames: FramedRecords) -> None:
        """Takes all of the frames. Less than a MiB of them may stay in memory."""
        self._content.write(frames.frames)
        self.num_records += frames.num_records

    def flush(self) -> None:
        """Hands on what is in memory, but for what a codec keeps to compress it better."""
        self._content.flush()

    def close(self) -> None:
        """Ends the file. It is whole if this does not raise."""
        self._content.close()

    def discard(self) -> None:
        """Deletes the file, as far as its store lets it."""
        discard(self._file, self._file_system)

    def __enter__(self) -> FrameFile:
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self.discard()
            return
        try:
            self.close()
        except BaseException:
            self.discard()
            raise
