"""The floors of the package: who may import whom, and what an import costs."""

from __future__ import annotations

import ast
import dataclasses
import functools
import graphlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tfrecord_beam.lazy import EXTRAS

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "tfrecord_beam"

# Each floor may use those of a smaller number; two of one number may not use each other.
FLOORS = {
    "caller": 0,
    "errors": 0,
    "lazy": 1,
    "options": 1,
    "urls": 1,
    "kernel": 2,
    "schema": 3,
    "records": 4,
    "report": 5,
    "tensors": 6,
    "transforms": 6,
    "tfxio": 7,
    "cli": 8,
    "__main__": 9,
}

# What of the kernel a floor or a single module may import. Most functions are for records, those
# of arrays and coordinates also for tensors.
OF_THE_KERNEL = {
    "records": r"tfrecord_beam\.kernel(\..+)?",
    "schema": r"tfrecord_beam\.kernel\.plan(\..+)?",
    "report": r"tfrecord_beam\.kernel\.plan(\..+)?",
    "tensors": r"tfrecord_beam\.kernel",
    "tfrecord_beam.tfxio.arrow.array_util": r"tfrecord_beam\.kernel",
    "tfrecord_beam.tfxio.arrow.table_util": r"tfrecord_beam\.kernel",
    "tfrecord_beam.transforms.metrics": r"tfrecord_beam\.kernel(\.implementation)?",
}

WITHOUT_BEAM = (
    "caller",
    "errors",
    "lazy",
    "options",
    "urls",
    "kernel",
    "schema",
    "records",
    "report",
    "tensors",
)

ON_USE = ("tensorflow", "tfx_bsl", "torch")
"""Optional and slow to import: never imported before they are needed."""


@dataclasses.dataclass(frozen=True)
class Import:
    """One imported name.

    Attributes:
      name: the full name, ``package.module.attribute``.
      at_load: whether loading the module imports it: not in a function, not for type checkers.
      line: where it stands.
    """

    name: str
    at_load: bool
    line: int


@functools.cache
def modules() -> dict[str, Path]:
    """Returns the file of each Python module of the package, stubs too, by its full name."""
    found = {}
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


@functools.cache
def imports_of(module: str) -> tuple[Import, ...]:
    """Returns everything that a module imports."""
    tree = ast.parse(modules()[module].read_text(encoding="utf-8"))
    package = module if modules()[module].stem == "__init__" else module.rpartition(".")[0]
    return tuple(_walk(tree, package, at_load=True))


def _walk(node: ast.AST, package: str, *, at_load: bool) -> Iterator[Import]:
    child: ast.AST
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, at_load, node.lineno)
    elif isinstance(node, ast.ImportFrom):
        parents = package.split(".")
        base = parents[: len(parents) - node.level + 1] if node.level else []
        source = ".".join([*base, node.module] if node.module else base)
        for alias in node.names:
            yield Import(f"{source}.{alias.name}", at_load, node.lineno)
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for child in node.body:
            yield from _walk(child, package, at_load=False)
        for child in node.orelse:
            yield from _walk(child, package, at_load=at_load)
    else:
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            yield from _walk(child, package, at_load=at_load and not inside)


def module_of(name: str) -> str:
    """Returns the module of the package that an imported name belongs to."""
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name


def floor_of(name: str) -> str:
    """Returns the floor that a module or an imported name is on; "" for the package itself."""
    return [*name.split("."), ""][1]


def is_of(name: str, library: str) -> bool:
    return name == library or name.startswith(f"{library}.")


def own_imports() -> list[tuple[str, Import]]:
    """Returns each import of something of the package, with the module that does it."""
    return [
        (module, one)
        for module in modules()
        for one in imports_of(module)
        if is_of(one.name, "tfrecord_beam")
    ]


