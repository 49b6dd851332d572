"""The meaning of a tree: its value for one row, with SQL's three-valued logic (None is NULL).

The engines must agree with this evaluator; the fuzz suites hold them to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

from onesided.errors import PolicyError
from onesided.language.floats import of_floats, rounded
from onesided.language.literals import in_utc
from onesided.language.times import later, microseconds, part_of, start_of
from onesided.language.tree import (
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
    Convert,
    Distinct,
    Expression,
    Extreme,
    Extremum,
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
    PartOf,
    Rounded,
    Shorthand,
    SplitPart,
    StartOf,
    Substring,
    Trim,
    Value,
)
from onesided.language.types import INT64_MAX, INT64_MIN, Type
from onesided.language.zones import on_the_wall

UPPER_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER_LETTERS = UPPER_LETTERS.lower()
_TO = {
    Letters.LOWER: str.maketrans(UPPER_LETTERS, LOWER_LETTERS),
    Letters.UPPER: str.maketrans(LOWER_LETTERS, UPPER_LETTERS),
}
_HOLDS: dict[Comparison, Callable[[int], bool]] = {
    Comparison.EQUAL: lambda order: order == 0,
    Comparison.UNEQUAL: lambda order: order != 0,
    Comparison.LESS: lambda order: order < 0,
    Comparison.AT_MOST: lambda order: order <= 0,
    Comparison.GREATER: lambda order: order > 0,
    Comparison.AT_LEAST: lambda order: order >= 0,
}


def evaluate(node: Expression, row: Mapping[str, Any]) -> Value:
    """The value of `node` for `row`, a mapping from column name to Python value."""
    match node:
        case Literal(_, value):
            return value
        case Column(name):
            return _cell(row, name)
        case And(operands):
            return _junction(operands, row, decisive=False)
        case Or(operands):
            return _junction(operands, row, decisive=True)
        case IsNull(operand):
            return evaluate(operand, row) is None
        case IsTruth(operand, truth):
            return evaluate(operand, row) is truth
        case Compare(comparison, left, right):
            return _compare(comparison, evaluate(left, row), evaluate(right, row))
        case Distinct(left, right):
            return _distinct(evaluate(left, row), evaluate(right, row))
        case In(operand, choices):
            return _in(evaluate(operand, row), [evaluate(choice, row) for choice in choices])
        case Between(operand, low, high):
            return _between(*(evaluate(part, row) for part in (operand, low, high)))
        case Case():
            return _case(node, row)
        case Coalesce(operands):
            values = (evaluate(operand, row) for operand in operands)
            return next((value for value in values if value is not None), None)
        case Extreme(way, operands):
            return _extreme(way, [evaluate(operand, row) for operand in operands])
        case Concat(operands):
            texts = [evaluate(operand, row) for operand in operands]
            return None if None in texts else "".join(map(str, texts))
        case Arithmetic(operator, left, right):
            return _arithmetic(operator, evaluate(left, row), evaluate(right, row))
        case FloatArithmetic(operator, left, right):
            return of_floats(operator, evaluate(left, row), evaluate(right, row))
        case Shorthand():
            raise AssertionError("the tree is not bound")
        case _:
            value = evaluate(node.operand, row)
            return None if value is None else _of_one_value(node, value)


def order(left: Value, right: Value) -> int:
    """-1, 0 or 1 as `left` is below, equal to or above `right`; neither of them is NULL.

    NaN equals itself and is above every other float. A number that meets a float is rounded to
    64 bits first, and a date that meets a point in time is its midnight.
    """
    first, second = _sort_key(left, right), _sort_key(right, left)
    return int(first > second) - int(first < second)


def _sort_key(value: Value, other: Value) -> Any:
    if isinstance(value, float) or isinstance(other, float):
        number = float(value)  # type: ignore[arg-type]  # a float only ever meets a number
        return (1, 0.0) if math.isnan(number) else (0, number)
    if isinstance(other, datetime) and not isinstance(value, datetime):
        return _midnight(value)
    return value


def _midnight(day: Value) -> datetime:
    if isinstance(day, datetime):
        return day  # a date beyond Python's years is a moment already
    if not isinstance(day, date):
        raise PolicyError("A point in time is compared with something that is no date.")
    return datetime.combine(day, time())


def _cell(row: Mapping[str, Any], name: str) -> Value:
    try:
        value: Value = row[name]
    except KeyError:
        raise PolicyError(f"The row has no column {name}; give it one, NULL as None.") from None
    if isinstance(value, datetime) and value.tzinfo is not None:
        try:
            return in_utc(value)
        except OverflowError:  # the calendar ends within a day of it
            return None
    return value


def _junction(
    operands: tuple[Expression, ...], row: Mapping[str, Any], *, decisive: bool
) -> bool | None:
    """OR (`decisive` is True) or AND (False): NULL unless one operand decides or none is NULL."""
    result: bool | None = not decisive
    for operand in operands:
        value = evaluate(operand, row)
        if value is decisive:
            return decisive
        if value is None:
            result = None
    return result


def _compare(comparison: Comparison, left: Value, right: Value) -> bool | None:
    if left is None or right is None:
        return None
    return _HOLDS[comparison](order(left, right))


def _extreme(way: Extremum, values: Sequence[Value]) -> Value:
    found: Value = None
    for value in values:
        if value is None:
            continue
        nearer = found is None or order(value, found) == (-1 if way is Extremum.LEAST else 1)
        found = value if nearer else found
    return found


def _distinct(left: Value, right: Value) -> bool:
    if left is None or right is None:
        return left is not right
    return order(left, right) != 0


def _in(value: Value, choices: Sequence[Value]) -> bool | None:
    if value is None:
        return None
    if any(choice is not None and order(value, choice) == 0 for choice in choices):
        return True
    return None if None in choices else False


def _between(value: Value, low: Value, high: Value) -> bool | None:
    above = _compare(Comparison.AT_LEAST, value, low)
    below = _compare(Comparison.AT_MOST, value, high)
    if above is False or below is False:
        return False
    return None if above is None or below is None else True


def _case(node: Case, row: Mapping[str, Any]) -> Value:
    subject = None if node.subject is None else evaluate(node.subject, row)
    for when, then in node.branches:
        test = evaluate(when, row)
        if node.subject is not None:
            test = _compare(Comparison.EQUAL, subject, test)
        if test is True:
            return evaluate(then, row)
    return None if node.otherwise is None else evaluate(node.otherwise, row)


def _arithmetic(operator: Operator, left: Value, right: Value) -> int | None:
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    match operator:
        case Operator.PLUS:
            return _in_range(left + right)
        case Operator.MINUS:
            return _in_range(left - right)
        case Operator.TIMES:
            return _in_range(left * right)
        case Operator.OVER:
            raise AssertionError("integers are divided as floats")


def _in_range(number: int) -> int | None:
    """Arithmetic has 64 bits, and what does not fit is NULL."""
    return number if INT64_MIN <= number <= INT64_MAX else None


def _of_one_value(node: Expression, value: Any) -> Value:
    """The nodes that are NULL exactly where their one operand is, up to overflow."""
    match node:
        case Not():
            return not value
        case Convert(_, kind):
            return float(value) if kind is Type.FLOAT else _midnight(value)
        case Like(_, pattern):
            return matches(value, pattern)
        case ChangeLetters(letters):
            return str(value).translate(_TO[letters])
        case Negate():
            return _in_range(-value)
        case Bucket(_, width):
            return _in_range(value - value % width)
        case PartOf(part):
            return part_of(part, value)
        case StartOf(span):
            return start_of(span, value)
        case Substring(_, start, length):
            return str(value)[start - 1 : start - 1 + length]
        case Trim():
            return str(value).strip(" ")
        case Local(_, zone):
            return on_the_wall(value, zone)
        case Magnitude():
            return abs(value) if isinstance(value, float) else _in_range(abs(value))
        case Rounded(way):
            return rounded(way, value)
        case AsText():
            return str(value)
        case SplitPart(_, separator, number):
            return [*str(value).split(separator), *[""] * number][number - 1]
        case Microseconds():
            return microseconds(value)
        case Later(_, seconds):
            return later(value, seconds)
        case _:
            raise AssertionError(f"{type(node).__name__} has no value")


def matches(text: str, pattern: str) -> bool:
    """LIKE: `_` stands for one character, `%` for any number; in time |text|·|pattern| at most."""
    position = index = resume = 0
    last_percent = -1
    while position < len(text):
        if index < len(pattern) and pattern[index] == "%":
            last_percent, resume = index, position
            index += 1
        elif index < len(pattern) and pattern[index] in ("_", text[position]):
            index += 1
            position += 1
        elif last_percent >= 0:
            # Let the last % take one character more, and try again behind it.
            resume += 1
            index, position = last_percent + 1, resume
        else:
            return False
    return set(pattern[index:]) <= {"%"}
