"""The demo census is what its schema says, and the same each time."""

from __future__ import annotations

import pathlib

import pytest

import tfrecord_beam
from tests.records.writing.folders import paths_in
from tfrecord_beam.records.demo import CENSUS_TYPES, census_schema, read_people, write_census


def test_files(tmp_path: pathlib.Path) -> None:
    demo = write_census(tmp_path, num_records=50, num_shards=3)
    assert paths_in(tmp_path) == [
        "data/census-00000-of-00003.tfrecord",
        "data/census-00001-of-00003.tfrecord",
        "data/census-00002-of-00003.tfrecord.gz",
        "schema.pbtxt",
    ]
    assert tfrecord_beam.count(demo.pattern) == 50


def test_records_fit_the_schema(tmp_path: pathlib.Path) -> None:
    demo = write_census(tmp_path, num_records=500)
    table = tfrecord_beam.read_table(demo.pattern, demo.schema)
    assert table.column_names == list(CENSUS_TYPES)
    for feature in census_schema().feature:
        lengths = {None if row is None else len(row) for row in table[feature.name].to_pylist()}
        assert lengths == ({1} if feature.HasField("shape") else {None, 1})


@pytest.mark.parametrize("seed", [0, 1])
def test_same_each_time(seed: int, tmp_path: pathlib.Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b", tmp_path / "c"]
    contents = []
    for folder, chosen in zip(folders, [seed, seed, seed + 1]):
        folder.mkdir()
        write_census(folder, num_records=20, seed=chosen)
        contents.append([path.read_bytes() for path in sorted(folder.glob("**/*.*"))])
    assert contents[0] == contents[1] != contents[2]


UCI = """|1x3 Cross validator
39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, \
2174, 0, 40, United-States, <=50K
52, ?, 209642, HS-grad, 9, Married-civ-spouse, ?, Husband, White, Male, 0, 0, 45, ?, >50K.

"""


def test_people_of_the_uci_census(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "adult.test"
    source.write_text(UCI, encoding="utf-8")
    people = list(read_people(source))
    assert [list(person) for person in people] == [list(CENSUS_TYPES)] * 2
    assert [person["label"] for person in people] == [[b"<=50K"], [b">50K"]]
    demo = write_census(tmp_path, people, num_shards=1)
    table = tfrecord_beam.read_table(demo.pattern, demo.schema)
    assert table["age"].to_pylist() == [[39], [52]]
    assert table["capital-gain"].to_pylist() == [[2174.0], [0.0]]
    assert table["workclass"].to_pylist() == [[b"State-gov"], None]
