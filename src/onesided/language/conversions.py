"""Conversions between types that mean the same on every engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal

from onesided.language.tree import Case, Coalesce, Column, Convert, Expression, Literal
from onesided.language.types import INTEGER_DIGITS, WIDE_INTEGER_DIGITS, Digits, Type


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
    return node


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
