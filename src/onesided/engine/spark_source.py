"""What Spark reads: files that name their rows, a table, or a DataFrame, in our types."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa

from onesided.data.units import Unit
from onesided.engine.flavours import SparkFlavour
from onesided.engine.sources import Files, Format, file_tag
from onesided.engine.spark_scans import NAME, ORDER, NamedRows, named_rows
from onesided.engine.spark_session import Session
from onesided.engine.sql import RESERVED_PREFIX
from onesided.errors import SourceError
from onesided.language import Field, Schema, Type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FLAVOUR = SparkFlavour()
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
_WILDCARD = re.compile(r"[*?\[{]")
_TYPES = {
    "tinyint": (Type.INTEGER, pa.int8()),
    "smallint": (Type.INTEGER, pa.int16()),
    "int": (Type.INTEGER, pa.int32()),
    "bigint": (Type.INTEGER, pa.int64()),
    "float": (Type.FLOAT, pa.float32()),
    "double": (Type.FLOAT, pa.float64()),
    "string": (Type.TEXT, pa.string()),
    "boolean": (Type.BOOLEAN, pa.bool_()),
    "date": (Type.DATE, pa.date32()),
    "timestamp": (Type.TIMESTAMP, pa.timestamp("us")),
    "timestamp_ntz": (Type.TIMESTAMP, pa.timestamp("us")),
}
_DECIMAL = re.compile(r"decimal\((\d+),(-?\d+)\)")
_TEXT = re.compile(r"string\b.*|char\(\d+\)|varchar\(\d+\)")
_EPOCH = "TIMESTAMP_NTZ '1970-01-01 00:00:00'"


@dataclass(frozen=True)
class SparkSource:
    """A DataFrame in our types, and what is known about it.

    - `frame`: the columns, and where rows are units their name and order.
    - `arrow`: the columns as they leave.
    - `rows`: where rows are units, the same frame and how it is read for a sample.
    - `files`, `listing`: the files it reads, here or elsewhere; None for tables.
    """

    frame: DataFrame
    schema: Schema
    arrow: pa.Schema
    rows: NamedRows | None = None
    files: Files | None = None
    listing: _Listing | None = None

    def state(self) -> str | None:
        """Names the state of the files, in the same words as on other engines where they are here.

        None where nothing tells it.
        """
        if self.files is not None:
            return self.files.fingerprint()
        return None if self.listing is None else self.listing.state()

    def size(self) -> int | None:
        """The bytes of all files; None for what is no file."""
        if self.files is not None:
            return sum(path.stat().st_size for path in self.files.paths)
        return None if self.listing is None else sum(size for _, size, _ in self.listing.facts())


@dataclass(frozen=True)
class _Listing:
    """Files in some other file system, below `base`."""

    frame: DataFrame
    base: str

    def tags(self) -> dict[str, str]:
        """The tag of each file by its address."""
        found = sorted(_address(each) for each in self.frame.inputFiles())
        return {each: file_tag(each.removeprefix(self.base).lstrip("/")) for each in found}

    def state(self) -> str:
        return hashlib.sha256(repr(self.facts()).encode()).hexdigest()

    def facts(self) -> list[tuple[str, int, str]]:
        """Relative names, sizes and times of the files."""
        facts = self.frame.selectExpr(
            "_metadata.file_path", "_metadata.file_size", "_metadata.file_modification_time"
        )
        return sorted(
            (str(row[0]).removeprefix(self.base), int(row[1]), str(row[2]))
            for row in facts.distinct().collect()
        )


def find_source(session: Session, source: Any, table: str | None, unit: Unit) -> SparkSource:
    """The source as Spark reads it; rows are units only in files, which give them names."""
    if table is None and isinstance(source, str | Path):
        return _from_files(session, str(source), unit)
    if unit.is_row:
        raise SourceError(
            "Rows of a table or DataFrame of Spark have no lasting names; name the key of the "
            "units, or open the Parquet files."
        )
    if table is not None:
        return _typed(session.spark.table(table))
    if hasattr(source, "createOrReplaceTempView"):
        return _typed(source)
    raise SourceError("Spark reads a path of Parquet files, a table or a DataFrame of its own.")


def is_local(path: str) -> bool:
    """Whether a path lies in the file system of this machine."""
    return not _SCHEME.match(path) or path.startswith("file:/")


def _from_files(session: Session, text: str, unit: Unit) -> SparkSource:
    spark = session.spark
    if is_local(text):
        files = Files.find(re.sub(r"^file:/+", "/", text))
        if files.format is not Format.PARQUET:
            raise SourceError("Spark reads Parquet files here; convert the CSV files first.")
        frame = spark.read.parquet(*(_escaped(path) for path in files.paths))
        addresses = {_local_path(each): _address(each) for each in frame.inputFiles()}
        tags = {addresses[path]: tag for path, tag in files.tags().items()}
        listing = None
    else:
        files = None
        reader = spark.read.option("recursiveFileLookup", "true")
        frame = reader.parquet(text)
        listing = _Listing(frame, _address(_WILDCARD.split(text, maxsplit=1)[0]))
        tags = listing.tags()
    if len(set(tags.values())) != len(tags):
        raise SourceError("Two of the files cannot be told apart by name; rename one of them.")
    if not unit.is_row:
        return _typed(frame, files=files, listing=listing)
    rows = named_rows(session, frame, tags)
    return _typed(rows.frame, rows=rows, files=files, listing=listing)


def _typed(
    frame: DataFrame,
    *,
    rows: NamedRows | None = None,
    files: Files | None = None,
    listing: _Listing | None = None,
) -> SparkSource:
    """The columns in the form that our types promise: texts by code point, times UTC."""
    hidden = [] if rows is None else [NAME, ORDER]
    kinds = {name: kind for name, kind in frame.dtypes if name not in hidden}
    lowered = [name.lower() for name in kinds]
    if len(set(lowered)) != len(lowered):
        raise SourceError("Two columns differ only in capitals, which Spark confuses; rename one.")
    if any(name.startswith(RESERVED_PREFIX) for name in lowered):
        raise SourceError(
            f"A column name starts with {RESERVED_PREFIX}, which is reserved; rename it."
        )
    fields = {name: _field(kind) for name, kind in kinds.items()}
    arrow = pa.schema([(name, _arrow(kind)) for name, kind in kinds.items()])
    columns = [*(_normalised(name, kind) for name, kind in kinds.items()), *hidden]
    shown = frame.selectExpr(*columns)
    if rows is not None:
        scans = None if rows.scans is None else rows.scans.selectExpr(*columns)
        rows = replace(rows, frame=shown, scans=scans)
    return SparkSource(shown, Schema.of(fields), arrow, rows, files, listing)


def _field(kind: str) -> Field:
    decimal = _DECIMAL.fullmatch(kind)
    if decimal is not None:
        return Field.decimal(int(decimal[1]), int(decimal[2]))
    if _TEXT.fullmatch(kind):
        return Field(Type.TEXT)
    return Field(_TYPES[kind][0] if kind in _TYPES else Type.OTHER)


def _arrow(kind: str) -> pa.DataType:
    decimal = _DECIMAL.fullmatch(kind)
    if decimal is not None:
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    if _TEXT.fullmatch(kind):
        return pa.string()
    return _TYPES[kind][1] if kind in _TYPES else pa.null()


def _normalised(name: str, kind: str) -> str:
    column = _FLAVOUR.name(name)
    if kind == "timestamp":
        return f"timestampadd(MICROSECOND, unix_micros({column}), {_EPOCH}) AS {column}"
    if kind != "string" and _TEXT.fullmatch(kind):
        return f"CAST({column} AS STRING) COLLATE UTF8_BINARY AS {column}"
    return column


def _escaped(path: Path) -> str:
    """A path that Spark takes literally: it would expand the wildcards in it."""
    return "file://" + re.sub(r"([\\*?\[\]{}])", r"\\\1", os.fspath(path))


def _local_path(uri: str) -> Path:
    return Path(unquote(_address(uri).removeprefix("file:")))


def _address(uri: str) -> str:
    """An address as the rows name it: with one slash where there is no host."""
    return re.sub(r"^([A-Za-z][A-Za-z0-9+.-]*):/{3}", r"\1:/", uri)
