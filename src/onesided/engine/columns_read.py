"""Which columns of the source a query reads; names of joined columns may be among them."""

from __future__ import annotations

from dataclasses import dataclass

from onesided.engine.base import CountQuery, SampleQuery
from onesided.language import BoundPredicate


@dataclass(frozen=True)
class ColumnsRead:
    """What a statement needs of the source.

    - `deciding`: columns whose values decide about rows. An engine may decide without reading
      them all, by what it knows of a file.
    - `shown`: columns that are only handed out, counted by or added up.
    """

    deciding: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        return self.deciding | self.shown

    @classmethod
    def by_sample(cls, query: SampleQuery) -> ColumnsRead:
        """The columns that a sample reads."""
        return cls(_deciding(query.policy, query.where), frozenset(query.columns))

    @classmethod
    def by_count(cls, query: CountQuery) -> ColumnsRead:
        """The columns that a count reads."""
        deciding = set(_deciding(query.policy, query.where))
        deciding |= {own for lookup in query.lookups for own, _ in lookup.on}
        shown = {name for key in query.by for name in key.columns}
        shown |= {name for total in query.totals if total.value for name in total.value.columns}
        if query.grams is not None:
            deciding |= {query.grams.token, query.grams.position}
        return cls(frozenset(deciding), frozenset(shown))


def _deciding(policy: BoundPredicate, where: BoundPredicate | None) -> frozenset[str]:
    return frozenset([*policy.columns, *(() if where is None else where.columns)])
