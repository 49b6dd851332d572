"""Types: a tree is checked against a schema, and every conversion it implies becomes explicit.

Without a schema the same check runs with the types of the columns unknown, so that `17 < 'a'` is
refused when it is written and not only when a table is at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onesided.errors import PolicyError
from onesided.language.conversions import (
    EXACT_IN_FLOATS,
    Typed,
    adapted,
    all_adapted,
    common_type,
    converted,
    digits_of_column,
    digits_of_value,
    is_short,
    of_kind,
    spelt,
    widest,
    with_dates,
)
from onesided.language.expansion import expanded, of_days
from onesided.language.kinds import type_of
from onesided.language.tree import (
    OF_THE_CALENDAR,
    And,
    Arithmetic,
    AsText,
    Between,
    Bucket,
    Case,
    ChangeLetters,
    Coalesce,
    Column,
    Compare,
    Concat,
    Distinct,
    Expression,
    Extreme,
    FloatArithmetic,
    In,
    IsNull,
    IsTruth,
    Later,
    Like,
    Literal,
    Local,
    Magnitude,
    Microseconds,
    Negate,
    Not,
    Operator,
    Or,
    Part,
    PartOf,
    Rounded,
    Rounding,
    Shorthand,
    Span,
    SplitPart,
    StartOf,
    Substring,
    Trim,
)
from onesided.language.types import INTEGER_DIGITS, NUMERIC, TEMPORAL, Schema, Type
from onesided.language.walking import children, rebuild, walk

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
            case Negate():
                integers = rebuild(node, self._integer)
                return Typed(integers, Type.INTEGER, INTEGER_DIGITS)
            case Extreme():
                return self._extreme(node)
            case PartOf():
                return self._part(node)
            case StartOf():
                return self._start(node)
            case Bucket() | Magnitude() | Rounded():
                return self._of_a_number(node)
            case Shorthand():
                return self.visit(expanded(node))
            case _:
                return self._text_or_moment(node)

    def _text_or_moment(self, node: Expression) -> Typed:
        match node:
            case Concat(operands):
                return Typed(Concat(tuple(map(self._as_text, operands))), Type.TEXT)
            case AsText(operand):
                return Typed(self._as_text(operand), Type.TEXT)
            case Microseconds(operand):
                moment = self._expect(operand, "a timestamp or date", Type.TIMESTAMP, Type.DATE)
                return Typed(Microseconds(moment), Type.INTEGER, INTEGER_DIGITS)
            case Later(operand, seconds):
                moment = self._expect(operand, "a timestamp or date", Type.TIMESTAMP, Type.DATE)
                return Typed(Later(moment, seconds), Type.TIMESTAMP)
            case Substring() | Trim() | SplitPart():
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
        common = common_type(Coalesce(operands), parts)
        return Typed(Coalesce(all_adapted(parts, common)), common, widest(parts))

    def _case(self, node: Case) -> Typed:
        whens = [when for when, _ in node.branches]
        if node.subject is None:
            subject, tests = None, [self.condition(when) for when in whens]
        else:
            subject, *tests = self._unified(node, (node.subject, *whens))
        values = [self.visit(then) for _, then in node.branches]
        if node.otherwise is not None:
            values.append(self.visit(node.otherwise))
        common = common_type(node, values)
        results = all_adapted(values, common)
        branches = tuple(zip(tests, results[: len(tests)], strict=True))
        otherwise = None if node.otherwise is None else results[-1]
        return Typed(Case(subject, branches, otherwise), common, widest(values))

    def _extreme(self, node: Extreme) -> Typed:
        parts = [self.visit(operand) for operand in node.operands]
        common = common_type(node, parts)
        if common is Type.BOOLEAN:
            raise PolicyError(f"{spelt(node)} is not allowed: truth values have no order.")
        return Typed(Extreme(node.way, all_adapted(parts, common)), common, widest(parts))

    def _of_a_number(self, node: Bucket | Magnitude | Rounded) -> Typed:
        """Of whole numbers with 64 bits, else of floats."""
        side = self.visit(node.operand)
        if side.is_null or side.type in (Type.INTEGER, None):
            integer = adapted(side, Type.INTEGER)
            if isinstance(node, Rounded):
                return Typed(integer, Type.INTEGER, INTEGER_DIGITS)
            return Typed(replace(node, operand=integer), Type.INTEGER, INTEGER_DIGITS)
        match node:
            case Rounded(Rounding.CAST, operand) if side.type is Type.BOOLEAN:
                return self.visit(as_number(operand))
            case Bucket(operand, width):
                size = Literal(Type.INTEGER, width)
                steps = Rounded(Rounding.FLOOR, Arithmetic(Operator.OVER, operand, size))
                return self.visit(Arithmetic(Operator.TIMES, steps, size))
        number = self._as_float(node, side)
        if isinstance(node, Magnitude):
            return Typed(self._few_steps(Magnitude(number), node), Type.FLOAT)
        # Of a decimal a cast takes halves away from 0, as engines do.
        exact = side.type is Type.DECIMAL and node.way is Rounding.CAST
        found = Rounded(Rounding.AWAY if exact else node.way, number)
        return Typed(self._few_steps(found, node), Type.INTEGER, INTEGER_DIGITS)

    def _as_text(self, node: Expression) -> Expression:
        """A text, or what is written in one way."""
        part = self.visit(node)
        match part.type:
            case Type.INTEGER:
                return AsText(part.node)
            case Type.BOOLEAN:
                words = (Literal(Type.TEXT, word) for word in ("true", "false"))
                truths = zip((part.node, Not(part.node)), words, strict=True)
                return Case(None, tuple(truths), None)
            case Type.DATE:
                pattern = Literal(Type.TEXT, "%Y-%m-%d")
                return self.visit(Shorthand("strftime", (node, pattern))).node
            case _:
                return self._expect(node, "a text or what is written as one", Type.TEXT)

    def _few_steps(self, node: Expression, whole: Expression) -> Expression:
        """Engines are given operands several times, so that nested ones grow."""
        if steps_within(node) > MOST_FLOAT_STEPS:
            raise PolicyError(f"{spelt(whole)} computes in too many steps; simplify it.")
        return node

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
        if kinds & TEMPORAL:
            return Typed(node, None) if self._schema is None else self.visit(of_days(node, sides))
        if node.operator is not Operator.OVER and kinds <= {Type.INTEGER, None}:
            left, right = (adapted(side, Type.INTEGER) for side in sides)
            return Typed(Arithmetic(node.operator, left, right), Type.INTEGER, INTEGER_DIGITS)
        first, second = (self._as_float(node, side) for side in sides)
        if self._schema is None:  # checked alone: only a schema tells what there is to convert
            return Typed(node, Type.FLOAT)
        floats = FloatArithmetic(node.operator, first, second)
        return Typed(self._few_steps(floats, node), Type.FLOAT)

    def _as_float(self, whole: Expression, side: Typed) -> Expression:
        """As floating point, with the same bits on every engine."""
        if isinstance(side.node, Literal) and (side.is_null or side.type in NUMERIC):
            return of_kind(side.node, Type.FLOAT)
        if is_short(side):
            return converted(side.node, Type.FLOAT)
        if side.type not in (Type.INTEGER, Type.FLOAT, None):
            kind = side.type.value
            raise PolicyError(
                f"{spelt(whole)} computes with {kind}; integers, floats and decimals of at most "
                f"{EXACT_IN_FLOATS} digits can be computed with."
            )
        return adapted(side, Type.FLOAT)

    def _integer(self, node: Expression) -> Expression:
        return self._expect(node, "an integer of at most 64 bits", Type.INTEGER)

    def _expect(self, node: Expression, wanted: str, *allowed: Type) -> Expression:
        typed = self.visit(node)
        if typed.type is not None and typed.type not in allowed:
            raise PolicyError(f"{spelt(node)} is {typed.type.value}; {wanted} is needed there.")
        return adapted(typed, allowed[0])

    def _unified(self, whole: Expression, parts: Sequence[Expression]) -> tuple[Expression, ...]:
        typed = with_dates([self.visit(part) for part in parts])
        return all_adapted(typed, common_type(whole, typed))


def _as_it_is(typed: Typed, moment: Expression) -> Expression:
    """A date as a date, where a point in time is not needed."""
    return typed.node if typed.type is Type.DATE else moment


def steps_within(node: Expression) -> int:
    """How many operations whose operands are written several times stand within each other."""
    own = isinstance(node, FloatArithmetic | Magnitude | Rounded)
    return own + max(map(steps_within, children(node)), default=0)


def as_number(condition: Expression) -> Case:
    """A condition as 1 or 0."""
    one, zero = (Literal(Type.INTEGER, number) for number in (1, 0))
    return Case(None, ((condition, one), (Not(condition), zero)), None)


def _on_the_wall(node: PartOf | StartOf, operand: Expression) -> Expression:
    """The operand in the zone that is declared for it."""
    columns = [part for part in walk(operand) if isinstance(part, Column)]
    zones = {each.field.zone for each in columns if each.field is not None} - {None}
    if not zones:
        return operand
    if not isinstance(operand, Column):
        raise PolicyError(
            f"{spelt(node)} joins columns of which some have a time zone; take the part of each."
        )
    zone = zones.pop()
    assert zone is not None
    return Local(operand, zone)
