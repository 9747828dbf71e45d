"""Writes the TFRecord files that every benchmark reads.

A file is a base set of distinct records repeated in order, so that millions of records take seconds
to write. The base set is made from a fixed seed: the same name and count give the same bytes.

    python -m tests.bench.generate_data census 2000000 --data /tmp/bench
"""

from __future__ import annotations

import argparse
import dataclasses
import gzip
import itertools
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from google.protobuf import text_format
from tensorflow_metadata.proto.v0 import schema_pb2

from tests import wire
from tfrecord_beam import kernel
from tfrecord_beam.kernel.reference.protos import Example
from tfrecord_beam.records import demo

_SEED = 20240229
_GZIP_LEVEL = 6  # What gzip and TensorFlow's writer use by default.

Values = Sequence[bytes] | Sequence[float] | Sequence[int]
Record = Mapping[str, Values]


@dataclasses.dataclass(frozen=True)
class Dataset:
    """One kind of data.

    Attributes:
      make: returns the features of one record.
      base_count: how many distinct records a file repeats; their bytes are well above the size of
        CPU caches and of a compressor's window.
      features: the type of each feature.
      lengths: number of values of the features that have always the same number; the others vary.
      few_columns: a small selection, for measurements of projected reads.
    """

    make: Callable[[random.Random], Record]
    base_count: int
    features: Mapping[str, schema_pb2.FeatureType]
    lengths: Mapping[str, int]
    few_columns: tuple[str, ...]

    def schema(self, columns: Sequence[str] | None = None) -> schema_pb2.Schema:
        """Returns the TFMD schema of all features, or of `columns` in the order of the schema."""
        schema = schema_pb2.Schema()
        for name, kind in self.features.items():
            if columns is None or name in columns:
                feature = schema.feature.add(name=name, type=kind)
                if name in self.lengths:
                    feature.presence.min_fraction = 1.0
                    feature.shape.dim.add(size=self.lengths[name])
        return schema

    def records(self) -> list[bytes]:
        """Returns the distinct records, serialized."""
        source = random.Random(_SEED)
        return [_serialize(self.make(source)) for _ in range(self.base_count)]


def _serialize(record: Record) -> bytes:
    """Returns the record as an Example with its features in the order of `record`."""
    return wire.example(*(wire.entry(name, _feature(values)) for name, values in record.items()))


def _feature(values: Values) -> bytes:
    kinds: dict[type, Callable[..., bytes]] = {
        bytes: wire.bytes_list,
        float: wire.floats,
        int: wire.int64,
    }
    return kinds[type(values[0])](*values)


def _make_census_shuffled(source: random.Random) -> Record:
    record = demo.make_person(source)
    return {name: record[name] for name in source.sample(list(record), len(record))}


def _make_dense(source: random.Random) -> Record:
    return {
        "embedding": [source.gauss(0, 1) for _ in range(512)],
        "ids": [source.randrange(1 << 20) for _ in range(32)],
    }


def _make_image(source: random.Random) -> Record:
    return {"image": [source.randbytes(30_000)], "label": [source.randrange(1000)]}


_WIDE_FEATURES = {
    f"feature_{index:03}": (schema_pb2.INT, schema_pb2.FLOAT, schema_pb2.BYTES)[index % 3]
    for index in range(200)
}


def _make_wide_sparse(source: random.Random) -> Record:
    values: dict[schema_pb2.FeatureType, Callable[[], Values]] = {
        schema_pb2.INT: lambda: [source.randrange(1 << 20)],
        schema_pb2.FLOAT: lambda: [source.random()],
        schema_pb2.BYTES: lambda: [b"token_%d" % source.randrange(1000)],
    }
    present = source.sample(list(_WIDE_FEATURES), 10)
    return {name: values[_WIDE_FEATURES[name]]() for name in present}


