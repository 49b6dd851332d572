"""What is known of DuckDB before it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onesided.engine.entry import EngineEntry
from onesided.errors import RequestError

if TYPE_CHECKING:
    from onesided.data.units import Unit
    from onesided.engine.base import Engine
    from onesided.language import Schema


class DuckDBEntry(EngineEntry):
    title = "files and frames here"
    options = frozenset({"memory_limit", "csv"})

    def takes(self, connection: Any) -> bool:
        return connection is None

    def open(
        self,
        source: Any,
        unit: Unit,
        *,
        table: str | None,
        connection: Any,
        format: Mapping[str, Any] | None,
        **options: Any,
    ) -> Engine:
        if table is not None:
            raise RequestError(
                "A table needs a connection, such as postgresql://… or a SparkSession."
            )
        from onesided.engine.duckdb.engine import DuckDBEngine

        return DuckDBEngine(source, unit, format=format, **options)

    def schema(self, source: Any, table: str | None, connection: Any) -> Schema | None:
        if source is None:
            return None
        from onesided.data.units import Unit

        engine = self.open(source, Unit(), table=None, connection=None, format=None)
        try:
            return engine.schema
        finally:
            engine.close()
