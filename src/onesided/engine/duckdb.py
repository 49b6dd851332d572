"""The embedded engine: Parquet, CSV and frames in memory, through DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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
from onesided.engine.duckdb_types import column_of, field_of, quoted
from onesided.engine.flavours import DuckDBFlavour, ThriftyDuckDBFlavour
from onesided.engine.sources import Files, Format, arrow_table, file_tag, frame_fingerprint
from onesided.engine.sql import RESERVED_PREFIX, Relation, Statements
from onesided.engine.ties import sorted_ties
from onesided.errors import ReleaseFailed, RequestError, SourceError
from onesided.language import BoundPredicate, Field, Predicate, Schema, Type

BATCH_ROWS = 122_880
_KEY_VARIABLE = "osd_coin_key"
_ORDER = "osd_order"
_NAME = "osd_name"
_VIRTUAL = ("filename", "file_row_number")
_FRAME = "osd_frame"
_POLICY = "osd_policy"
_PUBLIC = "osd_public_"
_FILE_SHIFT = 2**44
_INTERRUPTED = "Query interrupted"
_HIDDEN = (_ORDER, _POLICY)
_FLAVOUR = DuckDBFlavour()


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
    ) -> None:
        self._spill = PrivateDirectory()
        self._connection = connect(self._spill.path, memory_limit, threads)
        try:
            named = isinstance(source, str | Path)
            self._files: Files | None = Files.find(str(source)) if named else None
            self._frame: pa.Table = None if named else arrow_table(source)
            with opening():
                self._rows = self._readable(unit)
                self._kinds = self._described(self._rows.relation)
            self._schema = Schema.of({name: field_of(kind) for name, kind in self._kinds.items()})
            self._unit = Unit(tuple(map(self._schema.resolve, unit.columns)))
            self._source = _normalised(self._rows, self._kinds)
            with opening():
                names = ", ".join(map(_FLAVOUR.name, self._kinds))
                empty = self._connection.sql(f"SELECT {names} FROM {self._source} LIMIT 0")
                self._arrow = empty.to_arrow_table().schema
        except BaseException:
            self.close()
            raise

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
            rows = self._connection.sql(self._statements.inspection()).fetchall()
        return Inspection(units=int(rows[0][0]), rows_without_key=int(rows[0][1]))

    def fingerprint(self) -> str:
        if self._files is None:
            return frame_fingerprint(self._frame)
        with opening():
            return self._files.fingerprint()

    def output_schema(self, columns: tuple[str, ...]) -> pa.Schema:
        return pa.schema([self._arrow.field(column) for column in columns])

    def sample(self, query: SampleQuery) -> Iterator[pa.RecordBatch]:
        """Keyed units sorted by key and content; single rows in the order of the source.

        DuckDB streams a filtered scan in the order of the source. That order is the order of the
        rows' names, so it is checked rather than trusted.
        """
        statements = self._statements
        self._prepare(query.coins)
        if not self._unit.is_row:
            first, texts = statements.sorting(query.columns)
            if not first or not texts:
                yield from self._stream(statements.sample(query) + statements.order(query.columns))
                return
            rows = self._stream(statements.sample(query) + statements.order_by(first))
            yield from sorted_ties(rows, first, texts)
            return
        ordered = replace(query, columns=(*query.columns, _ORDER))
        last = -1
        for batch in self._stream(statements.sample(ordered)):
            last = _checked_order(batch.column(batch.num_columns - 1), last)
            yield batch.select(list(range(batch.num_columns - 1)))

    def count(self, query: CountQuery) -> GroupCounts:
        self._prepare(query.coins)
        with releasing():
            table = self._counted(query)
        return GroupCounts.of(table, query.by)

    def _counted(self, query: CountQuery) -> pa.Table:
        """The faster way to cut units holds all of them in memory; beyond it, one that spills."""
        statements = self._statements
        try:
            return self._connection.sql(statements.count(query)).to_arrow_table()
        except duckdb.OutOfMemoryException:
            if query.max_groups is None:
                raise
        thrifty = replace(statements, flavour=ThriftyDuckDBFlavour())
        return self._connection.sql(thrifty.count(query)).to_arrow_table()

    def evaluate_policy(self, function: Callable[[Mapping[str, Any]], bool]) -> BoundPredicate:
        """Run a policy in Python once on every row of the frame; the result is a hidden column."""
        assert self._frame is not None
        flags = [
            function(row)
            for batch in self._frame.to_batches(max_chunksize=BATCH_ROWS)
            for row in batch.to_pylist()
        ]
        frame = self._connection.table(_FRAME).to_arrow_table()
        if _POLICY in frame.column_names:
            frame = frame.drop_columns([_POLICY])
        frame = frame.append_column(_POLICY, pa.array(flags, pa.bool_()))
        self._connection.register(_FRAME, frame)
        self._source = _normalised(self._rows, self._kinds, hidden=(_POLICY,))
        hidden = Schema.of({**dict(self._schema.fields), _POLICY: Field(Type.BOOLEAN)})
        return Predicate.parse(_POLICY).bind(hidden)

    def hold(self, table: PublicTable) -> PublicTable:
        relation = f"{_PUBLIC}{table.name}"
        self._connection.register(relation, table.content)
        return replace(table, relation=_FLAVOUR.name(relation))

    def progress(self) -> float | None:
        """How far the running statement is; DuckDB answers this beside the running statement."""
        percent = self._connection.query_progress()
        return percent / 100 if percent >= 0 else None

    def close(self) -> None:
        self._connection.close()
        self._spill.remove()

    @property
    def _statements(self) -> Statements:
        relation = Relation(
            source=self._source,
            schema=self._schema,
            unit=self._unit,
            coin_key=f"getvariable('{_KEY_VARIABLE}')",
            row_text=_NAME,
        )
        return Statements(relation, _FLAVOUR)

    def _prepare(self, coins: Coins | None) -> None:
        """Make sure that the columns are those that were opened, and bind the coin key."""
        with releasing():
            if self._described(self._rows.relation) != self._kinds:
                raise ReleaseFailed(COLUMNS_CHANGED)
            if coins is not None:
                self._connection.execute(f"SET VARIABLE {_KEY_VARIABLE} = $key", {"key": coins.key})

    def _stream(self, statement: str) -> Iterator[pa.RecordBatch]:
        with releasing():
            yield from self._connection.sql(statement).to_arrow_reader(BATCH_ROWS)

    def _described(self, relation: str) -> dict[str, str]:
        """The names and types of the source's own columns."""
        described = self._connection.sql(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        added = _VIRTUAL if self._rows.named_by_file else ()
        kinds = {str(row[0]): str(row[1]) for row in described if row[0] not in added}
        if any(name.lower().startswith(RESERVED_PREFIX) for name in kinds if name not in _HIDDEN):
            raise SourceError(
                f"A column name starts with {RESERVED_PREFIX}, which is reserved; rename it."
            )
        return {name: kind for name, kind in kinds.items() if name not in _HIDDEN}

    def _readable(self, unit: Unit) -> _Rows:
        """The FROM item of the source as it is, and how its rows are named."""
        if self._files is None:
            frame = self._frame
            if unit.is_row:
                frame = frame.append_column(_ORDER, pa.array(np.arange(len(frame)), pa.int64()))
            self._connection.register(_FRAME, frame)
            return _Rows(_FRAME, unit.is_row, f"'{file_tag('')}:' || {_ORDER}", _ORDER, False)
        tags = self._files.tags()
        if self._files.format is Format.CSV:
            tags = {self._staged(path, tag): tag for path, tag in tags.items()}
        paths = ", ".join(quoted(str(path)) for path in tags)
        if not unit.is_row:
            return _Rows(f"read_parquet([{paths}], hive_partitioning = false)", False)
        self._refuse_virtual_names(paths)
        relation = (
            f"read_parquet([{paths}], hive_partitioning = false, "
            "filename = true, file_row_number = true)"
        )
        if len(tags) == 1:
            tag, order = f"'{next(iter(tags.values()))}:'", "file_row_number"
        else:
            position = f"list_position([{paths}], filename)"
            listed = ", ".join(f"'{tag}:'" for tag in tags.values())
            tag = f"list_extract([{listed}], {position})"
            order = f"{position} * {_FILE_SHIFT} + file_row_number"
        return _Rows(relation, True, f"{tag} || file_row_number", order, True)

    def _refuse_virtual_names(self, paths: str) -> None:
        plain = self._connection.sql(f"DESCRIBE SELECT * FROM read_parquet([{paths}])").fetchall()
        if {str(row[0]).lower() for row in plain} & set(_VIRTUAL):
            raise SourceError(
                "Where rows are units no column may be called filename or file_row_number; "
                "rename it, or name the key of the units."
            )

    def _staged(self, path: Path, tag: str) -> Path:
        """A CSV file as Parquet in the private directory: its rows in order, its types fixed."""
        staged = self._spill.path / f"{tag}.parquet"
        self._connection.execute(
            f"COPY (SELECT * FROM read_csv({quoted(str(path))}, sample_size = -1)) "
            f"TO {quoted(str(staged))} (FORMAT parquet)"
        )
        return staged


@dataclass(frozen=True)
class _Rows:
    """A FROM item and, where rows are units, the expressions that name and order its rows."""

    relation: str
    named: bool
    name: str = ""
    order: str = ""
    named_by_file: bool = False


@contextmanager
def opening() -> Iterator[None]:
    """What goes wrong while a data set is opened; an engine's own words may quote cells."""
    try:
        with _interruptible():
            yield
    except (duckdb.Error, OSError, pa.ArrowException):
        raise SourceError(
            "The data cannot be read: check that the files are whole, readable and of one schema."
        ) from None


@contextmanager
def releasing() -> Iterator[None]:
    """What goes wrong after the charge: the sentence is the same whatever the reason."""
    try:
        with _interruptible():
            yield
    except (duckdb.Error, OSError, pa.ArrowException):
        raise ReleaseFailed(
            "The engine failed after the charge, which stands; check disk, memory and the source, "
            "and ask again."
        ) from None


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C within a statement, which DuckDB reports as an error of its own."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from None
        raise


def connect(
    spill: Path, memory_limit: str | None, threads: int | None = None
) -> duckdb.DuckDBPyConnection:
    """A database in memory that spills into the private folder and loads nothing on its own."""
    connection = duckdb.connect()
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute("SET autoload_known_extensions = false")
    connection.execute("SET TimeZone = 'UTC'")
    # Without the bar nothing is counted; it is never printed.
    connection.execute("SET enable_progress_bar = true")
    connection.execute("SET enable_progress_bar_print = false")
    connection.execute("SET preserve_insertion_order = true")
    connection.execute(f"SET temp_directory = {quoted(str(spill))}")
    try:
        if memory_limit is not None:
            connection.execute("SET memory_limit = $limit", {"limit": memory_limit})
        if threads is not None:
            connection.execute("SET threads = $threads", {"threads": threads})
    except duckdb.Error:
        raise RequestError("A memory limit looks like 2GB, and threads are at least 1.") from None
    return connection


def _normalised(rows: _Rows, kinds: dict[str, str], hidden: tuple[str, ...] = ()) -> str:
    """The source as a FROM item: its columns in our types, and the names of rows where needed."""
    listed = [*(column_of(name, kind) for name, kind in kinds.items()), *hidden]
    if rows.named:
        listed += [f"{rows.name} AS {_NAME}", f"{rows.order} AS {_ORDER}"]
    return f"(SELECT {', '.join(listed)} FROM {rows.relation})"


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
