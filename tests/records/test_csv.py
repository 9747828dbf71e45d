"""Lines of CSV to record batches: cells, values, types, and where something is wrong."""

from __future__ import annotations

import csv
import io
import math
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.errors import DecodeError, SchemaError
from tfrecord_beam.records import csv_cells
from tfrecord_beam.records.csv import CsvDecoder, CsvFormat, csv_arrow_schema, types_of_schema
from tfrecord_beam.records.csv_cells import split_line
from tfrecord_beam.records.csv_values import ColumnType, infer_type
from tfrecord_beam.records.lines import LineBlock, join_lines, read_lines
from tfrecord_beam.records.ranges import FileRange

INT, FLOAT, STRING = ColumnType.INT, ColumnType.FLOAT, ColumnType.STRING
UNKNOWN, IGNORE = ColumnType.UNKNOWN, ColumnType.IGNORE


def block_of(content: bytes, start: int = 0) -> LineBlock:
    """Returns the lines of a file from an offset on."""
    [block] = read_lines(
        FileRange("a.csv", start),
        lambda _: io.BytesIO(content),
    )
    return block


def decode(content: bytes, *types: ColumnType, **options: Any) -> dict[str, list[Any]]:
    names = ["a", "b", "c"][: len(types)]
    batch = CsvDecoder(CsvFormat(names, **options)).decode(block_of(content), types)
    batch.validate(full=True)
    raw = options.get("raw_record_column_name")
    if raw is None:
        assert batch.schema == csv_arrow_schema(names, types)
    columns: dict[str, list[Any]] = batch.to_pydict()
    return columns


def infer(content: bytes, num_columns: int = 1, **options: Any) -> tuple[ColumnType, ...]:
    decoder = CsvDecoder(CsvFormat(["a", "b", "c"][:num_columns], **options))
    return decoder.infer(block_of(content))


def test_values_by_type() -> None:
    found = decode(b"1,2.5,x\n-7,1e3, y \n", INT, FLOAT, STRING)
    assert found == {"a": [[1], [-7]], "b": [[2.5], [1000.0]], "c": [[b"x"], [b" y "]]}


def test_empty_cells_are_null() -> None:
    assert decode(b'1,,x\n,"",\n', INT, FLOAT, STRING) == {
        "a": [[1], None],
        "b": [None, None],
        "c": [[b"x"], None],
    }


def test_ignored_and_unknown_columns() -> None:
    assert decode(b"1,x,\n", IGNORE, STRING, UNKNOWN) == {"b": [[b"x"]], "c": [None]}


def test_rows_count_without_columns() -> None:
    decoder = CsvDecoder(CsvFormat(["a", "b"]))
    batch = decoder.decode(block_of(b"1,x\n2,y\n"), [IGNORE, IGNORE])
    assert (batch.num_rows, batch.num_columns) == (2, 0)
    assert [b.num_rows for b in decoder.iter_batches(block_of(b"1,x\n2,y\n"), [IGNORE] * 2, 1)] == [
        1,
        1,
    ]


@pytest.mark.parametrize("number", ["7", " 7 ", "+7", "0_7", "007", "\t7", "\v7"])
def test_integers_are_those_of_python(number: str) -> None:
    assert infer(f"{number}\n".encode()) == (INT,)
    assert decode(f"{number}\n8\n".encode(), INT) == {"a": [[7], [8]]}
    assert decode(f"{number}\n".encode(), FLOAT) == {"a": [[7.0]]}


@pytest.mark.parametrize("text", ["0x1F", "1.0", "1e3", "7 8", " ", "1__0", "9223372036854775808"])
def test_what_is_no_integer(text: str) -> None:
    assert infer(f"{text}\n".encode()) != (INT,)
    with pytest.raises(DecodeError) as caught:
        decode(f"1\n{text}\n".encode(), INT)
    assert str(caught.value) == (
        f"Expected an integer of 64 bits, found b'{text}' - at a.csv:2, line 2, feature 'a'"
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.", 1),
        (".5", 0.5),
        ("+1.5", 1.5),
        ("1_0.5", 10.5),
        ("inf", math.inf),
        (" -Infinity", -math.inf),
    ],
)
def test_numbers_are_those_of_python(text: str, value: float) -> None:
    assert infer(f"{text}\n".encode()) == (FLOAT,)
    assert decode(f"{text}\n".encode(), FLOAT) == {"a": [[value]]}


