"""Every engine, one line each: being listed here is all that the rest of the product needs."""

from __future__ import annotations

from typing import Any

from onesided.engine.datafusion.entry import DataFusionEntry
from onesided.engine.duckdb.entry import DuckDBEntry
from onesided.engine.entry import EngineEntry
from onesided.engine.postgres.entry import PostgresEntry
from onesided.engine.spark.entry import SparkEntry

#: The first that takes a connection opens it; Spark takes what is left.
ENGINES: tuple[EngineEntry, ...] = (
    DuckDBEntry(),
    PostgresEntry(),
    DataFusionEntry(),
    SparkEntry(),
)


def engine_for(connection: Any) -> EngineEntry:
    """The engine for a connection, or for files and frames here where there is none."""
    return next(each for each in ENGINES if each.takes(connection))


def titles_with(option: str) -> str:
    """The engines that take an option, for sentences."""
    return " and ".join(each.title for each in ENGINES if option in each.options)


def addresses() -> str:
    """How connections are written, for sentences."""
    return ", or ".join(each.addresses for each in ENGINES if each.addresses)


def places() -> str:
    """Where samples can be left, for sentences."""
    return ", or ".join(each.places for each in ENGINES if each.places)
