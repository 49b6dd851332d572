"""Whom a sample can stand for: units of which none can be in it are not spread over the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from onesided.data.receipt import Receipt
from onesided.data.values import python_rows
from onesided.data.weighing.counted import CountedMargin
from onesided.errors import PolicyError, RequestError
from onesided.language import Key, Predicate
from onesided.language.tree import (
    And,
    Bucket,
    Compare,
    Comparison,
    Expression,
    IsNull,
    Literal,
    Not,
    Or,
)
from onesided.language.types import Type
from onesided.language.walking import column_names
from onesided.policy import Policy
from onesided.relaxation import implies
from onesided.visible import visible
from onesided.weights.margins import Margin, Truths, total_of

_TYPES = ((bool, Type.BOOLEAN), (int, Type.INTEGER), (str, Type.TEXT), (float, Type.FLOAT))
_OPPOSITE = {
    Comparison.EQUAL: Comparison.UNEQUAL,
    Comparison.UNEQUAL: Comparison.EQUAL,
    Comparison.LESS: Comparison.AT_LEAST,
    Comparison.AT_LEAST: Comparison.LESS,
    Comparison.GREATER: Comparison.AT_MOST,
    Comparison.AT_MOST: Comparison.GREATER,
}


@dataclass(frozen=True)
class Covered:
    """Whom the weights stand for.

    - `total`: how many units; what the weights sum to.
    - `units`: n, where it is public and counts the same units.
    - `where`: the condition that holds for all of them; None for all units.
    - `never`: for each margin the groups of which no unit can be in the sample.
    """

    total: float
    units: int | None
    where: str | None
    never: tuple[Truths, ...]


def policy_of(receipt: Receipt) -> Policy | None:
    """The policy of a release; None where it is no text that can be read."""
    said = receipt["policy"]
    try:
        policy = Policy(said["sql"])
    except PolicyError:
        return None
    return policy if policy.id == said["id"] else None


def covered(
    sample: Receipt,
    margins: Sequence[CountedMargin],
    placed: Sequence[Margin],
    *,
    checked: bool = False,
) -> Covered:
    """Whom the units of a sample stand for, by what was counted.

    - `checked`: that conditions fit was seen to before anything was asked.
    """
    policy = policy_of(sample)
    never = tuple(_never(policy, margin, own) for margin, own in zip(margins, placed, strict=True))
    where = (
        margins[0].where
        if checked
        else _condition(sample, margins, policy, [bool(each.any()) for each in never])
    )
    possible = [
        Margin(own.counted[~no], own.variance, own.pattern, own.cells[:, ~no])
        for own, no, margin in zip(placed, never, margins, strict=True)
        if (own.cells.sum(axis=1) <= 1).all() and margin.most_groups in (None, 1)
    ]
    units = sample.content.get("units")
    part = sample["request"].get("part")
    if where is None and part is None and units is not None and not any(map(np.any, never)):
        return Covered(float(units), units, None, never)
    if not possible:
        raise RequestError(
            "How many units the sample stands for is not public; add a count in which each unit "
            "has one group, or one without groups."
        )
    total = total_of(possible, float(max(len(possible[0].pattern), 1)))
    if part is None and units is not None:
        total = min(total, float(units))
    return Covered(total, units if part is None else None, where, never)


def clauses(policy: Policy, columns: Sequence[str]) -> list[Expression]:
    """The parts of a policy that make a row sensitive by these columns alone."""
    return [
        each
        for each in _parts(policy.predicate.expression)
        if column_names(each) and {*column_names(each)} <= {*columns}
    ]


def _not(condition: Expression) -> Expression:
    """The opposite, NULL where `condition` is, as short as people would write it."""
    match condition:
        case Not(operand):
            return operand
        case Compare(comparison, left, right):
            return Compare(_OPPOSITE[comparison], left, right)
        case _:
            return Not(condition)


def _parts(expression: Expression) -> list[Expression]:
    """Conditions of which each is enough for the whole one."""
    match expression:
        case Or(operands):
            return [part for each in operands for part in _parts(each)]
        case Not(And(operands)):
            return [part for each in operands for part in _parts(Not(each))]
        case Not(Not(operand)):
            return _parts(operand)
        case _:
            return [expression]


def outside(policy: Policy | None, columns: Sequence[str], where: str | None) -> str | None:
    """The condition for units that can be in a sample, as far as these columns decide.

    - `where`: a condition that holds beside it.
    """
    parts = [] if policy is None else clauses(policy, columns)
    conditions = [_not(each) for each in parts]
    if where is not None:
        conditions.insert(0, Predicate.parse(where).expression)
    if not conditions:
        return None
    return Predicate(And(tuple(conditions)) if len(conditions) > 1 else conditions[0]).sql


def _never(policy: Policy | None, margin: CountedMargin, placed: Margin) -> Truths:
    """The groups without a sampled unit whose labels alone make every row in them sensitive."""
    found = np.zeros(len(margin.counted), dtype=np.bool_)
    if policy is None or not {*policy.columns} & {*margin.columns}:
        return found
    rows = python_rows(margin.labels)
    for place in np.flatnonzero(~placed.held):
        found[place] = decided(policy, margin.keys, rows[place], margin.where, margin.open)
    return found


def decided(
    policy: Policy,
    keys: Sequence[Key],
    labels: Sequence[Any],
    where: str | None,
    open_keys: frozenset[str],
) -> bool:
    """Whether all rows with these labels are sensitive, by the text of the policy alone.

    - `open_keys`: those of which a label NULL is a value, and does not stand for all others.
    """
    same = [
        _is(key, value, others=value is None and key.name not in open_keys)
        for key, value in zip(keys, labels, strict=True)
    ]
    known = [each for each in same if each is not None]
    if not known:
        return False
    if where is not None:
        known.append(Predicate.parse(where).expression)
    condition = And(tuple(known)) if len(known) > 1 else known[0]
    return bool(implies(condition, policy.predicate.expression, None))


def _is(key: Key, value: Any, *, others: bool) -> Expression | None:
    """That a key has this value; None where that says nothing, as for all other values."""
    if others:
        return None
    if value is None:
        return IsNull(key.expression)
    kind = next((found for own, found in _TYPES if isinstance(value, own)), None)
    if kind is None:
        return None
    if isinstance(key.expression, Bucket):
        operand, width = key.expression.operand, key.expression.width
        least, end = Literal(kind, value), Literal(kind, value + width)
        return And(
            (
                Compare(Comparison.AT_LEAST, operand, least),
                Compare(Comparison.LESS, operand, end),
            )
        )
    return Compare(Comparison.EQUAL, key.expression, Literal(kind, value))


def _condition(
    sample: Receipt,
    margins: Sequence[CountedMargin],
    policy: Policy | None,
    never: Sequence[bool],
) -> str | None:
    """The one condition that all margins count under; refused where they differ in it."""
    own = sample["request"].get("where")
    asked = {margin.where for margin, no in zip(margins, never, strict=True) if not no}
    asked |= {margin.where for margin in margins} - {None}
    if len(asked) > 1:
        first, second = sorted(asked, key=lambda each: (each is not None, each))[:2]
        raise RequestError(
            f"The counts are of different units (where {_words(first)}, and where "
            f"{_words(second)}); ask all of them where {_words(second)}."
        )
    where = next(iter(asked), None)
    if any(never) and not all(never) and where is None:
        raise RequestError(_spread(margins, never, policy))
    if own is not None and own != where and not _is_within(where, own):
        raise RequestError(
            f"The sample shows rows where {_words(own)}; ask the counts with the same condition."
        )
    if where is not None and own != where and not _is_proven(where, own, policy):
        raise RequestError(
            f"That every unit of the sample is one where {_words(where)} does not follow from the "
            "policy; take the sample with the same condition."
        )
    return where


def _spread(margins: Sequence[CountedMargin], never: Sequence[bool], policy: Policy | None) -> str:
    clear = next(each for each, no in zip(margins, never, strict=True) if no)
    other = next(each for each, no in zip(margins, never, strict=True) if not no)
    condition = outside(policy, clear.columns, None)
    ask = f"; ask it where {condition}" if condition else ""
    return (
        f"The count by {other.name} has units of which none can be in the sample, and they must "
        f"not be spread over the others{ask}."
    )


def _is_within(where: str | None, own: str) -> bool:
    """Whether what `where` selects is selected by `own` too."""
    if where is None:
        return False
    wider, narrower = (Predicate.parse(each).expression for each in (own, where))
    return bool(implies(Not(wider), Not(narrower), None))


def _is_proven(where: str, own: str | None, policy: Policy | None) -> bool:
    """Whether rows of the sample that `where` does not select are sensitive: there are none then.

    - `own`: the condition on the rows of the sample.
    """
    if policy is None:
        return False
    left: Expression = Not(Predicate.parse(where).expression)
    if own is not None:
        left = And((Predicate.parse(own).expression, left))
    return bool(implies(left, policy.predicate.expression, None))


def _words(where: str | None) -> str:
    return "there is no condition" if where is None else visible(where)