def is_allowed(module: str, name: str) -> bool:
    """Whether `module` may import `name`, both of the package."""
    here, there = floor_of(module), floor_of(name)
    if there == "__version__":
        return True
    if there not in FLOORS:  # One of the public names, which are made of the floors below cli.
        return FLOORS[here] >= FLOORS["cli"]
    if here == there:
        return True
    if there == "kernel":
        pattern = OF_THE_KERNEL.get(module) or OF_THE_KERNEL.get(here)
        return pattern is not None and re.fullmatch(pattern, name) is not None
    return FLOORS[here] > FLOORS[there]


def need_framework() -> set[str]:
    """Returns the modules that cannot be loaded without TensorFlow or torch."""
    return {
        module
        for module in modules()
        for one in imports_of(module)
        if one.at_load and any(is_of(one.name, framework) for framework in ON_USE)
    }


def test_every_module_is_on_a_floor() -> None:
    unknown = {floor_of(module) for module in modules()} - {"", *FLOORS}
    assert unknown == set()


def test_imports_go_up_only() -> None:
    wrong = [
        f"{module}:{one.line} imports {one.name}"
        for module, one in own_imports()
        if floor_of(module) and not is_allowed(module, one.name)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("module", "name", "allowed"),
    [
        ("tfrecord_beam.kernel.faults", "tfrecord_beam.errors.DecodeError", True),
        ("tfrecord_beam.errors", "tfrecord_beam.kernel.plan", False),
        ("tfrecord_beam.schema.arrow", "tfrecord_beam.kernel.plan.Column", True),
        ("tfrecord_beam.schema.arrow", "tfrecord_beam.kernel.scan", False),
        ("tfrecord_beam.schema.arrow", "tfrecord_beam.records.block", False),
        ("tfrecord_beam.records.reader", "tfrecord_beam.kernel.scan", True),
        ("tfrecord_beam.records.reader", "tfrecord_beam.kernel", True),
        ("tfrecord_beam.transforms.metrics", "tfrecord_beam.kernel.implementation", True),
        ("tfrecord_beam.transforms.metrics", "tfrecord_beam.kernel.scan", False),
        ("tfrecord_beam.transforms.metrics", "tfrecord_beam.kernel", True),
        ("tfrecord_beam.transforms.read", "tfrecord_beam.kernel", False),
        ("tfrecord_beam.transforms.read", "tfrecord_beam.kernel.implementation", False),
        ("tfrecord_beam.transforms.read", "tfrecord_beam.records.block.RecordBlock", True),
        ("tfrecord_beam.transforms.read", "tfrecord_beam.tensors.adapter", False),
        ("tfrecord_beam.tensors.adapter", "tfrecord_beam.transforms.read", False),
        ("tfrecord_beam.tfxio.tfxio", "tfrecord_beam.kernel.plan.Column", False),
        ("tfrecord_beam.tfxio.tfxio", "tfrecord_beam.tensors.adapter", True),
        ("tfrecord_beam.tfxio.tfxio", "tfrecord_beam.BeamSource", False),
        ("tfrecord_beam.transforms.workers", "tfrecord_beam.__version__", True),
        ("tfrecord_beam.cli.main", "tfrecord_beam.tfxio.tfxio", True),
        ("tfrecord_beam.cli.main", "tfrecord_beam", True),
    ],
)
def test_the_rule_itself(module: str, name: str, allowed: bool) -> None:
    assert is_allowed(module, name) is allowed


def test_metrics_read_only_which_kernel_serves() -> None:
    tree = ast.parse(modules()["tfrecord_beam.transforms.metrics"].read_text(encoding="utf-8"))
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "kernel"
    }
    assert used == {"implementation"}


def test_no_module_needs_itself() -> None:
    """Imports while loading form no circle; packages' ``__init__`` only pass names on."""
    graph: dict[str, set[str]] = {module: set() for module in modules()}
    for module, one in own_imports():
        target = module_of(one.name)
        ends = {modules()[end].stem for end in (module, target) if end}
        if one.at_load and target not in ("", module) and "__init__" not in ends:
            graph[module].add(target)
    graphlib.TopologicalSorter(graph).prepare()


