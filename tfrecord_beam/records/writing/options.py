"""The options of a write, as one value that is validated on creation."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Sequence
from typing import Literal

from tfrecord_beam.options import check_bool, check_choice, check_int, check_path, describe
from tfrecord_beam.records.hive import check_partition_by
from tfrecord_beam.records.writing.compression import Compression
from tfrecord_beam.records.writing.names import (
    DEFAULT_SUFFIX,
    DEFAULT_TEMPLATE,
    FOLDER_BASE,
    FileNames,
    check_no_pattern,
    check_template,
)
from tfrecord_beam.urls import normalize_path

Mode = Literal["error", "append", "overwrite", "ignore", "overwrite_partitions"]
Locality = Literal["distributed", "local"]

MAX_SHARDS = 1_000_000
"""A larger number of files must be a mistake."""


@dataclasses.dataclass(frozen=True)
class WriteOptions:
    """Where and how records are written; see `WriteToTFRecord` for each option.

    Attributes:
      file_path_prefix: as the user gave it, and normalized once it is here.
      is_exact: the prefix is the path of the one file to write.
    """

    file_path_prefix: str | os.PathLike[str]
    _: dataclasses.KW_ONLY
    file_name_suffix: str = DEFAULT_SUFFIX
    num_shards: int | None = None
    shard_name_template: str | None = None
    max_records_per_shard: int | None = None
    max_bytes_per_shard: int | None = None
    compression: str | None = None
    compression_level: int | None = None
    mode: Mode = "error"
    partition_by: Sequence[str] | None = None
    keep_partition_columns: bool = False
    write_locality: Locality = "distributed"
    shuffle: bool = False
    seed: int | None = None
    ordered: bool = False
    write_success: bool = False
    write_index: bool = False
    is_exact: bool = False

    def __post_init__(self) -> None:
        check_path("file_path_prefix", self.file_path_prefix)
        prefix = normalize_path(os.fspath(self.file_path_prefix))
        check_no_pattern("file_path_prefix", prefix)
        object.__setattr__(self, "file_path_prefix", prefix)
        _check_name("file_name_suffix", self.file_name_suffix)
        check_int("num_shards", self.num_shards, least=1, most=MAX_SHARDS, optional=True)
        check_int("max_records_per_shard", self.max_records_per_shard, least=1, optional=True)
        check_int("max_bytes_per_shard", self.max_bytes_per_shard, least=1, optional=True)
        check_int("seed", self.seed, least=0, optional=True)
        for name in (
            "keep_partition_columns",
            "shuffle",
            "ordered",
            "write_success",
            "write_index",
        ):
            check_bool(name, getattr(self, name))
        check_choice("mode", self.mode, Mode)
        check_choice("write_locality", self.write_locality, Locality)
        if self.partition_by is not None:
            columns = check_partition_by(self.partition_by)
            if not columns:
                raise ValueError("Expected partition_by to be None or names of columns, found []")
            object.__setattr__(self, "partition_by", columns)
        self._check_template()
        self._check_combinations()
        _ = self.names

    def _check_template(self) -> None:
        template = self.shard_name_template
        if template is None:
            return
        if not isinstance(template, str):
            raise ValueError(
                f"Expected shard_name_template to be None or a str, found {describe(template)}"
            )
        if template:
            check_template(template)
        elif self.num_shards != 1 and not self.ordered:
            raise ValueError(
                f"Expected num_shards=1 where shard_name_template is empty, found {self.num_shards}"
            )

    def _check_combinations(self) -> None:
        rolls = self.max_records_per_shard is not None or self.max_bytes_per_shard is not None
        is_local = self.write_locality == "local"
        wrong = {
            "num_shards with max_records_per_shard or max_bytes_per_shard": (
                rolls and self.num_shards is not None
            ),
            "shuffle without num_shards": self.shuffle and self.num_shards is None,
            "seed without shuffle": self.seed is not None and not self.shuffle,
            "ordered with shuffle": self.ordered and self.shuffle,
            "ordered with partition_by": self.ordered and self.partition_by is not None,
            "ordered with several shards": self.ordered and (rolls or (self.num_shards or 1) > 1),
            "keep_partition_columns without partition_by": (
                self.keep_partition_columns and not self.partition_by
            ),
            "mode='overwrite_partitions' without partition_by": (
                self.mode == "overwrite_partitions" and not self.partition_by
            ),
            "mode='append' with the path of one file": self.is_exact and self.mode == "append",
            "shard_name_template with the path of one file": (
                self.is_exact and self.shard_name_template is not None
            ),
            "file_name_suffix with the path of one file": (
                self.is_exact and self.file_name_suffix != DEFAULT_SUFFIX
            ),
            "write_locality='local' with num_shards, partition_by, shuffle or ordered": (
                is_local and not self.is_direct
            ),
            "write_locality='local' with shard_name_template": (
                is_local and self.shard_name_template is not None
            ),
            f"write_locality='local' with mode={self.mode!r}": (
                is_local and self.mode not in ("error", "append")
            ),
            "write_index with compression": self.write_index and self.codec.codec != "none",
            "write_locality='local' with write_success": is_local and self.write_success,
        }
        for found, is_wrong in wrong.items():
            if is_wrong:
                raise ValueError(f"Expected options that go together, found {found}")

    @property
    def is_direct(self) -> bool:
        """Whether each bundle writes files that are whole, for no other has records for them."""
        return not (self.num_shards or self.partition_by or self.shuffle or self.ordered)

    @property
    def replaces(self) -> bool:
        """Whether files that are there give way to those of the write."""
        return self.mode in ("overwrite", "overwrite_partitions")

    @property
    def owns_partitions(self) -> bool:
        """Whether files of its names in folders ``name=value`` are taken for its own.

        Others list nothing but names that begin as theirs: below a folder of an object store, which
        may be that of a whole bucket, there may be millions of files.
        """
        return self.partition_by is not None or self.names.base == FOLDER_BASE

    @functools.cached_property
    def codec(self) -> Compression:
        """How files are compressed."""
        return Compression.resolve(self.compression, self.compression_level)

    @functools.cached_property
    def names(self) -> FileNames:
        """What files are called."""
        prefix = os.fspath(self.file_path_prefix)
        folder, slash, base = prefix.rpartition("/")
        self.codec.check_path(prefix)
        if self.is_exact:
            return FileNames(folder + slash, base, "", "", "", is_exact=True)
        suffix = self.codec.add_suffix(self.file_name_suffix)
        stem = suffix.removesuffix(self.codec.suffix)
        base = base.removesuffix(suffix if base.endswith(suffix) else stem) or base
        template = self.shard_name_template
        if template is None:
            template = "" if self.write_locality == "local" else DEFAULT_TEMPLATE
        return FileNames(
            folder + slash, base or FOLDER_BASE, template, stem, suffix.removeprefix(stem)
        )


def _check_name(option: str, name: object) -> None:
    if not isinstance(name, str) or "/" in name or "\0" in name:
        raise ValueError(f"Expected {option} to be a str without slashes, found {describe(name)}")
    check_no_pattern(option, name)
