"""Libraries of extras: what a user is told where one is missing."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tfrecord_beam
from tests.schema.schemas import parse_schema
from tfrecord_beam import MissingLibraryError
from tfrecord_beam.lazy import EXTRAS, ExtraImport
from tfrecord_beam.tensors.to_torch import to_torch_tensor

SCHEMA = parse_schema('feature { name: "age" type: INT }')
TORCH_DATASET = "tfrecord_beam.tensors.torch_dataset"


@pytest.mark.parametrize(
    ("library", "extra", "use"),
    [
        ("torch", "torch", lambda: to_torch_tensor(np.zeros(1))),
        ("torch", "torch", lambda: importlib.import_module(TORCH_DATASET)),
        (
            "tensorflow",
            "tensorflow",
            lambda: (
                tfrecord_beam.TFExampleRecord("x", schema=SCHEMA)
                .TensorAdapter()
                .ToBatchTensors(pa.record_batch({"age": [[1]]}))
            ),
        ),
    ],
)
def test_error_says_which_extra_is_missing(
    library: str, extra: str, use: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, TORCH_DATASET, raising=False)
    with pytest.raises(ModuleNotFoundError) as caught:
        use()
    assert isinstance(caught.value, MissingLibraryError)
    assert str(caught.value) == (
        f"Expected the package {library}, found none (pip install 'tfrecord-beam[{extra}]')"
    )


def test_other_errors_of_an_import_stay_what_they_are() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"torch\.none"), ExtraImport():
        raise ModuleNotFoundError("No module named 'torch.none'", name="torch.none")
    with pytest.raises(ImportError, match=r"^broken$"), ExtraImport():
        raise ImportError("broken", name="torch")


def test_extras_are_those_of_the_package() -> None:
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert [(x, y) for x, y in EXTRAS.items() if f'\n{y} = ["{x}>=' not in text] == []
