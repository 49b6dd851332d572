"""Conversions between types that mean the same on every engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal

from onesided.errors import PolicyError
from onesided.language.canonical import canonical_text
from onesided.language.literals import read_date, read_timestamp
from onesided.language.tree import (
    Case,
    Coalesce,
    Column,
    Convert,
    Expression,
    FloatArithmetic,
    Literal,
    Operator,
)
from onesided.language.types import (
    EXACT_NUMERIC,
    INTEGER_DIGITS,
    MAX_DIGITS,
    NUMERIC,
    TEMPORAL,
    WIDE_INTEGER_DIGITS,
    Digits,
    Type,
)

_SHOWN = 80
EXACT_IN_FLOATS = 15
"""Whole numbers and powers of ten up to here are floats, and their quotient is rounded once."""


@dataclass(frozen=True)
class Typed:
    """A bound expression; `type` is None where only a schema could tell."""

    node: Expression
    type: Type | None
    digits: Digits | None = None

    @property
    def is_null(self) -> bool:
        return isinstance(self.node, Literal) and self.node.value is None


def all_adapted(parts: Sequence[Typed], kind: Type | None) -> tuple[Expression, ...]:
    return tuple(part.node if kind is None else adapted(part, kind) for part in parts)


def adapted(part: Typed, kind: Type) -> Expression:
    """`part` as a `kind`: literals change in place, anything else is wrapped."""
    node = part.node
    if isinstance(node, Literal):
        return of_kind(node, kind)
    if (part.type, kind) in ((Type.INTEGER, Type.FLOAT), (Type.DATE, Type.TIMESTAMP)):
        return converted(node, kind)
    if (part.type, kind) == (Type.DECIMAL, Type.FLOAT):
        # Computed, so that nobody proves anything from the order of decimals and floats.
        one = Literal(Type.FLOAT, 1.0)
        return FloatArithmetic(Operator.TIMES, converted(node, kind), one)
    return node


def is_short(part: Typed) -> bool:
    """Whether it is a decimal that every engine makes the same float of."""
    short = part.digits is not None and part.digits.total <= EXACT_IN_FLOATS
    return part.type is Type.DECIMAL and short


def converted(node: Expression, kind: Type) -> Expression:
    """A conversion of columns and computed values alone, within alternatives."""
    match node:
        case Coalesce(operands):
            return Coalesce(tuple(converted(operand, kind) for operand in operands))
        case Case(subject, branches, otherwise):
            return Case(
                subject,
                tuple((when, converted(then, kind)) for when, then in branches),
                None if otherwise is None else converted(otherwise, kind),
            )
        case Literal():
            return of_kind(node, kind)
        case _:
            return Convert(node, kind)


def of_kind(literal: Literal, kind: Type) -> Literal:
    """A literal as a `kind` that its own type can meet."""
    match literal.value:
        case None:
            return Literal(kind, None)
        case int() | Decimal() as number if kind is Type.FLOAT:
            return Literal(kind, float(number))
        case date() as day if kind is Type.TIMESTAMP and literal.type is Type.DATE:
            return Literal(kind, datetime.combine(day, time()))
        case _:
            return literal


def digits_of_value(value: object) -> Digits | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    # copy_abs, because abs() would round a Decimal to the precision of the context.
    whole, _, fraction = f"{Decimal(value).copy_abs():f}".partition(".")
    return Digits(len(whole), len(fraction))


def digits_of_column(column: Column) -> Digits | None:
    if column.field is None:
        return None
    if column.field.type is Type.INTEGER:
        return INTEGER_DIGITS
    return WIDE_INTEGER_DIGITS if column.field.type is Type.WIDE_INTEGER else column.field.digits


def common_type(whole: Expression, parts: Sequence[Typed]) -> Type | None:
    """The one type in which the parts meet; a PolicyError where engines would not agree on it."""
    kinds = {part.type for part in parts if part.type is not None}
    if not kinds:
        return Type.BOOLEAN if all(part.is_null for part in parts) else None
    if kinds <= EXACT_NUMERIC:
        return _common_exact(whole, kinds, parts)
    if kinds <= NUMERIC:
        for part in parts:
            inexact = part.type in (Type.DECIMAL, Type.WIDE_INTEGER) and not is_short(part)
            if inexact and not isinstance(part.node, Literal):
                raise PolicyError(
                    f"{spelt(whole)} mixes float with {spelt(part.node)}, which "
                    "engines round differently; compare each of them with a literal."
                )
        return Type.FLOAT
    if kinds <= TEMPORAL:
        return Type.TIMESTAMP if Type.TIMESTAMP in kinds else Type.DATE
    if len(kinds) > 1:
        named = " with ".join(sorted(kind.value for kind in kinds))
        raise PolicyError(f"{spelt(whole)} mixes {named}; use literals of the column's type.")
    return kinds.pop()


def _common_exact(whole: Expression, kinds: set[Type], parts: Sequence[Typed]) -> Type:
    if Type.DECIMAL not in kinds:
        return Type.WIDE_INTEGER if Type.WIDE_INTEGER in kinds else Type.INTEGER
    digits = widest(parts)
    if digits is not None and digits.total > MAX_DIGITS:
        raise PolicyError(
            f"{spelt(whole)} needs {digits.total} decimal digits and engines have "
            f"{MAX_DIGITS}; use literals with fewer digits, or a column of another type."
        )
    return Type.DECIMAL


def widest(parts: Sequence[Typed]) -> Digits | None:
    """Digits enough for every part; None where a part is unbounded, unknown or no exact number."""
    found: Digits | None = None
    for part in parts:
        if part.is_null:
            continue
        if part.digits is None:
            return None
        found = part.digits if found is None else found.widened(part.digits)
    return found


def with_dates(parts: Sequence[Typed]) -> list[Typed]:
    """The parts, where texts that are written out meet times: then they are dates or times."""
    if not any(part.type in TEMPORAL for part in parts):
        return list(parts)
    return [_as_date(part) for part in parts]


def _as_date(part: Typed) -> Typed:
    match part.node:
        case Literal(Type.TEXT, str(text)):
            read = read_date if len(text) == len("2024-02-29") else read_timestamp
            try:
                literal = read(text)
            except PolicyError:
                return part
            return Typed(literal, literal.type)
        case _:
            return part


def spelt(node: Expression) -> str:
    """A part of a predicate for a message, shortened."""
    text = canonical_text(node)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
