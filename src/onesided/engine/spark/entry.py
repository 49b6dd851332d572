"""What is known of Spark before it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onesided.engine.entry import EngineEntry

if TYPE_CHECKING:
    from onesided.data.units import Unit
    from onesided.engine.base import Engine


class SparkEntry(EngineEntry):
    title = "data on Spark"
    addresses = "for Spark local[2], spark://… or sc://…"
    places = "a folder for Spark"

    def takes(self, connection: Any) -> bool:
        return connection is not None

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
        from onesided.engine.spark.engine import SparkEngine

        return SparkEngine(source, unit, connection, table=table, format=format)
