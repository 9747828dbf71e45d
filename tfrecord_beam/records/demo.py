"""A census, made up or real: TFRecord files and their schema, to try things on.

The columns are those of the UCI Adult data set (https://archive.ics.uci.edu/dataset/2/adult). The
people are drawn at random, or read from its files.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import os
import pathlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam import kernel
from tfrecord_beam.kernel.reference.protos import Example

Person = Mapping[str, Sequence[bytes] | Sequence[float] | Sequence[int]]

UNKNOWN = b"?"
"""How the census writes what is not known."""

# The first words are the frequent ones, as in the census itself.
_WORDS = {
    "workclass": "Private Self-emp-not-inc Local-gov State-gov Self-emp-inc Federal-gov ?",
    "education": "HS-grad Some-college Bachelors Masters Assoc-voc 11th Assoc-acdm 10th Doctorate",
    "marital-status": "Married-civ-spouse Never-married Divorced Separated Widowed",
    "occupation": "Prof-specialty Craft-repair Exec-managerial Adm-clerical Sales Other-service "
    "Machine-op-inspct Transport-moving Handlers-cleaners Farming-fishing Tech-support ?",
    "relationship": "Husband Not-in-family Own-child Unmarried Wife Other-relative",
    "race": "White Black Asian-Pac-Islander Amer-Indian-Eskimo Other",
    "sex": "Male Female",
    "native-country": "United-States Mexico Philippines Germany Puerto-Rico ?",
    "label": "<=50K >50K",
}
_CHOICES = {name: words.encode().split() for name, words in _WORDS.items()}
_WEIGHTS = {
    name: list(itertools.accumulate(1 / (rank + 1) ** 2 for rank in range(len(choices))))
    for name, choices in _CHOICES.items()
}


def make_person(source: random.Random) -> Person:
    """Returns the features of one person, each with one value; some are `UNKNOWN`."""

    def word(name: str) -> list[bytes]:
        return source.choices(_CHOICES[name], cum_weights=_WEIGHTS[name])

    return {
        "age": [source.randint(17, 90)],
        "workclass": word("workclass"),
        "fnlwgt": [source.randint(12285, 1484705)],
        "education": word("education"),
        "education-num": [float(source.randint(1, 16))],
        "marital-status": word("marital-status"),
        "occupation": word("occupation"),
        "relationship": word("relationship"),
        "race": word("race"),
        "sex": word("sex"),
        "capital-gain": [float(source.choice((0, 0, 0, 0, 0, 0, 0, 2174, 7688, 15024)))],
        "capital-loss": [float(source.choice((0, 0, 0, 0, 0, 0, 0, 0, 0, 1902)))],
        "hours-per-week": [float(source.randint(1, 99))],
        "native-country": word("native-country"),
        "label": word("label"),
    }


_TYPES = {bytes: schema_pb2.BYTES, float: schema_pb2.FLOAT, int: schema_pb2.INT}
_PARSERS: Mapping[schema_pb2.FeatureType, Callable[[str], Any]] = {
    schema_pb2.BYTES: str.encode,
    schema_pb2.FLOAT: float,
    schema_pb2.INT: int,
}
_LISTS = {bytes: "bytes_list", float: "float_list", int: "int64_list"}

CENSUS_TYPES: Mapping[str, schema_pb2.FeatureType] = {
    name: _TYPES[type(values[0])] for name, values in make_person(random.Random(0)).items()
}
"""The TFMD type of each feature."""


class DemoFiles(NamedTuple):
    """Where the files are.

    Attributes:
      pattern: matches the TFRecord files.
      schema: path of their TFMD schema, as protobuf text.
    """

    pattern: str
    schema: str


def read_people(path: str | os.PathLike[str]) -> Iterator[Person]:
    """Yields the people of a file of the UCI Adult data set, ``adult.data`` or ``adult.test``."""
    with open(path, encoding="utf-8") as lines:
        for words in csv.reader(lines, skipinitialspace=True):
            if len(words) == len(CENSUS_TYPES):  # else a comment or an empty line
                words[-1] = words[-1].rstrip(".")  # as adult.test writes its labels
                yield {
                    name: [_PARSERS[kind](word)]
                    for (name, kind), word in zip(CENSUS_TYPES.items(), words, strict=True)
                }


def write_census(
    folder: str | os.PathLike[str],
    people: Iterable[Person] | None = None,
    *,
    num_records: int = 15_000,
    num_shards: int = 3,
    seed: int = 0,
) -> DemoFiles:
    """Writes TFRecord files of people, the last one compressed with gzip, and their schema.

    The files are in the folder ``data``, so that they can be read as a folder; the schema is not.
    What is not known of a person is a feature that the record does not have.

    Args:
      folder: where to; must be there, without ``data``.
      people: whom to write. None: `num_records` people that are made up.
      num_records: people in all files together.
      num_shards: how many files.
      seed: the same seed gives the same people.
    """
    if people is None:
        source = random.Random(seed)
        people = (make_person(source) for _ in range(num_records))
    records = [_serialize(person) for person in people]
    data = pathlib.Path(folder) / "data"
    data.mkdir()
    for shard in range(num_shards):
        start, stop = (len(records) * n // num_shards for n in (shard, shard + 1))
        frames = kernel.frame(records[start:stop])
        path = data / f"census-{shard:05}-of-{num_shards:05}.tfrecord"
        if shard == num_shards - 1:
            path, frames = path.with_name(path.name + ".gz"), gzip.compress(frames, mtime=0)
        path.write_bytes(frames)
    schema = data.with_name("schema.pbtxt")
    schema.write_text(text_format.MessageToString(census_schema()), encoding="utf-8")
    return DemoFiles(str(data / "census-*"), str(schema))


def write_census_csv(
    folder: str | os.PathLike[str], *, num_records: int = 3_000, seed: int = 0
) -> tuple[str, str]:
    """Writes ``adult.data`` and ``adult.test`` as the UCI Adult data set spells them.

    Args:
      folder: where to; must be there.
      num_records: people in the first file; the second one has half as many.
      seed: the same seed gives the same people.

    Returns:
      The paths of the two files.
    """
    source = random.Random(seed)
    train, test = pathlib.Path(folder, "adult.data"), pathlib.Path(folder, "adult.test")
    lines = [_csv_line(make_person(source)) for _ in range(num_records + num_records // 2)]
    train.write_text("\n".join([*lines[:num_records], ""]), encoding="utf-8")
    test_lines = [f"{line}." for line in lines[num_records:]]
    test.write_text("\n".join(["|1x3 Cross validator", *test_lines, ""]), encoding="utf-8")
    return str(train), str(test)


def _csv_line(person: Person) -> str:
    return ", ".join(
        values[0].decode() if isinstance(values[0], bytes) else f"{values[0]:.0f}"
        for values in person.values()
    )


def census_schema() -> schema_pb2.Schema:
    """Returns the TFMD schema of `write_census`: only what is always known has a shape."""
    schema = schema_pb2.Schema()
    for name, kind in CENSUS_TYPES.items():
        feature = schema.feature.add(name=name, type=kind)
        if UNKNOWN in _CHOICES.get(name, ()):
            feature.value_count.min = feature.value_count.max = 1
        else:
            feature.presence.min_fraction = 1.0
            feature.shape.dim.add(size=1)
    return schema


def _serialize(person: Person) -> bytes:
    example = Example()
    for name, values in person.items():
        if values[0] != UNKNOWN:
            feature = example.features.feature[name]
            getattr(feature, _LISTS[type(values[0])]).value.extend(values)
    serialized: bytes = example.SerializeToString(deterministic=True)
    return serialized
