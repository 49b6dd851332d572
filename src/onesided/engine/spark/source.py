"""What Spark reads: files that name their rows, a table, or a DataFrame, in our types."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from onesided.data.units import Unit
from onesided.engine.hive import agreed_columns
from onesided.engine.names import check_names
from onesided.engine.remote import check_format
from onesided.engine.sources import Files, Format, file_tag
from onesided.engine.spark.columns import (
    MILLISECONDS,
    arrow_of,
    fails_on_a_value,
    field_of,
    normalised,
)
from onesided.engine.spark.files import (
    FOLDER_TYPES,
    exists,
    in_milliseconds,
    is_local,
    literal_path,
    names_in,
)
from onesided.engine.spark.flavour import SparkFlavour
from onesided.engine.spark.scans import NAME, ORDER, NamedRows, named_rows
from onesided.engine.spark.session import Session
from onesided.errors import SourceError
from onesided.language import Schema, Type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_FLAVOUR = SparkFlavour()
_WILDCARD = re.compile(r"[*?\[{]")


@dataclass(frozen=True)
class SparkSource:
    """A DataFrame in our types, and what is known about it.

    - `frame`: the columns, and where rows are units their name and order.
    - `kinds`: the type of each column as it was found.
    - `reader`: what the columns come from, files or a table.
    - `doubtful`: the columns that can fail to be read where a value does not fit their type.
    - `rows`: where rows are units, the same frame and how it is read for a sample.
    - `files`, `listing`: the files it reads, here or elsewhere; None for tables.
    """

    frame: DataFrame
    kinds: Mapping[str, str]
    reader: str
    doubtful: tuple[str, ...]
    rows: NamedRows | None = None
    files: Files | None = None
    listing: _Listing | None = None

    @property
    def schema(self) -> Schema:
        return Schema.of({name: field_of(kind) for name, kind in self.kinds.items()})

    @property
    def arrow(self) -> pa.Schema:
        """The columns as they leave."""
        return pa.schema([(name, arrow_of(kind)) for name, kind in self.kinds.items()])

    @property
    def reads_files(self) -> bool:
        return self.files is not None or self.listing is not None

    @property
    def format(self) -> dict[str, Any]:
        """The columns as they were found."""
        columns = [{"name": name, "type": kind} for name, kind in self.kinds.items()]
        return {"reader": f"spark {self.reader}", "columns": columns}

    def check_values(self, view: str, spark: SparkSession) -> None:
        """Read what can fail to be read, for the steward: it fails now and not after a charge."""
        read = [f"max(xxhash64({_FLAVOUR.name(name)}))" for name in self.doubtful]
        if read:
            spark.sql(f"SELECT {', '.join(read)} FROM {view}").collect()

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


def find_source(
    session: Session,
    source: Any,
    table: str | None,
    unit: Unit,
    frozen: Mapping[str, Any] | None = None,
) -> SparkSource:
    """The source as Spark reads it; rows are units only in files, which give them names.

    - `frozen`: the format that an account was opened with; other columns are refused.
    """
    found = _found(session, source, table, unit, frozen)
    check_format(found.format, frozen)
    return found


def _found(
    session: Session, source: Any, table: str | None, unit: Unit, frozen: Mapping[str, Any] | None
) -> SparkSource:
    if table is None and isinstance(source, str | Path):
        return _from_files(session, str(source), unit, frozen)
    if unit.is_row:
        raise SourceError(
            "Rows of a table or DataFrame of Spark have no lasting names; name the key of the "
            "units, or open the Parquet files."
        )
    if table is not None:
        frame = session.spark.table(table)
        return _from_frame(_fenced(frame) if _is_view(session.spark, table) else frame)
    if hasattr(source, "createOrReplaceTempView"):
        return _from_frame(_fenced(source))
    raise SourceError("Spark reads a path of Parquet files, a table or a DataFrame of its own.")


class _Read(NamedTuple):
    """Files as Spark reads them: their columns, and the tag of each file by its address."""

    frame: DataFrame
    kinds: dict[str, str]
    tags: dict[str, str]


def _from_files(
    session: Session, text: str, unit: Unit, frozen: Mapping[str, Any] | None
) -> SparkSource:
    files = listing = None
    if is_local(text):
        files = Files.find(re.sub(r"^file:/+", "/", text))
        read = _read_here(session.spark, files, frozen)
    else:
        read, listing = _read_elsewhere(session.spark, text, frozen)
    if len(set(read.tags.values())) != len(read.tags):
        raise SourceError("Two of the files have the same name; rename one of them.")
    # Elsewhere nobody looks into the files: any time in them may be in milliseconds.
    doubtful = [
        name
        for name, kind in read.kinds.items()
        if fails_on_a_value(kind) or (listing and field_of(kind).type is Type.TIMESTAMP)
    ]
    rows = named_rows(session, read.frame, read.tags) if unit.is_row else None
    frame = read.frame if rows is None else rows.frame
    source = _typed(frame, read.kinds, "parquet", doubtful, rows)
    return replace(source, files=files, listing=listing)


def _read_here(spark: SparkSession, files: Files, frozen: Mapping[str, Any] | None) -> _Read:
    if files.format is not Format.PARQUET:
        raise SourceError("Spark reads Parquet files here; convert the CSV files first.")
    places = [f"file://{literal_path(os.fspath(path))}" for path in files.paths]
    agreed = None if frozen is None else [each["name"] for each in frozen["columns"]]
    named = {each.name: each.type for each in agreed_columns(files, names_in(files), agreed)}
    reader = spark.read.option("basePath", f"file://{files.base}") if named else spark.read
    # A file may have columns that others have not: all of them are looked at, by Spark and here.
    found = reader.option("mergeSchema", "true").parquet(*places)
    kinds = {name: kind for name, kind in _kinds(found).items() if name not in named}
    kinds.update(dict.fromkeys(in_milliseconds(files.paths, kinds), MILLISECONDS))
    kinds.update({name: FOLDER_TYPES[kind] for name, kind in named.items()})
    kinds = _in_order(kinds, frozen)
    frame = reader.schema(_stored(found.schema, kinds, named)).parquet(*places)
    addresses = {_local_path(each): _address(each) for each in frame.inputFiles()}
    if set(addresses) != set(files.paths):
        raise SourceError(
            "Spark leaves out files whose names begin with a dot or an underscore; rename them."
        )
    return _Read(frame, kinds, {addresses[path]: tag for path, tag in files.tags().items()})


def _read_elsewhere(
    spark: SparkSession, text: str, frozen: Mapping[str, Any] | None
) -> tuple[_Read, _Listing]:
    """A path, or a glob where there is no file or folder of that name."""
    is_glob = _WILDCARD.search(text) is not None and not exists(spark, text)
    place = text if is_glob else literal_path(text)
    reader = spark.read.option("recursiveFileLookup", "true")
    found = reader.option("mergeSchema", "true").parquet(place)
    kinds = _in_order(_kinds(found), frozen)
    frame = reader.schema(_stored(found.schema, kinds)).parquet(place)
    listing = _Listing(frame, _address(_WILDCARD.split(text, maxsplit=1)[0] if is_glob else text))
    return _Read(frame, kinds, listing.tags()), listing


def _from_frame(frame: DataFrame) -> SparkSource:
    """A table or DataFrame; what it computes can fail on any value."""
    kinds = _kinds(frame)
    return _typed(frame, kinds, "table", list(kinds))


def _fenced(frame: DataFrame) -> DataFrame:
    """The same rows; none of our conditions comes before those that keep the frame from failing.

    Spark moves conditions down, to rows that a join or filter of the frame would have left out. It
    moves none below a condition whose value it cannot know.
    """
    return frame.where("spark_partition_id() >= 0")


def _is_view(spark: SparkSession, table: str) -> bool:
    """Whether the rows of a name in the catalogue are computed; a table's own are only read."""
    return spark.catalog.getTable(table).tableType not in ("MANAGED", "EXTERNAL")


