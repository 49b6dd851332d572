"""A point in time and an interval, such as `ts + INTERVAL 1 HOUR`."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta

from sqlglot import exp

from onesided.errors import PolicyError
from onesided.language.nodes import only, unwrapped
from onesided.language.refusals import shown
from onesided.language.tree import Expression, Later, Literal
from onesided.language.types import Type

_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_WHOLE = re.compile(r"-?\d{1,10}", re.ASCII)
_MOST_SECONDS = 2**31 - 1
"""About 68 years: some engines add no more at a time."""


def has_interval(node: exp.Expression) -> bool:
    """Whether one side of a sum or difference is an interval."""
    sides = (unwrapped(node.this), unwrapped(node.args["expression"]))
    return any(type(side) is exp.Interval for side in sides)


def shifted(node: exp.Expression, read: Callable[[object], Expression]) -> Expression:
    """What a sum or difference with an interval is."""
    left, right = unwrapped(node.this), unwrapped(node.args["expression"])
    if type(node) is exp.Add and type(left) is exp.Interval:
        left, right = right, left
    if type(right) is not exp.Interval or type(left) is exp.Interval:
        raise PolicyError(f"{shown(node)} is not allowed: an interval is added to a time.")
    amount, unit = _read(right)
    amount = -amount if type(node) is exp.Sub else amount
    operand = read(left)
    if isinstance(operand, Literal) and isinstance(operand.value, date):
        return Literal(Type.TIMESTAMP, _moved(operand.value, amount, unit, node))
    if unit not in _SECONDS:
        raise PolicyError(
            f"{shown(node)} is not allowed: {unit}s have different lengths; add days, or compare "
            "with a date that is written out."
        )
    seconds = amount * _SECONDS[unit]
    if abs(seconds) > _MOST_SECONDS:
        raise PolicyError(f"{shown(node)} is not allowed: an interval is at most 68 years.")
    return Later(operand, seconds)


def _read(node: exp.Expression) -> tuple[int, str]:
    only(node, "this", "unit")
    number, unit = unwrapped(node.this), node.args.get("unit")
    word = "" if unit is None else str(unit.name).lower().removesuffix("s")
    if type(number) is not exp.Literal or not _WHOLE.fullmatch(number.name.strip()):
        raise PolicyError(f"{shown(node)} is not allowed: write it as INTERVAL '7 days'.")
    if word not in (*_SECONDS, *_MONTHS):
        known = ", ".join((*_SECONDS, *_MONTHS))
        raise PolicyError(f"{shown(node)} is not allowed: an interval is of {known}.")
    return int(number.name), word


def _moved(start: date, amount: int, unit: str, node: exp.Expression) -> datetime:
    """A literal that is moved; months end on their last day where they are shorter."""
    moment = start if isinstance(start, datetime) else datetime.combine(start, time())
    try:
        if unit in _SECONDS:
            return moment + timedelta(seconds=amount * _SECONDS[unit])
        months = moment.year * 12 + moment.month - 1 + amount * _MONTHS[unit]
        year, month = months // 12, months % 12 + 1
        day = min(moment.day, calendar.monthrange(year, month)[1])
        return moment.replace(year=year, month=month, day=day)
    except (OverflowError, ValueError):
        raise PolicyError(f"{shown(node)} is beyond the years 1 to 9999.") from None
