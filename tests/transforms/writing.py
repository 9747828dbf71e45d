"""What tests of WriteToTFRecord share: records, ways to give them, and what became of them."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

import apache_beam as beam

from tests.records.writing.folders import paths_in, records_in
from tests.tfxio.pipelines import Run, run
from tfrecord_beam import WriteToTFRecord, WrittenFile

RECORDS = [b"record %d" % i for i in range(50)]


class InBundles(beam.PTransform[Any, Any]):
    """Gives elements in several bundles, of types that nothing announces."""

    def __init__(self, elements: Sequence[Any]) -> None:
        super().__init__()
        self._elements = elements

    def expand(self, pipeline: Any) -> Any:
        return (
            pipeline
            | beam.Create(range(len(self._elements)))
            | beam.Reshuffle()
            | beam.Map(self._elements.__getitem__).with_output_types(beam.typehints.Any)
        )


class InOneBundle(beam.PTransform[Any, Any]):
    """Gives elements in one bundle, of types that nothing announces."""

    def __init__(self, elements: Sequence[Any]) -> None:
        super().__init__()
        self._elements = elements

    def expand(self, pipeline: Any) -> Any:
        return (
            pipeline
            | beam.Impulse()
            | beam.FlatMap(lambda _: self._elements).with_output_types(beam.typehints.Any)
        )


def write(elements: Iterable[Any], *arguments: Any, **options: Any) -> list[WrittenFile]:
    return written(run(beam.Create(list(elements)), WriteToTFRecord(*arguments, **options)))


def written(result: Run) -> list[WrittenFile]:
    return sorted(result.elements)


def check_files(folder: pathlib.Path, files: Sequence[WrittenFile]) -> None:
    """Checks that the files are those in the folder, and are what is said of them."""
    assert paths_in(folder) == sorted(
        str(pathlib.Path(file.path).relative_to(folder)) for file in files
    )
    for file in files:
        assert file.num_bytes == pathlib.Path(file.path).stat().st_size
        assert file.num_records == len(records_in(file.path))
