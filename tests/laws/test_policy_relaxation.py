"""`relaxes` against brute force: every yes is true of all rows, every no has its row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from itertools import product
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onesided.language import Field, Schema, Type
from onesided.language.canonical import canonical_text
from onesided.language.tree import (
    And,
    Between,
    Case,
    Coalesce,
    Column,
    Compare,
    Comparison,
    Distinct,
    Expression,
    In,
    IsNull,
    IsTruth,
    Literal,
    Not,
    Or,
)
from onesided.policy import Policy, Verdict, minimum_relaxation
from support.predicates import SCHEMA, bindable, conditions, rows

_QUICK = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}
ROWS = rows(150)

# For every column: literals to compare with, and values enough to meet each region of them.
DECIDABLE: dict[str, tuple[Field, list[Any], list[Any]]] = {
    "n": (Field(Type.INTEGER), [0, 1, 3, Decimal("1.5")], [-1, 0, 1, 2, 3, 4]),
    "p": (
        Field.decimal(4, 1, nullable=False),
        [Decimal("0.1"), Decimal("0.25"), 1],
        [Decimal(value).scaleb(-1) for value in (0, 1, 2, 3, 10, 11)],
    ),
    "x": (Field(Type.FLOAT), [0, Decimal("0.1")], [-1.0, 0.0, 0.05, 0.1, 2.0, float("nan")]),
    "t": (Field(Type.TEXT), ["", "a", "a\x01"], ["", "\x01", "a", "a\0", "a\x01", "b"]),
    "flag": (Field(Type.BOOLEAN), [True, False], [True, False]),
    "d": (
        Field(Type.DATE),
        [date(2024, 2, 28), date(2024, 2, 29), datetime(2024, 2, 29, 12)],
        [date(2024, 2, day) for day in (27, 28, 29)] + [date(2024, 3, 1)],
    ),
    "ts": (
        Field(Type.TIMESTAMP),
        [date(2024, 2, 28), datetime(2024, 2, 28, 0, 0, 0, 1)],
        [datetime(2024, 2, day) for day in (27, 28, 29)] + [datetime(2024, 2, 28, 0, 0, 0, 1)],
    ),
}
DECIDABLE_SCHEMA = Schema.of({name: field for name, (field, _, _) in DECIDABLE.items()})

NULLABLE_SCHEMA = Schema.of(
    {name: replace(field, nullable=True) for name, field in DECIDABLE_SCHEMA.items()}
)


def literal(value: Any) -> Literal:
    kinds = {bool: Type.BOOLEAN, int: Type.INTEGER, Decimal: Type.DECIMAL, str: Type.TEXT}
    kinds |= {date: Type.DATE, datetime: Type.TIMESTAMP, type(None): None}
    return Literal(kinds[type(value)], value)


class Decidable:
    """Conditions that compare two columns with literals, in every form that is decided exactly."""

    def __init__(self, pick: Callable[[int], int], names: tuple[str, str]) -> None:
        self._pick = pick
        self._names = names

    def condition(self, depth: int = 2) -> Expression:
        shape = self._pick(7 if depth else 3)
        if shape < 3:
            return self._atom()
        parts = (self.condition(depth - 1), self.condition(depth - 1))
        if shape == 3:
            return Not(parts[0])
        if shape in (4, 5):
            kind = And if shape == 4 else Or
            flat = [part.operands if isinstance(part, kind) else (part,) for part in parts]
            return kind(tuple(one for several in flat for one in several))
        return Case(None, ((self.condition(depth - 1), parts[0]),), parts[1])

    def _atom(self) -> Expression:
        name = self._names[self._pick(2)]
        _, cuts, _ = DECIDABLE[name]
        column: Expression = Column(name)
        first, second = (literal(cuts[self._pick(len(cuts))]) for _ in range(2))
        match self._pick(7):
            case 0:
                return IsNull(column)
            case 1:
                return In(column, (first, second, literal(None))[: 1 + self._pick(3)])
            case 2:
                return Between(column, first, second)
            case 3:
                return Distinct(column, first)
            case 4:
                return Compare(list(Comparison)[self._pick(6)], Coalesce((column, first)), second)
            case 5 if name == "flag":
                return IsTruth(column, bool(self._pick(2)))
            case _:
                return Compare(list(Comparison)[self._pick(6)], column, first)


@st.composite
def decidable_pairs(draw: st.DrawFn) -> tuple[tuple[str, str], Policy, Policy]:
    def pick(count: int) -> int:
        return draw(st.integers(0, count - 1))

    names = list(DECIDABLE)
    chosen = names[pick(len(names))], names[pick(len(names))]
    maker = Decidable(pick, chosen)
    return chosen, policy(maker.condition()), policy(maker.condition())


def policy(tree: Expression) -> Policy:
    return Policy(canonical_text(tree))


def brute_force(names: tuple[str, str], first: Policy, second: Policy) -> bool:
    """Whether some combination of the listed values is sensitive under the first policy only."""
    columns = sorted(set(names))
    domains = [
        DECIDABLE[name][2] + ([None] if DECIDABLE[name][0].nullable else []) for name in columns
    ]
    bound = [one.bind(DECIDABLE_SCHEMA) for one in (first, second)]
    for values in product(*domains):
        row = dict(zip(columns, values, strict=True))
        if bound[0].is_sensitive(row) and not bound[1].is_sensitive(row):
            return True
    return False


@settings(max_examples=300, **_QUICK)
@given(pair=decidable_pairs())
def test_exact_with_a_schema(pair: tuple[tuple[str, str], Policy, Policy]) -> None:
    names, first, second = pair
    answer = first.relaxes(second, DECIDABLE_SCHEMA)
    assert answer.verdict is (Verdict.NO if brute_force(*pair) else Verdict.YES)
    if answer.verdict is Verdict.NO:
        assert answer.counterexample is not None
        row = dict.fromkeys(names) | dict(answer.counterexample)
        assert first.bind(DECIDABLE_SCHEMA).is_sensitive(row)
        assert not second.bind(DECIDABLE_SCHEMA).is_sensitive(row)


@settings(max_examples=150, **_QUICK)
@given(pair=decidable_pairs())
def test_sound_without_a_schema(pair: tuple[tuple[str, str], Policy, Policy]) -> None:
    _, first, second = pair
    answer = first.relaxes(second)
    if answer:
        assert not brute_force(*pair)
    # Integers, whole days and texts are values of every column that the policies could mean.
    if answer.verdict is Verdict.NO:
        row = answer.counterexample
        assert row is not None
        assert first.is_sensitive(row)
        assert not second.is_sensitive(row)
        assert first.relaxes(second, NULLABLE_SCHEMA).verdict is Verdict.NO


@settings(max_examples=150, **_QUICK)
@given(first=conditions(2), second=conditions(2), weaken=st.booleans())
def test_sound_for_everything_accepted(first: Expression, second: Expression, weaken: bool) -> None:
    """With half of the pairs related by construction, so that yes is not rare."""
    if bindable(first) is None or bindable(second) is None:
        return
    one, other = policy(first), policy(second)
    if weaken:
        other = Policy(f"({one.sql}) OR ({other.sql})")
    for schema in (None, SCHEMA):
        answer = one.relaxes(other, schema)
        assert not (weaken and answer.verdict is Verdict.NO)
        bound = one.bind(SCHEMA), other.bind(SCHEMA)
        if answer:
            assert not any(bound[0].is_sensitive(r) and not bound[1].is_sensitive(r) for r in ROWS)
        if answer.verdict is Verdict.NO and schema is not None:
            assert answer.counterexample is not None
            assert bound[0].is_sensitive(answer.counterexample)
            assert not bound[1].is_sensitive(answer.counterexample)


@settings(max_examples=80, **_QUICK)
@given(first=conditions(2), second=conditions(2))
def test_the_minimum_relaxation_is_sensitive_where_both_are(
    first: Expression, second: Expression
) -> None:
    if bindable(first) is None or bindable(second) is None:
        return
    one, other = policy(first), policy(second)
    least = minimum_relaxation(one, other)
    assert least == minimum_relaxation(other, one)
    assert isinstance(least, Policy)
    bound = [each.bind(SCHEMA) for each in (one, other, least)]
    for row in ROWS:
        sensitive = [each.is_sensitive(row) for each in bound]
        assert sensitive[2] == (sensitive[0] and sensitive[1])


@settings(max_examples=100, **_QUICK)
@given(first=conditions(1), second=conditions(1))
def test_the_minimum_relaxation_relaxes_its_parts(first: Expression, second: Expression) -> None:
    if bindable(first) is None or bindable(second) is None:
        return
    one, other = policy(first), policy(second)
    least = minimum_relaxation(one, other)
    assert least.relaxes(one, SCHEMA)
    assert least.relaxes(other, SCHEMA)
