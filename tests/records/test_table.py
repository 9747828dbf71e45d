"""Tests of tfrecord_beam.records.table: files without Beam."""

from __future__ import annotations

import gzip
import pathlib
from typing import Any

import pyarrow as pa
import pytest

from tests.frames import framed
from tests.records.reading import flip
from tests.schema.schemas import parse_schema
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tests.wire import (
    bytes_list,
    entry,
    example,
    feature_list,
    floats,
    int64,
    sequence_example,
)
from tfrecord_beam import convert
from tfrecord_beam.errors import (
    CorruptRecordError,
    DecodeError,
    NoMatchError,
    SchemaError,
    TFRecordBeamError,
)
from tfrecord_beam.kernel.plan import RecordType
from tfrecord_beam.records.corruption import CorruptRecord
from tfrecord_beam.records.files import iter_blocks
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.records.table import count, iter_batches, read_table

COLUMNS = ["name", "id", "score", "index", "old"]


@pytest.fixture
def files(tmp_path: pathlib.Path) -> list[pathlib.Path]:
    """Files that hold `RECORDS` in order, one of them compressed and one without records."""
    return write_files(tmp_path)


def write(folder: pathlib.Path, *records: bytes, name: str = "a") -> pathlib.Path:
    (folder / name).write_bytes(framed(*records))
    return folder / name


def test_blocks_come_in_the_order_of_the_files(files: list[pathlib.Path]) -> None:
    blocks = list(iter_blocks(files, ReadOptions(batch_size=8)))
    assert [record for block in blocks for record in block.records()] == RECORDS
    assert {block.file for block in blocks} == {str(files[0]), str(files[1]), str(files[3])}
    assert blocks[0].first_record == 0


def test_batches(files: list[pathlib.Path]) -> None:
    batches = list(iter_batches(files, SCHEMA, batch_size=8))
    assert [batch.num_rows for batch in batches] == [8, 8, 8, 6, 8, 8, 4, 7]
    table = pa.Table.from_batches(batches)
    assert table.column("id").to_pylist() == [[i] for i in range(NUM_RECORDS)]
    assert table.equals(read_table(files, SCHEMA).combine_chunks().cast(table.schema))


@pytest.mark.parametrize("form", ["folder", "pattern", "path", "list"])
def test_forms_of_a_path(files: list[pathlib.Path], form: str) -> None:
    folder = files[0].parent
    path: Any = {
        "folder": folder,
        "pattern": str(folder / "?.tfrecord*"),
        "path": files[0],
        "list": [files[0], str(folder / "*.gz"), folder],
    }[form]
    assert count(path) == (30 if form == "path" else NUM_RECORDS)


def test_columns_and_raw_records(files: list[pathlib.Path]) -> None:
    table = read_table(files, SCHEMA, columns=["score", "id"], raw_record_column_name="raw")
    assert table.column_names == ["score", "id", "raw"]
    assert table.column("raw").to_pylist() == [[record] for record in RECORDS]
    assert read_table(files, SCHEMA).column_names == COLUMNS


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["without schema", "with schema"])
def test_columns_that_can_be_iterated_only_once(files: list[pathlib.Path], schema: Any) -> None:
    columns: Any = iter(["score", "id"])
    table = read_table(files, schema, columns=columns)
    assert table.equals(read_table(files, schema, columns=["score", "id"]))
    assert table.column("id").null_count == 0


def test_bound_in_bytes(files: list[pathlib.Path]) -> None:
    batches = list(iter_batches(files[0], SCHEMA, batch_bytes=500))
    assert len(batches) > 2
    assert sum(batch.num_rows for batch in batches) == 30


LOST = r"^Expected columns among 'b', 'empty', found 'lost', which no record has$"


def test_no_records_give_a_table_of_the_schema(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path)
    assert list(iter_batches(path, SCHEMA)) == []
    table = read_table(path, SCHEMA)
    assert (table.num_rows, table.column_names) == (0, COLUMNS)
    assert read_table(path).column_names == []
    assert read_table(path, columns=["a"], raw_record_column_name="raw").schema == pa.schema(
        [("a", pa.null()), ("raw", pa.large_list(pa.large_binary()))]
    )
    assert count(path) == 0


