"""Predicates and rows to hold an engine to the meaning of the language.

`Generator` builds trees of accepted conditions from any source of choices: Hypothesis draws them
in the laws, a seed in `corpus`, which is the same list every time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar

from hypothesis import strategies as st

from onesided.errors import PolicyError
from onesided.language import Field, Predicate, Schema, Type
from onesided.language.literals import numeric_literal
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
    Comparison,
    Concat,
    Distinct,
    Expression,
    Extreme,
    Extremum,
    In,
    IsNull,
    IsTruth,
    Later,
    Letters,
    Like,
    Literal,
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
from onesided.randomness import seeded
from support.engines import EngineName

SCHEMA = Schema.of(
    {
        "i": Type.INTEGER,
        "small": Type.INTEGER,
        "price": Field.decimal(10, 2),
        "f": Type.FLOAT,
        "single": Type.FLOAT,
        "t": Type.TEXT,
        "Some Text": Type.TEXT,
        "b": Type.BOOLEAN,
        "c": Type.BOOLEAN,
        "d": Type.DATE,
        "ts": Type.TIMESTAMP,
    }
)

_DOUBLE = {
    EngineName.DUCKDB: "DOUBLE",
    EngineName.POSTGRES: "DOUBLE PRECISION",
    EngineName.SPARK: "DOUBLE",
}
_SINGLE = {EngineName.DUCKDB: "REAL", EngineName.POSTGRES: "REAL", EngineName.SPARK: "FLOAT"}
_TEXT = {EngineName.DUCKDB: "VARCHAR", EngineName.POSTGRES: "TEXT", EngineName.SPARK: "STRING"}
_MOMENT = {
    EngineName.DUCKDB: "TIMESTAMP",
    EngineName.POSTGRES: "TIMESTAMP",
    EngineName.SPARK: "TIMESTAMP_NTZ",
}

INTEGERS = (0, 1, -1, 2, 3, 7, 10, -10, 17, 2**53 + 1, 2**63 - 1, -(2**63), 3_000_000_000)
DECIMALS = tuple(map(Decimal, ("0.5", "-0.5", "1.25", "17.01", "0.001", "-99999.99")))
FLOATS = (0.0, -0.0, 0.1, 0.5, -1.5, 17.0, 2.0**53, 1e300, float("inf"), float("-inf"))
SINGLES = (0.0, -0.0, 0.5, 0.10000000149011612, 17.0, float("inf"))
TEXTS = (
    *(
        "",
        "a",
        "A",
        "ab",
        "aB",
        "b",
        "a ",
        " \ta  ",
        "a%b",
        "a_b",
        "é",
        "É",
        "ß",
        "😀",
        "Ω",
        "\x01",
    ),
    *("it's", "a\\b", "\\", "a\nb", "${x}", "%", "_", "z", "Z", "\U0010ffff"),
    *('"', "`", "--", "?"),
)
PATTERNS = ("%", "_", "a%", "%b", "a_b", "%a%", "__", "", "é", "%😀%", "a%b", "%_%", "A%", "%'%")
DATES = tuple(date(*day) for day in ((1969, 12, 31), (1970, 1, 1), (2024, 2, 29), (2024, 3, 3)))
MOMENTS = (
    *(datetime(day.year, day.month, day.day) for day in DATES),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2024, 2, 29, 8, 30),
    datetime(2024, 3, 3, 23, 0, 0, 1),
)
CELLS: dict[str, Sequence[Any]] = {
    "i": INTEGERS,
    "small": (0, 1, -1, 2, 3, 7, 10, -10, 17, 2**31 - 1, -(2**31)),
    "price": (*(number for number in DECIMALS if number != Decimal("0.001")), Decimal("0.00")),
    "f": (*FLOATS, float("nan")),
    "single": (*SINGLES, float("nan")),
    "t": TEXTS,
    "Some Text": TEXTS,
    "b": (True, False),
    "c": (True, False),
    "d": DATES,
    "ts": MOMENTS,
}


def column_types(engine: EngineName) -> dict[str, str]:
    """The columns of SCHEMA in the SQL of an engine, for CREATE TABLE."""
    return {
        "i": "BIGINT",
        "small": "INTEGER",
        "price": "DECIMAL(10, 2)",
        "f": _DOUBLE[engine],
        "single": _SINGLE[engine],
        "t": _TEXT[engine],
        "Some Text": _TEXT[engine],
        "b": "BOOLEAN",
        "c": "BOOLEAN",
        "d": "DATE",
        "ts": _MOMENT[engine],
    }


@dataclass(frozen=True)
class Generator:
    """Builds well-typed trees; `pick(n)` is a choice below n, and 0 the simplest one."""

    pick: Callable[[int], int]
    schema: ClassVar[Schema] = SCHEMA

    def condition(self, depth: int = 3) -> Expression:
        """A truth value."""
        if depth == 0:
            return self._one_of(Column("b"), Column("c"), Literal(Type.BOOLEAN, True))
        match self.pick(12):
            case 0 | 1 | 2:
                return self._comparison(depth)
            case 3:
                return Not(self.condition(depth - 1))
            case 4 | 5:
                return self._junction(depth)
            case 6:
                return self._membership(depth)
            case 7:
                return IsNull(self.value(self._kind(), depth - 1))
            case 8:
                return IsTruth(self.condition(depth - 1), bool(self.pick(2)))
            case 9:
                return Like(self.value(Type.TEXT, depth - 1), PATTERNS[self.pick(len(PATTERNS))])
            case 10:
                return self._choice(Type.BOOLEAN, depth)
            case _:
                return self.condition(0)

    def value(self, kind: Type, depth: int) -> Expression:
        """A value of one type; of FLOAT and DECIMAL only where engines must agree."""
        if kind is Type.BOOLEAN:
            return self.condition(depth)
        if depth > 0 and self.pick(4) == 0:
            return self._choice(kind, depth)
        if depth > 0 and kind is Type.INTEGER and self.pick(2):
            return self._computed(depth)
        if depth > 0 and kind is Type.FLOAT and self.pick(3) == 0:
            return self._of_floats(depth)
        if depth > 0 and kind is Type.TEXT and self.pick(3) == 0:
            return self._changed_text(depth)
        if depth > 0 and kind in (Type.DATE, Type.TIMESTAMP) and self.pick(3) == 0:
            return self._moment(kind, depth)
        return self.literal(kind) if self.pick(3) == 2 else self.column(kind)

    def column(self, kind: Type) -> Column:
        """A column of that type."""
        return self._one_of(
            *(Column(name) for name in self.schema if self.schema[name].type is kind)
        )

    def literal(self, kind: Type) -> Literal:
        """A literal that can meet a value of that type, NULL among them."""
        if self.pick(8) == 7:
            return Literal(None, None)
        match kind:
            case Type.INTEGER | Type.DECIMAL | Type.FLOAT:
                numbers = (*INTEGERS, *DECIMALS) if kind is not Type.INTEGER else INTEGERS
                return numeric_literal(numbers[self.pick(len(numbers))])
            case Type.TEXT:
                return Literal(kind, TEXTS[self.pick(len(TEXTS))])
            case Type.DATE:
                return Literal(kind, DATES[self.pick(len(DATES))])
            case Type.TIMESTAMP:
                return Literal(kind, MOMENTS[self.pick(len(MOMENTS))])
            case _:
                return Literal(Type.BOOLEAN, bool(self.pick(2)))

    def _kind(self) -> Type:
        return self._one_of(
            Type.INTEGER,
            Type.TEXT,
            Type.FLOAT,
            Type.DECIMAL,
            Type.DATE,
            Type.TIMESTAMP,
            Type.BOOLEAN,
        )

    def _comparison(self, depth: int) -> Expression:
        left = self._kind()
        # Types that may meet: integers with decimals and floats, dates with points in time.
        partners = {
            Type.INTEGER: (Type.INTEGER, Type.FLOAT, Type.DECIMAL),
            Type.DATE: (Type.DATE, Type.TIMESTAMP),
            Type.TIMESTAMP: (Type.TIMESTAMP, Type.DATE),
        }
        right = self._one_of(*partners.get(left, (left,)))
        first, second = self.value(left, depth - 1), self.value(right, depth - 1)
        match self.pick(4):
            case 0 | 1:
                return Compare(list(Comparison)[self.pick(6)], first, second)
            case 2:
                return Distinct(first, second)
            case _:
                return Between(first, second, self.value(left, depth - 1))

    def _membership(self, depth: int) -> Expression:
        kind = self._kind()
        # From eleven choices on, engines look the value up in a hash table.
        count = self._one_of(1, 2, 3, 12)
        return In(self.value(kind, depth - 1), tuple(self.literal(kind) for _ in range(count)))

    def _junction(self, depth: int) -> Expression:
        kind = And if self.pick(2) else Or
        operands: list[Expression] = []
        for _ in range(2 + self.pick(2)):
            part = self.condition(depth - 1)
            operands += part.operands if isinstance(part, kind) else (part,)
        return kind(tuple(operands))

    def _choice(self, kind: Type, depth: int) -> Expression:
        """Alternatives: coalesce, an extreme, or one of the two forms of CASE."""
        values = [self.value(kind, depth - 1) for _ in range(2)]
        match self.pick(3 if kind is Type.BOOLEAN else 4):
            case 3:
                return Extreme(self._one_of(*Extremum), tuple(values))
            case 0:
                return Coalesce(tuple(values))
            case 1:
                return Case(None, ((self.condition(depth - 1), values[0]),), values[1])
            case _:
                of = self._kind()
                tests = [self.value(of, depth - 1) for _ in range(2)]
                otherwise = values[1] if self.pick(2) else None
                return Case(tests[0], ((tests[1], values[0]),), otherwise)

    def _computed(self, depth: int) -> Expression:
        match self.pick(8):
            case 5:
                kind = self._one_of(Type.FLOAT, Type.FLOAT, Type.DECIMAL, Type.BOOLEAN)
                rounding = Rounding.CAST if kind is Type.BOOLEAN else self._one_of(*Rounding)
                return Rounded(rounding, self.value(kind, depth - 1))
            case 6:
                kind = self._one_of(Type.TIMESTAMP, Type.DATE)
                if self.pick(2):
                    return Microseconds(self.column(kind))
                span = self._one_of("second", "minute", "hour", "day", "month", "quarter", "year")
                return Shorthand("date_diff", (Literal(Type.TEXT, span), *(self.column(kind),) * 2))
            case 7:
                return Magnitude(self.value(Type.INTEGER, depth - 1))
            case 0 | 1:
                sides = (self.value(Type.INTEGER, depth - 1) for _ in range(2))
                # The fourth divides, which is done with floats.
                return Arithmetic(list(Operator)[self.pick(3)], *sides)
            case 2:
                operand = self.value(Type.INTEGER, depth - 1)
                return operand if isinstance(operand, Literal) else Negate(operand)
            case 3:
                return Bucket(self.column(Type.INTEGER), self._one_of(1, 2, 10, 7, 2**63 - 1))
            case _:
                kind = self._one_of(*(part for part in Part if part is not Part.DATE))
                if kind in OF_THE_CALENDAR:
                    return PartOf(kind, self.column(self._one_of(Type.TIMESTAMP, Type.DATE)))
                return PartOf(kind, self.value(Type.TIMESTAMP, depth - 1))

    def _of_floats(self, depth: int) -> Expression:
        """Arithmetic in which a float takes part, or a division."""
        operator = list(Operator)[self.pick(4)]
        other = self._one_of(Type.INTEGER, Type.FLOAT, Type.DECIMAL)
        sides = [self.value(Type.FLOAT, depth - 1), self.column(other)]
        if self.pick(6) == 0:
            return Magnitude(sides[0])
        return Arithmetic(operator, *(sides if self.pick(2) else reversed(sides)))

    def _changed_text(self, depth: int) -> Expression:
        operand = self.value(Type.TEXT, depth - 1)
        match self.pick(7):
            case 3:
                other = self.value(self._one_of(Type.TEXT, Type.INTEGER, Type.BOOLEAN), 0)
                return Concat((operand, other, self.literal(Type.TEXT)))
            case 4:
                return SplitPart(operand, self._one_of("a", " ", "%", "ab", "\\"), 1 + self.pick(3))
            case 5:
                return AsText(self.value(self._one_of(Type.INTEGER, Type.DATE), 0))
            case 6:
                pattern = self._one_of("%Y-%m", "%H:%M", "on %A, %d %B %Y", "%V%j%%")
                return Shorthand(
                    "strftime", (self.column(Type.TIMESTAMP), Literal(Type.TEXT, pattern))
                )
            case 0:
                return ChangeLetters(list(Letters)[self.pick(2)], operand)
            case 1:
                return Substring(operand, self._one_of(1, 2, 5), self._one_of(0, 1, 2, 100))
            case _:
                return Trim(operand)

    def _moment(self, kind: Type, depth: int) -> Expression:
        if kind is Type.TIMESTAMP and self.pick(3) == 0:
            seconds = self._one_of(1, -1, 3_600, -86_400, 2**31 - 1, -(2**31) + 1)
            return Later(self.column(self._one_of(Type.TIMESTAMP, Type.DATE)), seconds)
        if kind is Type.DATE and self.pick(2):
            return PartOf(Part.DATE, self.value(Type.TIMESTAMP, depth - 1))
        of_a_day = (Span.HOUR, Span.MINUTE)
        spans = [span for span in Span if kind is Type.TIMESTAMP or span not in of_a_day]
        return StartOf(self._one_of(*spans), self.column(kind))

    def _one_of(self, *options: Any) -> Any:
        return options[self.pick(len(options))]


@st.composite
def conditions(draw: st.DrawFn, depth: int = 3) -> Expression:
    """Trees of accepted conditions."""
    return Generator(lambda count: draw(st.integers(0, count - 1))).condition(depth)


def rows(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Rows of SCHEMA with an `id`: every cell of the pools is used, and NULL now and then."""
    pick = _picker(seed)
    table: list[dict[str, Any]] = []
    for number in range(count):
        row: dict[str, Any] = {"id": number}
        for name, cells in CELLS.items():
            cell = (
                cells[number % len(cells)] if number < 2 * len(TEXTS) else cells[pick(len(cells))]
            )
            row[name] = None if pick(8) == 0 else cell
        table.append(row)
    return table


def corpus(count: int, seed: int = 2) -> list[Predicate]:
    """Accepted predicates, each of which binds to SCHEMA; the same list for the same arguments."""
    generator = Generator(_picker(seed))
    accepted: list[Predicate] = []
    while len(accepted) < count:
        predicate = bindable(generator.condition())
        if predicate is not None:
            accepted.append(predicate)
    return accepted


def bindable(tree: Expression) -> Predicate | None:
    """The predicate of a tree, or None for the few that mix types which may not meet."""
    predicate = Predicate(tree)
    try:
        predicate.bind(SCHEMA)
    except PolicyError:
        return None
    return predicate


def _picker(seed: int) -> Callable[[int], int]:
    source = seeded(seed)
    return lambda count: int(source.below(count, 1)[0])
