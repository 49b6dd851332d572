"""No cell of a public table makes a paid release fail: it is written out, or refused before."""

from __future__ import annotations

from typing import Any

import psycopg
import pyarrow as pa
import pytest

import onesided as osd
from onesided.audit.session.hostile import HOSTILE
from onesided.engine.duckdb.public import read_public
from onesided.engine.lookups import can_be_written_out, written_out
from onesided.engine.postgres.flavour import PostgresFlavour
from onesided.engine.spark.flavour import SparkFlavour
from onesided.errors import SourceError
from onesided.randomness import seeded
from support.engines import load

ROOMS = ["lab", "hall"]
REFUSED = {
    "nul": pa.array(["a\0b", "c"]),
    "far date": pa.array([0, 8_000_000], pa.int32()).view(pa.date32()),
    "far moment": pa.array([0, 2**62]).view(pa.timestamp("us")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_statement_can_say_is_refused_at_the_opening(case: str, postgres_url: str) -> None:
    load(postgres_url, "visits", pa.table({"id": [1, 2], "room": ROOMS}))
    public = {"rooms": pa.table({"room": ROOMS, "x": REFUSED[case]})}
    place: dict[str, Any] = {"table": "visits", "connection": postgres_url, "unit": "id"}
    with pytest.raises(SourceError, match="public table rooms has a text with a NUL"):
        osd.open(**place, policy="id = 0", budget=100, public=public)


def test_a_key_with_a_nul_is_refused_too(postgres_url: str) -> None:
    load(postgres_url, "visits", pa.table({"id": [1, 2], "room": ROOMS}))
    public = {"rooms": pa.table({"room": ["lab", "\0"], "x": [1, 2]})}
    with pytest.raises(SourceError, match="NUL"):
        osd.open(
            table="visits",
            connection=postgres_url,
            unit="id",
            policy="id = 0",
            budget=100,
            public=public,
        )


def test_where_tables_are_held_all_cells_are_answered() -> None:
    """DuckDB reads a public table as it reads the data, and needs no literals of it."""
    data = pa.table({"id": [1, 2], "room": ROOMS})
    for column in REFUSED.values():
        public = {"rooms": pa.table({"room": ROOMS, "x": column})}
        with osd.open(
            data, policy="id = 0", budget=100, public=public, rng=seeded(1), unit="rows"
        ) as opened:
            asked = "SELECT x, COUNT(*) AS n FROM data JOIN rooms USING (room) GROUP BY x"
            found = opened.sql(asked, epsilon=40, mechanism="one-sided", max_groups=1, yes=True)
            assert found.table.column("n").to_pylist() == [1, 1]


def test_hostile_cells_are_written_or_refused(postgres_url: str) -> None:
    written = 0
    with psycopg.connect(postgres_url, autocommit=True) as server:
        for hostile in HOSTILE:
            if not hostile.comparison:
                continue  # of no type that a public table shows
            for plain, cells in hostile.columns():
                column = pa.chunked_array([plain, *cells])
                table = pa.table({"k": range(len(column)), "x": column})
                try:
                    public = read_public("p", table)
                except SourceError:
                    continue
                if can_be_written_out(public):
                    written_out(public, SparkFlavour())
                    relation = written_out(public, PostgresFlavour())
                    rows = server.execute(f"SELECT * FROM {relation} p".encode()).fetchall()
                    assert len(rows) == len(column) + 1
                    written += 1
    assert written > 10