def test_without_a_schema_columns_are_those_of_all_files(tmp_path: pathlib.Path) -> None:
    write(tmp_path, example(entry("b", int64(1)), entry("empty", b"")), name="1")
    write(tmp_path, example(entry("a", floats(2)), entry("b", b"")), name="2")
    write(tmp_path, example(entry("c", bytes_list(b"x")), entry("empty", int64(5))), name="3")
    table = read_table(tmp_path, raw_record_column_name="B")
    assert table.column_names == ["a", "b", "c", "empty", "B"]
    assert table.column("a").to_pylist() == [None, [2.0], None]
    assert table.column("b").to_pylist() == [[1], None, None]
    assert table.column("empty").to_pylist() == [None, None, [5]]
    assert table.schema.field("empty").type == pa.large_list(pa.int64())
    with pytest.warns(UserWarning, match=LOST) as caught:
        chosen = read_table(tmp_path, columns=["c", "b", "lost"])
    assert caught[0].filename == __file__
    assert chosen.column_names == ["c", "b", "lost"]
    assert chosen.schema.field("lost").type == pa.null()
    assert chosen.column("c").to_pylist() == [None, None, [b"x"]]


def test_without_a_schema_columns_that_no_record_has_are_told(tmp_path: pathlib.Path) -> None:
    """After the last batch, since the last record may have it; not one without a kind."""
    record = example(entry("age", int64(1)), entry("kindless", b""))
    for name in ("day=1", "day=2", "day=3"):
        (tmp_path / name).mkdir()
    for name in ("day=1/1", "day=2/2"):
        write(tmp_path, record, name=name)
    text = (
        r"^Expected columns among 'age', 'day', 'kindless', found 'agee', which no record has "
        r"\(did you mean 'age'\?\)$"
    )
    for threads in (1, 2):
        batches = iter_batches(
            tmp_path, columns=["agee", "day", "kindless"], partition_columns="hive", threads=threads
        )
        assert [next(batches).num_rows, next(batches).num_rows] == [1, 1]
        with pytest.warns(UserWarning, match=text) as caught:
            assert list(batches) == []
        assert caught[0].filename == __file__
    write(tmp_path, example(entry("agee", int64(1))), name="day=3/3")
    table = read_table(tmp_path, columns=["agee", "kindless"])
    assert table.column("agee").to_pylist() == [None, None, [1]]


def test_without_a_schema_steps_that_no_record_has_are_told(tmp_path: pathlib.Path) -> None:
    record = sequence_example(feature_list("ids", int64(1)), context=example(entry("id", int64(7))))
    path = write(tmp_path, record)
    options: Any = {"record_type": "SequenceExample"}
    for columns in (["id", "##SEQUENCE##"], ["##SEQUENCE##.ids"]):
        assert read_table(path, columns=columns, **options).num_rows == 1
    with pytest.warns(UserWarning, match=r"found '##SEQUENCE##\.id', which no record has"):
        read_table(path, columns=["id", "##SEQUENCE##.id"], **options)


def test_schema_of_other_records(tmp_path: pathlib.Path) -> None:
    """All its features are missing; it may be that only the last record has one of them."""
    path = write(tmp_path, *[example(entry("agee", int64(1)))] * 3)
    schema = parse_schema('feature { name: "age" type: INT } feature { name: "name" type: BYTES }')
    text = (
        r"^Expected features of the schema among 'agee', found 'age', 'name', which no record has "
        r"\(did you mean 'agee'\?\)$"
    )
    with pytest.warns(UserWarning, match=text) as caught:
        table = read_table(path, schema)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert table.column("age").null_count == 3
    with pytest.warns(UserWarning, match=text):
        list(iter_batches(path, schema, batch_size=1))
    with pytest.warns(UserWarning, match=text):
        convert(path, tmp_path / "a.parquet", schema)
    write(tmp_path, example(entry("name", bytes_list())), name="b")
    assert read_table([path, tmp_path / "b"], schema).num_rows == 4


@pytest.mark.parametrize("record_type", ["Example", "SequenceExample"])
def test_schema_of_records_that_lack_what_is_read(
    tmp_path: pathlib.Path, record_type: RecordType
) -> None:
    """No warning: the schema fits, or nothing contradicts it."""
    context = example(entry("age", int64(1)))
    record = context if record_type == "Example" else sequence_example(context=context)
    schema = parse_schema('feature { name: "age" type: INT } feature { name: "name" type: BYTES }')
    path = write(tmp_path, record)
    table = read_table(path, schema, columns=["name"], record_type=record_type)
    assert table.column("name").null_count == 1
    path = write(tmp_path, b"", b"", name="empty")
    assert read_table(path, schema, record_type=record_type).num_rows == 2


def test_schema_of_other_sequences(tmp_path: pathlib.Path) -> None:
    record = sequence_example(feature_list("ids", int64(1)), context=example(entry("id", int64(7))))
    path = write(tmp_path, record)
    schema = parse_schema(
        """
        feature { name: "key" type: INT }
        feature { name: "##SEQUENCE##" type: STRUCT
                  struct_domain { feature { name: "keys" type: INT } } }
        """
    )
    with pytest.warns(UserWarning, match=r"found 'key', '##SEQUENCE##\.keys', which no record has"):
        read_table(path, schema, record_type="SequenceExample")
    schema.feature[1].struct_domain.feature[0].name = "ids"
    assert read_table(path, schema, record_type="SequenceExample").num_rows == 1


