"""A warning about columns that were requested, by name or by a schema, and that no record has."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Iterable, Sequence

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows
from tensorflow_metadata.proto.v0 import schema_pb2

from tfrecord_beam.records.lost_columns import describe_lost, first_columns, watched_columns
from tfrecord_beam.records.partition_columns import PartitionColumns
from tfrecord_beam.records.reader import ReadOptions
from tfrecord_beam.schema.arrow import RecordPlan, RecordType
from tfrecord_beam.transforms import metrics
from tfrecord_beam.transforms.filesystem import BeamFileSystem
from tfrecord_beam.transforms.workers import Apply

_logger = logging.getLogger(__name__)

Lost = tuple[str, frozenset[str]]
"""The file of a block of records, and the requested columns that none of these records has."""


def warn_of_lost_columns(
    schema: schema_pb2.Schema | None,
    columns: Sequence[str] | None,
    plan: RecordPlan,
    record_type: RecordType,
    partition_columns: PartitionColumns | None,
    options: ReadOptions = ReadOptions(),
) -> WarnOfLostColumns | None:
    """Returns the warning for columns that may turn out to be lost; None if none can be.

    Args:
      schema: as for `watched_columns`.
      columns: as for `watched_columns`.
      plan: as for `watched_columns`.
      record_type: what the records are.
      partition_columns: whether folders are columns.
      options: how the files are read.
    """
    watched = watched_columns(schema, columns, plan)
    if not watched:
        return None
    find_known = functools.partial(
        first_columns,
        options=options,
        record_type=record_type,
        partition_columns=partition_columns,
        file_system=BeamFileSystem(),
    )
    return WarnOfLostColumns(watched, find_known, of_schema=schema is not None)


class WarnOfLostColumns(beam.PTransform):
    """Logs one warning about the columns that no record has, and counts them.

    Its input is a PCollection of `Lost` with the key None.

    Args:
      columns: the requested names.
      find_known: returns the names of the columns in a file, for the text of the warning.
      of_schema: as for `find_lost`.
    """

    def __init__(
        self, columns: Sequence[str], find_known: Callable[[str], list[str]], *, of_schema: bool
    ) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self.of_schema = of_schema
        self._find_known = find_known

    def expand(self, lost: beam.PCollection[tuple[None, Lost]]) -> None:
        # Few steps, because each takes time to set up: `CombineGlobally` would take two more.
        if not lost.windowing.is_default():
            lost |= "InOneWindow" >> beam.WindowInto(GlobalWindows())
        _ = (
            lost
            | "Intersect" >> beam.CombinePerKey(_intersect)
            | "Warn" >> beam.ParDo(Apply(_warn), self.columns, self._find_known, self.of_schema)
        )


def _intersect(lost: Iterable[Lost]) -> Lost:
    files, names = zip(*lost, strict=True)
    return min(files), functools.reduce(frozenset.intersection, names)


def _warn(
    lost: tuple[None, Lost],
    columns: Sequence[str],
    find_known: Callable[[str], list[str]],
    of_schema: bool,
) -> tuple[()]:
    _, (file, names) = lost
    if not names:
        return ()
    known: list[str] = []
    with contextlib.suppress(OSError):  # the file may be gone by now
        known = find_known(file)
    requested = [name for name in columns if name in names]
    if text := describe_lost(requested, known, of_schema=of_schema):
        metrics.count("lost_columns", len(names))
        _logger.warning(text)
    return ()
