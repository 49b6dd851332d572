"""A declared value, turned once and exactly into the type of its key.

The engine compares what this module returns, and the histogram looks the same object up. So a
value that one of them could read in another way is refused here, before anything is paid.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Any

from onesided.errors import RequestError
from onesided.language import BoundKey, Type
from onesided.language.literals import in_utc
from onesided.language.types import INT64_MAX, INT64_MIN, MAX_DIGITS

#: No text that is declared is longer; a predicate is no longer either.
MOST_CHARACTERS = 10_000
_SHOWN = 60
_BOOLEANS = {"true": True, "false": False}
_WIDE = 10**MAX_DIGITS
#: Digits behind the sixth are finer than a microsecond: Python would leave them out in silence.
_TOO_FINE = re.compile(r"[.,]\d{6}\d*[1-9]")


class _Unfit(Exception):
    """The value is none of the key's type."""


def typed_values(key: BoundKey, values: Sequence[Any]) -> tuple[Any, ...]:
    """Declared values in the type of their key."""
    if key.type is Type.INTEGER and values and set(map(type, values)) == {int}:
        for end in (min(values), max(values)):  # a million of them need no look at each
            typed_value(key, end)
        return tuple(values)
    return tuple(typed_value(key, each) for each in values)


def typed_value(key: BoundKey, value: Any) -> Any:
    """A declared value in the type of its key; texts from the command line are read.

    Times with an offset become UTC, which is what timestamps are here. Python's, NumPy's and
    pandas' scalars mean the same.
    """
    try:
        # A missing value of pandas or NumPy is not even equal to itself.
        if value is None or bool(value != value):
            raise _Unfit
        match key.type:
            case Type.INTEGER:
                return _within(_integer(value), INT64_MIN, INT64_MAX)
            case Type.WIDE_INTEGER:
                return _within(_integer(value), 1 - _WIDE, _WIDE - 1)
            case Type.BOOLEAN:
                return _boolean(value)
            case Type.TEXT:
                return _text(value)
            case Type.DATE:
                return _date(value)
            case Type.TIMESTAMP:
                return _moment(value)
            case Type.DECIMAL:
                return _decimal(key, value)
    except (_Unfit, ValueError, TypeError, KeyError, OverflowError, InvalidOperation):
        raise RequestError(_refusal(key, value)) from None
    raise RequestError(
        f"{key.name} is {key.type.value}, whose values cannot be listed; use another key."
    )


def _refusal(key: BoundKey, value: Any) -> str:
    shown = repr(value[:_SHOWN]) if isinstance(value, str) else f"a {type(value).__name__} here"
    digits = "" if key.digits is None else f"({key.digits.total}, {key.digits.fraction})"
    return (
        f"The values of {key.name} must be of type {key.type.value}{digits}, which {shown} is not."
    )


def _integer(value: Any) -> int:
    if isinstance(value, bool):
        raise _Unfit
    if isinstance(value, str):
        return int(value)
    if isinstance(value, Decimal):
        # Its size comes first: an exponent makes a few letters a number that fills the memory.
        if value.adjusted() >= MAX_DIGITS or value != value.to_integral_value():
            raise _Unfit
        return int(value)
    return int(operator.index(value))


def _within(number: int, least: int, most: int) -> int:
    if not least <= number <= most:
        raise _Unfit
    return number


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        return _BOOLEANS[value.strip().lower()]
    if isinstance(value, bool) or _is_numpy(value, "bool", "bool_"):
        return bool(value)
    raise _Unfit


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MOST_CHARACTERS or "\0" in value:
        raise _Unfit  # PostgreSQL has no NUL in a text
    value.encode()  # refuses halves of surrogate pairs, which no UTF-8 text holds
    return str(value)


def _decimal(key: BoundKey, value: Any) -> Decimal:
    if isinstance(value, bool):
        raise _Unfit
    number = Decimal(str(value) if not isinstance(value, Decimal) else value)
    most = MAX_DIGITS if key.digits is None else key.digits.whole
    least = MAX_DIGITS if key.digits is None else key.digits.fraction
    if not number.is_finite() or abs(number.adjusted()) > MAX_DIGITS:
        raise _Unfit
    whole, _, fraction = f"{number.copy_abs():f}".partition(".")
    whole, fraction = whole.lstrip("0"), fraction.rstrip("0")
    if len(whole) > most or len(fraction) > least or len(whole) + len(fraction) > MAX_DIGITS:
        raise _Unfit
    return number


def _date(value: Any) -> date:
    if isinstance(value, str):
        return date.fromisoformat(value.strip())
    if isinstance(value, date) and not isinstance(value, datetime):
        return date(value.year, value.month, value.day)
    moment = _moment(value)
    if moment.time() != time():
        raise _Unfit
    return moment.date()


def _moment(value: Any) -> datetime:
    if isinstance(value, str):
        if _TOO_FINE.search(value):
            raise _Unfit
        value = datetime.fromisoformat(value.strip())
    elif _is_numpy(value, "datetime64"):
        exact = value.astype("datetime64[us]")
        # Cast back, because what overflows wraps around, and nanoseconds are cut off.
        if exact.astype(value.dtype) != value:
            raise _Unfit
        value = exact.item()
    elif getattr(value, "nanosecond", 0):
        raise _Unfit  # pandas' times have nanoseconds, and ours end at microseconds
    if not isinstance(value, datetime):
        raise _Unfit
    return in_utc(datetime.combine(value.date(), value.timetz()))


def _is_numpy(value: Any, *names: str) -> bool:
    """Whether it is one of NumPy's scalars, recognised without NumPy."""
    kind = type(value)
    return kind.__module__ == "numpy" and kind.__name__ in names
