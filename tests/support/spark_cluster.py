"""Run as a script: a sample on a cluster of two workers, one of which is killed on the way."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

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
    from onesided.engine.spark.engine import SparkEngine
    from support.engines import count_query, counted, sample_query
    from support.visits import POLICY, UNIT

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    engine = SparkEngine(source, Unit(UNIT), MASTER)
    spark = engine.session.spark
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
    told = {
        "killed_while_running": killed_while_running,
        "counts": counts,
        "after_the_driver_was_killed": _without_driver(engine, query, f"{target}-lost"),
    }
    engine.close()
    print(json.dumps(told))


def _without_driver(engine: Any, query: Any, target: str) -> str:
    """What is said when the driver is killed while a sample is being written."""
    from onesided.errors import ReleaseFailed

    driver = psutil.Process(engine.session.spark.sparkContext._gateway.proc.pid)
    threading.Timer(0.2, driver.kill).start()
    try:
        while True:
            engine.place(query, target)
            shutil.rmtree(target)
    except ReleaseFailed as error:
        return str(error)


def _under_way(tracker: object) -> bool:
    """Whether some tasks of a stage are done, so that work is lost with an executor."""
    for stage in tracker.getActiveStageIds():  # type: ignore[attr-defined]
        info = tracker.getStageInfo(stage)  # type: ignore[attr-defined]
        if info is not None and info.numCompletedTasks > 0:
            return True
    return False


if __name__ == "__main__":
    main(*sys.argv[1:])
