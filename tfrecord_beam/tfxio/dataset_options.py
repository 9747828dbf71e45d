"""Options of the TFXIO methods that read without Beam."""

from __future__ import annotations

from typing import NamedTuple

from tfrecord_beam.options import check_bool, check_int, describe


class RecordBatchesOptions(NamedTuple):
    """Options of `RecordBatches`. The defaults read endlessly, in random order.

    >>> RecordBatchesOptions(batch_size=32, num_epochs=1, shuffle=False).drop_final_batch
    False

    Attributes:
      batch_size: rows of a batch. Batches are cut from the epochs laid end to end, so that one may
        hold rows of two epochs.
      drop_final_batch: leave out a last batch of fewer rows. Always so when `num_epochs` is None.
      num_epochs: how many times to read the data; None: endlessly.
      shuffle: whether rows come in random order, another in each epoch.
      shuffle_buffer_size: rows among which the next one is drawn.
      shuffle_seed: an int of at least 0 makes the order repeatable; None: another order each
        time.
    """

    batch_size: int
    drop_final_batch: bool = False
    num_epochs: int | None = None
    shuffle: bool = True
    shuffle_buffer_size: int = 10000
    shuffle_seed: int | None = None


def check_options(options: RecordBatchesOptions) -> None:
    """Raises ValueError when an option is of a wrong type or out of range.

    Other classes with the same attributes will do, such as that of tfx_bsl.
    """
    for name in RecordBatchesOptions._fields:
        if not hasattr(options, name):
            raise ValueError(f"Expected RecordBatchesOptions, found {describe(options)}")
    check_int("batch_size", options.batch_size, least=1)
    check_bool("drop_final_batch", options.drop_final_batch)
    check_int("num_epochs", options.num_epochs, least=0, optional=True)
    check_bool("shuffle", options.shuffle)
    check_int("shuffle_buffer_size", options.shuffle_buffer_size, least=1)
    check_int("shuffle_seed", options.shuffle_seed, least=0, optional=True)
