"""The tree of an accepted predicate: our own few nodes, so that nothing unforeseen gets through.

A tree is immutable and compares by value. The parser makes it, binding resolves its columns and
makes every conversion explicit, and rendering, evaluation and the canonical text are read from it.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    DAY_OF_YEAR = "dayofyear"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"


OF_THE_CALENDAR = frozenset(
    {Part.DAY, Part.DAY_OF_YEAR, Part.WEEK, Part.MONTH, Part.QUARTER, Part.YEAR}
)
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


class Extremum(Enum):
    """Which of several values; the value is the canonical spelling."""

    LEAST = "least"
    GREATEST = "greatest"


class Rounding(Enum):
    """Ways from a number to a whole one; the value is the canonical spelling.

    AWAY takes halves away from 0. CAST takes halves of floats to even numbers; what it does with
    other types is made explicit by binding.
    """

    FLOOR = "floor"
    CEILING = "ceil"
    AWAY = "round"
    CAST = "CAST"


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


@dataclass(frozen=True)
class Extreme:
    """The least or greatest of the operands that are not NULL."""

    way: Extremum
    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Magnitude:
    """`operand` without its sign."""

    operand: Expression


@dataclass(frozen=True)
class Rounded:
    """A whole number near `operand`; NULL beyond 2^51, where floats have no halves any more."""

    way: Rounding
    operand: Expression


@dataclass(frozen=True)
class AsText:
    """A whole number or a truth value, as it is written."""

    operand: Expression


@dataclass(frozen=True)
class Concat:
    """Texts one after the other; NULL where one of them is."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class SplitPart:
    """The `number`-th part, from 1 on, of a text that is cut at each `separator`; else ''."""

    operand: Expression
    separator: str
    number: int


@dataclass(frozen=True)
class Microseconds:
    """From the start of 1970 to the moment `operand`, in UTC."""

    operand: Expression


@dataclass(frozen=True)
class Later:
    """The moment `seconds` after `operand`, or before it."""

    operand: Expression
    seconds: int


@dataclass(frozen=True)
class Shorthand:
    """A function that stands for a tree of the others; binding puts that in its place."""

    name: str
    operands: tuple[Expression, ...]


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
    | Extreme
    | Magnitude
    | Rounded
    | AsText
    | Concat
    | SplitPart
    | Microseconds
    | Later
    | Shorthand
)
