"""The tree of an accepted predicate: our own few nodes, so that nothing unforeseen gets through.

A tree is immutable and compares by value. The parser makes it, binding resolves its columns and
makes every conversion explicit, and rendering, evaluation and the canonical text are read from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import TypeAlias

from onesided.language.types import Field, Type

Value: TypeAlias = bool | int | float | Decimal | str | date | datetime | None


class Comparison(Enum):
    """The six comparisons; the value is their canonical spelling."""

    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


class Operator(Enum):
    """Arithmetic; the value is the canonical spelling. Only floats are divided."""

    PLUS = "+"
    MINUS = "-"
    TIMES = "*"
    OVER = "/"


class Letters(Enum):
    """The two functions that change the 26 ASCII letters and nothing else."""

    LOWER = "lower"
    UPPER = "upper"


class Part(Enum):
    """What can be taken from a point in time."""

    MINUTE = "minute"
    HOUR = "hour"
    WEEKDAY = "weekday"
    DATE = "date"
    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


OF_THE_CALENDAR = frozenset({Part.DAY, Part.MONTH, Part.QUARTER, Part.YEAR})
"""The parts that only the years 1 to 9999 have; beyond them engines disagree."""


class Span(Enum):
    """What a point in time can be cut to the start of; the value is the canonical spelling."""

    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


@dataclass(frozen=True)
class Literal:
    """A constant. `type` is None for a NULL that has not met a type yet."""

    type: Type | None
    value: Value


@dataclass(frozen=True)
class Column:
    """A column by name; `field` is known once the tree is bound to a schema."""

    name: str
    field: Field | None = None


@dataclass(frozen=True)
class Convert:
    """`operand` as FLOAT (from INTEGER) or TIMESTAMP (from DATE); only binding makes these."""

    operand: Expression
    type: Type


@dataclass(frozen=True)
class Local:
    """The moment `operand` as clocks in `zone` show it; only binding makes these."""

    operand: Expression
    zone: str


@dataclass(frozen=True)
class And:
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Or:
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Not:
    operand: Expression


@dataclass(frozen=True)
class Compare:
    comparison: Comparison
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Distinct:
    """`left IS DISTINCT FROM right`: never NULL."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class IsNull:
    operand: Expression


@dataclass(frozen=True)
class IsTruth:
    """`operand IS TRUE` or `operand IS FALSE`."""

    operand: Expression
    truth: bool


@dataclass(frozen=True)
class In:
    operand: Expression
    choices: tuple[Expression, ...]


@dataclass(frozen=True)
class Between:
    operand: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True)
class Like:
    operand: Expression
    pattern: str


@dataclass(frozen=True)
class Case:
    """With `subject` the simple form, without it the searched one."""

    subject: Expression | None
    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@dataclass(frozen=True)
class Coalesce:
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class ChangeLetters:
    letters: Letters
    operand: Expression


@dataclass(frozen=True)
class Arithmetic:
    operator: Operator
    left: Expression
    right: Expression


@dataclass(frozen=True)
class FloatArithmetic:
    """Arithmetic on floats, NULL where its result would not be finite; only binding makes it."""

    operator: Operator
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Negate:
    operand: Expression


@dataclass(frozen=True)
class PartOf:
    part: Part
    operand: Expression


@dataclass(frozen=True)
class StartOf:
    """The start of the minute, hour, … or year in which `operand` lies; weeks start on Monday."""

    span: Span
    operand: Expression


@dataclass(frozen=True)
class Substring:
    """The `length` characters of `operand` from the `start`-th on, the first one being 1."""

    operand: Expression
    start: int
    length: int


@dataclass(frozen=True)
class Trim:
    """`operand` without blanks at its ends."""

    operand: Expression


@dataclass(frozen=True)
class Bucket:
    """The lower edge `width`·⌊`operand`/`width`⌋ of the bucket that holds `operand`."""

    operand: Expression
    width: int


Expression: TypeAlias = (
    Literal
    | Column
    | Convert
    | Local
    | And
    | Or
    | Not
    | Compare
    | Distinct
    | IsNull
    | IsTruth
    | In
    | Between
    | Like
    | Case
    | Coalesce
    | ChangeLetters
    | Arithmetic
    | FloatArithmetic
    | Negate
    | PartOf
    | StartOf
    | Substring
    | Trim
    | Bucket
)


def children(node: Expression) -> tuple[Expression, ...]:
    """The direct operands of a node, in the order in which they are written."""
    match node:
        case Literal() | Column():
            return ()
        case And(operands) | Or(operands) | Coalesce(operands):
            return operands
        case Compare(_, left, right) | Distinct(left, right):
            return (left, right)
        case Arithmetic(_, left, right) | FloatArithmetic(_, left, right):
            return (left, right)
        case In(operand, choices):
            return (operand, *choices)
        case Between(operand, low, high):
            return (operand, low, high)
        case Case(subject, branches, otherwise):
            ends = (subject, *(part for branch in branches for part in branch), otherwise)
            return tuple(part for part in ends if part is not None)
        case _:
            return (node.operand,)


def walk(node: Expression) -> Iterator[Expression]:
    """The node and everything below it, from the top, left to right."""
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(children(current)))


def column_names(node: Expression) -> tuple[str, ...]:
    """The columns a tree reads, each once, in the order of their first appearance."""
    return tuple(dict.fromkeys(part.name for part in walk(node) if isinstance(part, Column)))


def rebuild(node: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The same node with `change` applied to each direct operand."""
    match node:
        case Literal() | Column():
            return node
        case And(operands) | Or(operands) | Coalesce(operands):
            return replace(node, operands=tuple(change(operand) for operand in operands))
        case (
            Compare(_, left, right)
            | Distinct(left, right)
            | Arithmetic(_, left, right)
            | FloatArithmetic(_, left, right)
        ):
            return replace(node, left=change(left), right=change(right))
        case In(operand, choices):
            return In(change(operand), tuple(change(choice) for choice in choices))
        case Between(operand, low, high):
            return Between(change(operand), change(low), change(high))
        case Case(subject, branches, otherwise):
            return Case(
                None if subject is None else change(subject),
                tuple((change(when), change(then)) for when, then in branches),
                None if otherwise is None else change(otherwise),
            )
        case _:
            return replace(node, operand=change(node.operand))
