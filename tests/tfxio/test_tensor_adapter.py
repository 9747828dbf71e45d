from __future__ import annotations

import importlib.util
import pickle

import pyarrow as pa
import pytest

from tests.tensors.batches import INT64, VARLEN, representation
from tfrecord_beam.tfxio import TensorAdapterConfig, TFExampleRecord

SCHEMA = pa.schema({"v": INT64})


@pytest.mark.skipif(
    importlib.util.find_spec("tfx_bsl") is not None, reason="tests/compat tests it with tfx_bsl"
)
def test_config_needs_no_tfx_bsl() -> None:
    config = TensorAdapterConfig(SCHEMA, {"t": representation(VARLEN)})
    assert type(config) is TensorAdapterConfig
    assert config.arrow_schema is SCHEMA
    assert config.tensor_representations == {"t": representation(VARLEN)}
    assert config.original_type_specs is None
    assert pickle.loads(pickle.dumps(config)) == config
    assert config != TensorAdapterConfig(SCHEMA, {})


def test_config_of_data_without_a_schema() -> None:
    with pytest.raises(ValueError, match="Expected a TFMD schema"):
        TFExampleRecord("unread").TensorAdapterConfig()
