"""The public names of tfx_bsl: each is in the page, and here with the same arguments."""

from __future__ import annotations

import functools
import importlib
import inspect
import types
from typing import Any, TypeVar

import pytest

from tests.compat.peers import import_peer
from tests.tfxio.names_page import Name, read_names

import_peer("tfx_bsl.public.tfxio")

NAMES = read_names()
PUBLIC = "tfx_bsl.public.tfxio"
MODULES = sorted({name.theirs for name in NAMES})

OTHER_PARAMETERS = {
    "tfx_bsl.tfxio.record_to_tensor_tfxio.RecordToTensorTFXIO": "it always shares a decoder",
}
"""What takes other arguments, and why."""

OTHER_DEFAULTS = {
    "tfx_bsl.tfxio.dataset_tfxio.DatasetTFXIO": "the options below",
    "tfx_bsl.tfxio.dataset_tfxio.DatasetTFXIOOptions": "a folder is made when it is needed",
    "tfx_bsl.tfxio.tensor_to_arrow.TensorsToRecordBatchConverter": "None is Options()",
}
"""What has another default, and why."""


def public_names(module: str) -> set[str]:
    """Returns what a module of tfx_bsl itself makes; of the public one, what it passes on."""
    found = set()
    for name, value in vars(importlib.import_module(module)).items():
        home = getattr(value, "__module__", module) or module
        is_own = home == module or home.startswith("tfx_bsl.cc.") or module == PUBLIC
        if (
            is_own
            and not isinstance(value, TypeVar)
            and not name.startswith("_")
            and not isinstance(value, (types.ModuleType, tuple))
        ):
            found.add(name)
    return found - {"absolute_import", "division", "print_function"}


def parameters(function: Any) -> list[tuple[str, Any]] | None:
    """Returns names and defaults, None of what C++ does not tell them of."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    if list(signature.parameters) == ["args", "kwargs"]:  # a __new__ that passes all to __init__
        signature = inspect.signature(functools.partial(function.__init__, None))
    return [(parameter.name, parameter.default) for parameter in signature.parameters.values()]


def check_parameters(theirs: Any, ours: Any, name: str) -> None:
    expected, found = parameters(theirs), parameters(ours)
    if expected is None or name in OTHER_PARAMETERS:
        return
    assert found is not None
    if name in OTHER_DEFAULTS:
        assert found != expected
        assert [each[0] for each in found] == [each[0] for each in expected]
        return
    assert found[: len(expected)] == expected
    extra = list(inspect.signature(ours).parameters.values())[len(expected) :]
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in extra)


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_in_the_page(module: str) -> None:
    assert {name.name for name in NAMES if name.theirs == module} == public_names(module)


def of_both(name: Name) -> tuple[Any, Any]:
    """Returns what has the name in tfx_bsl, and what has it here."""
    return tuple(getattr(importlib.import_module(m), name.name) for m in (name.theirs, name.ours))


KEPT = [name for name in NAMES if not name.is_left_out]
CLASSES = [name for name in KEPT if inspect.isclass(of_both(name)[0])]


@pytest.mark.parametrize("name", KEPT, ids=str)
def test_name_takes_the_same(name: Name) -> None:
    theirs, ours = of_both(name)
    if inspect.isclass(theirs) or inspect.isroutine(theirs):
        check_parameters(theirs, ours, str(name))


@pytest.mark.parametrize("name", CLASSES, ids=str)
def test_class_has_the_same_methods(name: Name) -> None:
    theirs, ours = of_both(name)
    assert inspect.isclass(ours)
    for method, function in inspect.getmembers(theirs):
        if not method.startswith("_"):
            assert hasattr(ours, method), method
            if inspect.isfunction(function):
                check_parameters(function, getattr(ours, method), f"{name}.{method}")


def test_deviations_are_of_names_in_the_page() -> None:
    assert {*OTHER_PARAMETERS, *OTHER_DEFAULTS} <= set(map(str, KEPT))
