"""A lookup table of a million rows beside a trace of 5 million: CPU seconds beside plain joins.

Each job is run alternately with its plain twin, the statement that joins the two tables without any
promise, and the best of `--repeat` runs counts. Exits with 1 where a ratio is above its goal.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
from embedded import Job, cpu, make_trajectories

from onesided.data.files import write_batches
from onesided.data.units import Unit
from onesided.engine.base import Coins, CountQuery, SampleQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.language import Key, Predicate
from onesided.loss import quantity
from onesided.randomness import fresh_coin_key
from onesided.session.lookups import LookupTable, attached

PEOPLE = 1_000_000
DAYS = [date(2024, 1, 1) + timedelta(days=day) for day in range(30)]
POLICY = "people.opted_out OR room = 'smokers'"
ON = "t.device = p.id"
GOAL = 1.5


def make(folder: Path, rows: int) -> tuple[Path, Path]:
    """Daily trajectories of some people, and a row for each of a million of them."""
    trace, people = folder / "trace.parquet", folder / "people.parquet"
    make_trajectories(trace, rows)
    duckdb.execute(
        f"""COPY (SELECT i::INTEGER AS id, hash(i) % 10 = 0 AS opted_out,
        'team ' || hash(i, 1) % 64 AS team FROM range({PEOPLE}) t(i)) TO '{people}'"""
    )
    return trace, people


class LookupBench:
    """The trace with people as the units, with days of people as the units, and a plain DuckDB."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.folder = folder
        self.trace, self.people = make(folder, rows)
        self.coins = Coins(fresh_coin_key(), quantity(1, "epsilon"))
        self.persons = self.opened(("device",))
        self.days = self.opened(("device", "day"), max_units=10)
        self.plain = duckdb.connect()

    def opened(self, unit: tuple[str, ...], **bound: Any) -> DuckDBEngine:
        engine = DuckDBEngine(self.trace, Unit(unit))
        lookup = LookupTable(source=str(self.people), on="device=id", **bound)
        attached(engine, {"people": lookup}, agreed={}, domains={"day": DAYS}, taken=())
        return engine

    def close(self) -> None:
        self.persons.close()
        self.days.close()
        self.plain.close()

    def sample(self, engine: DuckDBEngine) -> None:
        columns = ("device", "day", "slot", "ts", "ap", "room", "consent")
        query = SampleQuery(Predicate.parse(POLICY).bind(engine.schema), self.coins, columns)
        out = self.folder / "ours.parquet"
        write_batches(engine.sample(query), engine.output_schema(columns), out)

    def count(self, engine: DuckDBEngine, *by: str) -> None:
        keys = tuple(Key.parse(text).bind(engine.schema) for text in by)
        engine.count(CountQuery(Predicate.parse(POLICY).bind(engine.schema), keys))

    def plain_sample(self, unit: str) -> None:
        units = (
            f"SELECT {unit} FROM '{self.trace}' t LEFT JOIN '{self.people}' p ON {ON} "
            f"GROUP BY ALL HAVING NOT bool_or(coalesce(opted_out, TRUE) OR room = 'smokers')"
        )
        rows = f"SELECT * FROM '{self.trace}' SEMI JOIN ({units}) USING ({unit})"
        self.plain.execute(f"COPY ({rows}) TO '{self.folder / 'plain.parquet'}'")

    def plain_count(self, unit: str, by: str) -> None:
        joined = f"'{self.trace}' t LEFT JOIN '{self.people}' p ON {ON}"
        distinct = f"SELECT DISTINCT {by}, {unit} FROM {joined}"
        self.plain.execute(f"SELECT {by}, count(*) FROM ({distinct}) GROUP BY ALL").fetchall()

    def jobs(self) -> list[Job]:
        return [
            Job(
                "sample of people",
                lambda: self.sample(self.persons),
                lambda: self.plain_sample("device"),
                GOAL,
            ),
            Job(
                "people by team",
                lambda: self.count(self.persons, "people.team"),
                lambda: self.plain_count("device", "team"),
                GOAL,
            ),
            Job(
                "people by team and access point",
                lambda: self.count(self.persons, "people.team", "ap"),
                lambda: self.plain_count("device", "team, ap"),
                GOAL,
            ),
            Job(
                "ten days of people by team",
                lambda: self.count(self.days, "people.team"),
                lambda: self.plain_count("device, day", "team"),
                GOAL,
            ),
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows of the trace")
    parser.add_argument("--repeat", type=int, default=3)
    chosen = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="onesided-bench-") as folder:
        bench = LookupBench(Path(folder), chosen.rows)
        print(f"{'job':<32}{'ours':>9}{'plain':>9}{'ratio':>8}{'goal':>7}   CPU seconds, best run")
        for job in bench.jobs():
            pairs = [(cpu(job.ours), cpu(job.plain)) for _ in range(chosen.repeat)]
            ours, plain = (min(times) for times in zip(*pairs, strict=True))
            ratio = ours / plain
            missed += ratio > job.goal
            mark = "" if ratio <= job.goal else "  above goal"
            print(f"{job.name:<32}{ours:>9.2f}{plain:>9.2f}{ratio:>8.2f}{job.goal:>7.1f}{mark}")
        bench.close()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
