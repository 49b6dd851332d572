"""Constants that a condition compares with, and those that are most likely misspelt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from onesided.errors import RequestError
from onesided.language import BoundPredicate
from onesided.language.tree import (
    Case,
    Column,
    Compare,
    Comparison,
    Distinct,
    Expression,
    In,
    Literal,
)
from onesided.language.walking import walk
from onesided.session.domains import OTHER
from onesided.spelling import meant

_EQUALITIES = (Comparison.EQUAL, Comparison.UNEQUAL)


def equated(part: Expression) -> Iterator[tuple[Expression, Literal]]:
    """What a node compares for equality with a constant."""
    match part:
        case Compare(comparison, left, right) if comparison in _EQUALITIES:
            pairs = [(left, right), (right, left)]
        case Distinct(left, right):
            pairs = [(left, right), (right, left)]
        case In(operand, choices):
            pairs = [(operand, choice) for choice in choices]
        case Case(subject, branches, _) if subject is not None:
            pairs = [(subject, value) for value, _ in branches]
        case _:
            return
    for expression, literal in pairs:
        if isinstance(literal, Literal) and not isinstance(expression, Literal):
            yield expression, literal


def check_literals(where: BoundPredicate, domains: Mapping[str, Sequence[Any]]) -> None:
    """Refuse a text that is compared with a column, and is nearly one of its declared values.

    `domains` are public. A text that is like none of them is left as it is.
    """
    for part in walk(where.expression):
        for expression, literal in equated(part):
            if not isinstance(expression, Column) or not isinstance(literal.value, str):
                continue
            listed = domains.get(expression.name, (OTHER,))
            known = list(map(str, listed))
            hint = meant(literal.value, known)
            if OTHER not in known and literal.value not in known and hint:
                raise RequestError(
                    f"{literal.value!r} is no declared value of {expression.name}{hint}."
                )
