"""What the product has to know of an engine before it is loaded."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from onesided.data.units import Unit
    from onesided.engine.base import Engine
    from onesided.language import Schema


class EngineEntry(ABC):
    """An engine by its connection, loaded when it is opened.

    - `title`: what it is called in sentences.
    - `addresses`: how its connection is written; empty where it needs none.
    - `places`: where it can leave a sample, for help texts; empty where it cannot.
    - `options`: which options of `open` it takes beside the source.
    """

    title: ClassVar[str]
    addresses: ClassVar[str] = ""
    places: ClassVar[str] = ""
    options: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def takes(self, connection: Any) -> bool:
        """Whether this is the engine for a connection; None where no connection is named."""

    @abstractmethod
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
        """The engine on either the `source` or the `table`, with what it takes of `options`."""

    def schema(self, source: Any, table: str | None, connection: Any) -> Schema | None:
        """The columns of a source or table, without an account; None where it is not told them."""
        return None
