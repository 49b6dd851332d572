"""The embedded engine: Parquet, CSV and frames in memory, through DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import numpy as np
import pyarrow as pa

from onesided.data.private import PrivateDirectory
from onesided.data.units import Unit
from onesided.engine.base import (
    COLUMNS_CHANGED,
    Coins,
    CountQuery,
    GroupCounts,
    Inspection,
    PublicTable,
    SampleQuery,
)
from onesided.engine.beside import Beside, FoundTable, SecretLookup, check_unique, repeated_keys
from onesided.engine.columns_read import ColumnsRead
from onesided.engine.csv_options import CsvOptions
from onesided.engine.duckdb.beside import CopiedTables
from onesided.engine.duckdb.connection import STATEMENT_ERRORS, connect, opening, releasing
from onesided.engine.duckdb.flavour import DuckDBFlavour, ThriftyDuckDBFlavour
from onesided.engine.duckdb.mending import is_unreadable, mended, reads_all
from onesided.engine.duckdb.source import FRAME, NAME, ORDER, POLICY, opened_source
from onesided.engine.duckdb.types import column_of, field_of
from onesided.engine.frame_rows import sensitive_rows
from onesided.engine.maps import HeldMap
from onesided.engine.sources import Files
from onesided.engine.sql import Relation, Statements
from onesided.engine.streams import HeldTable
from onesided.engine.ties import sorted_ties
from onesided.engine.together import apart, columns_of, joint
from onesided.errors import ReleaseFailed, RequestError
from onesided.language import BoundPredicate, Field, Predicate, Schema, Type

BATCH_ROWS = 122_880
_KEY_VARIABLE = "osd_coin_key"
_PUBLIC = "osd_public_"
_PLACES, _MOVES = "osd_places", "osd_moves"
_FLAVOUR = DuckDBFlavour()
Result = TypeVar("Result")


class DuckDBEngine:
    """One table, its units, and a private DuckDB that reads it.

    Spilled data lies in a directory of mode 0700 that is removed by `close`. The coin key reaches
    statements through a variable of the connection, so that no statement's text holds it.
    """

    def __init__(
        self,
        source: Any,
        unit: Unit,
        *,
        memory_limit: str | None = None,
        threads: int | None = None,
        format: Mapping[str, Any] | None = None,
        csv: CsvOptions | None = None,
    ) -> None:
        """Open a source.

        - `source`: a path or glob, or a table in memory.
        - `format`: what `format` was when the account was opened; without it the form of the data
          is found now, over all files.
        - `csv`: what is said about CSV files.
        """
        self._spill = PrivateDirectory()
        self._connection = connect(self._spill.path, memory_limit, threads)
        try:
            named = isinstance(source, str | Path)
            self._files: Files | None = Files.find(str(source)) if named else None
            with opening():
                self._frame = None if named else HeldTable.of(source, self._spill.path)
                self._source = opened_source(
                    self._connection,
                    self._files if self._frame is None else self._frame.rows,
                    self._spill.path,
                    format,
                    rows_named=unit.is_row,
                    csv=csv or CsvOptions(),
                )
            self._unread = set(self._source.rows.checks)
            kinds = self._source.kinds
            fields = {name: field_of(kind) for name, kind in kinds.items()}
            self._schema = unit.zones.applied(Schema.of(fields))
            self._unit = unit.bind(self._schema)
            self._mended: str | None = None
            with opening():
                listed = [column_of(name, kind) for name, kind in kinds.items()]
                empty = self._connection.sql(
                    f"SELECT {', '.join(listed)} FROM {self._source.rows.relation} LIMIT 0"
                )
                self._arrow = empty.to_arrow_table().schema
            self._tables = CopiedTables(self._connection, self._spill.path)
            self._beside = Beside()
        except BaseException:
            self.close()
            raise

    @property
    def format(self) -> dict[str, Any]:
        """How the source is read: its reader, and its columns with their names and types.

        Public, and plain JSON. Everything that was found at the opening is in it.
        """
        return dict(self._source.format)

    @property
    def schema(self) -> Schema:
        return self._schema

    @property
    def unit(self) -> Unit:
        return self._unit

    @property
    def rows_are_units(self) -> bool:
        return self._unit.is_row

    @property
    def in_memory(self) -> bool:
        """Whether a frame was opened, which alone a policy in Python can be evaluated on."""
        return self._frame is not None

    def inspect(self) -> Inspection:
        with opening():
            keys = self._unit.read
            rows = self._whole(keys, self._inspected)
            self._unread -= keys  # all of them were read
        return Inspection(units=int(rows[0][0]), rows_without_key=int(rows[0][1]))

    def _inspected(self, statements: Statements) -> list[Any]:
        return self._connection.sql(statements.inspection()).fetchall()

    def fingerprint(self) -> str:
        with opening():
            held = self._files or self._frame
            assert held is not None
            own = held.fingerprint()
            return self._beside.fingerprint(own, self._tables.states())

    def output_schema(self, columns: tuple[str, ...]) -> pa.Schema:
        return pa.schema([self._arrow.field(column) for column in columns])

    def sample(self, query: SampleQuery) -> Iterator[pa.RecordBatch]:
        """Keyed units sorted by key and content; single rows in the order of the source.

        DuckDB streams a filtered scan in the order of the source. That order is the order of the
        rows' names, so it is checked rather than trusted.
        """
        columns = ColumnsRead.by_sample(query)
        self._prepare(query.coins, columns)
        if not self._unit.is_row:
            first, texts = self._statements(columns.all).sorting(query.columns)
            if not first or not texts:
                yield from self._stream(
                    columns, lambda made: made.sample(query) + made.order(query.columns)
                )
                return
            rows = self._stream(columns, lambda made: made.sample(query) + made.order_by(first))
            yield from sorted_ties(rows, first, texts)
            return
        ordered = replace(query, columns=(*query.columns, ORDER))
        last = -1
        for batch in self._stream(columns, lambda made: made.sample(ordered)):
            last = _checked_order(batch.column(batch.num_columns - 1), last)
            yield batch.select(list(range(batch.num_columns - 1)))

    def plan(self, query: SampleQuery) -> str:
        """What DuckDB would do for a sample, in its own words; it is not done."""
        columns = ColumnsRead.by_sample(query)
        self._prepare(query.coins, columns)
        statement = self._statements(columns.all).sample(query)
        return str(self._connection.sql(f"EXPLAIN {statement}").fetchall()[0][1])

    def count(self, query: CountQuery) -> GroupCounts:
        columns = ColumnsRead.by_count(query)
        self._prepare(query.coins, columns)
        cuts = query.max_groups is not None
        table = self._counted(columns, lambda made: made.count(query), cuts=cuts)
        return GroupCounts.of(table, query.listed)

    def count_each(self, queries: Sequence[CountQuery]) -> list[GroupCounts]:
        columns = columns_of(queries)
        self._prepare(None, columns)
        cuts = any(each.max_groups is not None for each in queries)
        return apart(self._counted(columns, lambda made: joint(made, queries), cuts=cuts), queries)

    def _counted(
        self, columns: ColumnsRead, statement: Callable[[Statements], str], *, cuts: bool
    ) -> pa.Table:
        """The faster way to cut units holds all of them in memory; beyond it, one that spills."""

        def answer(made: Statements) -> pa.Table:
            return self._connection.sql(statement(made)).to_arrow_table()

        def either(made: Statements) -> pa.Table:
            try:
                return answer(made)
            except duckdb.OutOfMemoryException:
                if not cuts:
                    raise
            return answer(replace(made, flavour=ThriftyDuckDBFlavour()))

        with releasing():
            return self._whole(columns.all, either)

    def evaluate_policy(self, function: Callable[[Mapping[str, Any]], bool]) -> BoundPredicate:
        """Run a policy in Python once on every row of the frame; the result is a hidden column."""
        assert self._frame is not None
        assert self._source.frame is not None
        flags = sensitive_rows(self._frame.rows, function, BATCH_ROWS)
        frame = self._source.frame.append_column(POLICY, flags)
        self._connection.register(FRAME, frame)
        hidden = Schema.of({**dict(self._schema.fields), POLICY: Field(Type.BOOLEAN)})
        return Predicate.parse(POLICY).bind(hidden)

    def hold(self, table: PublicTable) -> PublicTable:
        relation = f"{_PUBLIC}{table.name}"
        self._connection.register(relation, table.content)
        return replace(table, relation=_FLAVOUR.name(relation))

    def hold_map(self, places: pa.Table, moves: pa.Table | None) -> HeldMap:
        self._connection.register(_PLACES, places)
        if moves is not None:
            self._connection.register(_MOVES, moves)
        return HeldMap(_PLACES, None if moves is None else _MOVES)

    def lookup_table(
        self, name: str, source: Any, table: str | None, format: Mapping[str, Any] | None
    ) -> FoundTable:
        if table is not None:
            raise RequestError(f"The lookup table {name} needs a file or a table in memory here.")
        return self._tables.open(name, source, format)

    def look_up(self, lookups: tuple[SecretLookup, ...]) -> None:
        with opening():
            for lookup in lookups:
                found = self._connection.sql(repeated_keys(lookup, _FLAVOUR)).fetchall()
                check_unique(lookup, int(found[0][0]))
        self._beside = Beside(lookups)
        self._schema = self._beside.schema(self._schema)
        self._arrow = self._beside.leaving(self._arrow, self._tables.arrow)

    def progress(self) -> float | None:
        """How far the running statement is; DuckDB answers this beside the running statement."""
        percent = self._connection.query_progress()
        return percent / 100 if percent >= 0 else None

    def stop(self) -> None:
        """End the running statement."""
        self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()
        self._spill.remove()

    def _statements(self, columns: frozenset[str]) -> Statements:
        """The statements on these columns and the key of the unit.

        DuckDB looks at the statistics of every column that a FROM item lists, and may fail there.
        """
        read = columns | self._unit.read | self._beside.needs(columns)
        relation = Relation(
            source=self._mended or self._source.selected(read),
            schema=self._schema,
            unit=self._unit,
            coin_key=f"getvariable('{_KEY_VARIABLE}')",
            row_text=NAME,
            beside=self._beside.lookups,
            read=read,
        )
        return Statements.on(relation, _FLAVOUR)

    def _prepare(self, coins: Coins | None, columns: ColumnsRead) -> None:
        """Bind the coin key, once the columns are known to be what was opened, and readable.

        What decides about rows is read before: by a file's statistics DuckDB would leave out some
        cells that it cannot read, and not others. What is shown is read by the statement itself.
        """
        with releasing():
            if self._source.rows.kinds(self._connection) != self._source.kinds:
                raise ReleaseFailed(COLUMNS_CHANGED)
            if coins is not None:
                self._connection.execute(f"SET VARIABLE {_KEY_VARIABLE} = $key", {"key": coins.key})
            looked_up = self._beside.needs(columns.all)
            needed = self._unread & (columns.deciding | self._unit.read | looked_up)
            needed |= self._unread & columns.all & self._source.rows.silent
            checks = [self._source.rows.checks[name] for name in needed]
            if checks and not reads_all(self._connection, self._source.rows, checks):
                self._mend()
            self._unread -= needed

    def _whole(self, columns: frozenset[str], work: Callable[[Statements], Result]) -> Result:
        """What `work` gives; once more on a copy where it meets a cell that cannot be read."""
        try:
            return work(self._statements(columns))
        except STATEMENT_ERRORS as error:
            if not self._can_mend(error):
                raise
        self._mend()
        return work(self._statements(columns))

    def _stream(
        self, columns: ColumnsRead, statement: Callable[[Statements], str]
    ) -> Iterator[pa.RecordBatch]:
        """The rows of a statement; from a copy on from where a cell cannot be read."""
        given = 0
        with releasing():
            try:
                for batch in self._batches(statement(self._statements(columns.all))):
                    yield batch
                    given += len(batch)
                return
            except (*STATEMENT_ERRORS, OSError) as error:
                if not self._can_mend(error):
                    raise
            self._mend()
            for batch in self._batches(statement(self._statements(columns.all))):
                yield batch.slice(min(given, len(batch)))
                given -= min(given, len(batch))

    def _batches(self, statement: str) -> Iterator[pa.RecordBatch]:
        return iter(self._connection.sql(statement).to_arrow_reader(BATCH_ROWS))

    def _can_mend(self, error: Exception) -> bool:
        return is_unreadable(error) and self._mended is None and bool(self._source.rows.checks)

    def _mend(self) -> None:
        # Columns of lookup tables are not in these files, and were read at the opening.
        own = pa.schema([field for field in self._arrow if field.name in self._source.kinds])
        self._mended = mended(self._connection, self._source, own, self._spill.path)
        self._unread.clear()


def _checked_order(positions: pa.Array, last: int) -> int:
    """The last position of a batch, whose positions must go up from `last`."""
    values = positions.to_numpy(zero_copy_only=False)
    if len(values) == 0:
        return last
    if values[0] <= last or np.any(np.diff(values) <= 0):
        raise ReleaseFailed(
            "The engine did not keep the order of the rows, and the charge stands; "
            "ask again with a key for the units."
        )
    return int(values[-1])
