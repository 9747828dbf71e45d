"""What `import tfrecord_beam` offers."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import itertools
import pathlib
import subprocess
import sys
import textwrap
import types
from typing import Any

import pytest

import tfrecord_beam
import tfrecord_beam.tensors

PUBLIC = [
    "BeamRecordCsvTFXIO",
    "BeamRecordToTensorTFXIO",
    "BeamSource",
    "CorruptRecord",
    "CorruptRecordError",
    "CoverageError",
    "CsvTFXIO",
    "DatasetTFXIO",
    "DecodeError",
    "DecodeRecordBlocks",
    "EncodeError",
    "ExamplesToRecordBatchDecoder",
    "FromRows",
    "InferSchema",
    "MissingLibraryError",
    "NoMatchError",
    "ParquetTFXIO",
    "Project",
    "RawBeamRecordTFXIO",
    "RawRecordBeamSource",
    "RawRecordToRecordBatch",
    "RawTfRecordTFXIO",
    "ReadRecordBlocks",
    "RecordBatchesOptions",
    "RecordBlock",
    "SchemaError",
    "SequenceExamplesToRecordBatchDecoder",
    "TFExampleBeamRecord",
    "TFExampleRecord",
    "TFGraphRecordDecoder",
    "TFRecordBeamError",
    "TFRecordToTensorTFXIO",
    "TFRecordWriter",
    "TFSequenceExampleBeamRecord",
    "TFSequenceExampleRecord",
    "ToRows",
    "WriteError",
    "WriteReport",
    "WriteToTFRecord",
    "WrittenFile",
    "WrittenReport",
    "__version__",
    "convert",
    "count",
    "diff_schemas",
    "errors",
    "infer_schema",
    "iter_batches",
    "kernel",
    "read_table",
    "schema_from_arrow",
    "schema_from_spark",
    "tfxio",
    "transforms",
    "validate_batch",
    "write_report",
    "write_table",
]
"""A name that is added or taken away here is a change that users notice."""

TFXIO_NAMES = {
    "BeamRecordCsvTFXIO",
    "CsvTFXIO",
    "RecordBatchToExamplesEncoder",
    "RecordBatchesOptions",
    "TFExampleBeamRecord",
    "TFExampleRecord",
    "TFGraphRecordDecoder",
    "TFSequenceExampleBeamRecord",
    "TFSequenceExampleRecord",
    "TFXIO",
    "TensorAdapter",
    "TensorAdapterConfig",
    "TensorFlowDatasetOptions",
    "TensorRepresentations",
}
"""The names of `tfx_bsl.public.tfxio`."""

SUBMODULES = ["errors", "kernel", "tfxio", "transforms"]
OBJECTS = [name for name in PUBLIC if name not in (*SUBMODULES, "__version__")]


def test_names_are_these() -> None:
    assert list(tfrecord_beam.__all__) == PUBLIC
    assert set(PUBLIC) <= set(dir(tfrecord_beam))
    assert set(dir(tfrecord_beam.tfxio)) >= {*tfrecord_beam.tfxio.__all__} >= TFXIO_NAMES
    assert "TorchDataset" in dir(tfrecord_beam.tensors)


@pytest.mark.parametrize(
    ("package", "submodules"),
    [(tfrecord_beam, SUBMODULES), (tfrecord_beam.tfxio, []), (tfrecord_beam.tensors, [])],
)
def test_type_checkers_see_the_same_names(package: Any, submodules: list[str]) -> None:
    tree = ast.parse(pathlib.Path(package.__file__).read_text(encoding="utf-8"))
    imported = {
        (node.module, alias.name, alias.asname)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    offered = {(module, name) for module, names in package._MODULES.items() for name in names}
    offered |= {(package.__name__, name) for name in submodules}
    assert imported == {(module, name, name) for module, name in offered}


@pytest.mark.parametrize("package", [tfrecord_beam, tfrecord_beam.tfxio])
def test_names_are_what_their_modules_have(package: Any) -> None:
    for module, names in package._MODULES.items():
        for name in names:
            found = getattr(package, name)
            assert found is getattr(importlib.import_module(module), name)
            # To Python 3.10 an alias such as dict[str, int] is a class too.
            if inspect.isclass(found) and not isinstance(found, types.GenericAlias):
                assert getattr(importlib.import_module(found.__module__), name) is found


@pytest.mark.parametrize("name", SUBMODULES)
def test_submodule_is_loaded_on_use(name: str) -> None:
    assert getattr(tfrecord_beam, name) is sys.modules[f"tfrecord_beam.{name}"]


@pytest.mark.parametrize("name", OBJECTS)
def test_name_is_documented(name: str) -> None:
    found = getattr(tfrecord_beam, name)
    doc = inspect.cleandoc(found.__doc__ or "")  # Its own: an inherited one is not there.
    first, *_ = doc.split("\n\n")
    assert first.endswith(".")
    if not (inspect.isclass(found) and issubclass(found, Exception)):
        assert any(example in doc for example in ("Example::\n", ">>> ", "Attributes:"))


@pytest.mark.parametrize("name", OBJECTS)
def test_example_calls_as_the_signature_says(name: str) -> None:
    """Doctests run by themselves; an ``Example::`` needs files, so its calls are looked at."""
    _, *example = (inspect.getdoc(getattr(tfrecord_beam, name)) or "").split("Example::\n", 1)
    lines = itertools.takewhile(lambda line: line[:1] in ("", " "), "".join(example).splitlines())
    for node in ast.walk(ast.parse(textwrap.dedent("\n".join(lines)))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in OBJECTS:
            signature = inspect.signature(getattr(tfrecord_beam, ast.unparse(node.func)))
            signature.bind(*node.args, **{str(each.arg): each.value for each in node.keywords})


@pytest.mark.parametrize("name", OBJECTS)
def test_each_argument_is_documented(name: str) -> None:
    """Or the text says whose arguments the others are."""
    found = getattr(tfrecord_beam, name)
    if inspect.isclass(found) and (issubclass(found, Exception) or dataclasses.is_dataclass(found)):
        return
    doc = inspect.getdoc(found) or ""
    if "as are" in doc or "as for" in doc:
        return
    missing = [
        parameter
        for parameter in inspect.signature(found).parameters
        if f"  {parameter}: " not in doc
    ]
    assert missing == []


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match=r"^module 'tfrecord_beam' has no attribute 'Sauce'$"):
        tfrecord_beam.Sauce  # noqa: B018


def test_star_import_gives_the_names() -> None:
    script = "from tfrecord_beam import *; print(*sorted(n for n in dir() if n[:2] != '__'))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == sorted([*OBJECTS, *SUBMODULES])
