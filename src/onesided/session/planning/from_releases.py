"""Which figures of a statement could be read from what was released, at no further cost.

A count or a sum of the same rows by the same keys is the same figure. By fewer keys it is the sum
of what was released, as long as a unit has one group only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from onesided.data.release import ReleaseKind, table_of
from onesided.digits import plus_minus
from onesided.ledger import ChargeRecord, Json, StoredRelease
from onesided.session.facts import DatasetFacts
from onesided.session.planning.options import PlannedQuestion
from onesided.session.planning.pricing import Pricing

_KINDS = (ReleaseKind.COUNT.value, ReleaseKind.SUM.value)
#: What may differ between two questions for one figure.
_BESIDE = ("by", "domain", "epsilon", "mechanism", "parameters")
_SPECIAL = ("touches", "ngrams", "join", "step")


def from_releases(
    figures: Mapping[str, PlannedQuestion], facts: DatasetFacts, pricing: Pricing
) -> tuple[str, ...]:
    """For each figure that is there already: how it is read, and its expected error."""
    found = []
    for name, question in figures.items():
        ways = list(_ways(question, facts, pricing))
        if ways:
            best = min(ways, key=lambda each: each.most)
            found.append(f"{name}: {best.said}")
    return tuple(found)


@dataclass(frozen=True)
class _Way:
    """A statement over a released table.

    - `error`: of a released group, as its receipt says it; None where nobody knows.
    - `groups`: how many of them are added up.
    """

    text: str
    error: float | None
    groups: float = 1

    @property
    def most(self) -> float:
        """Errors add up to this much at most."""
        return math.inf if self.error is None else self.error * self.groups

    @property
    def said(self) -> str:
        if self.error is None:
            return f"{self.text}, error unknown, ε = 0"
        most = "at most " if self.groups > 1 else ""
        return f"{self.text}, expected error {most}{plus_minus(self.most)}, ε = 0"


def _ways(question: PlannedQuestion, facts: DatasetFacts, pricing: Pricing) -> Iterator[_Way]:
    asked = question.request.to_json()
    if asked["kind"] not in _KINDS or any(name in asked for name in _SPECIAL):
        return
    for record in pricing.within(question.scope):
        before = record.charge.description
        if not _of_the_same_rows(asked, before):
            continue
        stored = pricing.stored(record)
        if stored is None:
            continue
        if sorted(asked["by"]) == sorted(before["by"]):
            yield _Way(_text(asked, record, summed=False), _error(stored))
        elif _is_in_one_group(question, facts, before):
            table = table_of(stored.payload)
            text = _text(asked, record, summed=True)
            yield _Way(text, _error(stored), _joined(asked, table))


def _of_the_same_rows(asked: Json, before: Json) -> bool:
    """Whether one is the other by more keys; a domain leaves out rows of other values."""
    if not set(asked["by"]) <= set(before.get("by", ())):
        return False
    rows = (
        {name: each for name, each in said.items() if name not in _BESIDE}
        for said in (asked, before)
    )
    return next(rows) == next(rows) and asked["domain"] == before["domain"]


def _is_in_one_group(question: PlannedQuestion, facts: DatasetFacts, before: Json) -> bool:
    groups = facts.grouping(question.scope, before["by"], before["where"], 1, None)
    return groups.single


def _text(asked: Json, record: ChargeRecord, *, summed: bool) -> str:
    keys = [_name(key) for key in asked["by"]]
    figure = asked["kind"]
    shown = ", ".join([*keys, f"SUM({figure}) AS {figure}" if summed else figure])
    grouped = f" GROUP BY {', '.join(keys)}" if summed and keys else ""
    return f"SELECT {shown} FROM r{record.charge.number}{grouped}"


def _name(key: str) -> str:
    return key if key.isidentifier() else f'"{key.replace(chr(34), chr(34) * 2)}"'


def _joined(asked: Json, table: pa.Table) -> float:
    """How many released groups there are to one of those that are asked for."""
    if not asked["by"]:
        return max(1, len(table))
    there = len(table.group_by(list(asked["by"])).aggregate([]))
    return len(table) / there if there else 1


def _error(stored: StoredRelease) -> float | None:
    """That of a group."""
    said: Mapping[str, Any] = stored.receipt.get("error", {})
    single = said.get("expected_absolute_error_per_group")
    if single is None:
        by_groups = said.get("expected_absolute_error_by_groups", {})
        rows = max(1, len(table_of(stored.payload)))
        single = _nearest(by_groups, rows)
    return None if single is None else float(single)


def _nearest(errors: Mapping[str, str], groups: int) -> str | None:
    """The error for the number of groups that is most like this one."""
    numbers: Sequence[str] = sorted(errors, key=lambda each: abs(math.log(int(each) / groups)))
    return errors[numbers[0]] if numbers else None
