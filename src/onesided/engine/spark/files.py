"""Files for Spark: addresses that it takes as they stand, and what it does not look at in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from onesided.engine.sources import Files
from onesided.engine.spark.columns import field_of
from onesided.errors import SourceError
from onesided.language import Type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What Spark reads the names of folders as.
FOLDER_TYPES = {Type.INTEGER: "bigint", Type.DATE: "date", Type.TEXT: "string"}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


def is_local(path: str) -> bool:
    """Whether a path lies in the file system of this machine."""
    return not _SCHEME.match(path) or path.startswith("file:/")


def literal_path(place: str) -> str:
    """An address that Spark takes as it stands: it would expand the wildcards in it."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", place)


def exists(spark: SparkSession, place: str) -> bool:
    """Whether there is a file or folder of exactly this address."""
    from pyspark.errors import AnalysisException

    try:
        spark.read.format("binaryFile").load(literal_path(place))
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return False
        raise
    return True


def names_in(files: Files) -> list[str]:
    """The columns within the first of the files; the others have the same."""
    with files.paths[0].open("rb") as file:
        return list(pq.read_schema(file).names)


def in_milliseconds(paths: Iterable[Path], kinds: Mapping[str, str]) -> list[str]:
    """The columns whose times are stored in milliseconds, in files of the same columns."""
    units: dict[str, set[bool]] = {}
    for path in paths:
        stored = pq.read_metadata(path).schema
        if sorted(stored.to_arrow_schema().names) != sorted(kinds):
            raise SourceError("The files do not all have the same columns; write them anew alike.")
        leaves = map(stored.column, range(len(stored)))
        for leaf in leaves:
            if field_of(kinds.get(leaf.path, "")).type is Type.TIMESTAMP:
                units.setdefault(leaf.path, set()).add("milliseconds" in str(leaf.logical_type))
    for name, found in units.items():
        if len(found) > 1:
            raise SourceError(
                f"Some files have the times in {name} in milliseconds and others have not; write "
                "them anew alike."
            )
    return [name for name, found in units.items() if True in found]