DATASETS: Mapping[str, Dataset] = {
    "census": Dataset(
        make=demo.make_person,
        base_count=20_000,
        features=demo.CENSUS_TYPES,
        lengths=dict.fromkeys(demo.CENSUS_TYPES, 1),
        few_columns=("age", "label"),
    ),
    "census_shuffled": Dataset(
        make=_make_census_shuffled,
        base_count=20_000,
        features=demo.CENSUS_TYPES,
        lengths=dict.fromkeys(demo.CENSUS_TYPES, 1),
        few_columns=("age", "label"),
    ),
    "dense": Dataset(
        make=_make_dense,
        base_count=20_000,
        features={"embedding": schema_pb2.FLOAT, "ids": schema_pb2.INT},
        lengths={"embedding": 512, "ids": 32},
        few_columns=("ids",),
    ),
    "images": Dataset(
        make=_make_image,
        base_count=2_000,
        features={"image": schema_pb2.BYTES, "label": schema_pb2.INT},
        lengths={"image": 1, "label": 1},
        few_columns=("label",),
    ),
    "wide_sparse": Dataset(
        make=_make_wide_sparse,
        base_count=20_000,
        features=_WIDE_FEATURES,
        lengths={},
        few_columns=("feature_000", "feature_002"),
    ),
}


SESSION_SCHEMA = text_format.Parse(
    """
    feature { name: "country" type: BYTES }
    feature { name: "user" type: INT }
    feature {
      name: "##SEQUENCE##" type: STRUCT
      struct_domain {
        feature { name: "item" type: INT }
        feature { name: "price" type: FLOAT }
        feature { name: "words" type: BYTES }
      }
    }
    """,
    schema_pb2.Schema(),
)
"""Of `sessions`: two features for a visit to a shop, three for each item that was looked at."""


def sessions(count: int) -> list[tuple[bytes, list[bytes]]]:
    """Returns `count` visits, each as the Example of its context and the Examples of its steps."""
    source = random.Random(_SEED)

    def make_step() -> bytes:
        words = [b"word_%d" % source.randrange(5000) for _ in range(source.randrange(1, 4))]
        item, price = [source.randrange(1 << 20)], [source.random()]
        return _serialize({"item": item, "price": price, "words": words})

    return [
        (
            _serialize({"country": [b"CH"], "user": [source.randrange(1 << 30)]}),
            [make_step() for _ in range(source.randrange(5, 20))],
        )
        for _ in range(count)
    ]


def sequence_example(context: bytes, steps: Sequence[bytes]) -> bytes:
    """Returns a visit as a SequenceExample with a feature list for each feature of its steps."""
    columns: dict[str, list[bytes]] = {}
    for step in steps:
        for name, feature in Example.FromString(step).features.feature.items():
            columns.setdefault(name, []).append(feature.SerializeToString())
    lists = (wire.feature_list(name, *features) for name, features in sorted(columns.items()))
    return wire.sequence_example(*lists, context=context)


def write_dataset(name: str, count: int, folder: Path, *, compress: bool = False) -> Path:
    """Returns a TFRecord file of `count` records of the data set `name`, made unless it is there.

    Args:
      name: one of `DATASETS`.
      count: number of records.
      folder: where files are kept from run to run.
      compress: whether the file is one gzip stream.
    """
    path = folder / f"{name}-{count}.tfrecord{'.gz' if compress else ''}"
    if not path.exists():
        partial = path.with_suffix(".partial")
        with gzip.open(partial, "wb", _GZIP_LEVEL) if compress else partial.open("wb") as file:
            for frames in _repeated_frames(DATASETS[name].records(), count):
                cast(BinaryIO, file).write(frames)
        os.replace(partial, path)
    return path


def _repeated_frames(records: list[bytes], count: int) -> Iterator[bytes]:
    repeats, rest = divmod(count, len(records))
    if repeats:
        yield from itertools.repeat(kernel.frame(records), repeats)
    yield kernel.frame(records[:rest])


def count_for_bytes(name: str, size_bytes: int) -> int:
    """Returns how many records of the data set `name` make about `size_bytes` uncompressed."""
    records = DATASETS[name].records()
    frame_bytes = 16
    mean_bytes = sum(map(len, records)) / len(records) + frame_bytes
    return round(size_bytes / mean_bytes)


def _main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", choices=DATASETS)
    parser.add_argument("records", type=int)
    parser.add_argument("--data", type=Path, required=True, help="folder to write to")
    parser.add_argument("--gzip", action="store_true", help="compress the file")
    arguments: Any = parser.parse_args()
    arguments.data.mkdir(parents=True, exist_ok=True)
    path = write_dataset(
        arguments.dataset, arguments.records, arguments.data, compress=arguments.gzip
    )
    print(f"{path}: {path.stat().st_size:,} bytes, {arguments.records:,} records")


if __name__ == "__main__":
    _main()
