from __future__ import annotations

import pytest

from tests.instructions.count import FIGURES, FUNCTIONS, compare, count_self, make_records
from tests.instructions.work import make_call
from tfrecord_beam import kernel

OUTPUT = """\
version: 1
events: Ir

ob=/usr/bin/python3
fl=???
fn=main
0 1000

ob=/x/kernel/_native.cpython-311.so
fl=decode.cc
fn=Decode
12 30
14 5
cob=/lib/libc.so
cfn=memcpy
calls=2 0
14 700
15 6
fi=vector
99 7

ob=/lib/libc.so
fn=memcpy
0 700

totals: 2442
"""


def test_only_the_object_itself_is_counted() -> None:
    assert count_self(OUTPUT.splitlines(), "kernel/_native.") == 30 + 5 + 6 + 7
    assert count_self(OUTPUT.splitlines(), "libc") == 700
    assert count_self(OUTPUT.splitlines(), "bin/python3") == 1000


def test_more_instructions_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    stored = {"scan": 100.0, "decode": 100.0, "encode": 100.0}
    found = {"scan": 104.9, "decode": 105.1, "encode": 94.0}
    assert compare(stored, found) == ["decode"]
    assert "encode               is faster" in capsys.readouterr().out


def test_input_is_always_the_same() -> None:
    data = kernel.frame(make_records("scan", 500))
    assert kernel.masked_crc32c(data) == 0x56581782


@pytest.mark.parametrize("name", FUNCTIONS)
def test_work_does_what_is_counted(name: str) -> None:
    records = make_records(name, 20)
    result = make_call(name, kernel.frame(records))()
    if name == "encode":
        assert isinstance(result, tuple)
        assert bytes(result[0]) == kernel.frame(records)
    assert result
    assert f'"{name}": ' in FIGURES.read_text("utf-8")
