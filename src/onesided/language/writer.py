"""The same predicate for each engine, whose writers say what is particular to it.

The text is written from a bound tree, with every name and string quoted, so nothing of what the
user typed reaches an engine as it was typed. Two engines must give the same answer for the same
row; the comments say where they would not without help. No expression below can raise an error
for any value: what has no answer is NULL, which makes a row sensitive and keeps it out of WHERE.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import ClassVar

from onesided.language.canonical import literal_text
from onesided.language.evaluation import LOWER_LETTERS, UPPER_LETTERS
from onesided.language.floats import (
    FINE,
    LARGEST_FACTOR,
    LARGEST_ROUNDED,
    LARGEST_TERM,
    LEAST_FACTOR,
    TO_EVEN,
)
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
    Convert,
    Distinct,
    Expression,
    Extreme,
    FloatArithmetic,
    In,
    IsNull,
    IsTruth,
    Later,
    Letters,
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
    Span,
    SplitPart,
    StartOf,
    Substring,
    Trim,
)
from onesided.language.types import Type
from onesided.language.words import quoted
from onesided.language.zones import END, FIRST, offsets


class Writer(ABC):
    """What the engines share; `types` are the names of our types in their SQL.

    - `table`: what qualifies each column, where a statement has several tables.
    """

    types: ClassVar[Mapping[Type, str]]
    name_mark = '"'

    def __init__(self, table: str | None = None) -> None:
        self._table = table

    def write(self, node: Expression) -> str:
        """A text that can be an operand of anything: an atom or in parentheses."""
        match node:
            case Column():
                return self._column(node)
            case Literal(kind, value):
                return self._literal(kind, value)
            case And(operands):
                return f"({' AND '.join(map(self.write, operands))})"
            case Or(operands):
                return f"({' OR '.join(map(self.write, operands))})"
            case Not(operand):
                return f"(NOT {self.write(operand)})"
            case IsNull(operand):
                return f"({self.write(operand)} IS NULL)"
            case IsTruth(operand, truth):
                return f"({self.write(operand)} IS {literal_text(truth)})"
            case Case():
                return self._case(node)
            case Coalesce(operands):
                return f"coalesce({', '.join(map(self.write, operands))})"
            case Compare() | Distinct() | In() | Between() | Like():
                return self._predicate(node)
            case _:
                return self._value(node)

    def write_key(self, node: Expression) -> str:
        """As `write`, for an expression to group by: equal values are one group on every engine."""
        match type_of(node):
            case Type.FLOAT:
                return self.without_negative_zero(self.write(node))
            case Type.TEXT:
                return self.by_code_point(self.write(node))
            case _:
                return self.write(node)

    def _predicate(self, node: Compare | Distinct | In | Between | Like) -> str:
        match node:
            case Compare(comparison, left, right):
                return f"({self._compared(left)} {comparison.value} {self._compared(right)})"
            case Distinct(left, right):
                return f"({self._compared(left)} IS DISTINCT FROM {self._compared(right)})"
            case In(operand, choices):
                subject = self._compared(operand)
                if type_of(operand) is Type.FLOAT:
                    subject = self.without_negative_zero(subject)
                return f"({subject} IN ({', '.join(map(self._compared, choices))}))"
            case Between(operand, low, high):
                bounds = f"{self._compared(low)} AND {self._compared(high)}"
                return f"({self._compared(operand)} BETWEEN {bounds})"
            case Like(operand, pattern):
                return f"({self._compared(operand)} LIKE {self.string(pattern)})"

    def _value(self, node: Expression) -> str:
        match node:
            case Convert(operand, kind):
                return self.converted(operand, kind)
            case ChangeLetters(letters, operand):
                # The engines' own lower() and upper() follow different versions of Unicode.
                pair = (UPPER_LETTERS, LOWER_LETTERS)
                source, target = pair if letters is Letters.LOWER else pair[::-1]
                return f"translate({self.write(operand)}, '{source}', '{target}')"
            case Arithmetic(operator, left, right):
                return self.checked(operator, self.write(left), self.write(right))
            case Negate(operand):
                return self.checked(Operator.MINUS, "0", self.write(operand))
            case Bucket(operand, width):
                return self.checked(Operator.MINUS, *self._bucket(self.write(operand), width))
            case FloatArithmetic(operator, left, right):
                return self._of_floats(operator, self.write(left), self.write(right))
            case PartOf(part, operand) if part in OF_THE_CALENDAR:
                return self._in_calendar(operand, self.part_of(part, self.write(operand)))
            case PartOf(part, operand):
                return self.part_of(part, self.write(operand))
            case StartOf(span, operand):
                start = self.start_of(span, self.write(operand), type_of(operand))
                return self._in_calendar(operand, start)
            case Substring(operand, start, length):
                return f"substr({self.write(operand)}, {start}, {length})"
            case Trim(operand):
                return f"trim({self.write(operand)})"
            case Local(operand, zone):
                return self._local(self.write(operand), zone)
            case _:
                return self._computed(node)

    def _computed(self, node: Expression) -> str:
        match node:
            case Extreme(way, operands):
                # Every engine leaves out NULL, and NaN is the greatest number.
                return f"{way.value}({', '.join(map(self._compared, operands))})"
            case Magnitude(operand) if type_of(operand) is Type.FLOAT:
                return f"abs({self.write(operand)})"
            case Magnitude(operand):
                text = self.write(operand)
                negated = self.checked(Operator.MINUS, "0", text)
                return f"(CASE WHEN {text} < 0 THEN {negated} ELSE {text} END)"
            case Rounded(way, operand):
                return self.rounded(way, self.write(operand))
            case AsText(operand):
                return self.as_text(self.write(operand))
            case Concat(operands):
                return f"({' || '.join(map(self.write, operands))})"
            case SplitPart(operand, separator, number):
                text, at = self.write(operand), self.string(separator)
                return f"split_part({text}, {at}, {number})"
            case Microseconds(operand):
                return self._in_calendar(operand, self.microseconds(self.write(operand)))
            case Later(operand, seconds):
                return self._later(self.write(operand), seconds)
            case _:
                raise AssertionError(f"{type(node).__name__} cannot be rendered")

    def float_name(self, text: str) -> str:
        """As `named` says it, and NULL where it says that there is no name."""
        fraction = f"(({text} - floor({text})) * {self._float(FINE)})"
        whole, part = (
            self.as_text(self.rounded(Rounding.FLOOR, each)) for each in (text, fraction)
        )
        return f"({whole} || '.' || {part})"

    def rounded(self, way: Rounding, text: str) -> str:
        """A whole number near a float, within the bounds."""
        zero, half, magic = (self._float(each) for each in (0.0, 0.5, TO_EVEN))
        match way:
            case Rounding.FLOOR | Rounding.CEILING:
                whole = f"{way.value}({text})"
            case Rounding.AWAY:
                up, down = f"floor({text} + {half})", f"ceil({text} - {half})"
                whole = f"(CASE WHEN {text} < {zero} THEN {down} ELSE {up} END)"
            case Rounding.CAST:
                whole = f"(({text} + {magic}) - {magic})"
        # The cast is around what is in bounds: engines compute constants before they look at CASE.
        within = f"CASE WHEN abs({text}) <= {self._float(LARGEST_ROUNDED)} THEN {whole} END"
        return f"CAST(({within}) AS {self.types[Type.INTEGER]})"

    def _later(self, text: str, seconds: int) -> str:
        """Where the calendar does not end before."""
        apart = timedelta(seconds=seconds)
        first = datetime.min if seconds > 0 else datetime.min - apart
        last = datetime.max - apart if seconds > 0 else datetime.max
        low, high = (self._literal(Type.TIMESTAMP, end) for end in (first, last))
        return f"(CASE WHEN {text} BETWEEN {low} AND {high} THEN {self.later(text, seconds)} END)"

    def _in_calendar(self, operand: Expression, result: str) -> str:
        """`result` where its operand lies in the years 1 to 9999; engines disagree beyond."""
        if isinstance(operand, Local):  # which is NULL beyond
            return result
        text, kind = self.write(operand), type_of(operand)
        ends: tuple[date, date] = (date.min, date.max)
        if kind is Type.TIMESTAMP:
            ends = (datetime.min, datetime.max)
        low, high = (self._literal(kind, end) for end in ends)
        return f"(CASE WHEN {text} BETWEEN {low} AND {high} THEN {result} END)"

    def _of_floats(self, operator: Operator, left: str, right: str) -> str:
        """See floats.py; the 0 that is added makes -0.0 a 0.0."""
        if operator in (Operator.PLUS, Operator.MINUS):
            guards = [f"abs({side}) <= {self._float(LARGEST_TERM)}" for side in (left, right)]
        else:
            least, most = self._float(LEAST_FACTOR), self._float(LARGEST_FACTOR)
            zero = self._float(0.0)
            guards = [
                f"({side} = {zero} OR abs({side}) BETWEEN {least} AND {most})"
                for side in (left, right)
            ]
        if operator is Operator.OVER:
            guards.append(f"{right} <> {self._float(0.0)}")
        result = self.without_negative_zero(f"({left} {operator.value} {right})")
        return f"(CASE WHEN {' AND '.join(guards)} THEN {result} END)"

    def _float(self, number: float) -> str:
        return self._literal(Type.FLOAT, number)

    def _case(self, node: Case) -> str:
        words = ["(CASE"]
        if node.subject is not None:
            words.append(self._compared(node.subject))
        for when, then in node.branches:
            test = self.write(when) if node.subject is None else self._compared(when)
            words += ["WHEN", test, "THEN", self.write(then)]
        if node.otherwise is not None:
            words += ["ELSE", self.write(node.otherwise)]
        return " ".join([*words, "END)"])

    def _column(self, column: Column) -> str:
        name = self.name(column.name)
        qualified = name if self._table is None else f"{self.name(self._table)}.{name}"
        kind = type_of(column)
        # The engine's type can be a relative of ours: REAL, ENUM, nanoseconds, a time zone.
        if kind in (Type.FLOAT, Type.TEXT, Type.TIMESTAMP, Type.WIDE_INTEGER):
            return self.cast(qualified, kind)
        return qualified

    def _literal(self, kind: Type | None, value: object) -> str:
        if kind is None:
            raise AssertionError("the tree is not bound")
        match value:
            case None:
                return f"CAST(NULL AS {self.types[kind]})"
            case str():
                return self.string(value)
            case datetime():
                return f"{self.types[kind]} '{value.isoformat(sep=' ')}'"
            case date():
                return f"DATE '{value.isoformat()}'"
            case float():
                # Through a string: as a numeric literal it would be a decimal, rounded twice.
                return f"CAST('{value!r}' AS {self.types[kind]})"
            case bool():
                return literal_text(value)
            case int() | Decimal():
                return self.number(value, kind)
            case _:
                raise AssertionError(f"{type(value).__name__} is no value of a literal")

    def _compared(self, node: Expression) -> str:
        text = self.write(node)
        return self.by_code_point(text) if type_of(node) is Type.TEXT else text

    def name(self, name: str) -> str:
        return quoted(name, self.name_mark)

    def cast(self, text: str, kind: Type) -> str:
        return f"CAST({text} AS {self.types[kind]})"

    def _bucket(self, text: str, width: int) -> tuple[str, str]:
        """The number and its distance from the lower edge, which is at least 0 for all signs."""
        rest = f"({text} % {width})"
        return text, f"(CASE WHEN {rest} < 0 THEN {rest} + {width} ELSE {rest} END)"

    def by_code_point(self, text: str) -> str:
        """`text` so that it compares by code point, in any collation of the column."""
        return text

    def without_negative_zero(self, text: str) -> str:
        """`text` with -0.0 made 0.0, for the places where an engine looks at the bits."""
        return f"({text} + CAST('0' AS {self.types[Type.FLOAT]}))"

    def number(self, value: int | Decimal, kind: Type) -> str:
        """An exact number."""
        number = f"{value:f}" if kind is Type.DECIMAL else str(value)
        return f"({number})" if number.startswith("-") else number

    def converted(self, operand: Expression, kind: Type) -> str:
        text = self.write(operand)
        return self.moment(operand, text) if kind is Type.TIMESTAMP else self.cast(text, kind)

    def moment(self, operand: Expression, text: str) -> str:
        """A date as a point in time; what timestamps lack becomes the nearest end of the calendar.

        So they are still in order with every literal. NULL would make them sensitive for a policy
        that compares them with a time of day, and not for one that compares them with a date.
        """
        cast = self.cast(text, Type.TIMESTAMP)
        if not isinstance(operand, Column):
            return cast  # the date of a timestamp
        ends = ((">", date.max, datetime.max), ("<", date.min, datetime.min))
        cases = " ".join(
            f"WHEN {text} {side} {self._literal(Type.DATE, day)} "
            f"THEN {self._literal(Type.TIMESTAMP, moment)}"
            for side, day, moment in ends
        )
        return f"(CASE {cases} ELSE {cast} END)"

    @abstractmethod
    def string(self, value: str) -> str:
        """A string literal that no setting of the engine can change."""

    @abstractmethod
    def checked(self, operator: Operator, left: str, right: str) -> str:
        """64-bit arithmetic that gives NULL where the result does not fit."""

    def _local(self, text: str, zone: str) -> str:
        """What clocks show; outside of the list nothing."""
        first, end = (self._literal(Type.TIMESTAMP, each) for each in (FIRST, END))
        shifted = self.on_the_wall(text, offsets(zone))
        return f"(CASE WHEN {text} >= {first} AND {text} < {end} THEN {shifted} END)"

    def on_the_wall(self, text: str, changes: Sequence[tuple[datetime, int]]) -> str:
        """A moment later by what was ahead from the last change on, found by halving the list."""
        if len(changes) == 1:
            return self.later(text, changes[0][1])
        half = len(changes) // 2
        change = self._literal(Type.TIMESTAMP, changes[half][0])
        before, after = (self.on_the_wall(text, each) for each in (changes[:half], changes[half:]))
        return f"(CASE WHEN {text} < {change} THEN {before} ELSE {after} END)"

    def later(self, text: str, seconds: int) -> str:
        """A point in time some seconds later, far from the ends of the calendar."""
        return f"({text} + INTERVAL '{seconds} seconds')"

    def as_text(self, number: str) -> str:
        """A whole number as it is written."""
        return f"CAST({number} AS {self.types[Type.TEXT]})"

    @abstractmethod
    def microseconds(self, text: str) -> str:
        """From the start of 1970 to a point in time within the calendar."""

    @abstractmethod
    def part_of(self, part: Part, text: str) -> str:
        """The hour, the ISO weekday, the date, … of a point in time."""

    @abstractmethod
    def start_of(self, span: Span, text: str, kind: Type) -> str:
        """The start of the span in which a date or point in time lies, of the same `kind`."""
