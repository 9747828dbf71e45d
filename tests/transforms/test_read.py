"""Tests of tfrecord_beam.transforms.read: what the sources give, take and refuse."""

from __future__ import annotations

import itertools
import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import apache_beam as beam
import pyarrow as pa
import pytest
from apache_beam.io import fileio
from apache_beam.io.filesystem import FileMetadata
from apache_beam.transforms.display import DisplayData
from tensorflow_metadata.proto.v0 import schema_pb2

from tests.frames import framed
from tests.records.reading import flip, frame_starts
from tests.schema.schemas import parse_schema
from tests.tfxio.example_files import NUM_RECORDS, RECORDS, SCHEMA, write_files
from tests.tfxio.pipelines import run
from tests.wire import bytes_list, entry, example
from tfrecord_beam.errors import (
    CorruptRecordError,
    CoverageError,
    DecodeError,
    NoMatchError,
    SchemaError,
)
from tfrecord_beam.records import table
from tfrecord_beam.transforms.decode import DecodeRecordBlocks, RawRecordToRecordBatch
from tfrecord_beam.transforms.read import BeamSource, RawRecordBeamSource, ReadRecordBlocks

COLUMNS = ["name", "id", "score", "index", "old"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The folder of files that hold all the records."""
    path = tmp_path_factory.mktemp("examples")
    write_files(path)
    return path


def ids(batches: Sequence[pa.RecordBatch]) -> list[int]:
    return sorted(value for batch in batches for value in batch["id"].flatten().to_pylist())


def rows(batches: Sequence[pa.RecordBatch]) -> list[str]:
    return sorted(repr(row) for batch in batches for row in batch.to_pylist())


# --- One result, by each way -------------------------------------------------------------


@pytest.mark.parametrize("schema", [SCHEMA, None], ids=["schema", "no schema"])
@pytest.mark.parametrize(
    "options",
    [{}, {"columns": ["score", "id"]}, {"columns": []}, {"raw_record_column_name": "raw"}],
    ids=["all", "two columns", "no column", "raw"],
)
def test_source_is_equal_to_its_parts(
    folder: pathlib.Path, schema: schema_pb2.Schema | None, options: dict[str, Any]
) -> None:
    pattern = str(folder / "*")
    ways = [
        run(BeamSource(pattern, schema, desired_bundle_bytes=500, **options)),
        run(
            RawRecordBeamSource(pattern, desired_bundle_bytes=500),
            RawRecordToRecordBatch(schema, **options),
        ),
        run(ReadRecordBlocks(pattern), DecodeRecordBlocks(schema, **options)),
    ]
    for result in ways:
        assert sum(batch.num_rows for batch in result.elements) == NUM_RECORDS
        if schema is not None or "columns" in options:
            assert rows(result.elements) == rows(ways[0].elements)
        if "columns" in options:
            assert all(batch.schema.names == options["columns"] for batch in result.elements)
        elif schema is not None:
            raw = [options["raw_record_column_name"]] if options else []
            assert all(batch.schema.names == COLUMNS + raw for batch in result.elements)


def test_batches_are_whole(folder: pathlib.Path) -> None:
    for batch in run(BeamSource(folder, SCHEMA, batch_size=7)).elements:
        batch.validate(full=True)
        for column in batch.columns:
            assert column.offset == column.values.offset == 0
            assert len(column.values) == column.offsets[-1].as_py()


def test_batch_size_is_exact_but_for_the_last_of_a_range(folder: pathlib.Path) -> None:
    batches = run(BeamSource(folder, SCHEMA, batch_size=7)).elements
    assert sorted(batch.num_rows for batch in batches) == [2, 6] + [7] * 7  # 30, 20 and 7 records.
    small = run(BeamSource(folder, SCHEMA, batch_bytes=200)).elements
    assert len(small) > len(batches)


def test_columns_of_each_batch_without_a_schema(tmp_path: pathlib.Path) -> None:
    records = [example(entry("b", bytes_list(b"x"))), example(entry("a", bytes_list(b"y")))]
    (tmp_path / "f").write_bytes(framed(*records))
    batches = run(BeamSource(tmp_path / "f", batch_size=1)).elements
    assert sorted(batch.schema.names for batch in batches) == [["a"], ["b"]]
    [both] = run(BeamSource(tmp_path / "f")).elements
    assert both.to_pylist() == [{"a": None, "b": [b"x"]}, {"a": [b"y"], "b": None}]


@pytest.mark.parametrize("desired_bundle_bytes", [1, 37, 200, 10_000, None])
def test_bundle_size_changes_nothing(
    folder: pathlib.Path, desired_bundle_bytes: int | None
) -> None:
    raw = RawRecordBeamSource(folder, desired_bundle_bytes=desired_bundle_bytes)
    assert sorted(run(raw).elements) == sorted(RECORDS)


def test_with_filename(folder: pathlib.Path) -> None:
    raw = run(RawRecordBeamSource(folder, with_filename=True)).elements
    assert sorted(record for _, record in raw) == sorted(RECORDS)
    a, b, d = (str(folder / name) for name in ("a.tfrecord", "b.tfrecord.gz", "d.tfrecord"))
    assert {record for file, record in raw if file == b} == set(RECORDS[30:50])
    pairs = run(BeamSource(folder, SCHEMA, with_filename=True)).elements
    assert {file: ids([batch]) for file, batch in pairs} == {
        a: list(range(30)),
        b: list(range(30, 50)),
        d: list(range(50, 57)),
    }


def test_blocks_tell_where_their_records_are(folder: pathlib.Path) -> None:
    blocks = run(ReadRecordBlocks(folder, batch_size=4)).elements
    contents = {(block.file, block.first_record): list(block.records()) for block in blocks}
    assert contents[str(folder / "b.tfrecord.gz"), 4] == RECORDS[34:38]


# --- What means files --------------------------------------------------------------------


@pytest.mark.parametrize("form", ["str", "Path", "list", "folder", "overlap", "url"])
def test_forms_of_a_file_pattern(folder: pathlib.Path, form: str) -> None:
    file_pattern: Any = {
        "str": str(folder / "*.tfrecord*"),
        "Path": folder / "*",
        "list": [folder / name for name in ("a.tfrecord", "b.tfrecord.gz", "d.tfrecord")],
        "folder": f"{folder}/",
        "overlap": [folder, folder / "a.tfrecord", str(folder / "[ab]*"), folder],
        "url": f"file://{folder}/*",
    }[form]
    assert sorted(run(RawRecordBeamSource(file_pattern)).elements) == sorted(RECORDS)


@pytest.mark.parametrize(
    "name", ["a[1].tfrecord", "what?", "two words", "star*", "größe,x", "[ab]"]
)
def test_file_whose_name_looks_like_a_pattern(tmp_path: pathlib.Path, name: str) -> None:
    (tmp_path / name).write_bytes(framed(b"x"))
    (tmp_path / "a").write_bytes(framed(b"another"))
    assert run(RawRecordBeamSource(tmp_path / name)).elements == [b"x"]


@pytest.mark.parametrize("way", ["path", "pattern", "101st", "element"])
def test_file_name_that_is_not_utf8(tmp_path: pathlib.Path, way: str) -> None:
    path = str(tmp_path / "a\udcff.tfrecord")  # as Python spells the byte 0xff
    pathlib.Path(path).write_bytes(framed(b"x"))
    assert table.count(tmp_path) == table.count(path) == 1
    good = tmp_path / "good"
    good.write_bytes(framed(b"y"))
    text = r"Expected file names in UTF-8, found '.*a\\udcff\.tfrecord' \(Beam cannot pass on"
    with pytest.raises(ValueError, match=text):
        if way == "element":
            run(beam.Create([str(tmp_path)]), RawRecordBeamSource())
        else:
            lists: dict[str, list[Any]] = {
                "path": [path],
                "pattern": [tmp_path],
                "101st": [*[good] * 100, path],
            }
            run(RawRecordBeamSource(lists[way]))


def test_metadata_with_the_url_of_a_local_file(folder: pathlib.Path) -> None:
    path = folder / "a.tfrecord"
    metadata = FileMetadata(path.as_uri(), path.stat().st_size)
    assert sorted(run(beam.Create([metadata]), RawRecordBeamSource()).elements) == sorted(
        RECORDS[:30]
    )


@pytest.mark.parametrize(
    "head",
    [
        lambda folder: [beam.Create([str(folder / "a.tfrecord"), str(folder / "[b-d]*")])],
        lambda folder: [beam.Create([folder])],
        lambda folder: [fileio.MatchFiles(str(folder / "*"))],
        lambda folder: [fileio.MatchFiles(str(folder / "*")), fileio.ReadMatches()],
    ],
    ids=["patterns", "folder", "FileMetadata", "ReadableFile"],
)
def test_pcollection_of_files(
    folder: pathlib.Path, head: Callable[[pathlib.Path], Sequence[beam.PTransform[Any, Any]]]
) -> None:
    raw = RawRecordBeamSource(desired_bundle_bytes=300)
    assert sorted(run(*head(folder), raw).elements) == sorted(RECORDS)
    assert ids(run(*head(folder), BeamSource(schema=SCHEMA)).elements) == list(range(NUM_RECORDS))


def test_file_that_is_asked_for_twice_is_read_twice(folder: pathlib.Path) -> None:
    twice = [beam.Create([str(folder / "a.tfrecord")] * 2), beam.Reshuffle()]
    raw = RawRecordBeamSource(desired_bundle_bytes=300)
    assert sorted(run(*twice, raw).elements) == sorted(RECORDS[:30] * 2)


def test_no_files_at_all() -> None:
    assert run(beam.Create([]), RawRecordBeamSource()).elements == []


def test_element_that_is_no_file(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=r"Expected file_pattern to be a path .*, found 5"):
        run(beam.Create([5]), RawRecordBeamSource())
    with pytest.raises(NoMatchError, match=r"Expected files at '.*lost', found none"):
        run(beam.Create([str(tmp_path / "lost")]), RawRecordBeamSource())


# --- In a pipeline -----------------------------------------------------------------------


class Twice(beam.PTransform[Any, Any]):
    """Applies sources beside each other, each under its default label but for the second."""

    def __init__(self, source: beam.PTransform[Any, Any]) -> None:
        super().__init__()
        self._source = source

    def expand(self, input_or_inputs: Any) -> Any:
        first = input_or_inputs | self._source
        second = input_or_inputs | "Again" >> self._source
        return (first, second) | beam.Flatten()


@pytest.mark.parametrize("source", [BeamSource, RawRecordBeamSource, ReadRecordBlocks])
def test_source_can_be_used_twice_under_labels(folder: pathlib.Path, source: Any) -> None:
    once = run(source(folder)).elements
    assert len(run(Twice(source(folder))).elements) == 2 * len(once)


def step_labels(transform: beam.PTransform[Any, Any]) -> list[str]:
    """Returns the full labels of the steps that the library itself names."""
    pipeline = beam.Pipeline()
    _ = pipeline | transform
    labels = []

    class Visitor(beam.pipeline.PipelineVisitor):
        def enter_composite_transform(self, transform_node: Any) -> None:
            self.visit_transform(transform_node)

        def visit_transform(self, transform_node: Any) -> None:
            if transform_node.full_label.count("/") <= 1:
                labels.append(transform_node.full_label)

    pipeline.visit(Visitor())
    return labels[1:]


def test_default_labels_are_stable(folder: pathlib.Path) -> None:
    """A job that is updated is matched by them."""
    assert step_labels(BeamSource(folder)) == [
        "BeamSource",
        "BeamSource/Impulse",
        "BeamSource/Split",
        "BeamSource/Reshuffle",
        "BeamSource/ReadRanges",
        "BeamSource/CheckCoverage",
        "BeamSource/Decode",
    ]
    assert step_labels(RawRecordBeamSource(folder))[-2:] == [
        "RawRecordBeamSource/CheckCoverage",
        "RawRecordBeamSource/Records",
    ]
    assert step_labels(ReadRecordBlocks(folder))[0] == "ReadRecordBlocks"


def test_display_data(folder: pathlib.Path) -> None:
    source = BeamSource(
        [folder / "a.tfrecord", folder], SCHEMA, columns=["id", "name"], batch_size=10
    )
    shown = {item.key: item.value for item in DisplayData.create_from(source).items}
    assert shown["file_pattern"] == f"{folder / 'a.tfrecord'}, {folder}"
    assert (shown["compression"], shown["validate_crc"]) == ("auto", True)
    assert (shown["batch_size"], shown["columns"]) == (10, "id, name")
    shown = {item.key: item.value for item in DisplayData.create_from(BeamSource()).items}
    assert shown["file_pattern"] == "(elements of the input)"
    assert "batch_size" not in shown


def test_outputs_have_types(folder: pathlib.Path) -> None:
    pipeline = beam.Pipeline()
    assert (pipeline | BeamSource(folder)).element_type == pa.RecordBatch
    assert (pipeline | RawRecordBeamSource(folder)).element_type is bytes
    named = pipeline | "Named" >> RawRecordBeamSource(folder, with_filename=True)
    assert named.element_type == beam.typehints.Tuple[str, bytes]
    _ = pipeline | "Blocks" >> ReadRecordBlocks(folder) | DecodeRecordBlocks()


# --- Errors in the pipeline --------------------------------------------------------------


def test_error_says_which_of_several_files(tmp_path: pathlib.Path) -> None:
    for index in range(5):
        (tmp_path / f"{index}.tfrecord").write_bytes(
            framed(*RECORDS[:9])[: -1 if index == 3 else None]
        )
    expected = rf"Expected a record of \d+ bytes, found .* - at {tmp_path}/3.tfrecord:\d+, record 8"
    for source in (BeamSource(tmp_path), RawRecordBeamSource(tmp_path)):
        with pytest.raises(CorruptRecordError, match=expected):
            run(source)


def test_decode_error_reaches_the_user(tmp_path: pathlib.Path) -> None:
    bad = example(entry("id", bytes_list(b"7")))
    (tmp_path / "f").write_bytes(framed(*RECORDS[:3], bad))
    offset = len(framed(*RECORDS[:3]))
    expected = (
        rf"Expected int64_list for feature 'id', found bytes_list - at {tmp_path}/f:{offset}, rec"
    )
    with pytest.raises(DecodeError, match=expected):
        run(BeamSource(tmp_path, SCHEMA))
    with pytest.raises(DecodeError, match=r"'id', found bytes_list - at record \d"):
        run(RawRecordBeamSource(tmp_path), RawRecordToRecordBatch(SCHEMA))


def test_file_in_a_file_is_exact_or_an_error(tmp_path: pathlib.Path) -> None:
    inner = framed(*[b"inner %d" % i for i in range(40)])
    (tmp_path / "f").write_bytes(framed(b"before", inner, b"after"))
    whole = run(RawRecordBeamSource(tmp_path)).elements
    assert sorted(whole) == sorted([b"before", inner, b"after"])
    expected = rf"records were lost or read twice - at {tmp_path}/f:\d+ \(.*desired_bundle_bytes"
    with pytest.raises((CoverageError, CorruptRecordError), match=f"{expected}|mismatch"):
        run(RawRecordBeamSource(tmp_path, desired_bundle_bytes=200))


def test_wrong_crcs_are_an_error_or_handed_on(tmp_path: pathlib.Path) -> None:
    (tmp_path / "f").write_bytes(flip(framed(b"a", b"b", b"c"), 12))
    with pytest.raises(CorruptRecordError, match=r"Payload CRC mismatch: .* - at .*/f:0, record 0"):
        run(RawRecordBeamSource(tmp_path))
    raw = RawRecordBeamSource(tmp_path, validate_crc=False)
    assert sorted(run(raw).elements) == [b"`", b"b", b"c"]


# --- Options -----------------------------------------------------------------------------

STRUCT = parse_schema('feature { name: "s" type: STRUCT }')
DUPLICATE = parse_schema('feature { name: "x" type: INT } feature { name: "x" type: INT }')


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"compression": "brotli"},
            "^Expected compression to be None or one of .*, found 'brotli'",
        ),
        ({"batch_size": 0}, "^Expected batch_size to be None or an int of at least 1, found 0$"),
        ({"batch_size": -1}, "^Expected batch_size to be None or an int of at least 1, found -1"),
        ({"batch_size": True}, "^Expected batch_size .* found True"),
        ({"batch_bytes": 0}, "^Expected batch_bytes to be None or an int of at least 1, found 0$"),
        ({"desired_bundle_bytes": 0}, "^Expected desired_bundle_bytes .*at least 1, found 0"),
        ({"desired_bundle_bytes": True}, "^Expected desired_bundle_bytes .*at least 1, found True"),
        ({"desired_bundle_bytes": 1.5}, "^Expected desired_bundle_bytes .*at least 1, found 1.5"),
        ({"max_corrupt_records": 3}, "^Expected error_handler beside max_corrupt_records, found n"),
        ({"error_handler": print}, "^Expected error_handler to be one of apache_beam"),
        ({"columns": ["lost"]}, "^Expected columns among 'name', 'id', .*'old', found 'lost'"),
        ({"columns": ["nam"]}, r"found 'nam' \(did you mean 'name'\?\)"),
        ({"columns": ["id", "id"]}, "^Expected different columns, found 'id' twice"),
        ({"columns": "id"}, r"^Expected a list of columns, found 'id' \(write \['id'\]\)"),
        ({"raw_record_column_name": "id"}, "^Expected a raw-record column with a name of its own"),
        ({"schema": STRUCT}, "^Expected type INT, FLOAT or BYTES for feature 's', found STRUCT"),
        ({"schema": DUPLICATE}, "^Expected .*'x'.*twice"),
        ({"schema": "no/such/schema.pbtxt"}, "schema"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_options_are_checked_at_once(
    folder: pathlib.Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        BeamSource(folder, **({"schema": SCHEMA} | options))


@pytest.mark.parametrize("source", [BeamSource, RawRecordBeamSource, ReadRecordBlocks])
def test_patterns_are_checked_at_once(tmp_path: pathlib.Path, source: Any) -> None:
    with pytest.raises(NoMatchError, match=r"^Expected files at '.*lost\*', found none"):
        source(tmp_path / "lost*")
    with pytest.raises(NoMatchError, match=r"^Expected files at '.*', found none"):
        source(tmp_path)
    for nothing in ([], "", [None], b"bytes"):
        with pytest.raises(ValueError, match=r"^Expected file_pattern to be a path or pattern"):
            source(nothing)


def test_hint_tells_what_there_is(tmp_path: pathlib.Path) -> None:
    (tmp_path / "data-1.tfrecord").write_bytes(b"")
    with pytest.raises(NoMatchError, match=r"\(there is '.*data-1.tfrecord'\)"):
        BeamSource(tmp_path / "date*")
    (tmp_path / "a\udcff").write_bytes(b"")  # which cannot be named with Beam
    with pytest.raises(NoMatchError, match=r"found none$"):
        BeamSource(tmp_path / "date*")


@pytest.mark.parametrize("source", [BeamSource, RawRecordBeamSource, ReadRecordBlocks])
def test_either_a_pattern_or_a_pcollection_of_files(folder: pathlib.Path, source: Any) -> None:
    with pytest.raises(ValueError, match=r"^Expected no file_pattern where the input is a PColl"):
        _ = beam.Pipeline() | beam.Create([str(folder)]) | source(folder)
    with pytest.raises(ValueError, match=r"^Expected file_pattern where the input is no PCollec"):
        _ = beam.Pipeline() | source()


def test_unknown_column_is_also_a_schema_error(folder: pathlib.Path) -> None:
    with pytest.raises(SchemaError):
        BeamSource(folder, SCHEMA, columns=["lost"])


def test_schema_by_path_and_bytes(folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "schema.pbtxt"
    path.write_text(str(SCHEMA))
    sources = [BeamSource(folder, schema) for schema in (path, SCHEMA.SerializeToString(), SCHEMA)]
    results = [rows(run(source).elements) for source in sources]
    assert all(before == after for before, after in itertools.pairwise(results))


def test_error_around_the_pipeline_says_where(tmp_path: pathlib.Path) -> None:
    bad = example(entry("id", bytes_list(b"7")))
    (tmp_path / "a").write_bytes(framed(*RECORDS[:3], bad))
    with pytest.raises(DecodeError) as caught:
        run(BeamSource(tmp_path, SCHEMA))
    error = caught.value
    assert (error.file, error.feature) == (str(tmp_path / "a"), "id")
    assert error.offset == frame_starts(RECORDS[:3])[3]
    assert error.message == "Expected int64_list for feature 'id', found bytes_list"
    assert "[while running 'BeamSource" in str(error)


def test_display_data_of_many_patterns_are_short(folder: pathlib.Path) -> None:
    source = RawRecordBeamSource([f"{folder}{'/.' * i}/*" for i in range(1000)])
    [shown] = [i.value for i in DisplayData.create_from(source).items if i.key == "file_pattern"]
    assert shown == f"{folder}/*, {folder}/./*, {folder}/././* and 997 more"
