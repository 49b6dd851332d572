"""PostgreSQL and Spark beside their own plain, non-private statements, and how jobs grow.

CPU seconds are those of this process and of the servers it started. Each job is run alternately
with its plain twin and the best of `--repeat` runs counts: Spark compiles during the first ones.
Exits with 1 where a ratio is above its goal.

    --rows 4000000                  PostgreSQL, Spark, and OpenDP where it is installed
    --growth 1000000,10000000       how the time grows with the rows, DuckDB's too
    --larger-than-memory 200000000  DuckDB within 2 GB; looks for enough free disk first
    --engine spark                  only one of them
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import psutil
import pyarrow.parquet as pq
from embedded import GROUPED_ROWS, GROUPS, make_clubs, make_trajectories
from engine_jobs import UNIT, Bench, Job, Spent, duckdb_jobs, postgres_jobs, spark_jobs, spent

from onesided.data.histogram import Histogram
from onesided.data.units import Unit
from onesided.engine.base import CountQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.language import Key, Predicate
from onesided.mechanisms.registry import mechanism
from onesided.randomness import system

Jobs = Callable[[Bench], AbstractContextManager[list[Job]]]
ENGINES: Mapping[str, Jobs] = {
    "duckdb": duckdb_jobs,
    "postgresql": postgres_jobs,
    "spark": spark_jobs,
}
BYTES_A_ROW = {"duckdb": 150, "postgresql": 600, "spark": 300}  # with all that is spilled
LIMIT = "2GB"
GROWTH = 1.25


@contextmanager
def folder_for(rows: int, engines: Iterable[str]) -> Iterator[Path]:
    """A folder to work in, on a disk with room for so many rows."""
    with tempfile.TemporaryDirectory(prefix="onesided-bench-") as folder:
        needed = rows * max(BYTES_A_ROW[engine] for engine in engines)
        if shutil.disk_usage(folder).free < needed:
            sys.exit(f"{rows:,} rows need {needed / 1e9:.0f} GB of free disk.")
        yield Path(folder)


def compare(rows: int, repeat: int, engines: list[str]) -> int:
    """Print one line per job; the number of goals that were missed."""
    missed = 0
    with folder_for(rows, engines) as folder:
        bench = Bench(folder, rows)
        print(f"{rows:,} rows of trajectories, {rows // 2:,} people; CPU seconds (wall), best run")
        print(f"{'job':<34}{'ours':>16}{'plain':>16}{'CPU':>7}{'wall':>7}{'goal':>7}", flush=True)
        for engine in engines:
            with ENGINES[engine](bench) as jobs:
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


def grow(sizes: list[int], repeat: int, engines: list[str]) -> int:
    """CPU for every size; ten times the rows may cost 1.25 times ten times as much."""
    costs: dict[str, list[float]] = {}
    shares: dict[str, float] = {}
    for rows in sizes:
        with folder_for(rows, engines) as folder:
            bench = Bench(folder, rows)
            for engine in engines:
                with ENGINES[engine](bench) as jobs:
                    for job in (each for each in jobs if not each.again):
                        runs = [spent(job.ours) for _ in range(repeat)]
                        best = min(runs, key=lambda run: run.cpu)
                        costs.setdefault(job.name, []).append(best.cpu)
                        shares[job.name] = job.rows
                        print(
                            f"{rows:>12,}  {job.name:<34}{best.cpu:>9.2f} ({best.wall:.2f})",
                            flush=True,
                        )
    missed = 0
    print("\ngrowth of the CPU time, divided by the growth of the rows; CPU µs per row at the end")
    for name, times in costs.items():
        steps = [
            (after / before) / (sizes[index + 1] / sizes[index])
            for index, (before, after) in enumerate(pairwise(times))
        ]
        # At small sizes the costs of a start weigh more than the rows: only the last step counts.
        missed += steps[-1] > GROWTH
        each = times[-1] / (sizes[-1] * shares[name]) * 1e6
        print(f"{name:<34}" + "".join(f"{step:>8.2f}" for step in steps) + f"{each:>10.2f}")
    return missed


def larger_than_memory(rows: int) -> None:
    """Sample and count a trace that does not fit into the limit."""
    with folder_for(rows, ["duckdb"]) as folder:
        path = folder / "trace.parquet"
        # In a process of its own, whose memory is none of ours.
        making = multiprocessing.Process(target=make_trajectories, args=(path, rows))
        making.start()
        making.join()
        bench = Bench(folder)
        engine = DuckDBEngine(path, UNIT, memory_limit=LIMIT)
        jobs: dict[str, Callable[[], object]] = {
            "sample": lambda: bench.write(engine),
            "histograms": lambda: bench.count(engine),
            "histograms, max_groups = 5": lambda: bench.count(engine, 5),
        }
        print(f"{rows:,} rows within {LIMIT}: CPU seconds (wall), most memory of the process")
        for name, work in jobs.items():
            with peak_memory() as peak:
                took = spent(work)
            print(
                f"{name:<34}{took.cpu:>9.2f} ({took.wall:.2f}) {peak() / 2**30:>6.2f} GB",
                flush=True,
            )
        engine.close()


@contextmanager
def peak_memory() -> Iterator[Callable[[], int]]:
    """The most memory that this process was seen to hold within."""
    own, seen, ended = psutil.Process(), [0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.05):
            seen[0] = max(seen[0], own.memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield lambda: seen[0]
    finally:
        ended.set()
        watching.join()


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
        make_clubs(path, GROUPED_ROWS)
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
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of trajectories")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--growth", help="sizes, such as 1000000,10000000,100000000")
    parser.add_argument("--larger-than-memory", type=int, metavar="ROWS")
    parser.add_argument("--engine", choices=list(ENGINES), help="only this one")
    chosen = parser.parse_args()
    engines = [chosen.engine] if chosen.engine else list(ENGINES)
    if chosen.larger_than_memory:
        larger_than_memory(chosen.larger_than_memory)
        return 0
    if chosen.growth:
        sizes = [int(size) for size in chosen.growth.split(",")]
        return 1 if grow(sizes, chosen.repeat, engines) else 0
    # embedded.py compares DuckDB with its plain statements.
    compared = [engine for engine in engines if engine != "duckdb"]
    missed = compare(chosen.rows, chosen.repeat, compared) if compared else 0
    if chosen.engine in (None, "duckdb"):
        beside_opendp(chosen.repeat)
    print(time.strftime("%Y-%m-%d %H:%M"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
