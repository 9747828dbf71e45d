"""What users of TFXIO rely on, for each class that needs no TensorFlow."""

from __future__ import annotations

import pathlib
import pickle
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.typehints.decorators import TypeCheckError
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.tfxio.every_class import BYTES, CLASSES, DESCRIPTORS, WITH_RAW_COLUMN, WITH_SCHEMA
from tests.tfxio.pipelines import run
from tfrecord_beam.tfxio import RecordBatchesOptions, TensorFlowDatasetOptions
from tfrecord_beam.tfxio.tfxio import TFXIO

IN_ORDER = RecordBatchesOptions(2, num_epochs=1, shuffle=False)
IN_MEMORY = [name for name, known in CLASSES.items() if known.in_memory]


def rows(batches: Sequence[pa.RecordBatch]) -> list[str]:
    """Returns rows of batches that come in any order."""
    return sorted(repr(row) for batch in batches for row in batch.to_pylist())


class Twice(beam.PTransform[Any, Any]):
    """Applies each transform of a class two times."""

    def __init__(self, tfxio: TFXIO) -> None:
        super().__init__()
        self._tfxio: Any = tfxio

    def expand(self, start: Any) -> Any:
        batches = []
        for label in ("First", "Second"):
            batches.append(start | f"{label}Source" >> self._tfxio.BeamSource())
            records = start | f"{label}Records" >> self._tfxio.RawRecordBeamSource()
            batches.append(records | f"{label}Batches" >> self._tfxio.RawRecordToRecordBatch())
        return batches | beam.Flatten()


