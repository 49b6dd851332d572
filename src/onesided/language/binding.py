"""Types: a tree is checked against a schema, and every conversion it implies becomes explicit.

Without a schema the same check runs with the types of the columns unknown, so that `17 < 'a'` is
refused when it is written and not only when a table is at hand.
"""

from __future__ import annotations

from collections.abc import Sequence

from onesided.errors import PolicyError
from onesided.language.canonical import canonical_text
from onesided.language.conversions import (
    Typed,
    adapted,
    all_adapted,
    converted,
    digits_of_column,
    digits_of_value,
    of_kind,
)
from onesided.language.tree import (
    OF_THE_CALENDAR,
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
    FloatArithmetic,
    In,
    IsNull,
    IsTruth,
    Like,
    Literal,
    Local,
    Negate,
    Not,
    Operator,
    Or,
    Part,
    PartOf,
    Span,
    StartOf,
    Substring,
    Trim,
    children,
    rebuild,
    walk,
)
from onesided.language.types import (
    EXACT_NUMERIC,
    INTEGER_DIGITS,
    MAX_DIGITS,
    NUMERIC,
    TEMPORAL,
    Digits,
    Schema,
    Type,
)

_SHOWN = 80
#: Whole numbers and powers of ten up to here are floats, and their quotient is rounded once.
_EXACT_IN_FLOATS = 15
#: Engines are given operands several times, so that nested ones grow exponentially.
MOST_FLOAT_STEPS = 6


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


def digits_of(node: Expression) -> Digits | None:
    """Digits enough for every value of a bound tree; None where it is no exact number."""
    match node:
        case Literal(_, value):
            return digits_of_value(value)
        case Column():
            return digits_of_column(node)
        case Coalesce(operands):
            values: Sequence[Expression] = operands
        case Case(_, branches, otherwise):
            values = [then for _, then in branches]
            values = values if otherwise is None else [*values, otherwise]
        case _:
            return INTEGER_DIGITS if type_of(node) is Type.INTEGER else None
    return _widest([Typed(value, type_of(value), digits_of(value)) for value in values])


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
        case FloatArithmetic():
            return Type.FLOAT
        case StartOf(_, operand):
            return type_of(operand)
        case Substring() | Trim():
            return Type.TEXT
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

    def visit(self, node: Expression) -> Typed:
        match node:
            case Literal(kind, value):
                return Typed(node, kind, digits_of_value(value))
            case Column(name):
                return self._column(name)
            case Coalesce(operands):
                return self._coalesce(operands)
            case Case():
                return self._case(node)
            case ChangeLetters(letters, operand):
                text = self._expect(operand, "text", Type.TEXT)
                return Typed(ChangeLetters(letters, text), Type.TEXT)
            case Arithmetic():
                return self._arithmetic(node)
            case Negate() | Bucket():
                integers = rebuild(node, self._integer)
                return Typed(integers, Type.INTEGER, INTEGER_DIGITS)
            case PartOf():
                return self._part(node)
            case StartOf():
                return self._start(node)
            case Substring() | Trim():
                texts = rebuild(node, lambda operand: self._expect(operand, "text", Type.TEXT))
                return Typed(texts, Type.TEXT)
            case _:
                return Typed(self._predicate(node), Type.BOOLEAN)

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
                return IsNull(adapted(self.visit(operand), Type.BOOLEAN))
            case _:
                raise AssertionError(f"{type(node).__name__} is made by binding only")

    def _named(self, name: str) -> Column:
        if self._schema is None:
            return Column(name)
        known = self._schema.resolve(name)
        return Column(known, self._schema[known])

    def _column(self, name: str) -> Typed:
        column = self._named(name)
        if column.field is None:
            return Typed(column, None)
        if column.field.type is Type.OTHER:
            raise PolicyError(
                f"The column {column.name} has a type that cannot be compared; "
                "only IS NULL and IS NOT NULL can be asked of it."
            )
        return Typed(column, column.field.type, digits_of_column(column))

    def _coalesce(self, operands: tuple[Expression, ...]) -> Typed:
        parts = [self.visit(operand) for operand in operands]
        common = _common(Coalesce(operands), parts)
        return Typed(Coalesce(all_adapted(parts, common)), common, _widest(parts))

    def _case(self, node: Case) -> Typed:
        whens = [when for when, _ in node.branches]
        if node.subject is None:
            subject, tests = None, [self.condition(when) for when in whens]
        else:
            subject, *tests = self._unified(node, (node.subject, *whens))
        values = [self.visit(then) for _, then in node.branches]
        if node.otherwise is not None:
            values.append(self.visit(node.otherwise))
        common = _common(node, values)
        results = all_adapted(values, common)
        branches = tuple(zip(tests, results[: len(tests)], strict=True))
        otherwise = None if node.otherwise is None else results[-1]
        return Typed(Case(subject, branches, otherwise), common, _widest(values))

    def _part(self, node: PartOf) -> Typed:
        of_a_day = node.part in (Part.HOUR, Part.MINUTE)
        allowed = (Type.TIMESTAMP,) if of_a_day else (Type.TIMESTAMP, Type.DATE)
        named = " or ".join(kind.value for kind in allowed)
        operand = self._expect(node.operand, f"a {named} in {node.part.value}()", *allowed)
        if node.part in OF_THE_CALENDAR:
            operand = _as_it_is(self.visit(node.operand), operand)
        operand = _on_the_wall(node, operand)
        kind = Type.DATE if node.part is Part.DATE else Type.INTEGER
        return Typed(PartOf(node.part, operand), kind, INTEGER_DIGITS)

    def _start(self, node: StartOf) -> Typed:
        of_a_day = node.span in (Span.HOUR, Span.MINUTE)
        allowed = (Type.TIMESTAMP,) if of_a_day else (Type.TIMESTAMP, Type.DATE)
        named = " or ".join(kind.value for kind in allowed)
        operand = self._expect(node.operand, f"a {named} in date_trunc()", *allowed)
        operand = _on_the_wall(node, _as_it_is(self.visit(node.operand), operand))
        kind = None if self._schema is None else type_of(operand)
        return Typed(StartOf(node.span, operand), kind)

    def _arithmetic(self, node: Arithmetic) -> Typed:
        """Of integers, with 64 bits; else of floats, which short decimals become exactly."""
        sides = [self.visit(side) for side in (node.left, node.right)]
        kinds = {side.type for side in sides if not side.is_null}
        if node.operator is not Operator.OVER and kinds <= {Type.INTEGER, None}:
            left, right = (adapted(side, Type.INTEGER) for side in sides)
            return Typed(Arithmetic(node.operator, left, right), Type.INTEGER, INTEGER_DIGITS)
        first, second = (self._as_float(node, side) for side in sides)
        if self._schema is None:  # checked alone: only a schema tells what there is to convert
            return Typed(node, Type.FLOAT)
        floats = FloatArithmetic(node.operator, first, second)
        if float_steps(floats) > MOST_FLOAT_STEPS:
            raise PolicyError(f"{_shown(node)} computes in too many steps; simplify it.")
        return Typed(floats, Type.FLOAT)

    def _as_float(self, whole: Expression, side: Typed) -> Expression:
        """As floating point, with the same bits on every engine."""
        if isinstance(side.node, Literal) and (side.is_null or side.type in NUMERIC):
            return of_kind(side.node, Type.FLOAT)
        if side.type is Type.DECIMAL and side.digits and side.digits.total <= _EXACT_IN_FLOATS:
            return converted(side.node, Type.FLOAT)
        if side.type not in (Type.INTEGER, Type.FLOAT, None):
            kind = side.type.value
            raise PolicyError(
                f"{_shown(whole)} computes with {kind}; integers, floats and decimals of at most "
                f"{_EXACT_IN_FLOATS} digits can be computed with."
            )
        return adapted(side, Type.FLOAT)

    def _integer(self, node: Expression) -> Expression:
        return self._expect(node, "an integer of at most 64 bits", Type.INTEGER)

    def _expect(self, node: Expression, wanted: str, *allowed: Type) -> Expression:
        typed = self.visit(node)
        if typed.type is not None and typed.type not in allowed:
            raise PolicyError(f"{_shown(node)} is {typed.type.value}; {wanted} is needed there.")
        return adapted(typed, allowed[0])

    def _unified(self, whole: Expression, parts: Sequence[Expression]) -> tuple[Expression, ...]:
        typed = [self.visit(part) for part in parts]
        return all_adapted(typed, _common(whole, typed))


