"""Run as a script: a sample on a cluster of two workers, one of which is killed on the way."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "src")]

MASTER = "local-cluster[2,1,1024]"
EXECUTOR = "CoarseGrainedExecutorBackend"


def executors() -> list[psutil.Process]:
    """The executor processes below this one."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if EXECUTOR in " ".join(process.cmdline()):
                found.append(process)
    return found


def main(source: str, target: str, key: str) -> None:
    """Sample `source` into `target`; tell in JSON what happened, and the counts."""
    from onesided.data.units import Unit
    from onesided.engine.spark import SparkEngine
    from support.engines import count_query, counted, sample_query
    from support.visits import POLICY, UNIT

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    engine = SparkEngine(source, Unit(UNIT), MASTER)
    spark = engine._session.spark
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    spark.conf.set("spark.sql.files.maxPartitionBytes", "16384")
    query = sample_query(engine, POLICY, key=key)
    writing = threading.Thread(target=engine.place, args=(query, target))
    writing.start()
    tracker = spark.sparkContext.statusTracker()
    while writing.is_alive() and not _under_way(tracker):
        time.sleep(0.01)
    executors()[0].kill()
    killed_while_running = writing.is_alive()
    writing.join()
    counts = counted(engine.count(count_query(engine, POLICY, ["room"], max_groups=2)))
    engine.close()
    print(json.dumps({"killed_while_running": killed_while_running, "counts": counts}))


def _under_way(tracker: object) -> bool:
    """Whether some tasks of a stage are done, so that work is lost with an executor."""
    for stage in tracker.getActiveStageIds():  # type: ignore[attr-defined]
        info = tracker.getStageInfo(stage)  # type: ignore[attr-defined]
        if info is not None and info.numCompletedTasks > 0:
            return True
    return False


if __name__ == "__main__":
    main(*sys.argv[1:])
