"""What a field that analysts ask about consists of: tables, and what a steward says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pyarrow as pa


@dataclass(frozen=True)
class Field:
    """The main table of a field, its public tables, and a steward's words about it."""

    name: str
    schema: str
    table: str
    unit: tuple[str, ...]
    policy: str
    make: Callable[[], pa.Table]
    public: Callable[[], dict[str, pa.Table]]
    bounds: Mapping[str, tuple[float, float]]
    domains: Mapping[str, tuple[object, ...]]
    rows_a_unit: int
    """A cap that a steward would choose; some units have more rows."""

    def tables(self) -> dict[str, pa.Table]:
        """The main table and the public ones, by name."""
        return {self.table: self.make(), **self.public()}
