"""Trains a linear model of PyTorch on TFRecord files that the workers of a DataLoader share.

python examples/train_torch.py [PATTERN SCHEMA]

Without arguments it makes a census up. Needs the extra [torch].
"""

from __future__ import annotations

import sys
import tempfile

import torch
from torch.utils.data import DataLoader

from tfrecord_beam.records.demo import write_census
from tfrecord_beam.tensors import TorchDataset

NUMBERS = ["age", "education-num", "capital-gain", "capital-loss", "hours-per-week"]
EPOCHS = 2


def features_of(batch: dict[str, torch.Tensor]) -> torch.Tensor:
    return torch.log1p(torch.cat([batch[name].float() for name in NUMBERS], dim=1))


def labels_of(batch: dict[str, torch.Tensor]) -> torch.Tensor:
    # Strings come as numpy arrays of bytes: PyTorch has no type for them.
    return torch.tensor(batch["label"] == b">50K").float()


def main(pattern: str, schema: str) -> None:
    # Only the named tensors are decoded. Each worker reads byte ranges of its own.
    dataset = TorchDataset(
        pattern,
        schema,
        batch_size=128,
        tensor_names=[*NUMBERS, "label"],
        shuffle=True,
        shuffle_seed=0,
    )
    loader = DataLoader(dataset, batch_size=None, num_workers=2, persistent_workers=True)
    model = torch.nn.Linear(len(NUMBERS), 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(EPOCHS):
        dataset.set_epoch(epoch)  # another random order
        rows, total = 0, 0.0
        for batch in loader:
            labels = labels_of(batch)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(
                model(features_of(batch)), labels
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rows += len(labels)
            total += loss.item() * len(labels)
        print(f"epoch {epoch}: {rows:,} records, loss {total / rows:.3f}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*sys.argv[1:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(*write_census(folder))