def _as_it_is(typed: Typed, moment: Expression) -> Expression:
    """A date as a date, where a point in time is not needed."""
    return typed.node if typed.type is Type.DATE else moment


def float_steps(node: Expression) -> int:
    """How many operations on floats stand within each other."""
    return isinstance(node, FloatArithmetic) + max(map(float_steps, children(node)), default=0)


def _on_the_wall(node: PartOf | StartOf, operand: Expression) -> Expression:
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


def _common(whole: Expression, parts: Sequence[Typed]) -> Type | None:
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


def _common_exact(whole: Expression, kinds: set[Type], parts: Sequence[Typed]) -> Type:
    if Type.DECIMAL not in kinds:
        return Type.WIDE_INTEGER if Type.WIDE_INTEGER in kinds else Type.INTEGER
    widest = _widest(parts)
    if widest is not None and widest.total > MAX_DIGITS:
        raise PolicyError(
            f"{_shown(whole)} needs {widest.total} decimal digits and engines have {MAX_DIGITS}; "
            "use literals with fewer digits, or a column of another type."
        )
    return Type.DECIMAL


def _widest(parts: Sequence[Typed]) -> Digits | None:
    """Digits enough for every part; None where a part is unbounded, unknown or no exact number."""
    widest: Digits | None = None
    for part in parts:
        if part.is_null:
            continue
        if part.digits is None:
            return None
        widest = part.digits if widest is None else widest.widened(part.digits)
    return widest


def _shown(node: Expression) -> str:
    text = canonical_text(node)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
