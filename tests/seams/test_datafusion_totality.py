"""DataFusion on every type that Arrow has, with cells beyond it: DuckDB's answers, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.audit.session.hostile import HOSTILE, Hostile
from onesided.data.units import Unit
from onesided.engine.base import Engine
from onesided.engine.datafusion.engine import DataFusionEngine
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.language import Type
from onesided.language.types import NUMERIC
from support.engines import column_total, count_query, counted, sample_query

STEPS = column_total("x", Fraction(1, 100), 10**6)
#: What DuckDB has words for, and of which DataFusion is only asked whether there is a value.
OTHER_HERE = ("date64", "uuid")
#: What is held against DuckDB in files, too; of other types Arrow writes more than DuckDB reads.
IN_FILES = ("text", "moment-ms", "moment-us-None", "date", "float", "decimal", "wide")
KEYS = {
    Type.TIMESTAMP: ("x", "hour(x)", "weekday(x)", "date(x)"),
    Type.DATE: ("x", "weekday(x)"),
    **dict.fromkeys((Type.TEXT, Type.INTEGER, Type.FLOAT, Type.BOOLEAN), ("x",)),
}


def tables(hostile: Hostile) -> Iterator[pa.Table]:
    """Some plain cells, then the hostile ones."""
    for plain, cells in hostile.columns():
        column = pa.chunked_array([plain, *cells, plain])
        ids = list(range(len(column)))
        yield pa.table({"id": ids, "room": ["abc"[n % 3] for n in ids], "x": column})


def frame(table: pa.Table, folder: Path) -> Any:
    return table


def parquet(table: pa.Table, folder: Path) -> Path:
    pq.write_table(table, folder / "table.parquet", use_dictionary=False)
    return folder


def asked(engine: Engine, hostile: Hostile, unit: Unit) -> Iterator[Any]:
    """What is released of the columns that both engines know."""
    kind = engine.schema["x"].type
    known = kind is not Type.OTHER
    conditions = ["x IS NULL", *([hostile.comparison] if known and hostile.comparison else [])]
    columns = ["id", "x"] if known else ["id"]
    for asked_for in conditions:
        query = sample_query(engine, asked_for, epsilon="40", columns=columns)
        rows = pa.Table.from_batches(engine.sample(query), engine.output_schema(query.columns))
        yield asked_for, rows.column("id").to_pylist()
        yield bits(rows.column("x")) if known else None
        yield counted(engine.count(count_query(engine, "FALSE", ["room"], where=asked_for)))
    for by in KEYS.get(kind, ()):
        counts = engine.count(count_query(engine, conditions[-1], [by]))
        yield by, bits(counts.keys.column(0)), counts.all.tolist(), counts.nonsensitive.tolist()
    if kind in NUMERIC:
        yield counted(engine.count(count_query(engine, "FALSE", ["room"], totals=(STEPS,))))


def bits(column: pa.ChunkedArray) -> list[Any]:
    """The cells as numbers where Python cannot hold all of them, or shows some alike."""
    kind = column.type
    if pa.types.is_temporal(kind) or pa.types.is_floating(kind):
        store = {32: pa.uint32(), 64: pa.uint64()}[kind.bit_width]
        column = pa.chunked_array([each.view(store) for each in column.chunks], store)
    return list(column.to_pylist())


def cases() -> list[Any]:
    return [
        pytest.param(hostile, write, unit, id=f"{hostile.name}-{write.__name__}")
        for hostile in HOSTILE
        for write, unit in ((frame, Unit(("id",))), (parquet, Unit()))
        if not hostile.name.startswith(OTHER_HERE)
        if write is frame or (hostile.files and hostile.name.startswith(IN_FILES))
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("hostile", "write", "unit"), cases())
def test_the_answers_are_those_of_duckdb(
    hostile: Hostile, write: Callable[[pa.Table, Path], Any], unit: Unit, tmp_path: Path
) -> None:
    for number, table in enumerate(tables(hostile)):
        folder = tmp_path / str(number)
        folder.mkdir()
        source = write(table, folder)
        with (
            closing(DuckDBEngine(source, unit)) as duckdb,
            closing(DataFusionEngine(source, unit)) as datafusion,
        ):
            assert datafusion.inspect() == duckdb.inspect()
            answers = zip(
                asked(datafusion, hostile, unit), asked(duckdb, hostile, unit), strict=True
            )
            for here, there in answers:
                assert here == there
