"""Run as a script: jobs on a cluster of several processes, of which some are killed on the way."""

from __future__ import annotations

import faulthandler
import json
import shutil
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any

import psutil
import pyarrow.parquet as pq

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "src")]

from onesided.data.units import Unit  # noqa: E402
from onesided.engine.base import Total  # noqa: E402
from onesided.engine.duckdb.engine import DuckDBEngine  # noqa: E402
from onesided.engine.spark.engine import SparkEngine  # noqa: E402
from onesided.errors import ReleaseFailed  # noqa: E402
from support.cluster import SETTINGS, Cluster  # noqa: E402
from support.engines import (  # noqa: E402
    comparable,
    count_query,
    counted,
    sample_query,
    sampled,
)
from support.spark import start_spark  # noqa: E402
from support.visits import POLICY, UNIT  # noqa: E402

WORKERS = 2
ATTEMPTS = 10
SECONDS_TO_START = 300
SECONDS_A_KILL = 120
#: So that even a small table has many tasks.
_MANY_TASKS = {"spark.sql.shuffle.partitions": "4", "spark.sql.files.maxPartitionBytes": "16384"}
Answer = list[tuple[str, ...]]


@dataclass(frozen=True)
class Job:
    """What an engine is asked: units with a key, or single rows."""

    unit: tuple[str, ...]
    ask: Callable[[Any, Path], Answer]


def _placed(engine: Any, target: Path) -> Answer:
    """The rows as the executors wrote them; the plain ones of an engine that writes none."""
    query = sample_query(engine, POLICY)
    if not hasattr(engine, "place"):
        return comparable(sampled(engine, query))
    engine.place(query, str(target))
    files = [pq.read_table(file) for file in sorted(target.iterdir())]
    shutil.rmtree(target)
    return comparable([tuple(row.values()) for file in files for row in file.to_pylist()])


def _streamed(engine: Any, _: Path) -> Answer:
    return comparable(sampled(engine, sample_query(engine, POLICY, columns=["room", "ts"])))


def _counts(engine: Any, **more: Any) -> Answer:
    return comparable(
        counted(engine.count(count_query(engine, POLICY, ["room", "hour(ts)"], **more)))
    )


def _sums(engine: Any, _: Path) -> Answer:
    return _counts(engine, max_groups=3, totals=(Total("device", Fraction(7), 50),))


JOBS = {
    "sample of units": Job(UNIT, _placed),
    "bounded histogram": Job(UNIT, lambda engine, _: _counts(engine, max_groups=2)),
    "sample of rows": Job((), _placed),
    "streamed sample": Job(UNIT, _streamed),
    "histogram": Job(UNIT, lambda engine, _: _counts(engine)),
    "sums": Job(UNIT, _sums),
    "units": Job(UNIT, lambda engine, _: [(repr(engine.inspect()),)]),
}


def main(source: str, folder: str, kills: str) -> None:
    """Kill something in the midst of each job; tell whether its answer is the one of DuckDB.

    - `kills`: pairs of a job and `executor` or `worker`, in JSON.

    Standard error tells how many attempts each of them took.
    """
    asked = json.loads(kills)
    # The last resort: all that was started ends with this process.
    faulthandler.dump_traceback_later(SECONDS_TO_START + len(asked) * SECONDS_A_KILL, exit=True)
    place = Path(folder)
    with Cluster(place, WORKERS) as cluster, ExitStack() as opened:
        spark = start_spark(cluster.address, place, **SETTINGS, **_MANY_TASKS)

        @cache
        def there(unit: tuple[str, ...]) -> SparkEngine:
            return opened.enter_context(closing(SparkEngine(source, Unit(unit), spark)))

        @cache
        def here(unit: tuple[str, ...]) -> DuckDBEngine:
            return opened.enter_context(closing(DuckDBEngine(source, Unit(unit))))

        told = []
        for name, victim in asked:
            job = JOBS[name]
            work = partial(job.ask, there(job.unit), place / "sample")
            answer, attempts = _with_a_kill(cluster, spark, work, victim)
            told.append((name, victim, answer == job.ask(here(job.unit), place)))
            print(f"{name}, {victim}: {attempts}", file=sys.stderr, flush=True)
        lost = _without_driver(spark, there(UNIT), place / "lost")
        print(json.dumps({"told": told, "after_the_driver_was_killed": lost}))


def _with_a_kill(
    cluster: Cluster, spark: Any, work: Callable[[], Answer], victim: str
) -> tuple[Answer, int]:
    """The answer, given although something was killed while it was sought; the attempts it took."""
    context = spark.sparkContext
    tracker, counter = context.statusTracker(), context._jsc.sc().statusTracker()

    def all_are_there() -> bool:
        return len(counter.getExecutorInfos()) == WORKERS + 1  # the driver counts as one

    for attempt in range(1, ATTEMPTS + 1):
        cluster.wait_until(all_are_there, "each worker has its executor")
        killed = cluster.workers[0] if victim == "worker" else cluster.executor()
        assert killed is not None
        working = _begun(work)
        cluster.wait_until(
            lambda working=working: working.done() or _is_under_way(tracker),
            "some tasks of the job are done",
        )
        cluster.kill(killed)
        killed_on_the_way = not working.done()
        cluster.wait_until(working.done, "the job is done")
        answer = working.result()
        if killed_on_the_way:
            return answer, attempt
    raise TimeoutError("All the work was done before anything could be killed.")


def _begun(work: Callable[[], Answer]) -> Future[Answer]:
    """The work of a thread that nobody waits for at the end of the process."""
    answer: Future[Answer] = Future()

    def finish() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=finish, daemon=True).start()
    return answer


def _is_under_way(tracker: Any) -> bool:
    """Whether some tasks of a stage are done, so that work is lost with an executor."""
    for stage in tracker.getActiveStageIds():
        info = tracker.getStageInfo(stage)
        if info is None:
            continue
        if info.numCompletedTasks > 0 or (info.numTasks == 1 and info.numActiveTasks == 1):
            return True
    return False


def _without_driver(spark: Any, engine: SparkEngine, target: Path) -> str:
    """What is said when the driver is killed while a sample is being written."""
    driver = psutil.Process(spark.sparkContext._gateway.proc.pid)
    threading.Timer(0.2, driver.kill).start()
    query = sample_query(engine, POLICY)
    try:
        while True:
            engine.place(query, str(target))
            shutil.rmtree(target)
    except ReleaseFailed as error:
        return str(error)


if __name__ == "__main__":
    main(*sys.argv[1:])
