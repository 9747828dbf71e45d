"""TFRecord files as a PyTorch dataset. Needs torch, so no other module imports it on loading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from tfrecord_beam.lazy import ExtraImport
from tfrecord_beam.options import check_bool, check_function, check_int
from tfrecord_beam.records.batch_stream import (
    rebatch,
    repeat_batches,
    shuffle_rows,
    shuffled_read_options,
)
from tfrecord_beam.records.decode import OnCorrupt, RecordDecoder
from tfrecord_beam.records.lost_columns import first_columns, watch_columns, watched_columns
from tfrecord_beam.records.paths import (
    DirectFileSystem,
    FilePattern,
    match_files,
    normalize_patterns,
)
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.records.shares import Piece, read_piece, share_files
from tfrecord_beam.schema.arrow import RecordType, decode_plan, plan_schema
from tfrecord_beam.schema.names import as_names, check_known
from tfrecord_beam.schema.representation_inference import (
    infer_tensor_representations_from_mixed_schema,
)
from tfrecord_beam.schema.representations import source_columns
from tfrecord_beam.schema.tfmd import SchemaSource, load_schema
from tfrecord_beam.tensors.to_numpy import BatchConverter
from tfrecord_beam.tensors.to_torch import to_torch_tensor

with ExtraImport():
    import torch
    from torch import distributed
    from torch.utils.data import IterableDataset, get_worker_info

if TYPE_CHECKING:
    from tfrecord_beam.tensors.to_torch import TorchTensor


class TorchDataset(IterableDataset[dict[str, "TorchTensor"]]):
    """Batches of tensors, read from TFRecord files by the workers of a `DataLoader`.

    Example:
      >>> import tempfile
      >>> from tfrecord_beam.records.demo import write_census
      >>> from torch.utils.data import DataLoader
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     pattern, schema = write_census(folder, num_records=300)
      ...     dataset = TorchDataset(pattern, schema, batch_size=100, tensor_names=["age"])
      ...     for batch in DataLoader(dataset, batch_size=None):  # the batches are made already
      ...         print(batch["age"].shape)
      torch.Size([100, 1])
      torch.Size([100, 1])
      torch.Size([100, 1])

    An element is a dict of tensors by name, those of the schema's tensor representations, in the
    form that `tfrecord_beam.tensors.to_torch.to_torch_tensor` returns. Strings are numpy arrays of
    `bytes`, because PyTorch has no type for them.

    Over all workers of all ranks, each record is read once per epoch. Files are split into byte
    ranges, so that every worker gets nearly the same number of bytes even if there are few files; a
    compressed file goes to one worker. Each worker verifies that the range after each of its own
    begins where its own ended, see `tfrecord_beam.records.shares`. For this all ranks must see the
    same files and have the same number of workers. The number of batches may differ slightly among
    ranks: with `DistributedDataParallel` use its `join`.

    Rows are shuffled as one unit, in a buffer over byte ranges in random order; the share of a
    worker is the same in each epoch. `set_epoch` gives each epoch another order. The dataset can be
    pickled, for workers that are spawned.

    Args:
      file_pattern: path, pattern or folder, or several, see `tfrecord_beam.records.paths`. It is
        matched once, when the dataset is created.
      schema: a TFMD `Schema`, a serialized one, or the path of its file.
      batch_size: rows of each batch. Each worker makes batches of its own rows, the last of which
        may have fewer.
      tensor_names: names of the tensors; only their columns are decoded. None: all.
      pad: convert sparse and ragged tensors to dense ones, padded with 0 or ``b""``.
      shuffle: whether rows are in random order.
      shuffle_buffer_size: rows among which the next ones are drawn, in each worker.
      shuffle_seed: the same seed, epoch and number of workers give the same order. None: drawn
        from PyTorch's random numbers each time, see `torch.manual_seed`.
      num_epochs: how many times the files are read in one iteration; None: endlessly. Batches may
        hold rows of two epochs.
      drop_final_batch: leave out a worker's last batch if it has fewer rows.
      rank: index of this process among `world_size`. None: that of `torch.distributed` if it is
        initialized, else there is only this process.
      world_size: number of processes that divide the records; required with `rank`.
      record_type: what the records are: "Example", "SequenceExample" or "ExampleListWithContext".
      compression: as for `tfrecord_beam.iter_batches`.
      validate_crc: as for `tfrecord_beam.iter_batches`.
      error_handler: called in the worker's process with a `CorruptRecord` for each part or record
        that cannot be read or decoded; None: raise.

    Raises:
      SchemaError: the schema cannot be used, or a tensor does not exist.
      ValueError: an option is out of range.
      NoMatchError: a pattern matches no file.
      CorruptRecordError: while iterating, a part of a file cannot be read.
      DecodeError: while iterating, a record does not fit the schema, or rows do not fit a tensor.
      CoverageError: while iterating, the ranges of a file are found not to be contiguous.
    """

    def __init__(
        self,
        file_pattern: FilePattern,
        schema: SchemaSource,
        *,
        batch_size: int,
        tensor_names: Sequence[str] | None = None,
        pad: bool = False,
        shuffle: bool = False,
        shuffle_buffer_size: int = 10_000,
        shuffle_seed: int | None = None,
        num_epochs: int | None = 1,
        drop_final_batch: bool = False,
        rank: int | None = None,
        world_size: int | None = None,
        record_type: RecordType = "Example",
        compression: str | None = "auto",
        validate_crc: bool = True,
        error_handler: OnCorrupt | None = None,
    ) -> None:
        check_int("batch_size", batch_size, least=1)
        check_bool("pad", pad)
        check_bool("shuffle", shuffle)
        check_int("shuffle_buffer_size", shuffle_buffer_size, least=1)
        check_int("shuffle_seed", shuffle_seed, least=0, optional=True)
        check_int("num_epochs", num_epochs, least=0, optional=True)
        check_bool("drop_final_batch", drop_final_batch)
        check_function("error_handler", error_handler)
        self._rank_of_world = _check_rank(rank, world_size)
        self._batch_size = batch_size
        self._pad = pad
        self._buffer_rows = shuffle_buffer_size if shuffle else None
        self._seed = shuffle_seed
        self._num_epochs = num_epochs
        self._drop_final_batch = drop_final_batch
        self._on_corrupt = error_handler
        self._options = (
            shuffled_read_options(shuffle_buffer_size, compression, validate_crc)
            if shuffle
            else ReadOptions(compression, validate_crc, batch_size)
        )
        schema = load_schema(schema)
        representations = infer_tensor_representations_from_mixed_schema(schema)
        if tensor_names is not None:
            names = as_names(tensor_names, "tensors")
            check_known(names, representations, "tensors")
            representations = {name: representations[name] for name in names}
        columns = {str(path): None for r in representations.values() for path in source_columns(r)}
        plan = decode_plan(schema, columns=[*columns], record_type=record_type)
        self._watched_columns = watched_columns(schema, tensor_names, plan)
        self._record_type: RecordType = record_type
        self._decoder = RecordDecoder(plan, record_type)
        self._converter = BatchConverter(plan_schema(plan), representations)
        self._files = match_files(normalize_patterns(file_pattern), DirectFileSystem())
        # In shared memory, so that it reaches workers that persist from one epoch to the next.
        self._epoch = torch.zeros((), dtype=torch.int64).share_memory_()

    def set_epoch(self, epoch: int) -> None:
        """Sets the epoch, which determines the random order. Call it before each iteration.

        It also reaches workers that a `DataLoader` keeps with ``persistent_workers=True``.

        Args:
          epoch: number of the epoch, at least 0; initially 0.

        Raises:
          ValueError: it is out of range.
        """
        check_int("epoch", epoch, least=0)
        self._epoch.fill_(epoch)

    def __getstate__(self) -> dict[str, Any]:
        # `torch.distributed` is not available in a spawned worker.
        return {**self.__dict__, "_rank_of_world": self._rank_of_world or _distributed_rank()}

    def __iter__(self) -> Iterator[dict[str, TorchTensor]]:
        worker = get_worker_info()
        worker_id, num_workers = (worker.id, worker.num_workers) if worker else (0, 1)
        rank, world_size = self._rank_of_world or _distributed_rank() or (0, 1)
        number = rank * num_workers + worker_id
        shares = share_files(
            self._files, world_size * num_workers, compression=self._options.compression
        )
        for batch in self._read(shares[number], number):
            tensors = self._converter.convert(batch)
            yield {name: to_torch_tensor(each, pad=self._pad) for name, each in tensors.items()}

    def _read(self, share: Sequence[Piece], number: int) -> Iterator[pa.RecordBatch]:
        """Yields the rows of a worker's share in batches of the requested size."""
        seed = self._draw_seed()
        generator = np.random.default_rng([seed, int(self._epoch), number])

        def read_epoch() -> Iterable[pa.RecordBatch]:
            if self._buffer_rows is None:
                return self._decode(share)
            return shuffle_rows(
                self._decode([share[i] for i in generator.permutation(len(share))]),
                buffer_rows=self._buffer_rows,
                generator=generator,
            )

        return rebatch(
            repeat_batches(read_epoch, self._num_epochs),
            self._batch_size,
            drop_remainder=self._drop_final_batch,
        )

    def _decode(self, pieces: Iterable[Piece]) -> Iterator[pa.RecordBatch]:
        """Yields the batches of pieces, and warns at the end if the schema fits no record."""
        return watch_columns(
            self._iter_batches(pieces), self._watched_columns, self._first_columns, of_schema=True
        )

    def _first_columns(self) -> list[str]:
        paths = [file.path for file in self._files]
        return first_columns(paths, self._options, record_type=self._record_type)

    def _iter_batches(self, pieces: Iterable[Piece]) -> Iterator[pa.RecordBatch]:
        for piece in pieces:
            for block in read_piece(piece, self._options, on_corrupt=self._on_corrupt):
                yield from self._decoder.iter_block(block, self._on_corrupt)

    def _draw_seed(self) -> int:
        if self._seed is not None:
            return self._seed
        return int(torch.randint(torch.iinfo(torch.int64).max, ())) if self._buffer_rows else 0


def _check_rank(rank: int | None, world_size: int | None) -> tuple[int, int] | None:
    """Returns both numbers after checking them, or None if neither is given."""
    if rank is None and world_size is None:
        return None
    check_int("world_size", world_size, least=1)
    check_int("rank", rank, least=0, most=(world_size or 1) - 1)
    return rank or 0, world_size or 1


def _distributed_rank() -> tuple[int, int] | None:
    if distributed.is_available() and distributed.is_initialized():
        return distributed.get_rank(), distributed.get_world_size()
    return None
