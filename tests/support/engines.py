"""The same table on every engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.data.units import Unit
from onesided.engine.base import Coins, CountQuery, Engine, GroupCounts, SampleQuery, Total
from onesided.engine.datafusion.engine import DataFusionEngine
from onesided.engine.datafusion.writer import DataFusionWriter
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.duckdb.writer import DuckDBWriter
from onesided.engine.postgres.engine import PostgresEngine
from onesided.engine.postgres.writer import PostgresWriter
from onesided.engine.spark.engine import SparkEngine
from onesided.engine.spark.writer import SparkWriter
from onesided.language import Key, Predicate, Schema, Type, Writer
from onesided.language.tree import Column
from onesided.session.lookups import LookupTable, attached
from support.postgres import TestServer

KEY = "00112233445566778899aabbccddeeff"
FILE = "table.parquet"
Opener = Callable[..., Engine]


class EngineName(Enum):
    DUCKDB = "duckdb"
    POSTGRES = "postgres"
    DATAFUSION = "datafusion"
    SPARK = "spark"


#: How each engine writes a predicate.
WRITERS: dict[EngineName, Writer] = {
    EngineName.DUCKDB: DuckDBWriter(),
    EngineName.POSTGRES: PostgresWriter(),
    EngineName.DATAFUSION: DataFusionWriter(),
    EngineName.SPARK: SparkWriter(),
}


@dataclass(frozen=True)
class Aside:
    """A lookup table for an engine, called people, with the values that units are chosen among."""

    rows: pa.Table
    on: str
    max_units: int | None = None
    domains: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def attach(self, engine: Engine, source: Any) -> Engine:
        """Have the engine look rows up in it, once it is where the engine can read it."""
        declared = LookupTable(source=source, on=self.on, max_units=self.max_units)
        try:
            attached(engine, {"people": declared}, agreed={}, domains=self.domains, taken=())
        except BaseException:
            engine.close()
            raise
        return engine


def _file_opener(folder: Path, engine_of: Callable[[Path, Unit], Engine]) -> Opener:
    def opened(table: pa.Table, unit: Sequence[str], aside: Aside | None = None) -> Engine:
        engine = engine_of(write(table, folder), Unit(tuple(unit)))
        if aside is None:
            return engine
        (folder / "aside").mkdir(exist_ok=True)
        return aside.attach(engine, str(write(aside.rows, folder / "aside")))

    return opened


def duckdb_opener(folder: Path) -> Opener:
    return _file_opener(folder, DuckDBEngine)


def datafusion_opener(folder: Path) -> Opener:
    return _file_opener(folder, DataFusionEngine)


def spark_opener(folder: Path, spark: Any) -> Opener:
    return _file_opener(folder, lambda path, unit: SparkEngine(path, unit, spark))


def postgres_opener(url: str) -> Opener:
    names = (f"data{number}" for number in count())

    def opened(
        table: pa.Table, unit: Sequence[str], aside: Aside | None = None, constraint: str = ""
    ) -> Engine:
        name = next(names)
        load(url, name, table, constraint)
        engine = PostgresEngine(url, name, Unit(tuple(unit)))
        if aside is None:
            return engine
        beside = next(names)
        load(url, beside, aside.rows)
        return aside.attach(engine, beside)

    return opened


def opener_of(
    engine: EngineName, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Opener:
    """Opens an Arrow table on this engine."""
    match engine:
        case EngineName.DUCKDB:
            return duckdb_opener(tmp_path_factory.mktemp("duckdb"))
        case EngineName.DATAFUSION:
            return datafusion_opener(tmp_path_factory.mktemp("datafusion"))
        case EngineName.POSTGRES:
            server: TestServer = request.getfixturevalue("postgres_server")
            return postgres_opener(server.new_database())
        case _:
            spark = request.getfixturevalue("spark")
            return spark_opener(tmp_path_factory.mktemp("spark-files"), spark)


def write(table: pa.Table, folder: Path) -> Path:
    path = folder / FILE
    pq.write_table(table, path, row_group_size=64)
    return path


def load(url: str, name: str, table: pa.Table, constraint: str = "") -> None:
    """Replace the table called `name`."""
    import psycopg

    columns = ", ".join(f'"{field.name}" {_postgres_type(field.type)}' for field in table.schema)
    listed = ", ".join(f'"{column}"' for column in table.column_names)
    with psycopg.connect(url) as connection:
        connection.execute(f'DROP TABLE IF EXISTS "{name}"')
        connection.execute(f'CREATE TABLE "{name}" ({columns}{constraint})')
        with connection.cursor().copy(f'COPY "{name}" ({listed}) FROM STDIN') as copy:
            for row in table.to_pylist():
                copy.write_row(tuple(row.values()))


def _postgres_type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    return {
        pa.int8(): "smallint",
        pa.int16(): "smallint",
        pa.uint32(): "bigint",
        pa.uint64(): "numeric(20)",
        pa.int32(): "integer",
        pa.int64(): "bigint",
        pa.float32(): "real",
        pa.float64(): "double precision",
        pa.string(): "text",
        pa.bool_(): "boolean",
        pa.date32(): "date",
        pa.timestamp("ms"): "timestamp",
        pa.timestamp("us"): "timestamp",
        pa.timestamp("us", "UTC"): "timestamptz",
    }[kind]


def column_total(name: str, grid: Fraction, steps: int) -> Total:
    """What a column adds up to; engines take it as it is, of any number type."""
    return Total(Key(Column(name)).bind(Schema.of({name: Type.FLOAT})), grid, steps)


def sample_query(
    engine: Engine,
    policy: str,
    *,
    epsilon: str = "1",
    columns: Sequence[str] | None = None,
    where: str | None = None,
    key: str = KEY,
) -> SampleQuery:
    schema = engine.schema
    return SampleQuery(
        Predicate.parse(policy).bind(schema),
        Coins(key, Fraction(epsilon)),
        tuple(schema) if columns is None else tuple(columns),
        None if where is None else Predicate.parse(where).bind(schema),
    )


def count_query(
    engine: Engine,
    policy: str,
    by: Sequence[str],
    *,
    where: str | None = None,
    max_groups: int | None = None,
    epsilon: str | None = None,
    totals: tuple[Total, ...] = (),
) -> CountQuery:
    schema = engine.schema
    return CountQuery(
        Predicate.parse(policy).bind(schema),
        tuple(Key.parse(each).bind(schema) for each in by),
        None if where is None else Predicate.parse(where).bind(schema),
        max_groups,
        None if epsilon is None else Coins(KEY, Fraction(epsilon)),
        totals,
    )


def sampled(engine: Engine, query: SampleQuery) -> list[tuple[Any, ...]]:
    """The rows, in order; every batch has the schema that was announced."""
    engine.inspect()  # as a session does: the number of units may decide the plan
    schema = engine.output_schema(query.columns)
    rows: list[tuple[Any, ...]] = []
    for batch in engine.sample(query):
        assert batch.schema.remove_metadata() == schema.remove_metadata()
        rows += [tuple(row.values()) for row in batch.to_pylist()]
    return rows


def counted(counts: GroupCounts) -> list[tuple[Any, ...]]:
    keys = [tuple(row.values()) for row in counts.keys.to_pylist()] or [()] * len(counts.all)
    sides = [side for each in counts.figures for side in (each.all, each.nonsensitive)]
    figures = zip(*(side.tolist() for side in sides), strict=True)
    return [(*key, *numbers) for key, numbers in zip(keys, figures, strict=True)]


def comparable(rows: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    """Rows as texts, in which NaN equals NaN and -0.0 is not 0.0."""
    return [tuple(map(_shown, row)) for row in rows]


def _shown(value: Any) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else repr(value)