def test_without_a_schema_a_column_has_one_kind(tmp_path: pathlib.Path) -> None:
    write(tmp_path, example(entry("a", int64(1))), name="1")
    write(tmp_path, example(entry("a", floats(1))), name="2")
    text = rf"^Expected int64_list for feature 'a' as at {tmp_path}/1:0, record 0, found float_list"
    for columns in (None, ["a"]):
        with pytest.raises(DecodeError, match=text) as caught:
            read_table(tmp_path, columns=columns)
        assert (caught.value.file, caught.value.offset) == (str(tmp_path / "2"), 0)
        assert caught.value.hint == "give a schema, or read the column apart"
    assert len(list(iter_batches(tmp_path))) == 2


def test_errors_say_where(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, b"\xff", name="no-example")
    with pytest.raises(DecodeError, match=rf" - at {path}:0, record 0"):
        list(iter_batches(path))
    path.write_bytes(flip(framed(*RECORDS[:3]), 30))
    with pytest.raises(CorruptRecordError, match=rf"mismatch.* - at {path}:0, record 0"):
        count(path)
    with pytest.raises(NoMatchError, match=r"^Expected files at '.*lost', found none"):
        count(tmp_path / "lost")


def test_what_is_corrupt_goes_to_the_handler(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, RECORDS[0], b"\xff", *RECORDS[2:5])
    path.write_bytes(flip(path.read_bytes(), path.stat().st_size - 1))

    def read_both(**options: Any) -> list[pa.Table]:
        batches = iter_batches(path, SCHEMA, **options)
        return [read_table(path, SCHEMA, **options), pa.Table.from_batches(batches)]

    corrupt: list[CorruptRecord] = []
    for table in read_both(error_handler=corrupt.append, max_corrupt_records=2):
        assert table.column("id").to_pylist() == [[0], [2], [3]]
    assert sorted(each.record or 0 for each in corrupt) == [1, 1, 4, 4]
    with pytest.raises(TFRecordBeamError, match=r"^Expected at most 1 corrupt record, found 2"):
        read_both(error_handler=corrupt.append, max_corrupt_records=1)


