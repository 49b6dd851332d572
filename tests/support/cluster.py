"""A Spark cluster of several processes on this machine: a master and its workers, on loopback.

PySpark brings all that it takes. The processes have little memory, and end with the one that
started them, however that ends.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil

from support.spark import found_java

HOST = "127.0.0.1"
SECONDS = 180
#: What a driver on this cluster has to ask for: a core and an executor on each worker.
SETTINGS = {
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
}
_EXECUTOR = "CoarseGrainedExecutorBackend"
_DEPLOY = "org.apache.spark.deploy"
# An executor that is killed again and again does not end what runs.
_OPTIONS = (
    *("-Xmx192m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
    *("-Dspark.deploy.maxExecutorRetries=-1", "-Dspark.port.maxRetries=64"),
)
_SET_DEATH_SIGNAL = 1


class Cluster:
    """A master and its workers while it is entered."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder, self._count = folder, workers
        self._port = _free_port()
        self._started: list[psutil.Popen] = []
        self.workers: list[psutil.Popen] = []

    @property
    def address(self) -> str:
        """What a driver connects to."""
        return f"spark://{HOST}:{self._port}"

    def __enter__(self) -> Cluster:
        try:
            self._start("master.Master", "--port", str(self._port))
            self._wait_for_master()
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

    def executors(self) -> list[psutil.Process]:
        """The processes that run tasks."""
        found = []
        for worker in self.workers:
            for process in _below(worker):
                with suppress(psutil.Error):
                    if _EXECUTOR in " ".join(process.cmdline()):
                        found.append(process)
        return found

    def kill_executor(self) -> None:
        """Its worker starts another one."""
        self.executors()[0].kill()

    def kill_worker(self) -> None:
        """Its executor ends with it, and another worker takes its place."""
        worker = next(each for each in self.workers if _below(each))
        self.workers.remove(worker)
        worker.kill()
        self.add_worker()

    def _start(self, kind: str, *arguments: str) -> psutil.Popen:
        import pyspark

        home = Path(pyspark.__file__).parent
        places = {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": HOST,
            "SPARK_LOCAL_DIRS": str(self._folder / "spill"),
        }
        process = psutil.Popen(
            [
                *(found_java() or "java", *_OPTIONS, "-cp", f"{home}/jars/*"),
                *(f"{_DEPLOY}.{kind}", "--host", HOST, "--webui-port", "0", *arguments),
            ],
            env={**os.environ, **places},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=_end_with_parent,
        )
        self._started.append(process)
        return process

    def _wait_for_master(self) -> None:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            with suppress(OSError), socket.create_connection((HOST, self._port), 1):
                return
            time.sleep(0.05)
        raise TimeoutError("The master of the cluster does not answer.")


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children(recursive=True))
    except psutil.NoSuchProcess:
        return []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _end_with_parent() -> None:
    with suppress(AttributeError):  # only Linux can be asked for that
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
