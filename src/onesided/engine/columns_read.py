"""Which columns of the source a query reads; names of joined columns may be among them."""

from __future__ import annotations

from onesided.engine.base import CountQuery, SampleQuery
from onesided.language import BoundPredicate


def read_by_sample(query: SampleQuery) -> list[str]:
    """What is handed out, and what decides whether it is."""
    return [*query.columns, *_conditions(query.policy, query.where)]


def read_by_count(query: CountQuery) -> list[str]:
    """What the units are counted by, what is added up, and what decides about both."""
    columns = [*_conditions(query.policy, query.where), *(key.column for key in query.by)]
    columns += [own for lookup in query.lookups for own, _ in lookup.on]
    columns += [total.column for total in query.totals if total.column is not None]
    if query.grams is not None:
        columns += [query.grams.token, query.grams.position]
    return columns


def _conditions(policy: BoundPredicate, where: BoundPredicate | None) -> list[str]:
    return [*policy.columns, *(() if where is None else where.columns)]
