"""A Spark cluster of several processes on this machine: a master and its workers, on loopback.

PySpark brings all that it takes. The processes have little memory, and end with the one that
started them, however that ends: the executors end by themselves once their worker is gone.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from support.spark import found_java

HOST = "127.0.0.1"
#: A busy machine takes its time to start Java.
SECONDS = 120
# Most code runs a few times only: compiling it well takes longer than running it.
_QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
#: What a driver on this cluster has to ask for: a core and an executor on each worker.
SETTINGS = {
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": " ".join(_QUICK),
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
}
_EXECUTOR = "CoarseGrainedExecutorBackend"
_DEPLOY = "org.apache.spark.deploy"
_OPTIONS = (
    *("-Xmx192m", *_QUICK),
    *("-Dspark.master.rest.enabled=false", "-Dspark.port.maxRetries=64"),
)
_LINES = 8
_SET_DEATH_SIGNAL = 1
_LIBRARY = ctypes.CDLL(None)


class Cluster:
    """A master and its workers while it is entered."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder, self._count = folder, workers
        self._port = _free_port()
        self._started: list[psutil.Popen] = []
        self._logs: list[Path] = []
        self.workers: list[psutil.Popen] = []

    @property
    def address(self) -> str:
        """What a driver connects to."""
        return f"spark://{HOST}:{self._port}"

    def __enter__(self) -> Cluster:
        try:
            self._start("master.Master", "--port", str(self._port))
            self.wait_until(self._master_answers, "the master answers")
            for _ in range(self._count):
                self.add_worker()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            for each in [*_below(process), process]:
                with suppress(psutil.Error):
                    each.kill()
        for process in self._started:
            process.wait(SECONDS)

    def add_worker(self) -> None:
        """One more, with one core."""
        folder = self._folder / f"worker{len(self._started)}"
        limits = ("--cores", "1", "--memory", "640m", "--work-dir", str(folder))
        self.workers.append(self._start("worker.Worker", *limits, self.address))

    def executor(self) -> psutil.Process | None:
        """One of the processes that run tasks."""
        for worker in self.workers:
            for process in _below(worker):
                with suppress(psutil.Error):
                    if _EXECUTOR in " ".join(process.cmdline()):
                        return process
        return None

    def kill(self, victim: psutil.Process) -> None:
        """Its worker starts an executor anew; of a worker, the executor ends with it as well."""
        victim.kill()
        if victim in self.workers:
            self.workers.remove(victim)
            self.add_worker()

    def wait_until(self, holds: Callable[[], bool], what: str) -> None:
        """Until it holds; what the processes said last is told when it does not."""
        end = time.monotonic() + SECONDS
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError(f"Not after {SECONDS} s: {what}.\n{self._said()}")
            time.sleep(0.005)

    def _start(self, kind: str, *arguments: str) -> psutil.Popen:
        import pyspark

        home = Path(pyspark.__file__).parent
        core = next(home.glob("jars/spark-core_*.jar"))
        places = {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(self._folder / "spill"),
            # Without it a worker looks for a Spark that was built here, and starts no executor.
            "SPARK_SCALA_VERSION": core.name.removeprefix("spark-core_").partition("-")[0],
        }
        self._logs.append(self._folder / f"{kind}{len(self._started)}.log")
        with self._logs[-1].open("wb") as log:
            process = psutil.Popen(
                [
                    *(found_java() or "java", *_OPTIONS, "-cp", f"{home}/jars/*"),
                    *(f"{_DEPLOY}.{kind}", "--host", HOST, "--webui-port", "0", *arguments),
                ],
                env={**os.environ, **places},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=end_with_parent,
            )
        self._started.append(process)
        return process

    def _master_answers(self) -> bool:
        with suppress(OSError), socket.create_connection((HOST, self._port), 1):
            return True
        return False

    def _said(self) -> str:
        """The last lines of the cluster's processes and of its executors."""
        logs = [*self._logs, *self._folder.glob("worker*/*/*/stderr")]
        return "\n".join(f"{each.name}:\n{_last_lines(each)}" for each in logs)


def end_with_parent() -> None:
    """Called in a new process: it is killed when the one that started it has ended."""
    if sys.platform == "linux":  # no other system can be asked for that
        _LIBRARY.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def _last_lines(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-_LINES:])


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
