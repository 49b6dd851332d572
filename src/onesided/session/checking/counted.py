"""Questions to the table that answer with numbers, none of which may leave."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa

from onesided.engine.base import CountQuery, Engine, Total
from onesided.language import BoundKey, BoundPredicate, Predicate
from onesided.language.tree import Expression

_STEP = Fraction(1)
_MOST_ROWS = 2**40
_AT_ONCE = 16


@dataclass(frozen=True)
class Counted:
    """A table and the numbers that a check asks it for."""

    engine: Engine

    def condition(self, expression: Expression) -> BoundPredicate:
        """A condition on the table's rows."""
        return Predicate(expression).bind(self.engine.schema)

    def units(self, where: Expression) -> int:
        """How many units have a row for which this is true."""
        query = CountQuery(self._nobody(), (), self.condition(where))
        return int(self.engine.count(query).all.sum())

    def sensitive(self, policy: BoundPredicate) -> int:
        """How many units the policy calls sensitive."""
        counts = self.engine.count(CountQuery(policy, ()))
        return int(counts.all.sum()) - int(counts.nonsensitive.sum())

    def values(self, key: BoundKey, where: Expression | None = None) -> pa.ChunkedArray:
        """The values of a key that occur, perhaps among some rows; NULL may be one of them."""
        chosen = None if where is None else self.condition(where)
        return self.engine.count(CountQuery(self._nobody(), (key,), chosen)).keys.column(0)

    def rows(self) -> int:
        """How many rows there are."""
        return self._clipped((_MOST_ROWS,))[0]

    def most_rows(self, rows: int) -> int:
        """The most rows of one unit: the least clip of a unit's rows that loses none of `rows`.

        Each statement tries several clips at once, and the next ones lie between two of them.
        """
        low, high = 0, rows
        while high - low > 1:
            width = max(1, (high - low) // (_AT_ONCE + 1))
            tried = tuple(range(low + width, high, width))[:_AT_ONCE]
            sums = self._clipped(tried)
            losing = [clip for clip, found in zip(tried, sums, strict=True) if found < rows]
            enough = [clip for clip, found in zip(tried, sums, strict=True) if found == rows]
            low, high = max(losing, default=low), min(enough, default=high)
        return high

    def _clipped(self, clips: tuple[int, ...]) -> list[int]:
        """All units' rows, of each unit at most so many as each clip says."""
        totals = tuple(Total(None, _STEP, clip) for clip in clips)
        counts = self.engine.count(CountQuery(self._nobody(), (), totals=totals))
        return [int(figure.all.sum()) for figure in counts.figures]

    def _nobody(self) -> BoundPredicate:
        """No row is sensitive: so much is asked that the policy itself need not be evaluated."""
        return Predicate.parse("FALSE").bind(self.engine.schema)