def _kinds(frame: DataFrame) -> dict[str, str]:
    """The columns and their types; two of them never mean the same name."""
    check_names([name for name, _ in frame.dtypes], "The data")
    return dict(frame.dtypes)


def _in_order(kinds: dict[str, str], frozen: Mapping[str, Any] | None) -> dict[str, str]:
    """The columns as an account has them: files may have them in another order, or some more."""
    before = [] if frozen is None else [each["name"] for each in frozen["columns"]]
    return {name: kinds[name] for name in sorted(kinds, key=lambda each: _place(before, each))}


def _place(names: list[str], name: str) -> int:
    return names.index(name) if name in names else len(names)


def _stored(found: StructType, kinds: Mapping[str, str], named: Collection[str] = ()) -> StructType:
    """The columns as they are read from files; what folders name is read as what it is for us."""
    from pyspark.sql.types import LongType, StructField, StructType

    stored = StructType()
    for name, kind in kinds.items():
        if name in named:
            stored.add(name, kind)
        else:
            number = kind == MILLISECONDS
            stored.add(StructField(name, LongType() if number else found[name].dataType))
    return stored


def _typed(
    frame: DataFrame,
    kinds: Mapping[str, str],
    reader: str,
    doubtful: list[str],
    rows: NamedRows | None = None,
) -> SparkSource:
    """The columns in the form that our types promise."""
    hidden = [] if rows is None else [NAME, ORDER]
    columns = [*(normalised(name, kind) for name, kind in kinds.items()), *hidden]
    shown = frame.selectExpr(*columns)
    if rows is not None:
        scans = None if rows.scans is None else rows.scans.selectExpr(*columns)
        rows = replace(rows, frame=shown, scans=scans)
    return SparkSource(shown, dict(kinds), reader, tuple(doubtful), rows)


def _local_path(uri: str) -> Path:
    return Path(unquote(_address(uri).removeprefix("file:")))


def _address(uri: str) -> str:
    """An address as the rows name it: with one slash where there is no host."""
    return re.sub(r"^([A-Za-z][A-Za-z0-9+.-]*):/{3}", r"\1:/", uri)
