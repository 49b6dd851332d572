"""The functions of the language, and the spellings of them that are read.

What engines spell differently, but mean alike, is one function here: `date_trunc('month', ts)`,
`EXTRACT(YEAR FROM ts)` and `year(ts)`, `left(code, 2)` and `substring(code, 1, 2)`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from sqlglot import exp

from onesided.errors import PolicyError
from onesided.language.evaluation import LOWER_LETTERS, UPPER_LETTERS
from onesided.language.nodes import only, unwrapped
from onesided.language.refusals import explanation, shown
from onesided.language.tree import (
    OF_THE_CALENDAR,
    Arithmetic,
    AsText,
    Bucket,
    Case,
    ChangeLetters,
    Coalesce,
    Concat,
    Expression,
    Extreme,
    Extremum,
    Letters,
    Literal,
    Magnitude,
    Microseconds,
    Operator,
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
from onesided.language.types import Type
from onesided.language.walking import walk

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
    exp.DayOfYear: Part.DAY_OF_YEAR,
    exp.Week: Part.WEEK,
    exp.WeekOfYear: Part.WEEK,
    exp.Month: Part.MONTH,
    exp.Quarter: Part.QUARTER,
    exp.Year: Part.YEAR,
}
_NAMED = {part.value: part for part in Part} | {
    "isodow": Part.WEEKDAY,
    "doy": Part.DAY_OF_YEAR,
    "isoweek": Part.WEEK,
}
_STARTS = (exp.TimestampTrunc, exp.DateTrunc)
_EXTREMES: dict[type[exp.Expression], Extremum] = {
    exp.Least: Extremum.LEAST,
    exp.Greatest: Extremum.GREATEST,
}
_ROUNDINGS: dict[type[exp.Expression], Rounding] = {
    exp.Floor: Rounding.FLOOR,
    exp.Ceil: Rounding.CEILING,
    exp.Round: Rounding.AWAY,
}
_CALLS: dict[type[exp.Expression], str] = {
    exp.Dayname: "dayname",
    exp.Monthname: "monthname",
    exp.TimeToUnix: "epoch",
}
_MOST_PARTS = 1_000
FUNCTIONS: tuple[type[exp.Expression], ...] = (
    *_LETTERS,
    *_PARTS,
    *_STARTS,
    *_EXTREMES,
    *_ROUNDINGS,
    *_CALLS,
    *(exp.DayOfWeek, exp.Extract, exp.Substring, exp.Left, exp.Trim, exp.Anonymous, exp.Abs),
    *(exp.DPipe, exp.Concat, exp.SplitPart, exp.TimeToStr, exp.DateDiff, exp.Nullif, exp.If),
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
    if kind in _EXTREMES:
        only(node, "this", "expressions", "ignore_nulls")
        operands = tuple(map(read, (node.this, *node.expressions)))
        return Extreme(_EXTREMES[kind], operands)
    if kind in _ROUNDINGS:
        only(node, "this")
        return Rounded(_ROUNDINGS[kind], read(node.this))
    if kind in _CALLS:
        only(node, "this")
        return _call(_CALLS[kind], read(node.this))
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
        case exp.Abs():
            only(node, "this")
            return Magnitude(read(node.this))
        case exp.Anonymous():
            return _by_name(node, read)
        case _:
            return _of_several(node, read)


def _of_several(node: exp.Expression, read: Read) -> Expression:
    match node:
        case exp.DPipe():
            return Concat(tuple(_in_a_row(node, read)))
        case exp.Concat() if all(isinstance(each, exp.Literal) for each in node.expressions):
            raise PolicyError(explanation(node))  # texts side by side are read so
        case exp.Concat():
            only(node, "expressions", "safe", "coalesce")
            # The function leaves NULL out, and the operator does not.
            empty = Literal(Type.TEXT, "")
            texts = (cast_to_text(read(each)) for each in node.expressions)
            return Concat(tuple(Coalesce((each, empty)) for each in texts))
        case exp.SplitPart():
            only(node, "this", "delimiter", "part_index")
            return _split_part(node, read)
        case exp.TimeToStr():
            only(node, "this", "format")
            return _call("strftime", read(node.this), read(node.args["format"]))
        case exp.DateDiff():
            only(node, "this", "expression", "unit", "date_part_boundary")
            unit = Literal(Type.TEXT, str(node.args["unit"].name).lower())
            return _call("date_diff", unit, read(node.args["expression"]), read(node.this))
        case exp.Nullif():
            only(node, "this", "expression")
            return _call("nullif", read(node.this), read(node.args["expression"]))
        case _:
            only(node, "this", "true", "false")
            otherwise = node.args.get("false")
            then = read(node.args["true"])
            last = None if otherwise is None else read(otherwise)
            return Case(None, ((read(node.this), then),), last)


def cast_to_text(node: Expression) -> Expression:
    """As text, which a literal may be already."""
    return node if isinstance(node, Literal) and node.type is Type.TEXT else AsText(node)


def _call(name: str, *operands: Expression) -> Shorthand:
    """A function of the calendar or of texts, whose operands are written several times."""
    for operand in operands:
        if any(isinstance(part, Shorthand) for part in walk(operand)):
            raise PolicyError(f"{name}() does not stand around a function of its kind.")
    return Shorthand(name, operands)


def _in_a_row(node: object, read: Read) -> Iterator[Expression]:
    """The operands of a chain of ||."""
    inner = unwrapped(node)
    if type(inner) is not exp.DPipe:
        yield read(inner)
        return
    only(inner, "this", "expression", "safe")
    yield from _in_a_row(inner.this, read)
    yield from _in_a_row(inner.args["expression"], read)


def _split_part(node: exp.Expression, read: Read) -> SplitPart:
    separator, number = unwrapped(node.args["delimiter"]), unwrapped(node.args["part_index"])
    plain = type(separator) is exp.Literal and separator.is_string and separator.name
    counted = type(number) is exp.Literal and number.name.isdigit()
    if not plain or not counted or not 1 <= int(number.name) <= _MOST_PARTS:  # type: ignore[attr-defined]
        raise PolicyError(
            f"{shown(node)} is not allowed: split_part() needs a text to cut at and the number of "
            f"a part from 1 to {_MOST_PARTS:,}, both written out."
        )
    return SplitPart(read(node.this), separator.name, int(number.name))  # type: ignore[attr-defined]


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
    if name.lower() == "epoch":
        inner = unwrapped(operand)
        if type(inner) is exp.Sub:
            only(inner, "this", "expression", "typed", "safe")
            return _call("epoch_between", read(inner.this), read(inner.args["expression"]))
        return _call("epoch", read(operand))
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
    if name == "epoch_us" and len(arguments) == 1:
        return Microseconds(read(arguments[0]))
    if name == "epoch_between" and len(arguments) == 2:
        return _call(name, *map(read, arguments))
    if name in ("date_part", "datepart") and len(arguments) == 2:
        return _named_part(str(arguments[0].name), arguments[1], node, read)
    if name == "bucket" and len(arguments) == 2:
        width = read(arguments[1])
        match width:
            case Literal(Type.INTEGER, int(value)) if value > 0:
                return bucket(read(arguments[0]), value)
        raise PolicyError("The width in bucket(x, width) is a positive integer literal.")
    raise PolicyError(explanation(node))


def whole_steps(node: exp.Expression, read: Read) -> Bucket | None:
    """floor(x / 10) * 10, which is a bucket."""
    floor = unwrapped(node.this)
    if type(floor) is not exp.Floor:
        return None
    only(floor, "this")
    quotient, width = unwrapped(floor.this), read(node.args["expression"])
    if type(quotient) is exp.Div and read(quotient.args["expression"]) == width:
        match width:
            case Literal(Type.INTEGER, int(value)) if value > 0:
                return bucket(read(quotient.this), value)
    return None


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