def test_count_with_a_handler(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, b"any", b"content", b"at all")
    path.write_bytes(flip(path.read_bytes(), 20))
    corrupt: list[CorruptRecord] = []
    assert count(path, error_handler=corrupt.append) == 2
    assert [each.offset for each in corrupt] == [19]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_corrupt_records": 1}, "^Expected error_handler beside max_corrupt_records"),
        ({"error_handler": print, "max_corrupt_records": -1}, "^Expected max_corrupt_records to"),
        ({"error_handler": print, "max_corrupt_records": True}, "^Expected max_corrupt_records t"),
        ({"batch_size": 0}, "^Expected batch_size to be None or an int of at least 1, found 0$"),
        ({"batch_bytes": 0}, "^Expected batch_bytes to be None or an int of at least 1, found 0$"),
        ({"compression": "rar"}, "^Expected compression to be None or one of"),
        ({"columns": ["lost"]}, "^Expected columns among 'name', 'id', .*, found 'lost'"),
        ({"columns": "id"}, r"^Expected a list of columns, found 'id' \(write \['id'\]\)"),
        ({"raw_record_column_name": "id"}, "^Expected a raw-record column with a name of its own"),
    ],
)
def test_options_are_checked_at_once(
    files: list[pathlib.Path], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        iter_batches(files, SCHEMA, **options)


def test_progress_reaches_the_end(files: list[pathlib.Path]) -> None:
    total = sum(file.stat().st_size for file in files)
    steps: list[tuple[int, int]] = []
    list(iter_batches(files, SCHEMA, batch_size=5, progress=lambda *step: steps.append(step)))
    assert steps == sorted(steps)
    assert {whole for _, whole in steps} == {total}
    assert steps[-1] == (total, total)
    assert len(steps) > len(files)


def test_compression_and_crc_options(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(gzip.compress(framed(*RECORDS)))
    assert count(path) == count(path, compression="gzip") == NUM_RECORDS
    with pytest.raises(CorruptRecordError, match=r"found a gzip-compressed file"):
        count(path, compression=None)
    path.write_bytes(flip(framed(*RECORDS), 13))
    assert count(path, validate_crc=False) == NUM_RECORDS
    with pytest.raises(CorruptRecordError, match="Payload CRC mismatch"):
        count(path)


@pytest.mark.parametrize("read", [iter_batches, lambda path: iter_blocks(path, ReadOptions())])
def test_missing_files_are_an_error_at_once(tmp_path: pathlib.Path, read: Any) -> None:
    with pytest.raises(NoMatchError, match=r"^Expected files at '.*lost', found none"):
        read(tmp_path / "lost")


@pytest.mark.parametrize("read", [count, iter_batches, read_table])
def test_handler_that_is_no_function_is_refused(files: list[pathlib.Path], read: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^Expected error_handler to be None or a function, found 5$"
    ):
        read(files, error_handler=5)


def test_rows_without_columns_are_counted(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.tfrecord"
    path.write_bytes(framed(b"", b"", b""))
    for schema in (None, b""):
        table = read_table(path, schema, columns=[])
        assert (table.num_rows, table.num_columns) == (3, 0)


# --- Inferred schemas --------------------------------------------------------------------


def test_schema_may_be_inferred(tmp_path: pathlib.Path) -> None:
    write(tmp_path, example(entry("b", int64(1))), name="1")
    write(tmp_path, example(entry("a", floats(2, 3))), name="2")
    batches = list(iter_batches(tmp_path, "infer"))
    assert [batch.schema.names for batch in batches] == [["a", "b"]] * 2
    assert pa.Table.from_batches(batches) == read_table(tmp_path, "infer").combine_chunks()
    columns: Any = iter(["b"])
    assert read_table(tmp_path, "infer", columns=columns).column_names == ["b"]
    assert read_table(tmp_path, "infer", scalars=True).column("b").to_pylist() == [1, None]
    with pytest.raises(SchemaError, match=r"^Expected columns among 'b', found 'lost', 'c'"):
        read_table(tmp_path, "infer", columns=["b", "lost", "c"])


def test_options_are_checked_before_the_schema_is_inferred(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, b"no message")
    with pytest.raises(ValueError, match=r"^Expected threads to be None or an int of at least 1"):
        iter_batches(path, "infer", threads=0)
    with pytest.raises(ValueError, match=r"^Expected progress to be None or a function"):
        read_table(path, "infer", progress=5)  # type: ignore[arg-type]


def test_text_is_found_where_the_schema_is_inferred(tmp_path: pathlib.Path) -> None:
    text, other = bytes_list("ä".encode()), bytes_list(b"\xff")
    path = write(tmp_path, example(entry("a", text), entry("b", text), entry("c", other)))
    table = read_table(path, "infer", columns=["c", "a"], strings=True, scalars=True)
    assert table.to_pylist() == [{"c": b"\xff", "a": "ä"}]


def test_kinds_of_an_inferred_schema(tmp_path: pathlib.Path) -> None:
    write(tmp_path, example(entry("a", int64(1)), entry("b", int64(1))), name="1")
    write(tmp_path, example(entry("a", floats(1))), name="2")
    with pytest.raises(SchemaError, match=r"^Expected int64_list for feature 'a' as at .*1:0, rec"):
        iter_batches(tmp_path, "infer")
    assert read_table(tmp_path, "infer", columns=["b"]).num_rows == 2


def test_corrupt_records_are_told_of_once_where_the_schema_is_inferred(
    tmp_path: pathlib.Path,
) -> None:
    path = write(tmp_path, example(entry("a", int64(1))), b"\xff")
    corrupt: list[CorruptRecord] = []
    options: Any = {"error_handler": corrupt.append, "max_corrupt_records": 1}
    assert read_table(path, "infer", **options).num_rows == 1
    assert len(corrupt) == 1
    with pytest.raises(DecodeError, match=r"record 1 "):
        read_table(path, "infer")


def test_columns_in_paths_where_the_schema_is_inferred(tmp_path: pathlib.Path) -> None:
    (tmp_path / "day=1").mkdir()
    write(tmp_path / "day=1", example(entry("a", int64(1))))
    options: Any = {"partition_columns": "hive"}
    assert read_table(tmp_path, "infer", **options).to_pylist() == [{"a": [1], "day": [b"1"]}]
    table = read_table(tmp_path, "infer", columns=["day", "a"], **options)
    assert table.column_names == ["day", "a"]
    assert table.to_pylist() == [{"a": [1], "day": [b"1"]}]
    with pytest.raises(SchemaError, match=r"^Expected columns among 'a', found 'day'"):
        read_table(tmp_path, "infer", columns=["day", "a"])
    with pytest.raises(SchemaError, match=r"^Expected columns among 'a', 'day', found 'night'"):
        read_table(tmp_path, "infer", columns=["day", "night", "a"], **options)
