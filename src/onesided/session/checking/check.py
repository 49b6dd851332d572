"""All that a steward should look at before anything is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onesided.data.weighing.covered import outside
from onesided.language import BoundPredicate
from onesided.policy import Policy
from onesided.session.checking.columns import identifiers, seen
from onesided.session.checking.counted import Counted
from onesided.session.checking.report import Concern, SecretUnits, SourceCheck
from onesided.session.checking.values import off_the_map, unknown_literals, unlike_domains
from onesided.session.facts import DatasetFacts
from onesided.session.table import SecretTable


def checked(
    facts: DatasetFacts,
    table: SecretTable,
    domains: Mapping[str, Sequence[Any]],
    *,
    secret: bool,
) -> SourceCheck:
    """Look at the table, and with `secret` at what the policy does to it."""
    counted = Counted(table.engine)
    rows = counted.rows()
    policy = facts.policy.bind(facts.schema).predicate if isinstance(facts.policy, Policy) else None
    findings: list[Concern] = []
    if policy is not None:
        findings += unknown_literals(policy, counted)
    findings += unlike_domains({**facts.domains, **domains}, counted)
    if facts.map is not None:
        findings += off_the_map(facts.map, counted)
    findings += identifiers(counted, facts.units, facts.shown)
    return SourceCheck(
        units=facts.units,
        rows=rows,
        most_rows=None if facts.unit.is_row else counted.most_rows(rows),
        columns=seen(facts.schema, facts.unit.columns),
        findings=tuple(findings),
        stands_for=_stood_for(facts),
        secret=_secret(facts, table, counted, policy) if secret else None,
    )


def _stood_for(facts: DatasetFacts) -> tuple[tuple[str, str], ...]:
    """By the policy's text: a column, and for whom a sample stands whose weights count by it."""
    policy = facts.policy
    if not isinstance(policy, Policy):
        return ()
    columns = [name for name in dict.fromkeys(policy.columns) if name in facts.shown]
    found = ((name, outside(policy, [name], None)) for name in columns)
    return tuple((name, condition) for name, condition in found if condition is not None)


def _secret(
    facts: DatasetFacts, table: SecretTable, counted: Counted, policy: BoundPredicate | None
) -> SecretUnits:
    sensitive = counted.sensitive(table.unclosed(facts.policy))
    certain = sensitive if policy is None else counted.units(policy.expression)
    closed = counted.sensitive(table.sensitive(facts.policy)) if facts.map else sensitive
    return SecretUnits(closed, sensitive - certain, closed - sensitive, facts.units)
