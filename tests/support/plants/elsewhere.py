"""Servers and clusters: what PostgreSQL and Spark used to be asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from onesided.engine.postgres import connection as postgres_connection
from onesided.engine.spark.writer import SparkWriter
from onesided.language.writer import Writer
from support.plants.planting import replaced


@contextmanager
def operators_of_others_are_found() -> Iterator[None]:
    """The server looked for operators wherever the reader's own settings say."""
    with replaced(
        (postgres_connection, "_PATH", '"$user",public'),
        (postgres_connection, "_PINNED_PATH", 'SET LOCAL search_path = "$user", public'),
    ):
        yield


@contextmanager
def a_missing_number_is_below_a_wide_literal() -> Iterator[None]:
    """Spark decided such a comparison for all rows at once, NULL or not."""
    with replaced((SparkWriter, "number", Writer.number)):
        yield
