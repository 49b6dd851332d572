"""A statement that would be late is ended from another thread, on engines that can."""

from __future__ import annotations

import threading
import time
from typing import Any

import psycopg
import pyarrow as pa

from onesided.engine.base import CountQuery, StopsStatements
from onesided.engine.postgres.engine import PostgresEngine
from onesided.engine.spark.session import Session
from onesided.errors import ReleaseFailed
from onesided.language import Predicate
from support.engines import postgres_opener

TABLE = pa.table({"id": pa.array([1, 2, 3]), "s": [True, False, False]})
PATIENCE = 60


def _stopped(work: Any, stop: Any) -> BaseException:
    """What work ends with that is stopped again and again."""
    found: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    begun = time.monotonic()
    while thread.is_alive():
        assert time.monotonic() - begun < PATIENCE, "it is not stopped"
        thread.join(0.2)
        stop()
    return found[0]


def test_postgresql_ends_what_waits_there(postgres_url: str) -> None:
    engine = postgres_opener(postgres_url)(TABLE, ["id"])
    assert isinstance(engine, PostgresEngine)
    assert isinstance(engine, StopsStatements)
    query = CountQuery(Predicate.parse("s").bind(engine.schema), ())
    before = engine.count(query).all.tolist()
    with psycopg.connect(postgres_url) as another:
        another.execute("LOCK TABLE data0 IN ACCESS EXCLUSIVE MODE")
        assert isinstance(_stopped(lambda: engine.count(query), engine.stop), ReleaseFailed)
    assert engine.count(query).all.tolist() == before, "the next statement is not ended"
    engine.close()
    engine.stop()


def test_spark_ends_what_runs_in_a_session_of_its_own(spark: Any) -> None:
    def long() -> None:
        spark.range(10**13).selectExpr("sum(hash(id))").collect()

    given, own = Session(spark, owned=False), Session(spark, owned=True)
    given.end_work()
    assert "cancelled" in str(_stopped(long, own.end_work)).lower()
