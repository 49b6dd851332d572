"""Lookup tables of the same server: joined where they lie, and checked with the data themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from onesided.engine.beside import FoundTable, SecretLookup, readable
from onesided.engine.postgres.catalog import Rows, Table
from onesided.errors import SourceError


@dataclass
class ServerTables:
    """The lookup tables of one engine, by their names."""

    tables: dict[str, Table] = field(default_factory=dict)

    def add(self, name: str, table: Table) -> FoundTable:
        """A table of the server; columns of types that are not ours are left out."""
        self.tables[name] = table
        return FoundTable(name, readable(table.schema), table.format, table.source, held=False)

    def checked(self, lookups: Sequence[SecretLookup]) -> tuple[SecretLookup, ...]:
        """The lookups; where the server keeps a key unique, no statement has to see to it."""
        return tuple(
            replace(each, table=replace(each.table, held=self._is_unique(each))) for each in lookups
        )

    def states(self, rows: Rows) -> list[str]:
        """Names the state of each table."""
        if not all(table.has_transactions for table in self.tables.values()):
            raise SourceError(
                "A view does not tell when its data change; name the state of all tables with a "
                "version."
            )
        return [table.state(rows) for table in self.tables.values()]

    def are_as_opened(self, rows: Rows) -> bool:
        """Whether the names still mean these tables, with the columns that they had."""
        return all(table.is_as_opened(rows) for table in self.tables.values())

    def evaluate(self, evaluate: Callable[[Table], None]) -> None:
        """Compute what views compute, for the steward."""
        for table in self.tables.values():
            if table.computed:
                evaluate(table)

    def _is_unique(self, lookup: SecretLookup) -> bool:
        return self.tables[lookup.name].is_unique(tuple(other for _, other in lookup.on))
