"""Spark, for data that one machine is too small for: the executors read, count and write.

Only aggregated counts come to the driver, and a sample only where it is asked for in batches. The
coin key is read by a scalar subquery from a table of one row, so that neither a statement nor its
plan holds it.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from onesided.data.files import read_batches
from onesided.data.private import PrivateDirectory
from onesided.data.units import Unit
from onesided.engine.base import Coins, CountQuery, GroupCounts, Inspection, Placed, SampleQuery
from onesided.engine.beside import (
    Beside,
    FoundTable,
    SecretLookup,
    check_unique,
    readable,
    repeated_keys,
)
from onesided.engine.columns_read import ColumnsRead
from onesided.engine.flavour import Flavour
from onesided.engine.maps import HeldMap
from onesided.engine.remote import RemoteEngine, cast_batch
from onesided.engine.spark.failures import opening, releasing
from onesided.engine.spark.flavour import (
    PART,
    CountingSparkFlavour,
    FewUnitsSparkFlavour,
    ManyUnitsSparkFlavour,
    PartedSparkFlavour,
    SparkFlavour,
)
from onesided.engine.spark.places import check_place, placed, write_folder
from onesided.engine.spark.scans import NAME, ORDER, NamedRows
from onesided.engine.spark.session import (
    BYTES_A_SCAN,
    EXACT_NAMES,
    PINNED,
    SessionLike,
    engine_errors,
    settings,
    started,
    unwarned,
)
from onesided.engine.spark.source import SparkSource, find_source
from onesided.engine.sql import Relation, Statements
from onesided.engine.together import apart, columns_of, joint
from onesided.errors import SourceError
from onesided.language import Schema, Type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

UNITS_A_PARTITION = 20_000
#: A task that reads for a histogram has about so many units. The distinct pairs of more outgrow its
#: memory, and where Spark begins to sort them instead of hashing them the work doubles.
UNITS_A_SCAN = 100_000
#: The bytes of memory that have to be there for each key in a table of keys, and once more for each
#: text in it. By its layout such a table takes 110 to 140 of them a key; copies are on their way.
MEMORY_A_KEY = 1024
# Keys are sent to the executors once the table has been read for them, however long that takes.
_PATIENT = {"spark.sql.broadcastTimeout": "-1"}
# What the adaptive planner decides follows the sizes of all rows, also of those that stay behind;
# the bounds of the files that are written must follow the released rows alone.
_FIXED_PLAN = {
    **_PATIENT,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
# Bytes would decide as well where files are cut to be read: one task reads all files of a scan. And
# the same code serves all scans, unless they are compiled as one, or numbered.
_WHOLE_SCANS = {
    BYTES_A_SCAN: str(2**60),
    "spark.sql.files.openCostInBytes": "0",
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.codegen.wholeStage.union.enabled": "false",
    "spark.sql.codegen.useIdInClassName": "false",
}
_PARTITIONS = "spark.sql.shuffle.partitions"
_FLAVOUR = SparkFlavour()


@dataclass(frozen=True)
class _Parts:
    """Where the rows of a sample go: `of_row`, computed from a hidden column, is below `number`."""

    number: int
    column: str
    of_row: str


class SparkEngine(RemoteEngine):
    """Parquet files, a table or a DataFrame of Spark, and its units.

    - `connection`: a SparkSession (classic or Connect), a master such as `local[2]` or
      `spark://…`, or the address of a Spark Connect server, `sc://…`.
    - `source`: a path, folder or glob of Parquet files, which may be an address such as `s3a://…`,
      or a DataFrame; `table` instead is a table of the session's catalogue.
    - `unit`: where rows are units they are named by file and position, which only files have.
    - `format`: the columns that an account was opened with; others are refused.
    """

    def __init__(
        self,
        source: Any,
        unit: Unit,
        connection: SessionLike,
        *,
        table: str | None = None,
        format: Mapping[str, Any] | None = None,
    ) -> None:
        with opening():
            self.session = started(connection)
        self._spark = self.session.spark
        self._views: list[str] = []
        self._units: int | None = None
        self._bytes: int | None = None
        self._tables: dict[str, SparkSource] = {}
        self._beside = Beside()
        try:
            with opening(), settings(self._spark, {**PINNED, **EXACT_NAMES}):
                self._source = find_source(self.session, source, table, unit, format)
                self.view = self._named(self._source.frame)
                scans = None if self._source.rows is None else self._source.rows.scans
                self._scans = None if scans is None else self._named(scans)
            self._schema = unit.zones.applied(self._source.schema)
            self._unit = unit.bind(self._schema)
        except BaseException:
            self.close()
            raise

    def stop(self) -> None:
        """End the running statement."""
        self.session.end_work()

    @property
    def schema(self) -> Schema:
        return self._beside.schema(self._schema)

    @property
    def format(self) -> dict[str, Any]:
        return self._source.format

    @property
    def _leaving(self) -> pa.Schema:
        tables = {name: each.arrow for name, each in self._tables.items()}
        return self._beside.leaving(self._source.arrow, tables)

    def inspect(self) -> Inspection:
        with opening(), self._pinned():
            self._source.check_values(self.view, self._spark)
            row = self._spark.sql(self._statements().inspection()).collect()[0]
            self._bytes = None if self._unit.is_row else self._source.size()
        self._units = int(row[0])
        return Inspection(units=int(row[0]), rows_without_key=int(row[1]))

    def fingerprint(self) -> str:
        with opening(), self._pinned():
            states = [each.state() for each in (self._source, *self._tables.values())]
        known = [state for state in states if state is not None]
        if len(known) < len(states):
            raise SourceError(
                "A table of Spark does not tell when its data change; "
                "name their state with a version."
            )
        return self._beside.fingerprint(known[0], known[1:])

    def hold_map(self, places: pa.Table, moves: pa.Table | None) -> HeldMap:
        with opening(), self._pinned():
            views = [
                None if each is None else self._named(self._spark.createDataFrame(each))
                for each in (places, moves)
            ]
        assert views[0] is not None
        return HeldMap(views[0], views[1])

    def lookup_table(
        self, name: str, source: Any, table: str | None, format: Mapping[str, Any] | None
    ) -> FoundTable:
        with opening(), self._pinned(EXACT_NAMES):
            # Its rows are found by a key, and need no names of their own.
            found = find_source(self.session, source, table, Unit((name,)), format)
            view = self._named(found.frame)
            found.check_values(view, self._spark)
        self._tables[name] = found
        return FoundTable(name, readable(found.schema), found.format, view, held=False)

    def look_up(self, lookups: tuple[SecretLookup, ...]) -> None:
        with opening(), self._pinned():
            for lookup in lookups:
                row = self._spark.sql(repeated_keys(lookup, _FLAVOUR)).collect()[0]
                check_unique(lookup, int(row[0]))
        self._beside = Beside(lookups)

    def sample(self, query: SampleQuery) -> Iterator[pa.RecordBatch]:
        """The rows in the order of every engine.

        A local Spark writes them to a private directory, from where they are read in batches. A
        cluster has no such place: there they come through the driver's memory, and a sample that
        is too large for it is better asked for with `place`.
        """
        schema = self.output_schema(query.columns)
        if not self.session.is_local:
            with releasing(), self.prepared(query) as frame, unwarned():
                rows = frame.toArrow()
            yield from (cast_batch(batch, schema) for batch in rows.to_batches())
            return
        directory = PrivateDirectory()
        try:
            folder = directory.path / "rows"
            self._write(query, str(folder))
            with releasing():
                for file in sorted(folder.iterdir()):
                    yield from (cast_batch(batch, schema) for batch in read_batches(file))
        finally:
            directory.remove()

    def count(self, query: CountQuery) -> GroupCounts:
        chosen = self._pinned({**_PATIENT, **self.scanning()})
        with releasing(), self._coin_key(query.coins) as key, chosen, unwarned():
            table = self._spark.sql(self.statement(query, key)).toArrow()
        return GroupCounts.of(table, query.listed)

    def count_each(self, queries: Sequence[CountQuery]) -> list[GroupCounts]:
        statements = self._statements("", self._counting(None), read=columns_of(queries).all)
        with releasing(), self._pinned({**_PATIENT, **self.scanning()}), unwarned():
            return apart(self._spark.sql(joint(statements, queries)).toArrow(), queries)

    def statement(self, query: CountQuery, coin_key: str = "") -> str:
        """What counts; `coin_key` is the expression that reads the key."""
        read = ColumnsRead.by_count(query).all
        return self._statements(coin_key, self._counting(query.coins), read=read).count(query)

    def check_place(self, place: str) -> None:
        check_place(self._spark, place)

    def place(self, query: SampleQuery, place: str) -> Placed:
        """The sample as a folder of Parquet files, written by the executors."""
        self._write(query, place)
        schema = self.output_schema(query.columns)
        floats = {field.name for field in schema if pa.types.is_floating(field.type)}
        with releasing(), self._pinned():
            return placed(self._spark, place, floats)

    def _write(self, query: SampleQuery, place: str) -> None:
        with releasing(), self.prepared(query) as frame:
            write_folder(frame, place)

    def close(self) -> None:
        """Forget the views, and stop the session where this engine started it."""
        with suppress(*engine_errors()):
            for view in self._views:
                self._spark.catalog.dropTempView(view)
        self._views.clear()
        self.session.close()

    def _statements(
        self,
        coin_key: str = "",
        flavour: Flavour = _FLAVOUR,
        view: str | None = None,
        read: frozenset[str] | None = None,
    ) -> Statements:
        relation = Relation(
            source=view or self.view,
            schema=self.schema,
            unit=self._unit,
            coin_key=coin_key,
            row_text=NAME,
            beside=self._beside.lookups,
            read=read,
        )
        return Statements.on(relation, flavour)

    @contextmanager
    def prepared(self, query: SampleQuery) -> Iterator[DataFrame]:
        """The chosen rows, sorted, and cut into partitions by nothing but themselves."""
        partitions, single = self._partitions(query.coins), self._source.rows
        fixed = {**_FIXED_PLAN, _PARTITIONS: str(partitions)}
        if self._scans is not None:
            fixed.update(_WHOLE_SCANS)
        with self._coin_key(query.coins) as key, self._pinned(fixed):
            read = ColumnsRead.by_sample(query).all
            statements = self._statements(key, view=self._scans, read=read)
            if single is not None:
                yield self._single_rows(statements, query, single)
            elif self._units is not None and set(self._unit.columns) <= set(query.columns):
                first, texts = statements.sorting(query.columns)
                parted = replace(statements, flavour=self._numbering(query.coins, partitions))
                yield self._cut(parted, query, _Parts(partitions, PART, PART), [*first, *texts])
            else:
                yield self._spark.sql(statements.sample(query) + statements.order(query.columns))

    def _single_rows(
        self, statements: Statements, query: SampleQuery, single: NamedRows
    ) -> DataFrame:
        """Rows keep their places in the source, and public numbers of places make a partition."""
        if single.scans is None:
            block = f"CAST({ORDER} DIV {single.block_rows} AS INT)"
            return self._cut(statements, query, _Parts(single.blocks, ORDER, block), [ORDER])
        if single.are_sorted:
            return self._spark.sql(statements.sample(query))
        return self._rows_with(statements, query, ORDER).sortWithinPartitions(ORDER).drop(ORDER)

    def _cut(
        self, statements: Statements, query: SampleQuery, parts: _Parts, order: list[str]
    ) -> DataFrame:
        """The rows, a partition for each of the parts, sorted."""
        from pyspark.sql.functions import expr

        rows = self._rows_with(statements, query, parts.column)
        placed = rows.repartitionById(parts.number, expr(parts.of_row))
        return placed.sortWithinPartitions(*map(_FLAVOUR.name, order)).drop(parts.column)

    def _rows_with(self, statements: Statements, query: SampleQuery, hidden: str) -> DataFrame:
        """The rows, and a column that is not released."""
        columns = (*query.columns, hidden)
        return self._spark.sql(statements.sample(replace(query, columns=columns)))

    def _numbering(self, coins: Coins, parts: int) -> PartedSparkFlavour:
        """Decided by public facts, and not by what would turn out to be kept."""
        kept = self._expected(coins)
        if kept <= self._keys_in_memory:
            return FewUnitsSparkFlavour(parts, max(1, int(kept / parts)))
        return ManyUnitsSparkFlavour(parts)

    def _counting(self, coins: Coins | None) -> SparkFlavour:
        """How pairs meet their units is left to Spark where these are many, or nobody knows."""
        few = self._units is not None and self._expected(coins) <= self._keys_in_memory
        return CountingSparkFlavour() if few else _FLAVOUR

    def scanning(self) -> dict[str, str]:
        """How much of a file a task reads; a count does not depend on what is read together."""
        if self._bytes is None or not self._units:
            return {}
        wanted = max(1, self._bytes * UNITS_A_SCAN // self._units)
        return {BYTES_A_SCAN: f"{min(wanted, self.session.bytes_a_scan())}b"}

    def _expected(self, coins: Coins | None) -> float:
        """How many units are kept as far as the public facts tell: n units, each by its coin."""
        share = 1.0 if coins is None else -math.expm1(-float(coins.epsilon))
        return share * (self._units or 0)

    @property
    def _keys_in_memory(self) -> int:
        """How many keys a task or the driver may hold, by the session's settings."""
        texts = sum(self.schema[column].type is Type.TEXT for column in self._unit.stored)
        return max(1, self.session.memory() // (MEMORY_A_KEY * (1 + texts)))

    def _partitions(self, coins: Coins) -> int:
        """As many as the session has set, fewer where the public number of units is small.

        And so many at least that the keys of a partition fit into memory.
        """
        usual = int(str(self._spark.conf.get(_PARTITIONS)))
        if self._units is None:
            return usual
        fewest = math.ceil(self._expected(coins) / self._keys_in_memory)
        return max(fewest, min(usual, 1 + self._units // UNITS_A_PARTITION))

    @contextmanager
    def _coin_key(self, coins: Coins | None) -> Iterator[str]:
        """The expression that reads the coin key, while its table of one row exists."""
        if coins is None:
            yield ""
            return
        # From Arrow the executors read it by themselves; a Python list takes a Python process.
        view = self._named(self._spark.createDataFrame(pa.table({"key": [coins.key]})))
        try:
            yield f"(SELECT key FROM {view})"
        finally:
            with suppress(*engine_errors()):
                self._spark.catalog.dropTempView(view)
            self._views.remove(view)

    def _pinned(
        self, more: Mapping[str, str] = MappingProxyType({})
    ) -> AbstractContextManager[None]:
        """The settings under which every statement runs, and some for this one."""
        sources = (self._source, *self._tables.values())
        names = EXACT_NAMES if any(each.reads_files for each in sources) else {}
        return settings(self._spark, {**PINNED, **names, **more})

    def _named(self, frame: DataFrame) -> str:
        view = f"osd_{secrets.token_hex(8)}"
        frame.createOrReplaceTempView(view)
        self._views.append(view)
        return view
