"""Options of the TFXIO methods that read without Beam."""

from __future__ import annotations

from typing import NamedTuple

from tfrecord_beam.options import check_bool, check_instance, check_int, describe


class RecordBatchesOptions(NamedTuple):
    """Options of `RecordBatches`. The defaults read endlessly, in random order.

    >>> RecordBatchesOptions(batch_size=32, num_epochs=1, shuffle=False).drop_final_batch
    False

    Attributes:
      batch_size: rows of a batch. Epochs are concatenated before they are batched, so that a batch
        may hold rows of two epochs.
      drop_final_batch: drop a last batch with fewer rows. Always so if `num_epochs` is None.
      num_epochs: how many times to read the data; None: endlessly.
      shuffle: whether rows are in random order, a different one in each epoch.
      shuffle_buffer_size: rows among which the next one is drawn.
      shuffle_seed: an int of at least 0 makes the order repeatable; None: a different order each
        time.
    """

    batch_size: int
    drop_final_batch: bool = False
    num_epochs: int | None = None
    shuffle: bool = True
    shuffle_buffer_size: int = 10000
    shuffle_seed: int | None = None


class TensorFlowDatasetOptions(NamedTuple):
    """Options of `TensorFlowDataset`. The defaults read endlessly, in random order.

    >>> TensorFlowDatasetOptions(batch_size=32, num_epochs=1, label_key="label").shuffle
    True

    Attributes:
      batch_size: as in `RecordBatchesOptions`.
      drop_final_batch: as in `RecordBatchesOptions`.
      num_epochs: as in `RecordBatchesOptions`.
      shuffle: as in `RecordBatchesOptions`.
      shuffle_buffer_size: as in `RecordBatchesOptions`.
      shuffle_seed: as in `RecordBatchesOptions`.
      prefetch_buffer_size: number of batches to prepare ahead; -1: TensorFlow chooses it.
      reader_num_threads: number of files that are read at once, a batch from each in turn; -1: one.
      parser_num_threads: number of threads that decode; -1: one.
      sloppy_ordering: whether batches come as they are decoded, in an order that may vary.
      label_key: name of the tensor that is the label: elements are then pairs of a dict of the
        other tensors and the label. None: elements are dicts of all tensors.
    """

    batch_size: int
    drop_final_batch: bool = False
    num_epochs: int | None = None
    shuffle: bool = True
    shuffle_buffer_size: int = 10000
    shuffle_seed: int | None = None
    prefetch_buffer_size: int = -1
    reader_num_threads: int = -1
    parser_num_threads: int = -1
    sloppy_ordering: bool = False
    label_key: str | None = None


def check_options(options: RecordBatchesOptions | TensorFlowDatasetOptions) -> None:
    """Raises ValueError if an option has the wrong type or is out of range.

    Other classes with the same attributes are accepted, such as that of tfx_bsl.
    """
    _check_fields(options, RecordBatchesOptions)
    check_int("batch_size", options.batch_size, least=1)
    check_bool("drop_final_batch", options.drop_final_batch)
    check_int("num_epochs", options.num_epochs, least=0, optional=True)
    check_bool("shuffle", options.shuffle)
    check_int("shuffle_buffer_size", options.shuffle_buffer_size, least=1)
    check_int("shuffle_seed", options.shuffle_seed, least=0, optional=True)


def check_dataset_options(options: TensorFlowDatasetOptions) -> None:
    """Raises ValueError if an option has the wrong type or is out of range, as `check_options`."""
    _check_fields(options, TensorFlowDatasetOptions)
    check_options(options)
    check_int("prefetch_buffer_size", options.prefetch_buffer_size, least=-1)
    for name in ("reader_num_threads", "parser_num_threads"):
        threads = getattr(options, name)
        if threads != -1:
            check_int(name, threads, least=1)
    check_bool("sloppy_ordering", options.sloppy_ordering)
    if options.label_key is not None:
        check_instance("label_key", options.label_key, str)


def _check_fields(options: object, expected: type[NamedTuple]) -> None:
    if not all(hasattr(options, name) for name in expected._fields):
        raise ValueError(f"Expected {expected.__name__}, found {describe(options)}")
