"""The embedded engine beside the plain, non-private DuckDB statement: CPU seconds in one run.

Each job is run alternately with its plain twin and the best of `--repeat` runs counts, so that a
busy machine disturbs both alike. Exits with 1 where a ratio is above its goal.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import duckdb

import onesided as osd
from onesided.data.files import write_batches
from onesided.data.units import Unit
from onesided.engine.base import Coins, CountQuery, SampleQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.language import Key, Predicate
from onesided.randomness import fresh_coin_key

POLICY = "room = 'smokers' OR NOT consent"
EPSILON = Fraction(1)
ROWS_A_UNIT = 40
GROUPED_ROWS = 5_000_000
GROUPS = 64


@dataclass(frozen=True)
class Job:
    """Something to time against its plain twin."""

    name: str
    ours: Callable[[], object]
    plain: Callable[[], object]
    goal: float


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of this process and its threads."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def make_trajectories(path: Path, rows: int) -> None:
    """Sorted by device, day and time, as trajectories are; about 40 rows a device-day."""
    duckdb.execute(
        f"""COPY (SELECT (i // {ROWS_A_UNIT} // 30)::INTEGER AS device,
        DATE '2024-01-01' + (i // {ROWS_A_UNIT} % 30)::INTEGER AS day,
        (i % {ROWS_A_UNIT} * 3)::SMALLINT AS slot,
        TIMESTAMP '2024-01-01' + INTERVAL (i // {ROWS_A_UNIT} % 30) DAY
            + INTERVAL (i % {ROWS_A_UNIT} * 30 + 120) MINUTE AS ts,
        'ap-' || lpad((hash(i // 3) % 64)::VARCHAR, 3, '0') AS ap,
        CASE WHEN hash(i // 7) % 97 = 0 THEN 'smokers'
             ELSE 'room ' || hash(i // 3) % 17 END AS room,
        hash(i // {ROWS_A_UNIT}) % 10 < 9 AS consent
        FROM range({rows}) t(i)) TO '{path}'"""
    )


def make_clubs(path: Path, rows: int) -> None:
    """One row a person: a number to group by and a flag to hide by."""
    duckdb.execute(
        f"""COPY (SELECT i AS id, (hash(i) % {GROUPS})::INTEGER AS club,
        hash(i, 10) % 10 < 9 AS consent FROM range({rows}) t(i)) TO '{path}'"""
    )


def make_people(path: Path, rows: int) -> None:
    """One row a person with a dozen ordinary columns."""
    duckdb.execute(
        f"""COPY (SELECT i AS id, 'person ' || hash(i) % 9000000 AS name,
        (hash(i, 1) % 90)::SMALLINT AS age, 10000 + hash(i, 2) % 80000 AS zip,
        TIMESTAMP '2020-01-01' + INTERVAL (hash(i, 3) % 100000000) SECOND AS seen,
        hash(i, 4) % 100000 / 100.0 AS paid, hash(i, 5) % 1000000 / 1e6 AS x,
        hash(i, 6) % 1000000 / 1e6 AS y, 'group ' || hash(i, 7) % {GROUPS} AS club,
        CASE WHEN hash(i, 8) % 97 = 0 THEN 'smokers' ELSE 'room ' || hash(i, 9) % 17 END AS room,
        hash(i, 10) % 10 < 9 AS consent, md5(i::VARCHAR) AS note
        FROM range({rows}) t(i)) TO '{path}'"""
    )


class Bench:
    """The two tables, opened by our engine and by a plain connection."""

    def __init__(self, folder: Path, rows: int, memory_limit: str | None) -> None:
        self.folder = folder
        self.trace, self.people = folder / "trace.parquet", folder / "people.parquet"
        self.grouped = folder / "grouped.parquet"
        make_trajectories(self.trace, rows)
        make_people(self.people, rows // 2)
        make_clubs(self.grouped, GROUPED_ROWS)
        self.plain = duckdb.connect()
        if memory_limit is not None:
            self.plain.execute(f"SET memory_limit = '{memory_limit}'")
            self.plain.execute(f"SET temp_directory = '{folder}'")
        self.coins = Coins(fresh_coin_key(), EPSILON)
        self.dataset = osd.open(self.grouped, policy="NOT consent", budget=10**6, unit="rows")
        self.by_unit = DuckDBEngine(self.trace, Unit(("device", "day")), memory_limit=memory_limit)
        self.by_row = DuckDBEngine(self.people, Unit(), memory_limit=memory_limit)
        self.small = DuckDBEngine(self.grouped, Unit(), memory_limit=memory_limit)

    def close(self) -> None:
        for engine in (self.by_unit, self.by_row, self.small):
            engine.close()
        self.dataset.close()
        self.plain.close()

    def sample(self, engine: DuckDBEngine) -> None:
        columns = tuple(engine.schema)
        query = SampleQuery(Predicate.parse(POLICY).bind(engine.schema), self.coins, columns)
        out = self.folder / "ours.parquet"
        write_batches(engine.sample(query), engine.output_schema(columns), out)

    def count(
        self, engine: DuckDBEngine, *by: str, most: int | None = None, policy: str = POLICY
    ) -> None:
        keys = tuple(Key.parse(text).bind(engine.schema) for text in by)
        rule = Predicate.parse(policy).bind(engine.schema)
        engine.count(CountQuery(rule, keys, max_groups=most))

    def release(self) -> None:
        """A whole release by the default mechanism: charge, probe, choice and second step."""
        clubs = {"club": list(range(GROUPS))}
        self.dataset.count(by="club", domain=clubs, epsilon=EPSILON, fresh=True, yes=True)

    def copy(self, query: str) -> None:
        self.plain.execute(f"COPY ({query}) TO '{self.folder / 'plain.parquet'}'")

    def ask(self, query: str) -> None:
        self.plain.execute(query).fetchall()

    def jobs(self) -> list[Job]:
        trace, people = f"read_parquet('{self.trace}')", f"read_parquet('{self.people}')"
        allowed = f"SELECT device, day FROM {trace} GROUP BY ALL HAVING NOT bool_or({POLICY})"
        distinct = (
            "SELECT ap, h, count(*) FROM "
            f"(SELECT DISTINCT ap, hour(ts) h, device, day FROM {trace}) GROUP BY ALL"
        )
        groups = f"SELECT club, count(*) FROM read_parquet('{self.grouped}') GROUP BY ALL"
        return [
            Job(
                "sample, one row per unit",
                lambda: self.sample(self.by_row),
                lambda: self.copy(f"SELECT * FROM {people} WHERE NOT ({POLICY})"),
                2.0,
            ),
            Job(
                "sample, trajectories",
                lambda: self.sample(self.by_unit),
                lambda: self.copy(
                    f"SELECT * FROM {trace} SEMI JOIN ({allowed}) USING (device, day)"
                ),
                1.2,
            ),
            Job(
                "histograms of distinct units",
                lambda: self.count(self.by_unit, "ap", "hour(ts)"),
                lambda: self.ask(distinct),
                1.8,
            ),
            Job(
                "the same, max_groups = 5",
                lambda: self.count(self.by_unit, "ap", "hour(ts)", most=5),
                lambda: self.ask(distinct),
                2.8,
            ),
            Job(
                f"{GROUPED_ROWS // 1_000_000} M rows into {GROUPS} groups",
                lambda: self.count(self.small, "club", policy="NOT consent"),
                lambda: self.ask(groups),
                2.2,
            ),
            Job(
                "the same, a release by default",
                self.release,
                lambda: self.ask(groups),
                3.0,
            ),
        ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000, help="rows of trajectories")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--memory-limit", help="such as 1GB, for both sides")
    chosen = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="onesided-bench-") as folder:
        bench = Bench(Path(folder), chosen.rows, chosen.memory_limit)
        print(f"{'job':<32}{'ours':>9}{'plain':>9}{'ratio':>8}{'goal':>7}   CPU seconds, best run")
        for job in bench.jobs():
            pairs = [(cpu(job.ours), cpu(job.plain)) for _ in range(chosen.repeat)]
            ours, plain = (min(times) for times in zip(*pairs, strict=True))
            ratio = ours / plain
            missed += ratio > job.goal
            mark = "" if ratio <= job.goal else "  above goal"
            print(f"{job.name:<32}{ours:>9.2f}{plain:>9.2f}{ratio:>8.2f}{job.goal:>7.1f}{mark}")
        bench.close()
    print(time.strftime("%Y-%m-%d %H:%M"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