@pytest.mark.parametrize("name", CLASSES)
def test_columns_and_tensors(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    tfxio = known.make(tmp_path)
    assert tfxio.ArrowSchema() == known.arrow_schema
    assert sorted(tfxio.TensorRepresentations()) == known.tensors
    config = tfxio.TensorAdapterConfig()
    assert config.arrow_schema == known.arrow_schema
    assert config.tensor_representations == tfxio.TensorRepresentations()
    assert config.original_type_specs is None
    assert tfxio.telemetry_descriptors == DESCRIPTORS


@pytest.mark.parametrize("batch_size", [None, 1])
@pytest.mark.parametrize("name", CLASSES)
def test_batches_are_whole_and_of_the_schema(
    name: str, batch_size: int | None, tmp_path: pathlib.Path
) -> None:
    """As TensorFlow Transform needs them: no slices, and exactly `ArrowSchema`."""
    known = CLASSES[name]
    tfxio = known.make(tmp_path)
    batches = run(*known.head(), tfxio.BeamSource(batch_size)).elements
    assert rows(batches) == sorted(map(repr, known.rows))
    for batch in batches:
        assert isinstance(batch, pa.RecordBatch)
        assert batch.schema.equals(tfxio.ArrowSchema(), check_metadata=True)
        assert all(column.offset == 0 for column in batch.columns)
        assert batch.num_rows == batch_size or batch_size is None
        batch.validate(full=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_each_transform_twice_in_a_pipeline(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    batches = run(*known.head(), Twice(known.make(tmp_path))).elements
    assert rows(batches) == sorted([*map(repr, known.rows)] * 4)


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_recipe_without_labels(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    tfxio = known.make(tmp_path)
    parts = tfxio.RawRecordBeamSource(), tfxio.RawRecordToRecordBatch()
    batches = run(*known.head(), *parts).elements
    assert rows(batches) == sorted(map(repr, known.rows))
    assert all(batch.schema.equals(tfxio.ArrowSchema()) for batch in batches)
    records = run(*known.head(), tfxio.RawRecordBeamSource()).elements
    assert len(records) == len(known.rows)
    assert known.records is None or sorted(records) == sorted(known.records)


@pytest.mark.parametrize("name", CLASSES)
def test_names_of_metrics(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    metrics = run(*known.head(), known.make(tmp_path).BeamSource(1))
    logical, physical = known.formats
    prefix = f"LogicalFormat[{logical}]-PhysicalFormat[{physical}]-"
    found = metrics.in_namespace("tfx.some.component.io")
    assert all(metric.startswith(prefix) for metric in found)
    names = {metric.removeprefix(prefix) for metric in found}
    assert {"num_rows", "record_batch_byte_size", "num_cells[STRING]"} <= names
    if known.records is not None:
        assert {"num_raw_records", "raw_record_byte_size"} <= names
        assert metrics.in_namespace("tfx.some.component")["desired_batch_size"] == 1


@pytest.mark.parametrize("name", CLASSES)
def test_pickled(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    tfxio = known.make(tmp_path)
    for one in (tfxio, tfxio.Project(known.tensors[:1])):
        copied = pickle.loads(pickle.dumps(one))
        assert copied.ArrowSchema() == one.ArrowSchema()
        assert copied.TensorRepresentations() == one.TensorRepresentations()
    config = pickle.loads(pickle.dumps(tfxio.TensorAdapterConfig()))
    assert config.tensor_representations == tfxio.TensorRepresentations()
    assert config.arrow_schema == tfxio.ArrowSchema()


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_projection(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    tfxio = known.make(tmp_path)
    wanted = known.tensors[0]
    projected: Any = tfxio.Project([wanted])
    assert projected.origin is tfxio
    assert list(projected.TensorRepresentations()) == [wanted]
    batches = run(*known.head(), projected.BeamSource()).elements
    column = wanted.partition(".")[0]
    assert projected.ArrowSchema().names == [column]
    assert rows(batches) == sorted(repr({column: row[column]}) for row in known.rows)
    none: Any = projected.Project([])
    assert none.origin is tfxio
    assert none.TensorRepresentations() == {}
    assert sum(b.num_rows for b in run(*known.head(), none.BeamSource()).elements) == 3
    with pytest.raises(ValueError, match=r"^Expected tensors among .*, found 'unknown'"):
        tfxio.Project(["unknown"])


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_RAW_COLUMN)
def test_raw_record_column(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    tfxio = known.make(tmp_path, raw_record_column_name="raw")
    assert tfxio.SupportAttachingRawRecords() is True
    assert tfxio.raw_record_column_name == "raw"
    assert tfxio.ArrowSchema() == known.arrow_schema.append(pa.field("raw", BYTES))
    assert sorted(tfxio.TensorRepresentations()) == known.tensors
    batches = run(*known.head(), tfxio.BeamSource()).elements
    expected = [{**row, "raw": [raw]} for row, raw in zip(known.rows, known.records or ())]
    assert rows(batches) == sorted(map(repr, expected))
    assert tfxio.Project([]).ArrowSchema().names == ["raw"]
    with pytest.raises(ValueError, match=r"^Expected a raw-record column with a name of its own"):
        known.make(tmp_path, raw_record_column_name="i")


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_SCHEMA)
def test_empty_schema(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    tfxio = known.make(tmp_path, schema=schema_pb2.Schema())
    assert tfxio.ArrowSchema() == pa.schema([])
    assert tfxio.TensorRepresentations() == {}
    batches = run(*known.head(), tfxio.BeamSource()).elements
    assert sum(batch.num_rows for batch in batches) == 3
    assert all(batch.num_columns == 0 for batch in batches)


@pytest.mark.parametrize("name", WITH_RAW_COLUMN)
def test_without_a_schema(name: str, tmp_path: pathlib.Path) -> None:
    tfxio = CLASSES[name].make(tmp_path, schema=None)
    for ask in (
        tfxio.ArrowSchema,
        tfxio.TensorRepresentations,
        tfxio.TensorAdapterConfig,
        tfxio.TensorAdapter,
        lambda: tfxio.Project(["i"]),
    ):
        with pytest.raises(ValueError, match=r"^Expected a TFMD schema"):
            ask()


@pytest.mark.parametrize("name", IN_MEMORY)
def test_classes_in_memory_read_only_with_beam(name: str, tmp_path: pathlib.Path) -> None:
    tfxio: Any = CLASSES[name].make(tmp_path)
    for one in (tfxio, tfxio.Project([])):
        for method, options in (
            ("RecordBatches", IN_ORDER),
            ("TensorFlowDataset", TensorFlowDatasetOptions(1)),
            ("RawRecordTensorFlowDataset", TensorFlowDatasetOptions(1)),
        ):
            with pytest.raises(NotImplementedError, match=rf"^{name} "):
                getattr(one, method)(options)


@pytest.mark.parametrize("name", IN_MEMORY)
def test_classes_in_memory_take_only_bytes(name: str, tmp_path: pathlib.Path) -> None:
    tfxio = CLASSES[name].make(tmp_path)
    for transform in (tfxio.BeamSource(), tfxio.RawRecordToRecordBatch()):
        with pytest.raises(TypeCheckError, match="bytes"):
            _ = beam.Pipeline() | beam.Create(["text"]) | transform


@pytest.mark.parametrize("name", ["CsvTFXIO", "ParquetTFXIO"])
def test_data_set_that_there_is_none_of(name: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(NotImplementedError, match=rf"^{name} gives no tf\.data\.Dataset$"):
        CLASSES[name].make(tmp_path).TensorFlowDataset(TensorFlowDatasetOptions(1))


@pytest.mark.parametrize("name", sorted(set(WITH_SCHEMA).difference(IN_MEMORY)))
def test_record_batches(name: str, tmp_path: pathlib.Path) -> None:
    known = CLASSES[name]
    tfxio = known.make(tmp_path)
    batches = list(tfxio.RecordBatches(IN_ORDER))
    assert [batch.num_rows for batch in batches] == [2, 1]
    assert [row for batch in batches for row in batch.to_pylist()] == known.rows
    assert all(batch.schema.equals(tfxio.ArrowSchema()) for batch in batches)
    spanning = list(tfxio.RecordBatches(IN_ORDER._replace(num_epochs=2)))
    assert [batch.num_rows for batch in spanning] == [2, 2, 2]
    endless = tfxio.RecordBatches(IN_ORDER._replace(num_epochs=None, batch_size=5))
    assert [next(endless).num_rows for _ in range(4)] == [5] * 4
    dropped = tfxio.RecordBatches(IN_ORDER._replace(drop_final_batch=True))
    assert [batch.num_rows for batch in dropped] == [2]
