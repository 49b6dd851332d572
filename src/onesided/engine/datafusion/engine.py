"""Parquet files and frames, through DataFusion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from onesided.data.private import PrivateDirectory
from onesided.data.units import Unit
from onesided.engine.base import (
    Coins,
    CountQuery,
    GroupCounts,
    Inspection,
    PublicTable,
    SampleQuery,
)
from onesided.engine.beside import (
    Beside,
    FoundTable,
    SecretLookup,
    check_unique,
    readable,
    repeated_keys,
)
from onesided.engine.columns_read import ColumnsRead
from onesided.engine.datafusion.connection import connect, opening, releasing
from onesided.engine.datafusion.flavour import DataFusionFlavour
from onesided.engine.datafusion.source import (
    BATCH_ROWS,
    NAME,
    ORDER,
    ArrowSource,
    from_files,
    from_frame,
)
from onesided.engine.frame_rows import sensitive_rows
from onesided.engine.maps import HeldMap
from onesided.engine.remote import RemoteEngine, cast_batch, check_format
from onesided.engine.sources import Files
from onesided.engine.sql import Relation, Statements
from onesided.engine.streams import HeldTable
from onesided.engine.together import apart, columns_of, joint
from onesided.errors import RequestError
from onesided.language import BoundPredicate, Field, Predicate, Schema, Type

_ROWS = "osd_rows"
_POLICY = "osd_policy"
_PUBLIC = "osd_public_"
_PLACES, _MOVES = "osd_places", "osd_moves"
_BESIDE = "osd_beside"
_KEY = "osd_coin_key"
_FLAVOUR = DataFusionFlavour()


class DataFusionEngine(RemoteEngine):
    """One table, its units, and a private DataFusion that reads a copy of it.

    The coin key is a parameter of the statements, so that no statement's text holds it.
    """

    def __init__(
        self,
        source: Any,
        unit: Unit,
        *,
        memory_limit: str | None = None,
        format: Mapping[str, Any] | None = None,
    ) -> None:
        """Open a source.

        - `source`: a path or glob of Parquet files, or a table in memory.
        - `format`: the columns that an account was opened with; others are refused.
        """
        self._spill = PrivateDirectory()
        self._tables: dict[str, tuple[Files | HeldTable, pa.Schema]] = {}
        self._beside = Beside()
        try:
            self._context = connect(self._spill.path, memory_limit)
            named = isinstance(source, str | Path)
            self._files = Files.find(str(source)) if named else None
            with opening():
                self._frame = None if named else HeldTable.of(source, self._spill.path)
                self._source = self._read(format, rows_named=unit.is_row)
                self._register(_ROWS, self._source.rows)
            check_format(self.format, format)
            self._schema = unit.zones.applied(self._source.schema)
            self._unit = unit.bind(self._schema)
        except BaseException:
            self.close()
            raise

    def _read(self, format: Mapping[str, Any] | None, *, rows_named: bool) -> ArrowSource:
        if self._frame is not None:
            return from_frame(self._frame.rows, rows_named=rows_named)
        assert self._files is not None
        agreed = None if format is None else [each["name"] for each in format["columns"]]
        return from_files(self._files, self._spill.path, agreed, rows_named=rows_named)

    @property
    def schema(self) -> Schema:
        return self._beside.schema(self._schema)

    @property
    def format(self) -> dict[str, Any]:
        return dict(self._source.format)

    @property
    def in_memory(self) -> bool:
        return self._frame is not None

    @property
    def _leaving(self) -> pa.Schema:
        tables = {name: schema for name, (_, schema) in self._tables.items()}
        return self._beside.leaving(self._source.rows.schema, tables)

    def inspect(self) -> Inspection:
        with opening():
            table = self._context.sql(self._statements().inspection()).to_arrow_table()
        units, orphans = (int(column[0].as_py()) for column in table.columns)
        return Inspection(units=units, rows_without_key=orphans)

    def fingerprint(self) -> str:
        with opening():
            own = self._files or self._frame
            assert own is not None
            states = [given.fingerprint() for given, _ in self._tables.values()]
            return self._beside.fingerprint(own.fingerprint(), states)

    def sample(self, query: SampleQuery) -> Iterator[pa.RecordBatch]:
        schema = self.output_schema(query.columns)
        statements = self._statements(ColumnsRead.by_sample(query).all)
        statement = statements.sample(query) + self._order(query.columns)
        with releasing():
            for batch in self._context.sql(statement, **_bound(query.coins)).execute_stream():
                yield cast_batch(batch.to_pyarrow(), schema)

    def _order(self, columns: tuple[str, ...]) -> str:
        """As for every engine, with one zero; where all else ties its sign decides."""
        if self._unit.is_row:
            return f" ORDER BY {ORDER}"
        first, texts = self._statements().sorting(columns)
        terms, signs = [], []
        for name in (*first, *texts):
            term = _FLAVOUR.name(name)
            if self.schema[name].type is Type.FLOAT:
                signs.append(term)
                term = _FLAVOUR.writer.without_negative_zero(term)
            terms.append(term)
        return f" ORDER BY {', '.join(f'{term} NULLS FIRST' for term in (*terms, *signs))}"

    def count(self, query: CountQuery) -> GroupCounts:
        with releasing():
            statement = self._statements(ColumnsRead.by_count(query).all).count(query)
            table = self._context.sql(statement, **_bound(query.coins)).to_arrow_table()
        return GroupCounts.of(table, query.listed)

    def count_each(self, queries: Sequence[CountQuery]) -> list[GroupCounts]:
        with releasing():
            statement = joint(self._statements(columns_of(queries).all), queries)
            return apart(self._context.sql(statement).to_arrow_table(), queries)

    def evaluate_policy(self, function: Callable[[Mapping[str, Any]], bool]) -> BoundPredicate:
        """Run a policy in Python once on every row of the frame; the result is a hidden column."""
        assert self._frame is not None
        flags = sensitive_rows(self._frame.rows, function, BATCH_ROWS)
        self._register(_ROWS, self._source.rows.append_column(_POLICY, flags))
        hidden = Schema.of({**dict(self.schema.fields), _POLICY: Field(Type.BOOLEAN)})
        return Predicate.parse(_POLICY).bind(hidden)

    def hold(self, table: PublicTable) -> PublicTable:
        relation = f"{_PUBLIC}{table.name}"
        self._register(relation, table.content)
        return replace(table, relation=_FLAVOUR.name(relation))

    def hold_map(self, places: pa.Table, moves: pa.Table | None) -> HeldMap:
        self._register(_PLACES, places)
        if moves is not None:
            self._register(_MOVES, moves)
        return HeldMap(_PLACES, None if moves is None else _MOVES)

    def lookup_table(
        self, name: str, source: Any, table: str | None, format: Mapping[str, Any] | None
    ) -> FoundTable:
        if table is not None:
            raise RequestError(f"The lookup table {name} needs a file or a table in memory here.")
        relation = f"{_BESIDE}{len(self._tables)}"
        named = isinstance(source, str | Path)
        folder = self._spill.path / relation
        folder.mkdir()
        given: Files | HeldTable
        with opening():
            given = Files.find(str(source)) if named else HeldTable.of(source, folder)
            if isinstance(given, Files):
                agreed = None if format is None else [each["name"] for each in format["columns"]]
                found = from_files(given, folder, agreed, rows_named=False)
            else:
                found = from_frame(given.rows, rows_named=False)
            self._register(relation, found.rows)
        check_format(dict(found.format), format)
        self._tables[name] = given, found.rows.schema
        return FoundTable(
            name, readable(found.schema), found.format, _FLAVOUR.name(relation), held=True
        )

    def look_up(self, lookups: tuple[SecretLookup, ...]) -> None:
        with opening():
            for lookup in lookups:
                counted = self._context.sql(repeated_keys(lookup, _FLAVOUR)).to_arrow_table()
                check_unique(lookup, int(counted.column(0)[0].as_py()))
        self._beside = Beside(lookups)

    def close(self) -> None:
        self._spill.remove()

    def _statements(self, read: frozenset[str] | None = None) -> Statements:
        relation = Relation(
            source=_ROWS,
            schema=self.schema,
            unit=self._unit,
            coin_key=f"${_KEY}",
            row_text=NAME,
            beside=self._beside.lookups,
            read=read,
        )
        return Statements.on(relation, _FLAVOUR)

    def _register(self, name: str, table: pa.Table) -> None:
        self._context.deregister_table(_FLAVOUR.name(name))
        batches = table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]
        self._context.register_record_batches(_FLAVOUR.name(name), [batches])


def _bound(coins: Coins | None) -> dict[str, Any]:
    return {} if coins is None else {"param_values": {_KEY: coins.key}}