@pytest.mark.parametrize("text", ["nan(1)", "0x1p3", "1d5", "x", "-"])
def test_what_is_no_number(text: str) -> None:
    assert infer(f"{text}\n".encode()) == (STRING,)
    with pytest.raises(DecodeError, match=r"^Expected a number, found b'.*' - at a.csv:0, line 1"):
        decode(f"{text}\n".encode(), FLOAT)


@pytest.mark.parametrize("text", ["1e39", "-1e300", "1e400", "1_0e38"])
def test_numbers_beyond_float32_are_refused(text: str) -> None:
    assert infer(f"{text}\n".encode()) == (FLOAT,)
    with pytest.raises(DecodeError) as caught:
        decode(f"1\n{text}\n".encode(), FLOAT)
    assert str(caught.value) == (
        f"Expected a number in the range of float32, found b'{text}' "
        "- at a.csv:2, line 2, feature 'a'"
    )


def test_floats_are_rounded_twice_as_python_does() -> None:
    text = "1.00000017881393432617187499"  # as a double exactly between two floats
    assert decode(text.encode(), FLOAT) == {"a": [[1.0000002384185791]]}


_LARGEST = float(np.finfo(np.float32).max)
_FLOATS = st.floats(-_LARGEST, _LARGEST) | st.sampled_from([math.inf, -math.inf, math.nan])


@given(st.lists(_FLOATS.map(repr) | st.just(""), max_size=8))
def test_floats_are_those_of_numpy(cells: list[str]) -> None:
    batch = CsvDecoder(CsvFormat(["a", "b"])).decode(
        join_lines([f"{cell},".encode() for cell in cells]), [FLOAT, IGNORE]
    )
    doubles = pa.array([float(cell) if cell else None for cell in cells], pa.float64())
    expected = doubles.cast(pa.float32(), safe=False).to_pylist()
    found = [None if row is None else row[0] for row in batch.column("a").to_pylist()]
    assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([], UNKNOWN),
        ([None, None], UNKNOWN),
        ([b"1", None], INT),
        ([b"1", b"+2"], INT),
        ([b"1", b"2.5"], FLOAT),
        ([b"2.5", b"+1"], FLOAT),
        ([b"9223372036854775807"], INT),
        ([b"9223372036854775808"], STRING),
        ([b"1.5", b"9223372036854775808"], STRING),
        ([b"1.5", b"12345678901234567890.5"], FLOAT),
        ([b"1", b"x"], STRING),
        ([b"1"] * 50 + [b"x"], STRING),
        ([b"1"] * 50 + [b".5"], FLOAT),
        ([b"1.5"] * 50 + [b"x"], STRING),
        ([b"1", b"0x10"], STRING),
        ([b"nan", b"nan(1)"], STRING),
        ([b"1_000", b"2"], INT),
        ([b"1", b""], INT),
        ([b"\xff"], STRING),
    ],
)
def test_type_of_a_column(cells: list[bytes | None], expected: ColumnType) -> None:
    assert infer_type(pa.array(cells, pa.large_binary())) == expected


def test_types_grow_with_each_block() -> None:
    decoder = CsvDecoder(CsvFormat(["a", "b"]))
    types = decoder.infer(block_of(b"1,x\n"))
    assert types == (INT, STRING)
    larger = decoder.infer(block_of(b"2.5,3\n"), types)
    assert larger == (FLOAT, STRING)
    assert decoder.infer(block_of(b"1,x\n"), larger) == larger
    assert decoder.infer(block_of(b"12345678901234567890,x\n"), larger) == (STRING, STRING)
    assert decoder.infer(block_of(b",\n"), types) == types
    with pytest.raises(DecodeError):  # although all is known
        decoder.infer(block_of(b"1\n"), (STRING, STRING))


def test_quotes() -> None:
    lines = [b'"a,b",x', b'"say ""hi""",x', b'a"b,x', b'"a"b"c,x', b' "a",x']
    expected = [[b"a,b"], [b'say "hi"'], [b'a"b'], [b'ab"c'], [b' "a"']]
    assert decode(b"\n".join(lines), STRING, STRING)["a"] == expected


@given(st.lists(st.text(st.sampled_from('ab,"\r\n é')), min_size=1, max_size=4))
def test_split_line_reads_what_csv_writes(cells: list[str]) -> None:
    line = io.StringIO()
    csv.writer(line, lineterminator="\r\n").writerow(cells)
    assert split_line(line.getvalue().encode(), b",") == [cell.encode() for cell in cells]


