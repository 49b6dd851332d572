"""The functions of the language, and the spellings of them that are read.

What engines spell differently, but mean alike, is one function here: `date_trunc('month', ts)`,
`EXTRACT(YEAR FROM ts)` and `year(ts)`, `left(code, 2)` and `substring(code, 1, 2)`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from sqlglot import exp

from onesided.errors import PolicyError
from onesided.language.evaluation import LOWER_LETTERS, UPPER_LETTERS
from onesided.language.nodes import only, unwrapped
from onesided.language.refusals import explanation, shown
from onesided.language.tree import (
    OF_THE_CALENDAR,
    Arithmetic,
    Bucket,
    ChangeLetters,
    Expression,
    Letters,
    Literal,
    Operator,
    Part,
    PartOf,
    Span,
    StartOf,
    Substring,
    Trim,
    walk,
)
from onesided.language.types import Type

Read: TypeAlias = Callable[[object], Expression]
"""Reads an argument."""

_LONGEST = 10_000
_LOWERED = str.maketrans(UPPER_LETTERS, LOWER_LETTERS)
_DAYS_A_WEEK = 7
_LETTERS: dict[type[exp.Expression], Letters] = {
    exp.Lower: Letters.LOWER,
    exp.Upper: Letters.UPPER,
}
_PARTS: dict[type[exp.Expression], Part] = {
    exp.Hour: Part.HOUR,
    exp.Minute: Part.MINUTE,
    exp.Date: Part.DATE,
    exp.Day: Part.DAY,
    exp.DayOfMonth: Part.DAY,
    exp.DayOfWeekIso: Part.WEEKDAY,
    exp.Month: Part.MONTH,
    exp.Quarter: Part.QUARTER,
    exp.Year: Part.YEAR,
}
_NAMED = {part.value: part for part in Part} | {"isodow": Part.WEEKDAY}
_STARTS = (exp.TimestampTrunc, exp.DateTrunc)
FUNCTIONS: tuple[type[exp.Expression], ...] = (
    *_LETTERS,
    *_PARTS,
    *_STARTS,
    *(exp.DayOfWeek, exp.Extract, exp.Substring, exp.Left, exp.Trim, exp.Anonymous),
)
"""The nodes that `function` reads."""


def function(node: exp.Expression, read: Read) -> Expression:
    """The function that a node spells; each argument of it is accepted or refused."""
    kind = type(node)
    if kind in _LETTERS:
        only(node, "this")
        return ChangeLetters(_LETTERS[kind], read(node.this))
    if kind in _PARTS:
        only(node, "this")
        return part_of(_PARTS[kind], node.this, read)
    if kind in _STARTS:
        only(node, "this", "unit")
        return _start(str(node.args["unit"].name), node.this, read)
    match node:
        case exp.DayOfWeek():
            only(node, "this")
            return _day_of_week(node.this, read)
        case exp.Extract():
            only(node, "this", "expression")
            return _named_part(str(node.this.name), node.args["expression"], node, read)
        case exp.Substring():
            only(node, "this", "start", "length")
            return _substring(node, read)
        case exp.Left():
            only(node, "this", "expression")
            return Substring(read(node.this), 1, _size(node.args["expression"], 0))
        case exp.Trim():
            only(node, "this")
            return Trim(read(node.this))
        case _:
            return _by_name(node, read)


def part_of(part: Part, operand: object, read: Read) -> PartOf:
    """The part of a moment, or of a text such as `date('…')`, which is refused later."""
    if operand is None:
        raise PolicyError(f"{part.value}() needs a column, such as {part.value}(ts).")
    tree = read(operand)
    if part in OF_THE_CALENDAR:
        _check_flat(tree)
    return PartOf(part, tree)


def _check_flat(operand: Expression) -> None:
    """Engines write such an operand several times: nested ones would grow exponentially."""
    for part in walk(operand):
        if isinstance(part, StartOf) or (isinstance(part, PartOf) and part.part in OF_THE_CALENDAR):
            raise PolicyError("Functions of the calendar do not stand within each other.")


def _start(span: str, operand: object, read: Read) -> StartOf:
    if span.lower() not in {each.value for each in Span}:
        known = ", ".join(each.value for each in Span)
        raise PolicyError(f"date_trunc() does not know {span}; it knows {known}.")
    tree = read(operand)
    _check_flat(tree)
    return StartOf(Span(span.lower()), tree)


def _day_of_week(operand: object, read: Read) -> Expression:
    """Sunday is 0 and Saturday is 6: what is left of the ISO weekday when sevens are taken out."""
    weekday = part_of(Part.WEEKDAY, operand, read)
    return Arithmetic(Operator.MINUS, weekday, Bucket(weekday, _DAYS_A_WEEK))


def _named_part(name: str, operand: object, node: exp.Expression, read: Read) -> Expression:
    """EXTRACT(name FROM operand), date_part('name', operand)."""
    if name.lower() in ("dow", "dayofweek"):
        return _day_of_week(operand, read)
    if name.lower() not in _NAMED:
        raise PolicyError(f"{shown(node)} is not allowed: no such part is known of a time.")
    return part_of(_NAMED[name.lower()], operand, read)


def _substring(node: exp.Expression, read: Read) -> Substring:
    length = node.args.get("length")
    size = _LONGEST if length is None else _size(length, 0)
    return Substring(read(node.this), _size(node.args.get("start"), 1), size)


def _size(node: object, least: int) -> int:
    """A whole number that is written out."""
    plain = type(node) is exp.Literal and not node.is_string and node.name.isdigit()
    if not plain or not least <= int(node.name) <= _LONGEST:  # type: ignore[attr-defined]
        raise PolicyError(
            f"Parts of a text are named by whole numbers from {least} to {_LONGEST:,}, not by "
            f"{shown(node)}."
        )
    return int(node.name)  # type: ignore[attr-defined]


def _by_name(node: exp.Expression, read: Read) -> Expression:
    """The functions that sqlglot has no node for; any other name is unknown to us as well."""
    only(node, "this", "expressions")
    name, arguments = str(node.name).lower(), node.expressions
    if name in ("weekday", "isodow") and len(arguments) == 1:
        return part_of(Part.WEEKDAY, arguments[0], read)
    if name in ("date_part", "datepart") and len(arguments) == 2:
        return _named_part(str(arguments[0].name), arguments[1], node, read)
    if name == "bucket" and len(arguments) == 2:
        width = read(arguments[1])
        match width:
            case Literal(Type.INTEGER, int(value)) if value > 0:
                return bucket(read(arguments[0]), value)
        raise PolicyError("The width in bucket(x, width) is a positive integer literal.")
    raise PolicyError(explanation(node))


def whole_steps(node: exp.Expression, read: Read) -> Bucket:
    """floor(x / 10) * 10, which is a bucket."""
    floor = unwrapped(node.this)
    assert isinstance(floor, exp.Floor)
    only(floor, "this")
    quotient, width = floor.this, read(node.args["expression"])
    if type(quotient) is exp.Div and read(quotient.args["expression"]) == width:
        match width:
            case Literal(Type.INTEGER, int(value)) if value > 0:
                return bucket(read(quotient.this), value)
    raise PolicyError(f"{shown(node)} is not allowed: write bucket(x, 10).")


def without_capitals(node: exp.Expression) -> exp.Like:
    """ILIKE, which does not tell the 26 ASCII letters from their capitals."""
    pattern = node.args["expression"]
    if type(pattern) is exp.Literal and pattern.is_string:
        pattern = exp.Literal.string(pattern.name.translate(_LOWERED))
    negated = node.args.get("negate")
    return exp.Like(this=exp.Lower(this=node.this), expression=pattern, negate=negated)


def bucket(operand: Expression, width: int) -> Bucket:
    """A bucket of what has none in it."""
    # Engines write the operand of a bucket several times: nested ones would grow exponentially.
    if any(isinstance(part, Bucket) for part in walk(operand)):
        raise PolicyError("bucket() within bucket() is not allowed; use the wider bucket alone.")
    return Bucket(operand, width)
