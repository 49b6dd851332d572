"""What is known of DataFusion before it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from onesided.engine.entry import EngineEntry
from onesided.errors import RequestError, SourceError

if TYPE_CHECKING:
    from onesided.data.units import Unit
    from onesided.engine.base import Engine

CONNECTION = "datafusion"


class DataFusionEntry(EngineEntry):
    title = "files and frames in DataFusion"
    addresses = "datafusion"
    options = frozenset({"memory_limit"})

    def takes(self, connection: Any) -> bool:
        return isinstance(connection, str) and connection == CONNECTION

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
            raise RequestError("DataFusion has no tables of its own; name files or a frame.")
        try:
            from onesided.engine.datafusion.engine import DataFusionEngine
        except ImportError:
            raise SourceError(
                "DataFusion needs the extra datafusion: pip install 'onesided[datafusion]'."
            ) from None
        return DataFusionEngine(source, unit, format=format, **options)
