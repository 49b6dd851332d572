"""Which units are sensitive, by the definitions of policies, plain and closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onesided.audit.session.reference_values import micros_of
from onesided.engine.maps import ClosedPredicate
from onesided.language import BoundPredicate
from onesided.maps.edges import MICROSECONDS
from onesided.maps.meaning import Meaning


def is_sensitive(policy: BoundPredicate, rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a unit with these rows is; a closed policy is taken by its definition."""
    if any(policy.evaluate(row) is not False for row in rows):
        return True
    if not isinstance(policy, ClosedPredicate):
        return False
    meaning = Meaning(policy.closed)
    return meaning.is_sensitive((row[policy.place], _moment(policy, row)) for row in rows)


def _moment(policy: ClosedPredicate, row: Mapping[str, Any]) -> int | None:
    if policy.in_time.evaluate(row) is not True:
        return None
    value = row[policy.time]
    return value * MICROSECONDS if isinstance(value, int) else micros_of(value)
