"""No cell of any type decides what is said of other rows: hostile cells against plain ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from onesided.audit.session.hostile import HOSTILE, MOST, Hostile
from onesided.data.units import Unit
from onesided.engine.base import Total
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.language import Type
from onesided.language.types import NUMERIC
from support.engines import column_total, count_query, sample_query

COPIES = 4
STEPS = column_total("x", Fraction(1, 100), 10**6)
Writer = Callable[[pa.Table, Path], Any]
GROUPABLE = (Type.TEXT, Type.INTEGER, Type.FLOAT, Type.DATE, Type.TIMESTAMP, Type.BOOLEAN)


def frame(table: pa.Table, folder: Path) -> Any:
    return table


def parquet(table: pa.Table, folder: Path, **options: Any) -> Path:
    path = folder / "table.parquet"
    pq.write_table(table, path, **options)
    return path


def bare_parquet(table: pa.Table, folder: Path) -> Path:
    options = {"write_statistics": False, "use_dictionary": False, "row_group_size": 5}
    return parquet(table, folder, **options)


def folder_of_parquet(table: pa.Table, folder: Path) -> Path:
    rows = len(table) // 2
    pq.write_table(table.slice(0, rows), folder / "first.parquet")
    pq.write_table(table.slice(rows), folder / "second.parquet")
    return folder


def old_parquet(table: pa.Table, folder: Path) -> Path:
    return parquet(table, folder, use_deprecated_int96_timestamps=True, row_group_size=3)


WRITERS = (frame, parquet, bare_parquet, folder_of_parquet, old_parquet)


# For a short run single rows of a file are enough, and units of a frame.
_RARELY = (bare_parquet, folder_of_parquet)
_OFTEN = {old_parquet: "moment", bare_parquet: ("text", "moment", "float", "decimal", "inside")}


def cases() -> list[Any]:
    return [
        pytest.param(
            hostile,
            write,
            unit,
            id=f"{hostile.name}-{write.__name__}-{unit}",
            marks=pytest.mark.soak if _is_rare(hostile, write, unit) else (),
        )
        for hostile in HOSTILE
        for write in WRITERS
        if write is frame or hostile.files
        if hostile.name.startswith(_OFTEN.get(write, ""))
        for unit in ((Unit(), Unit(("id",))) if write is frame else (Unit(),))
    ]


def _is_rare(hostile: Hostile, write: Writer, unit: Unit) -> bool:
    return write in _RARELY or (write is frame and unit.is_row and hostile.files)


def tables(hostile: Hostile) -> Iterator[tuple[pa.Table, pa.Table]]:
    """A table whose sensitive rows have the hostile cells, and its neighbour that has none."""
    for plain, cells in hostile.columns():
        empty = [pa.nulls(1, plain.type)] * len(cells)
        yield _table(plain, cells), _table(plain, empty)


def _table(plain: pa.Array, sensitive: list[pa.Array]) -> pa.Table:
    column = pa.chunked_array([*sensitive, *[plain] * COPIES])
    ids = list(range(len(column)))
    return pa.table(
        {
            "id": ids,
            "room": ["abc"[number % 3] for number in ids],
            "hidden": [number < len(sensitive) for number in ids],
            "x": column,
        }
    )


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("hostile", "write", "unit"), cases())
def test_a_cell_decides_nothing_about_others(
    hostile: Hostile, write: Writer, unit: Unit, tmp_path: Path
) -> None:
    assert_the_same(tables(hostile), hostile, write, unit, tmp_path)


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(each, id=each.name, marks=() if each.name == "json" else pytest.mark.soak)
        for each in HOSTILE
        if each.files
    ],
)
def test_a_cell_alone_decides_nothing_about_others(hostile: Hostile, tmp_path: Path) -> None:
    """An engine stops at the first cell that it cannot read, which hides the others."""
    alone = (
        (_table(plain, [cell]), _table(plain, [pa.nulls(1, plain.type)]))
        for plain, cells in hostile.columns()
        for cell in cells
    )
    assert_the_same(alone, hostile, parquet, Unit(), tmp_path)


def assert_the_same(
    pairs: Iterable[tuple[pa.Table, pa.Table]],
    hostile: Hostile,
    write: Writer,
    unit: Unit,
    tmp_path: Path,
) -> None:
    for number, pair in enumerate(pairs):
        outcomes = []
        for name, table in zip(("hostile", "plain"), pair, strict=True):
            folder = tmp_path / f"{number}-{name}"
            folder.mkdir()
            engine = DuckDBEngine(write(table, folder), unit)
            assert engine.inspect().units == len(table)
            outcomes.append(list(_outcome(engine, hostile)))
            engine.close()
        assert outcomes[0] == outcomes[1]


def _outcome(engine: DuckDBEngine, hostile: Hostile) -> Iterator[Any]:
    """Everything about the rows that are not sensitive."""
    columns = tuple(engine.schema)
    yield engine.format
    yield engine.output_schema(columns)
    asked = hostile.comparison
    for policy in ("hidden", f"hidden OR ({asked or 'x IS NULL'})"):
        for where in (None, "x IS NOT NULL"):
            query = sample_query(engine, policy, where=where, epsilon="40")
            rows = pa.Table.from_batches(engine.sample(query), engine.output_schema(columns))
            rows.validate(full=True)
            assert not any(rows.column("hidden").to_pylist())
            yield policy, where, _bits(rows)
        for where in ("x IS NULL", *((asked, f"NOT ({asked})") if asked else ())):
            yield policy, where, _open_counts(engine, policy, ["room"], where)
        for key in _keys(engine):
            yield policy, key, _open_counts(engine, policy, [key], None)
        if engine.schema["x"].type in NUMERIC:
            yield policy, _open_counts(engine, policy, ["room"], None, STEPS)


def _keys(engine: DuckDBEngine) -> list[str]:
    kind = engine.schema["x"].type
    if kind not in GROUPABLE:
        return []
    derived = {Type.TIMESTAMP: ["hour(x)", "weekday(x)", "date(x)"], Type.DATE: ["weekday(x)"]}
    return ["x", *derived.get(kind, [])]


def _open_counts(
    engine: DuckDBEngine,
    policy: str,
    by: list[str],
    where: str | None,
    *totals: Total,
) -> tuple[Any, ...]:
    """The groups that non-sensitive units are in, with their numbers."""
    counts = engine.count(count_query(engine, policy, by, where=where, totals=totals))
    counts.keys.validate(full=True)
    open_groups = counts.nonsensitive > 0
    keys = counts.keys.filter(pa.array(open_groups)) if by else counts.keys
    return _bits(keys), counts.nonsensitive[open_groups].tolist()


def _bits(table: pa.Table) -> bytes:
    """The content, bit by bit, without turning a cell into a Python object."""
    sink = pa.BufferOutputStream()
    whole = table.combine_chunks().take(pa.array(range(len(table)), pa.int64()))
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(whole)
    return bytes(memoryview(sink.getvalue()))


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("kept", [[MOST, -MOST], [0, -62_135_596_800_001], [2**53, -(2**53)]])
def test_a_copy_has_the_same_moments(kept: list[int], zone: str | None, tmp_path: Path) -> None:
    found = []
    for secret in (7, MOST - 1):
        moments = pa.array([secret, *kept]).view(pa.timestamp("ms", zone))
        table = pa.table({"hidden": [True, False, False], "x": moments})
        path = parquet(table, tmp_path)
        engine = DuckDBEngine(path, Unit())
        query = sample_query(engine, "hidden", where="x IS NOT NULL OR TRUE", epsilon="40")
        drawn = pa.Table.from_batches(engine.sample(query), engine.output_schema(query.columns))
        found.append(drawn.column("x").cast(pa.int64()).to_pylist())
        engine.close()
    assert found[0] == found[1]


def test_a_cell_at_the_end_stops_no_stream(tmp_path: Path) -> None:
    """Rows that were handed out before it are not handed out again, and none is lost."""
    rows = 300_000
    cells = pa.array([b"a"] * rows, pa.binary())
    last = pa.concat_arrays([cells.slice(1), pa.array([b"\xff"])])
    for unit in (Unit(), Unit(("id",))):
        found = []
        for number, column in enumerate((cells, last)):
            hidden = [place == rows - 1 for place in range(rows)]
            table = {"id": range(rows), "hidden": hidden, "x": column.view(pa.string())}
            path = tmp_path / f"{number}-{unit}.parquet"
            pq.write_table(pa.table(table), path, row_group_size=20_000, use_dictionary=False)
            engine = DuckDBEngine(path, unit)
            query = sample_query(engine, "hidden", epsilon="40")
            drawn = pa.Table.from_batches(engine.sample(query))
            found.append(drawn.column("id").to_pylist())
            engine.close()
        assert found[0] == found[1] == list(range(rows - 1))
