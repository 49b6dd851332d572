"""What Spark reads: files that name their rows, a table, or a DataFrame, in our types."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa

from onesided.data.units import Unit
from onesided.engine.flavours import SparkFlavour
from onesided.engine.sources import Files, Format, file_tag
from onesided.engine.sql import RESERVED_PREFIX
from onesided.errors import SourceError
from onesided.language import Field, Schema, Type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "osd_name"
ORDER = "osd_order"
#: Files of up to so many rows are read whole, each by one task.
WHOLE_FILE_ROWS = 2**22
#: Larger ones as well, up to so many rows, where none has more than this share of all rows.
MOST_WHOLE_FILE_ROWS = 2**25
MOST_WHOLE_FILE_SHARE = 1 / 16
#: Neighbouring files are read together up to so many rows.
ROWS_A_SCAN = 2**20
#: Where rows are moved, so many places make a file of a sample.
BLOCK_ROWS = 2**20
#: More scans cost more than the moving of rows that they save.
MOST_SCANS = 64
_FILE, _PLACE = "osd_file", "osd_place"
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


class _FileFacts(NamedTuple):
    """Its rows, and what they have in common: their tag, and the order of the first one."""

    address: str
    tag: str
    first: int
    rows: int


_Scan = list[_FileFacts]


@dataclass(frozen=True)
class _Blocks:
    """The blocks of rows that become the files of a sample.

    - `rows`: so many places in the order of all rows make a block.
    - `are_scans`: instead whole files are read by each scan and task, in their order.
    - `are_sorted`: the rows of every scan come in their order, since it reads a single file.
    """

    number: int
    rows: int
    are_scans: bool
    are_sorted: bool


@dataclass(frozen=True)
class SparkSource:
    """A DataFrame in our types, and what is known about it.

    - `frame`: the columns, and where rows are units their name and order.
    - `arrow`: the columns as they leave.
    - `blocks`: the blocks of rows, where rows are units.
    - `files`, `listing`: the files it reads, here or elsewhere; None for tables.
    """

    frame: DataFrame
    schema: Schema
    arrow: pa.Schema
    blocks: _Blocks | None = None
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


def find_source(spark: SparkSession, source: Any, table: str | None, unit: Unit) -> SparkSource:
    """The source as Spark reads it; rows are units only in files, which give them names."""
    if table is None and isinstance(source, str | Path):
        return _from_files(spark, str(source), unit)
    if unit.is_row:
        raise SourceError(
            "Rows of a table or DataFrame of Spark have no lasting names; name the key of the "
            "units, or open the Parquet files."
        )
    if table is not None:
        return _typed(spark.table(table))
    if hasattr(source, "createOrReplaceTempView"):
        return _typed(source)
    raise SourceError("Spark reads a path of Parquet files, a table or a DataFrame of its own.")


def is_local(path: str) -> bool:
    """Whether a path lies in the file system of this machine."""
    return not _SCHEME.match(path) or path.startswith("file:/")


def _from_files(spark: SparkSession, text: str, unit: Unit) -> SparkSource:
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
    named, blocks = _with_names(spark, frame, tags)
    return _typed(named, blocks=blocks, files=files, listing=listing)


def _with_names(
    spark: SparkSession, frame: DataFrame, tags: dict[str, str]
) -> tuple[DataFrame, _Blocks]:
    """Each row with its name and its order, and what blocks there are."""
    from pyspark.sql.functions import col, count

    located = frame.select(
        "*", col("_metadata.file_path").alias(_FILE), col("_metadata.row_index").alias(_PLACE)
    )
    rows = located.groupBy(_FILE).agg(count("*")).collect()
    sizes = {str(row[0]): int(row[1]) for row in rows}
    if set(sizes) - set(tags):
        raise SourceError("The files cannot be told apart by name; rename them in plain letters.")
    facts = []
    total = 0
    for address, tag in tags.items():
        if address in sizes:
            facts.append(_FileFacts(address, f"{tag}:", total, sizes[address]))
            total += sizes[address]
    scans = _gathered(facts, total)
    alone = len(scans) == len(facts)
    whole = all(_is_read_whole(scan, total) for scan in scans)
    if not (whole or alone):
        # Rows are moved to their blocks anyhow, so that one scan will do.
        scans = [facts]
    columns = [
        *map(_FLAVOUR.name, frame.columns),
        f"osd_tag || CAST({_PLACE} AS STRING) AS {NAME}",
        f"osd_first + {_PLACE} AS {ORDER}",
    ]
    known = _lookup(spark, facts)
    read = [
        _scanned(located, scan, known, everything=len(scans) == 1).selectExpr(*columns)
        for scan in scans
    ]
    named = reduce(lambda above, below: above.unionAll(below), read)
    return named, _Blocks(max(1, -(-total // BLOCK_ROWS)), BLOCK_ROWS, whole, alone)


def _gathered(facts: list[_FileFacts], total: int) -> list[_Scan]:
    """Neighbouring files that are read together: scans are few, and not small where files are.

    Two neighbours have more than `enough` rows together, so that there are fewer than `MOST_SCANS`.
    """
    enough = max(ROWS_A_SCAN, -(-2 * total // (MOST_SCANS - 2)))
    scans: list[_Scan] = []
    rows = 0
    for each in facts:
        if not scans or rows + each.rows > enough:
            scans.append([])
            rows = 0
        scans[-1].append(each)
        rows += each.rows
    return scans or [[]]


def _is_read_whole(scan: _Scan, total: int) -> bool:
    """Whether one task may read the files: it is not long, or others have as much to read."""
    rows = sum(each.rows for each in scan)
    balanced = rows <= min(MOST_WHOLE_FILE_ROWS, MOST_WHOLE_FILE_SHARE * total)
    return balanced or rows <= WHOLE_FILE_ROWS


def _scanned(located: DataFrame, scan: _Scan, known: DataFrame, *, everything: bool) -> DataFrame:
    """The rows of some files, or of `everything`, with what is `known` of their file."""
    from pyspark.sql.functions import broadcast, col

    rows = located if everything else located.where(col(_FILE).isin([e.address for e in scan]))
    if len(scan) != 1:
        return rows.join(broadcast(known), _FILE)
    return rows.selectExpr(
        "*", f"'{scan[0].tag}' AS osd_tag", f"CAST({scan[0].first} AS BIGINT) AS osd_first"
    )


def _lookup(spark: SparkSession, facts: list[_FileFacts]) -> DataFrame:
    """A small table of files that all executors get."""
    return spark.createDataFrame(
        pa.table(
            {
                _FILE: pa.array([each.address for each in facts], pa.string()),
                "osd_tag": pa.array([each.tag for each in facts], pa.string()),
                "osd_first": pa.array([each.first for each in facts], pa.int64()),
            }
        )
    )


def _typed(
    frame: DataFrame,
    *,
    blocks: _Blocks | None = None,
    files: Files | None = None,
    listing: _Listing | None = None,
) -> SparkSource:
    """The columns in the form that our types promise: texts by code point, times UTC."""
    hidden = [] if blocks is None else [NAME, ORDER]
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
    shown = frame.selectExpr(*(_normalised(name, kind) for name, kind in kinds.items()), *hidden)
    return SparkSource(shown, Schema.of(fields), arrow, blocks, files, listing)


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
