"""Servers and clusters: what PostgreSQL and Spark used to be asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import adbc_driver_postgresql.dbapi

from onesided.engine.postgres import connection as postgres_connection
from onesided.engine.postgres import engine as postgres
from onesided.engine.postgres import table as postgres_table
from onesided.engine.spark.writer import SparkWriter
from onesided.language.writer import Writer
from support.plants.planting import replaced


@contextmanager
def operators_of_others_are_found() -> Iterator[None]:
    """The server looked for operators wherever the reader's own settings say."""

    def connect(url: str) -> Any:
        return adbc_driver_postgresql.dbapi.connect(url)

    with replaced(
        *((module, "connect", connect) for module in (postgres, postgres_table)),
        (postgres_connection, "_PINNED_PATH", "SET LOCAL search_path TO DEFAULT"),
    ):
        yield


@contextmanager
def a_missing_number_is_below_a_wide_literal() -> Iterator[None]:
    """Spark decided such a comparison for all rows at once, NULL or not."""
    with replaced((SparkWriter, "number", Writer.number)):
        yield
