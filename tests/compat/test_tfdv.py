"""What TensorFlow Data Validation infers is what ``inferred.txt`` says.

That the library infers the same is tested in ``tests/schema/test_inference.py``.
"""

from __future__ import annotations

import pytest

from tests.compat.peers import import_peer
from tests.schema.inference_cases import CASES, goldens, infer_with_tfdv

import_peer("tensorflow_data_validation")


@pytest.mark.parametrize("infer_shape", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_schema_of_tfdv(name: str, infer_shape: bool) -> None:
    assert infer_with_tfdv(name, infer_shape) == goldens()[name, infer_shape]
