"""What a statement computes from public tables: from them alone, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from onesided.engine.base import PublicTable
from onesided.engine.duckdb.public import read_public
from onesided.engine.duckdb.released import OuterComputation
from onesided.engine.lookups import can_be_written_out
from onesided.errors import ReleaseFailed, RequestError
from onesided.language import Schema
from onesided.language.tree import Value
from onesided.session.public import MOST_WRITTEN_ROWS


class PublicQueries:
    """The public tables of a data set, and those that a statement makes of them."""

    def __init__(self, tables: Mapping[str, PublicTable]) -> None:
        self.tables = dict(tables)

    def values(self, query: str, named: Sequence[str]) -> list[Value]:
        """The values of the one column of a query, each once."""
        found = self._rows(query, named)
        if found.num_columns != 1:
            raise RequestError("A subquery in IN has one column; name it there.")
        return sorted(set(found.column(0).to_pylist()), key=repr)

    def make(self, name: str, query: str, named: Sequence[str]) -> Schema:
        """One more table, which is written into each statement that joins it."""
        found = self._rows(query, named)
        if len(found) > MOST_WRITTEN_ROWS:
            raise RequestError(
                f"A subquery over public tables has more than {MOST_WRITTEN_ROWS:,} rows; join "
                "the table itself."
            )
        table = read_public(name, found)
        if not can_be_written_out(table):
            raise RequestError("A subquery over public tables has a value that no literal says.")
        self.tables[name] = table
        return table.schema

    def _rows(self, query: str, named: Sequence[str]) -> pa.Table:
        computed = OuterComputation(query)
        tables = {name: self.tables[name].content for name in named}
        computed.check({name: table.slice(0, 0) for name, table in tables.items()})
        try:
            return computed.run(tables)
        except ReleaseFailed:
            raise RequestError("A subquery over public tables cannot be computed.") from None
