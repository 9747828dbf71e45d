"""Which kernel serves: ``TFRECORD_BEAM_KERNEL``, and what happens without the extension."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

NAMES = ["ExampleDecoder", "crc32c", "find_record", "frame", "masked_crc32c", "scan"]

SCRIPT = """
import importlib.abc, json, sys, warnings

NAMES = json.loads(sys.argv[2])

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "tfrecord_beam.kernel._native":
            raise ImportError("no extension today")

if sys.argv[1] == "missing":
    sys.meta_path.insert(0, Missing())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        from tfrecord_beam import kernel
    except Exception as error:
        print(json.dumps({"error": type(error).__name__, "text": str(error)}))
        sys.exit()
print(json.dumps({
    "implementation": kernel.implementation,
    "modules": sorted({getattr(kernel, name).__module__ for name in NAMES}),
    "reference": "tfrecord_beam.kernel.reference" in sys.modules,
    "pyarrow": "pyarrow" in sys.modules,
    "warnings": [[warning.category.__name__, str(warning.message)] for warning in caught],
}))
"""


def choose(choice: str | None, *, missing: bool = False) -> dict[str, Any]:
    """Returns what an interpreter with this choice ends up with."""
    env = {name: value for name, value in os.environ.items() if name != "TFRECORD_BEAM_KERNEL"}
    if choice is not None:
        env["TFRECORD_BEAM_KERNEL"] = choice
    finished = subprocess.run(
        [sys.executable, "-c", SCRIPT, "missing" if missing else "present", json.dumps(NAMES)],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    answer = json.loads(finished.stdout)
    assert isinstance(answer, dict)
    return answer


@pytest.mark.parametrize("choice", [None, "auto", "native"])
def test_native_is_the_default(native: ModuleType, choice: str | None) -> None:
    answer = choose(choice)
    assert answer["implementation"] == "native"
    assert answer["modules"] == [native.__name__]
    assert answer["warnings"] == []
    assert not answer["reference"]
    assert not answer["pyarrow"]


@pytest.mark.parametrize("missing", [True, False], ids=["missing", "present"])
def test_reference_on_request(missing: bool) -> None:
    answer = choose("reference", missing=missing)
    assert answer["implementation"] == "reference"
    assert all(name.startswith("tfrecord_beam.kernel.reference") for name in answer["modules"])
    assert answer["warnings"] == []


@pytest.mark.parametrize("choice", [None, "auto"])
def test_fallback_is_loud(choice: str | None) -> None:
    answer = choose(choice, missing=True)
    assert answer["implementation"] == "reference"
    [[category, text]] = answer["warnings"]
    assert category == "RuntimeWarning"
    assert text.startswith("The native kernel cannot be imported (no extension today)")
    assert "TFRECORD_BEAM_KERNEL=reference" in text


def test_native_on_request_but_missing() -> None:
    assert choose("native", missing=True) == {"error": "ImportError", "text": "no extension today"}


@pytest.mark.parametrize("choice", ["", "Native", "fast"])
def test_unknown_choice(choice: str) -> None:
    assert choose(choice) == {
        "error": "ValueError",
        "text": f"Expected TFRECORD_BEAM_KERNEL to be auto, native or reference, found {choice!r}",
    }


def test_kernels_have_the_same_names(kernel: ModuleType) -> None:
    public = {name for name in vars(kernel) if not name.startswith("_")}
    assert set(NAMES) <= public
