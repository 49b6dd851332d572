"""The Spark session that statements run in: a given one, or one that is started and stopped."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from onesided.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SessionLike = Any
_CONNECT = "sc://"
_STDERR = 2
_LOCAL = re.compile(r"local(\[.*\])?")
BYTES_A_SCAN = "spark.sql.files.maxPartitionBytes"
# Spark's own default; a number without a unit counts MiB.
_USUAL_MEMORY = "1g"
_MEMORY = re.compile(r"(\d+)(?:([kmgt])?b?)?")
_MEMORY_UNITS = {"b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
# The pages and progress bars of a running job tell how much is left, which is nobody's business.
_OWN_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
}

#: What a value means, and which rows are read, does not depend on the session. Without ANSI mode an
#: expression that has no value is NULL and not an error. Where a file was written long ago or
#: elsewhere, old dates are taken as they stand, and a file that cannot be read is not left out.
PINNED = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.groupByAliases": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.parquet.respectSummaryFiles": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.parquet.fieldId.read.enabled": "false",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.readSideCharPadding": "true",
}
#: Files have columns whose names differ only in capitals: they are found out, and never confused.
EXACT_NAMES = {"spark.sql.caseSensitive": "true"}


@dataclass(frozen=True)
class Session:
    """A session, and whether it ends with its engine."""

    spark: SparkSession
    owned: bool

    @property
    def is_local(self) -> bool:
        """Whether the executors share this machine's file system."""
        context = getattr(self.spark, "_sc", None)
        return context is not None and str(context.master).startswith("local")

    def memory(self) -> int:
        """The bytes that settings give to the driver or an executor, whichever has less."""
        alone = _LOCAL.fullmatch(str(self.spark.conf.get("spark.master", "")))
        asked = ["spark.driver.memory", *([] if alone else ["spark.executor.memory"])]
        return min(_bytes(str(self.spark.conf.get(name, _USUAL_MEMORY))) for name in asked)

    def tasks(self) -> int | None:
        """How many run at once; None where nothing tells it."""
        context = getattr(self.spark, "_sc", None)
        return None if context is None else int(context.defaultParallelism)

    def bytes_a_scan(self) -> int:
        """How much of a file a task reads at most, by its settings."""
        return _bytes(str(self.spark.conf.get(BYTES_A_SCAN)), unit="b")

    def end_work(self) -> None:
        """End what runs in a session of our own; in a given one others may be at work."""
        if not self.owned:
            return
        with suppress(*engine_errors()):
            context = getattr(self.spark, "_sc", None)
            if context is None:
                self.spark.interruptAll()
            else:
                context.cancelAllJobs()

    def close(self) -> None:
        if self.owned:
            with suppress(*engine_errors()):
                self.spark.stop()


def started(connection: SessionLike) -> Session:
    """The given session, or one on the master or server that a text names."""
    try:
        import pyspark.sql
    except ImportError:
        raise SourceError(
            "Spark needs the extra spark and Java 17: pip install 'onesided[spark]'."
        ) from None
    if not isinstance(connection, str):
        if not hasattr(connection, "createDataFrame") or not hasattr(connection, "sql"):
            raise SourceError(
                "The connection must be a SparkSession, a master such as local[2] or spark://…, "
                "or an address such as sc://… or postgresql://…."
            )
        return Session(connection, owned=False)
    builder = pyspark.sql.SparkSession.builder.appName("onesided")
    if connection.startswith(_CONNECT):
        return Session(builder.remote(connection).getOrCreate(), owned=True)
    running = pyspark.sql.SparkSession.getActiveSession()
    if running is not None:
        raise SourceError(
            "A Spark session runs in this process already; pass it as the connection."
        )
    for name, value in _OWN_SETTINGS.items():
        builder = builder.config(name, value)
    with unwarned(), _silent_children():
        spark = builder.master(connection).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return Session(spark, owned=True)


def _bytes(text: str, unit: str = "m") -> int:
    """A size in words of Spark's settings; `unit` is that of a number without one."""
    found = _MEMORY.fullmatch(text.strip().lower()) or _MEMORY.fullmatch(_USUAL_MEMORY)
    assert found is not None
    return int(found[1]) * _MEMORY_UNITS[found[2] or unit]


@contextmanager
def _silent_children() -> Iterator[None]:
    """Processes that are started within have no standard error: Java greets at length there."""
    kept, nowhere = os.dup(_STDERR), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _STDERR)
    try:
        yield
    finally:
        os.dup2(kept, _STDERR)
        os.close(kept)
        os.close(nowhere)


@contextmanager
def unwarned() -> Iterator[None]:
    """Without PySpark's opinions on the versions of its neighbours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def engine_errors() -> tuple[type[BaseException], ...]:
    """Everything that Spark, its gateway and Arrow raise on their own account."""
    general = (pa.ArrowException, OSError, EOFError)
    try:
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException
    except ImportError:
        return general
    return (PySparkException, Py4JError, *general)


@contextmanager
def settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Settings of the session for the time of one statement."""
    before = {name: spark.conf.get(name, None) for name in wanted}
    changed = [name for name in wanted if before[name] != wanted[name]]
    for name in changed:
        spark.conf.set(name, wanted[name])
    try:
        yield
    finally:
        with suppress(*engine_errors()):
            for name in changed:
                value = before[name]
                if value is None:
                    spark.conf.unset(name)
                else:
                    spark.conf.set(name, value)