def test_lower_floors_know_no_beam() -> None:
    wrong = [
        f"{module}:{one.line} imports {one.name}"
        for module in modules()
        if floor_of(module) in WITHOUT_BEAM
        for one in imports_of(module)
        if is_of(one.name, "apache_beam")
    ]
    assert wrong == []


def test_only_the_reference_kernel_knows_messages() -> None:
    wrong = [
        f"{module}:{one.line} imports {one.name}"
        for module in modules()
        if floor_of(module) == "kernel" and not module.startswith("tfrecord_beam.kernel.reference")
        for one in imports_of(module)
        if is_of(one.name, "google") or is_of(one.name, "tensorflow_metadata")
    ]
    assert wrong == []


def test_frameworks_are_imported_on_use() -> None:
    """A module that needs one to load is itself imported by nobody that loads without it."""
    needs = need_framework()
    wrong = [
        f"{module}:{one.line} imports {one.name}"
        for module, one in own_imports()
        if one.at_load and module not in needs and module_of(one.name) in needs
    ]
    assert wrong == []
    assert all(floor_of(module) == "tensors" for module in needs)


def test_imports_of_extras_name_the_extra() -> None:
    wrong = []
    for module, path in modules().items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        safe = {
            one.lineno
            for node in ast.walk(tree)
            if (isinstance(node, ast.With) and "ExtraImport" in ast.unparse(node.items[0]))
            or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
            for one in ast.walk(node)
            if isinstance(one, (ast.Import, ast.ImportFrom))
        }
        wrong += [
            f"{module}:{one.line} imports {one.name}"
            for one in imports_of(module)
            if any(is_of(one.name, library) for library in EXTRAS) and one.line not in safe
        ]
    assert wrong == []


def test_each_do_fn_checks_where_it_runs() -> None:
    wrong = [
        f"{module}:{node.lineno} {node.name}"
        for module, path in modules().items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name != "LibraryDoFn"
        if any(ast.unparse(base).endswith("beam.DoFn") for base in node.bases)
    ]
    assert wrong == []


def test_pybind11_is_in_few_files() -> None:
    sources = [path for path in (PACKAGE / "kernel" / "native").rglob("*") if path.is_file()]
    include = re.compile(r"#\s*include\s*[<\"]pybind11")
    with_pybind11 = [path.name for path in sources if include.search(path.read_text("utf-8"))]
    assert sorted(with_pybind11) == [
        "arrays_module.cc",
        "batch_reader_module.cc",
        "bindings.h",
        "encode_module.cc",
        "module.cc",
        "numpy_arrays.h",
    ]


def run(*arguments: str) -> str:
    """Returns what a fresh interpreter prints."""
    finished = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.parametrize(
    ("module", "libraries"),
    [
        ("tfrecord_beam", {"apache_beam", "pyarrow", "tensorflow", "torch"}),
        ("tfrecord_beam.tfxio", {"apache_beam", "pyarrow", "tensorflow", "torch"}),
        ("tfrecord_beam.tfxio.arrow.table_util", {"apache_beam", "tensorflow"}),
        ("tfrecord_beam.tfxio.coders.example_coder", {"apache_beam", "tensorflow"}),
        ("tfrecord_beam.tfxio.tensor_adapter", {"apache_beam", "tensorflow"}),
    ],
)
def test_what_need_not_be_loaded_is_not(module: str, libraries: set[str]) -> None:
    script = f"import sys, {module}; print(*sorted(sys.modules))"
    loaded = set(run("-W", "error", "-c", script).split())
    assert module in loaded
    assert loaded.isdisjoint(libraries)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize(
    ("floors", "libraries"),
    [
        (("", *WITHOUT_BEAM), "pyarrow"),
        (("transforms", "tfxio", "cli"), "apache_beam,apache_beam.io"),
    ],
    ids=["without Beam", "with Beam"],
)
def test_each_module_imports_alone(floors: tuple[str, ...], libraries: str) -> None:
    names = [
        module
        for module, path in modules().items()
        if floor_of(module) in floors and path.suffix == ".py" and module not in need_framework()
    ]
    assert names
    assert run("-m", "tests.isolated.import_alone", libraries, *names) == ""
