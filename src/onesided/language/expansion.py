"""Functions that stand for a tree of the others, which binding puts in their place.

A text keeps the name: `strftime(ts, '%Y-%m')` is its own canonical form. Engines are given the
parts of the time, numbers as texts and what joins them, all of which mean the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from onesided.errors import PolicyError
from onesided.language.conversions import Typed, spelt
from onesided.language.tree import (
    Arithmetic,
    AsText,
    Bucket,
    Case,
    Compare,
    Comparison,
    Concat,
    Expression,
    Later,
    Literal,
    Microseconds,
    Operator,
    Part,
    PartOf,
    Rounded,
    Rounding,
    Shorthand,
)
from onesided.language.types import Type

_SECOND = 1_000_000
_LENGTHS = {"second": 1, "minute": 60, "hour": 3_600}
_DAY = 86_400
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTH_NAMES = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_SHORT = 3
_MOST_DAYS = 24_855
"""Their seconds have 31 bits."""
_MOST_FORMS = 20

_Expand: TypeAlias = Callable[..., Expression]


def expanded(call: Shorthand) -> Expression:
    """The tree that a call stands for; PolicyError where its arguments are others."""
    how, count = CALLS[call.name]
    if len(call.operands) != count:
        raise PolicyError(f"{call.name}() has {count} arguments here.")
    return how(*call.operands)


def _number(value: int) -> Literal:
    return Literal(Type.INTEGER, value)


def _text(value: str) -> Literal:
    return Literal(Type.TEXT, value)


def _word(node: Expression, call: str, known: Sequence[str]) -> str:
    """A text that is written out."""
    match node:
        case Literal(Type.TEXT, str(value)) if not known or value.lower() in known:
            return value.lower() if known else value
    listed = f"one of {', '.join(known)}" if known else "a pattern such as '%Y-%m'"
    raise PolicyError(f"{call}() needs {listed}, as a text that is written out.")


def _named(operand: Expression, part: Part, names: Sequence[str]) -> Expression:
    """One of the names, in the order of the part's numbers from 1 on."""
    branches = tuple((_number(place), _text(name)) for place, name in enumerate(names, start=1))
    return Case(PartOf(part, operand), branches, None)


def _padded(operand: Expression, digits: int) -> Expression:
    """A number that is not negative, with zeros before it."""
    shorter = tuple(
        (
            Compare(Comparison.LESS, operand, _number(10**fewer)),
            Concat((_text("0" * (digits - fewer)), AsText(operand))),
        )
        for fewer in range(1, digits)
    )
    return Case(None, shorter, AsText(operand))


_FORMS: dict[str, Callable[[Expression], Expression]] = {
    "Y": lambda moment: _padded(PartOf(Part.YEAR, moment), 4),
    "m": lambda moment: _padded(PartOf(Part.MONTH, moment), 2),
    "d": lambda moment: _padded(PartOf(Part.DAY, moment), 2),
    "H": lambda moment: _padded(PartOf(Part.HOUR, moment), 2),
    "M": lambda moment: _padded(PartOf(Part.MINUTE, moment), 2),
    "j": lambda moment: _padded(PartOf(Part.DAY_OF_YEAR, moment), 3),
    "V": lambda moment: _padded(PartOf(Part.WEEK, moment), 2),
    "u": lambda moment: AsText(PartOf(Part.WEEKDAY, moment)),
    "A": lambda moment: _named(moment, Part.WEEKDAY, _DAYS),
    "a": lambda moment: _named(moment, Part.WEEKDAY, [each[:_SHORT] for each in _DAYS]),
    "B": lambda moment: _named(moment, Part.MONTH, _MONTH_NAMES),
    "b": lambda moment: _named(moment, Part.MONTH, [each[:_SHORT] for each in _MONTH_NAMES]),
    "%": lambda _: _text("%"),
}


