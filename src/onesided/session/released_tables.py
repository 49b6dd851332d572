"""SQL over what the account has released: free, since it follows from that alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from onesided.data.release import Release, ReleaseKind, table_of
from onesided.engine.duckdb.released import OuterComputation
from onesided.errors import RequestError
from onesided.ledger import ChargeRecord
from onesided.session.planning.pricing import Pricing
from onesided.session.results import computable
from onesided.visible import visible

_TABLES = frozenset(
    kind.value
    for kind in ReleaseKind
    if kind not in (ReleaseKind.SAMPLE, ReleaseKind.QUANTILE, ReleaseKind.HISTOGRAM)
)


@dataclass(frozen=True)
class ReleasedTable:
    """A stored release that SQL may read.

    - `name`: what FROM calls it: `r` and the number of its charge.
    - `asked`: what was asked, in words.
    """

    name: str
    asked: str
    table: pa.Table


class ReleasedTables(Mapping[str, ReleasedTable]):
    """The tables that were released about this state of the data, by their names."""

    def __init__(self, pricing: Pricing, opens: Callable[[int], Release]) -> None:
        self._opens = opens
        found = (_released(pricing, record) for record in pricing.records)
        self._tables = {each.name: each for each in found if each is not None}

    def __call__(self, number: int) -> Release:
        """A release of any state and kind, as it was stored; a SELECT has one for each figure."""
        return self._opens(number)

    def __getitem__(self, name: str) -> ReleasedTable:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        lines = [f"{each.name}: {visible(each.asked)}" for each in self.values()]
        return "\n".join(lines) or "<nothing is released yet>"

    def sql(self, query: str) -> pa.Table:
        """Any SELECT over these tables, with joins, windows and subqueries; nothing is charged."""
        if not self:
            raise RequestError("Nothing is released yet about this state of the data; ask first.")
        # The parser takes a while to load: nothing pays for it before the first text is read.
        from onesided.language.over_released import read_over_released

        text, named = read_over_released(query, tuple(self))
        tables = {name: computable(self[name].table) for name in named}
        computed = OuterComputation(text)
        computed.check({name: table.slice(0, 0) for name, table in tables.items()})
        return computed.run(tables)


def _released(pricing: Pricing, record: ChargeRecord) -> ReleasedTable | None:
    charge = record.charge
    if charge.description.get("kind") not in _TABLES or "step" in charge.description:
        return None
    stored = pricing.stored(record)
    if stored is None:
        return None
    return ReleasedTable(f"r{charge.number}", _words(charge.description), table_of(stored.payload))


def _words(asked: Mapping[str, object]) -> str:
    by, column = asked.get("by") or (), asked.get("column")
    of = f" of {column}" if column else ""
    groups = f" by {', '.join(map(str, by))}" if isinstance(by, list | tuple) and by else ""
    where = f" where {asked['where']}" if asked.get("where") else ""
    return f"{asked['kind']}{of}{groups}{where}, ε = {asked.get('epsilon')}"
