"""Types: a tree is checked against a schema, and every conversion it implies becomes explicit.

Without a schema the same check runs with the types of the columns unknown, so that `17 < 'a'` is
refused when it is written and not only when a table is at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal

from onesided.errors import PolicyError
from onesided.language.canonical import canonical_text
from onesided.language.tree import (
    And,
    Arithmetic,
    Between,
    Bucket,
    Case,
    ChangeLetters,
    Coalesce,
    Column,
    Compare,
    Convert,
    Distinct,
    Expression,
    In,
    IsNull,
    IsTruth,
    Like,
    Literal,
    Local,
    Negate,
    Not,
    Or,
    Part,
    PartOf,
    rebuild,
    walk,
)
from onesided.language.types import (
    EXACT_NUMERIC,
    INTEGER_DIGITS,
    MAX_DIGITS,
    NUMERIC,
    TEMPORAL,
    WIDE_INTEGER_DIGITS,
    Digits,
    Schema,
    Type,
)

_SHOWN = 80


@dataclass(frozen=True)
class _Typed:
    """A bound expression; `type` is None where only a schema could tell."""

    node: Expression
    type: Type | None
    digits: Digits | None = None

    @property
    def is_null(self) -> bool:
        return isinstance(self.node, Literal) and self.node.value is None


def resolve(node: Expression, schema: Schema) -> Expression:
    """The tree with each column spelt as in the schema, otherwise unchanged."""
    if isinstance(node, Column):
        return Column(schema.resolve(node.name))
    return rebuild(node, lambda part: resolve(part, schema))


def bind_condition(node: Expression, schema: Schema) -> Expression:
    """The typed tree of a condition: true, false or NULL for every row of the schema."""
    return _Binder(schema).condition(node)


def bind_value(node: Expression, schema: Schema) -> Expression:
    """The typed tree of a value, such as a group key."""
    return _Binder(schema).visit(node).node


def check_condition(node: Expression) -> None:
    """Refuses what no schema could make right."""
    _Binder(None).condition(node)


def check_value(node: Expression) -> None:
    """As `check_condition`, for a value of any type."""
    _Binder(None).visit(node)


def type_of(node: Expression) -> Type:
    """The type of a bound tree; for exact numbers of mixed types, one of them."""
    match node:
        case Literal(Type() as kind) | Convert(_, kind):
            return kind
        case Column(_, field) if field is not None:
            return field.type
        case Coalesce(operands):
            return type_of(operands[0])
        case Case(_, branches):
            return type_of(branches[0][1])
        case ChangeLetters():
            return Type.TEXT
        case PartOf(Part.DATE):
            return Type.DATE
        case Local():
            return Type.TIMESTAMP
        case Arithmetic() | Negate() | Bucket() | PartOf():
            return Type.INTEGER
        case Literal() | Column():
            raise AssertionError("the tree is not bound")
        case _:
            return Type.BOOLEAN


class _Binder:
    """One pass from the leaves to the top."""

    def __init__(self, schema: Schema | None) -> None:
        self._schema = schema

    def condition(self, node: Expression) -> Expression:
        return self._expect(node, "a condition that is true or false", Type.BOOLEAN)

    def visit(self, node: Expression) -> _Typed:
        match node:
            case Literal(kind, value):
                return _Typed(node, kind, _digits_of(value))
            case Column(name):
                return self._column(name)
            case Coalesce(operands):
                return self._coalesce(operands)
            case Case():
                return self._case(node)
            case ChangeLetters(letters, operand):
                text = self._expect(operand, "text", Type.TEXT)
                return _Typed(ChangeLetters(letters, text), Type.TEXT)
            case Arithmetic() | Negate() | Bucket():
                integers = rebuild(node, self._integer)
                return _Typed(integers, Type.INTEGER, INTEGER_DIGITS)
            case PartOf():
                return self._part(node)
            case _:
                return _Typed(self._predicate(node), Type.BOOLEAN)

    def _predicate(self, node: Expression) -> Expression:
        match node:
            case And() | Or() | Not() | IsTruth():
                return rebuild(node, self.condition)
            case Compare(comparison, left, right):
                first, second = self._unified(node, (left, right))
                return Compare(comparison, first, second)
            case Distinct(left, right):
                return Distinct(*self._unified(node, (left, right)))
            case In(operand, choices):
                first, *rest = self._unified(node, (operand, *choices))
                return In(first, tuple(rest))
            case Between(operand, low, high):
                return Between(*self._unified(node, (operand, low, high)))
            case Like(operand, pattern):
                return Like(self._expect(operand, "text", Type.TEXT), pattern)
            case IsNull(Column(name)):
                return IsNull(self._named(name))
            case IsNull(operand):
                return IsNull(_adapted(self.visit(operand), Type.BOOLEAN))
            case _:
                raise AssertionError(f"{type(node).__name__} is made by binding only")

    def _named(self, name: str) -> Column:
        if self._schema is None:
            return Column(name)
        known = self._schema.resolve(name)
        return Column(known, self._schema[known])

    def _column(self, name: str) -> _Typed:
        column = self._named(name)
        if column.field is None:
            return _Typed(column, None)
        if column.field.type is Type.OTHER:
            raise PolicyError(
                f"The column {column.name} has a type that cannot be compared; "
                "only IS NULL and IS NOT NULL can be asked of it."
            )
        return _Typed(column, column.field.type, _digits_of_column(column))

    def _coalesce(self, operands: tuple[Expression, ...]) -> _Typed:
        parts = [self.visit(operand) for operand in operands]
        common = _common(Coalesce(operands), parts)
        return _Typed(Coalesce(_all_adapted(parts, common)), common, _widest(parts))

    def _case(self, node: Case) -> _Typed:
        whens = [when for when, _ in node.branches]
        if node.subject is None:
            subject, tests = None, [self.condition(when) for when in whens]
        else:
            subject, *tests = self._unified(node, (node.subject, *whens))
        values = [self.visit(then) for _, then in node.branches]
        if node.otherwise is not None:
            values.append(self.visit(node.otherwise))
        common = _common(node, values)
        results = _all_adapted(values, common)
        branches = tuple(zip(tests, results[: len(tests)], strict=True))
        otherwise = None if node.otherwise is None else results[-1]
        return _Typed(Case(subject, branches, otherwise), common, _widest(values))

    def _part(self, node: PartOf) -> _Typed:
        allowed = (Type.TIMESTAMP,) if node.part is Part.HOUR else (Type.TIMESTAMP, Type.DATE)
        named = " or ".join(kind.value for kind in allowed)
        operand = self._expect(node.operand, f"a {named} in {node.part.value}()", *allowed)
        operand = _on_the_wall(node, operand)
        kind = Type.DATE if node.part is Part.DATE else Type.INTEGER
        return _Typed(PartOf(node.part, operand), kind, INTEGER_DIGITS)

    def _integer(self, node: Expression) -> Expression:
        return self._expect(node, "an integer of at most 64 bits", Type.INTEGER)

    def _expect(self, node: Expression, wanted: str, *allowed: Type) -> Expression:
        typed = self.visit(node)
        if typed.type is not None and typed.type not in allowed:
            raise PolicyError(f"{_shown(node)} is {typed.type.value}; {wanted} is needed there.")
        return _adapted(typed, allowed[0])

    def _unified(self, whole: Expression, parts: Sequence[Expression]) -> tuple[Expression, ...]:
        typed = [self.visit(part) for part in parts]
        return _all_adapted(typed, _common(whole, typed))


def _on_the_wall(node: PartOf, operand: Expression) -> Expression:
    """The operand in the zone that is declared for it."""
    columns = [part for part in walk(operand) if isinstance(part, Column)]
    zones = {each.field.zone for each in columns if each.field is not None} - {None}
    if not zones:
        return operand
    if not isinstance(operand, Column):
        raise PolicyError(
            f"{_shown(node)} joins columns of which some have a time zone; take the part of each."
        )
    zone = zones.pop()
    assert zone is not None
    return Local(operand, zone)


def _common(whole: Expression, parts: Sequence[_Typed]) -> Type | None:
    """The one type in which the parts meet; a PolicyError where engines would not agree on it."""
    kinds = {part.type for part in parts if part.type is not None}
    if not kinds:
        return Type.BOOLEAN if all(part.is_null for part in parts) else None
    if kinds <= EXACT_NUMERIC:
        return _common_exact(whole, kinds, parts)
    if kinds <= NUMERIC:
        for part in parts:
            inexact = part.type in (Type.DECIMAL, Type.WIDE_INTEGER)
            if inexact and not isinstance(part.node, Literal):
                raise PolicyError(
                    f"{_shown(whole)} mixes float with {_shown(part.node)}, which engines round "
                    "differently; compare each of them with a literal."
                )
        return Type.FLOAT
    if kinds <= TEMPORAL:
        return Type.TIMESTAMP if Type.TIMESTAMP in kinds else Type.DATE
    if len(kinds) > 1:
        named = " with ".join(sorted(kind.value for kind in kinds))
        raise PolicyError(f"{_shown(whole)} mixes {named}; use literals of the column's type.")
    return kinds.pop()


def _common_exact(whole: Expression, kinds: set[Type], parts: Sequence[_Typed]) -> Type:
    if Type.DECIMAL not in kinds:
        return Type.WIDE_INTEGER if Type.WIDE_INTEGER in kinds else Type.INTEGER
    widest = _widest(parts)
    if widest is not None and widest.total > MAX_DIGITS:
        raise PolicyError(
            f"{_shown(whole)} needs {widest.total} decimal digits and engines have {MAX_DIGITS}; "
            "use literals with fewer digits, or a column of another type."
        )
    return Type.DECIMAL


def _widest(parts: Sequence[_Typed]) -> Digits | None:
    """Digits enough for every part; None where a part is unbounded, unknown or no exact number."""
    widest: Digits | None = None
    for part in parts:
        if part.is_null:
            continue
        if part.digits is None:
            return None
        widest = part.digits if widest is None else widest.widened(part.digits)
    return widest


def _all_adapted(parts: Sequence[_Typed], kind: Type | None) -> tuple[Expression, ...]:
    return tuple(part.node if kind is None else _adapted(part, kind) for part in parts)


def _adapted(part: _Typed, kind: Type) -> Expression:
    """`part` as a `kind`: literals change in place, anything else is wrapped."""
    node = part.node
    if isinstance(node, Literal):
        return _of_kind(node, kind)
    if (part.type, kind) in ((Type.INTEGER, Type.FLOAT), (Type.DATE, Type.TIMESTAMP)):
        return _converted(node, kind)
    return node


def _converted(node: Expression, kind: Type) -> Expression:
    """A conversion of columns and computed values alone, within alternatives."""
    match node:
        case Coalesce(operands):
            return Coalesce(tuple(_converted(operand, kind) for operand in operands))
        case Case(subject, branches, otherwise):
            return Case(
                subject,
                tuple((when, _converted(then, kind)) for when, then in branches),
                None if otherwise is None else _converted(otherwise, kind),
            )
        case Literal():
            return _of_kind(node, kind)
        case _:
            return Convert(node, kind)


def _of_kind(literal: Literal, kind: Type) -> Literal:
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


def _digits_of(value: object) -> Digits | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    # copy_abs, because abs() would round a Decimal to the precision of the context.
    whole, _, fraction = f"{Decimal(value).copy_abs():f}".partition(".")
    return Digits(len(whole), len(fraction))


def _digits_of_column(column: Column) -> Digits | None:
    if column.field is None:
        return None
    if column.field.type is Type.INTEGER:
        return INTEGER_DIGITS
    return WIDE_INTEGER_DIGITS if column.field.type is Type.WIDE_INTEGER else column.field.digits


def _shown(node: Expression) -> str:
    text = canonical_text(node)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
