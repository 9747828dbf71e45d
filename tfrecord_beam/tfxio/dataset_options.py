"""Options of the TFXIO methods that read without Beam."""

from __future__ import annotations

from typing import NamedTuple


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
      shuffle_seed: makes the order repeatable; None: another order each time.
    """

    batch_size: int
    drop_final_batch: bool = False
    num_epochs: int | None = None
    shuffle: bool = True
    shuffle_buffer_size: int = 10000
    shuffle_seed: int | None = None


def check_options(options: RecordBatchesOptions) -> None:
    """Raises ValueError when an option is out of range."""
    _check_at_least("batch_size", options.batch_size, 1)
    _check_at_least("shuffle_buffer_size", options.shuffle_buffer_size, 1)
    if options.num_epochs is not None:
        _check_at_least("num_epochs", options.num_epochs, 0)


def _check_at_least(name: str, value: int, minimum: int) -> None:
    if value < minimum:
        raise ValueError(f"Expected {name} to be at least {minimum}, found {value!r}")