def _formatted(moment: Expression, pattern: Expression) -> Expression:
    """strftime()"""
    letters = _word(pattern, "strftime", ())
    parts: list[Expression] = []
    place = 0
    while place < len(letters):
        end = letters.find("%", place)
        if end != place:
            end = len(letters) if end < 0 else end
            parts.append(_text(letters[place:end]))
            place = end
            continue
        form = letters[place + 1 : place + 2]
        if form not in _FORMS:
            known = ", ".join(f"%{each}" for each in _FORMS)
            raise PolicyError(f"strftime() does not know %{form}; it knows {known}.")
        parts.append(_FORMS[form](moment))
        place += 2
    if len(parts) > _MOST_FORMS or not parts:
        raise PolicyError(f"strftime() needs from 1 to {_MOST_FORMS} parts in its pattern.")
    return parts[0] if len(parts) == 1 else Concat(tuple(parts))


def _since(span: Expression, start: Expression, end: Expression) -> Expression:
    """date_diff(): how many bounds between two spans lie between two moments."""
    name = _word(span, "date_diff", ("second", "minute", "hour", "day", *_MONTHS))
    if name in _MONTHS:
        first, last = (_months(each, name) for each in (start, end))
        return Arithmetic(Operator.MINUS, last, first)
    if name in _LENGTHS:
        length = _LENGTHS[name] * _SECOND
        first, last = (Bucket(Microseconds(each), length) for each in (start, end))
    else:
        length = _DAY * _SECOND
        first, last = (Microseconds(PartOf(Part.DATE, each)) for each in (start, end))
    # A whole number of steps, so that what floats add to it is rounded away again.
    steps = Arithmetic(Operator.OVER, Arithmetic(Operator.MINUS, last, first), _number(length))
    return Rounded(Rounding.CAST, steps)


def _months(moment: Expression, span: str) -> Expression:
    """The number of the month, quarter or year."""
    year = PartOf(Part.YEAR, moment)
    if span == "year":
        return year
    part, number = (Part.MONTH, 12) if span == "month" else (Part.QUARTER, 4)
    whole = Arithmetic(Operator.TIMES, year, _number(number))
    return Arithmetic(Operator.PLUS, whole, PartOf(part, moment))


def _seconds(moment: Expression) -> Expression:
    """epoch()"""
    return Arithmetic(Operator.OVER, Microseconds(moment), _number(_SECOND))


def _seconds_between(end: Expression, start: Expression) -> Expression:
    """EXTRACT(EPOCH FROM end - start)"""
    apart = Arithmetic(Operator.MINUS, Microseconds(end), Microseconds(start))
    return Arithmetic(Operator.OVER, apart, _number(_SECOND))


def of_days(node: Arithmetic, sides: Sequence[Typed]) -> Expression:
    """The days between two dates, and a date some days later."""
    first, second = sides
    match node.operator, first.type, second.type, node.left, node.right:
        case Operator.MINUS, Type.DATE, Type.DATE, later, earlier:
            return Shorthand("date_diff", (_text("day"), earlier, later))
        case Operator.PLUS | Operator.MINUS, Type.DATE, _, day, Literal(Type.INTEGER, int(days)):
            apart = days if node.operator is Operator.PLUS else -days
        case Operator.PLUS, _, Type.DATE, Literal(Type.INTEGER, int(apart)), day:
            pass
        case _:
            raise PolicyError(
                f"{spelt(node)} is not allowed: write date_diff('second', …, …) for what is "
                "between two times, and + INTERVAL '7 days' for a later one."
            )
    if abs(apart) > _MOST_DAYS:
        raise PolicyError(f"{spelt(node)} is not allowed: add at most {_MOST_DAYS:,} days.")
    return PartOf(Part.DATE, Later(day, apart * _DAY))


def _without(value: Expression, other: Expression) -> Expression:
    """nullif()"""
    return Case(None, ((Compare(Comparison.EQUAL, value, other), Literal(None, None)),), value)


CALLS: dict[str, tuple[_Expand, int]] = {
    "strftime": (_formatted, 2),
    "date_diff": (_since, 3),
    "nullif": (_without, 2),
    "epoch": (_seconds, 1),
    "epoch_between": (_seconds_between, 2),
    "dayname": (lambda moment: _named(moment, Part.WEEKDAY, _DAYS), 1),
    "monthname": (lambda moment: _named(moment, Part.MONTH, _MONTH_NAMES), 1),
}
"""How each is expanded, and how many arguments it has."""