@pytest.mark.parametrize("delimiter", [";", "\t", "|", "\x01", "¦", " "])
def test_delimiters(delimiter: str) -> None:
    content = f'1{delimiter}"x{delimiter}y"\n'.encode()
    cell = f"x{delimiter}y".encode()
    assert decode(content, INT, STRING, delimiter=delimiter) == {"a": [[1]], "b": [[cell]]}


def test_bytes_stay_as_they_are() -> None:
    assert decode(b"caf\xe9,a\0b\n", STRING, STRING) == {"a": [[b"caf\xe9"]], "b": [[b"a\0b"]]}
    mark = b"\xef\xbb\xbf"
    assert decode(mark * 2 + b"x\n", STRING) == {"a": [[mark + b"x"]]}  # the first is the file's


def test_cells_of_any_length() -> None:
    cell = b"x" * 300_000
    assert decode(cell + b",\n", STRING, STRING)["a"] == [[cell]]
    assert decode(cell + b",\r\r\n", STRING, STRING)["a"] == [[cell]]  # a line at a time


def test_blank_lines() -> None:
    content = b"\n1,x\r\n\r\n\n,\n"
    assert decode(content, INT, STRING) == {"a": [[1], None], "b": [[b"x"], None]}
    kept = decode(content, INT, STRING, skip_blank_lines=False, raw_record_column_name="raw")
    assert kept == {
        "a": [None, [1], None, None, None],
        "b": [None, [b"x"], None, None, None],
        "raw": [[b""], [b"1,x"], [b""], [b""], [b","]],
    }
    assert decode(b"\n\n", INT) == {"a": []}
    assert decode(b"\n\n", INT, skip_blank_lines=False) == {"a": [None, None]}


def test_raw_records_are_the_lines() -> None:
    found = decode(b'1,"x"\r\n\n2,\xff', INT, IGNORE, raw_record_column_name="raw")
    assert found == {"a": [[1], [2]], "raw": [[b'1,"x"'], [b"2,\xff"]]}


def test_multivalent_columns() -> None:
    options: dict[str, Any] = {"multivalent_columns": ["a", "b"], "secondary_delimiter": ";"}
    content = b'1;2,"x;y"\n,\n3,"""p;q"";r;"\n'
    assert infer(content, 2, **options) == (INT, STRING)
    assert decode(content, INT, STRING, **options) == {
        "a": [[1, 2], None, [3]],
        "b": [[b"x", b"y"], None, [b"p;q", b"r", b""]],
    }
    assert infer(b"1;2.5,\n", 2, **options) == (FLOAT, UNKNOWN)
    assert decode(b"1;2,\n", FLOAT, UNKNOWN, **options) == {"a": [[1.0, 2.0]], "b": [None]}
    with pytest.raises(DecodeError, match=r"found b'' - at a.csv:4, line 2, feature 'a'$"):
        decode(b"1,x\n3;;4,y\n", INT, STRING, **options)
    with pytest.raises(DecodeError, match=r"^Expected every quote closed.* line 1, feature 'b'$"):
        decode(b'1,x;"y\n', INT, STRING, **options)
    assert decode(b"1;2,x\n", STRING, STRING, **(options | {"multivalent_columns": "a"})) == {
        "a": [[b"1", b"2"]],
        "b": [[b"x"]],
    }


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"1,x\n\n2\n", "Expected a line of 2 cells, found 1 - at a.csv:5, line 3"),
        (b"1,x\n2,y,z\n", "Expected a line of 2 cells, found 3 - at a.csv:4, line 2"),
        (
            b'1,x\n2,"y\n3,z\n',
            "Expected every quote closed on its line, found one left open - at a.csv:4, line 2 "
            "(a cell cannot hold a line end)",
        ),
        (
            b'1,x\n2,"y\n',
            "Expected every quote closed on its line, found one left open - at a.csv:4, line 2 "
            "(a cell cannot hold a line end)",
        ),
        (
            b'1,"x\n\n',  # of these Arrow would make one row
            "Expected every quote closed on its line, found one left open - at a.csv:0, line 1 "
            "(a cell cannot hold a line end)",
        ),
        (
            b'1,"x\ny"\n2,z\r3,w\n',  # Arrow would read as many rows as there are lines
            "Expected every quote closed on its line, found one left open - at a.csv:0, line 1 "
            "(a cell cannot hold a line end)",
        ),
        (
            b"1,x\n2,y\r3,z\n",
            "Expected lines that end with LF or CR LF, found a CR or LF inside a line "
            "- at a.csv:4, line 2",
        ),
    ],
)
def test_error_says_where(content: bytes, text: str) -> None:
    for act in (
        lambda: decode(content, INT, STRING),
        lambda: infer(content, 2),
    ):
        with pytest.raises(DecodeError) as caught:
            act()
        assert str(caught.value) == text


def test_error_says_where_without_a_line_number() -> None:
    block = block_of(b"1,x\n2,y\nz,w\n", start=2)
    with pytest.raises(DecodeError) as caught:
        CsvDecoder(CsvFormat(["a", "b"])).decode(block, [INT, STRING])
    assert str(caught.value) == (
        "Expected an integer of 64 bits, found b'z' - at a.csv:8, feature 'a'"
    )


def test_error_shows_little_of_a_long_cell() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(b"x" * 1000, INT)
    assert len(str(caught.value)) < 150


def test_both_ways_to_read_lines_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b'1,"x, ""y""",\r\n\n,\xe9,2\n3,z,""'
    quick = decode(content, INT, STRING, INT, raw_record_column_name="raw")
    monkeypatch.setattr(csv_cells, "_parse_with_arrow", lambda *_: None)
    assert decode(content, INT, STRING, INT, raw_record_column_name="raw") == quick


def test_lines_from_memory_may_have_line_ends_in_quotes() -> None:
    block = join_lines([b'1,"x\ny"', b"2,z\r\n"])
    batch = CsvDecoder(CsvFormat(["a", "b"])).decode(block, [INT, STRING])
    assert batch.to_pydict() == {"a": [[1], [2]], "b": [[b"x\ny"], [b"z"]]}
    with pytest.raises(DecodeError, match=r"found a CR or LF inside a line - at record 1$"):
        CsvDecoder(CsvFormat(["a", "b"])).decode(join_lines([b"1,x", b"2,y\nz"]), [INT, STRING])


def test_batches_are_cut_to_size() -> None:
    decoder = CsvDecoder(CsvFormat(["a"]))
    batches = list(decoder.iter_batches(block_of(b"1\n2\n\n3\n"), [INT], 2))
    assert [batch.to_pydict() for batch in batches] == [{"a": [[1], [2]]}, {"a": [[3]]}]
    assert all(batch.column(0).offset == 0 for batch in batches)
    assert list(decoder.iter_batches(block_of(b"\n"), [INT], None)) == []


def test_types_of_a_schema() -> None:
    schema = schema_pb2.Schema(
        feature=[{"name": "c", "type": "BYTES"}, {"name": "a", "type": "FLOAT"}]
    )
    assert types_of_schema(schema, ["a", "b", "c"]) == (FLOAT, IGNORE, STRING)
    with pytest.raises(SchemaError, match=r"^Expected features of the schema among 'a', found 'c'"):
        types_of_schema(schema, ["a"])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"column_names": ["a", "a"]}, r"^Expected different column_names, found 'a' twice$"),
        ({"column_names": "ab"}, r"^Expected a list of column_names, found 'ab'"),
        ({"delimiter": ",,"}, r"^Expected delimiter to be one character .*, found ',,'$"),
        ({"delimiter": '"'}, r"^Expected delimiter to be one character"),
        ({"delimiter": "\n"}, r"^Expected delimiter to be one character"),
        ({"delimiter": None}, r"^Expected delimiter to be one character .*, found None$"),
        ({"multivalent_columns": ["a"]}, r"^Expected secondary_delimiter to be one character"),
        (
            {"multivalent_columns": ["x"], "secondary_delimiter": ";"},
            r"^Expected multivalent_columns among 'a', 'b', found 'x'$",
        ),
        ({"raw_record_column_name": "b"}, r"^Expected a raw-record column with a name of its own"),
    ],
)
def test_format_that_cannot_be(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        CsvFormat(**{"column_names": ["a", "b"], **options})


def test_decoder_can_be_pickled() -> None:
    decoder = pickle.loads(pickle.dumps(CsvDecoder(CsvFormat(["a"], delimiter=";"))))
    assert decoder.decode(block_of(b"1\n"), [INT]).to_pydict() == {"a": [[1]]}
