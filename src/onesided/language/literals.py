"""From the text of a literal to its value."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal

from onesided.errors import PolicyError
from onesided.language.tree import Literal
from onesided.language.types import INT64_MAX, INT64_MIN, MAX_DIGITS, Type

_SHOWN = 60
_NUMBER = re.compile(r"(?=.*\d)(\d*)(?:\.(\d*))?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)?", re.ASCII)


def numeric_literal(value: int | Decimal) -> Literal:
    """The literal of a number, which has the narrowest of the exact types."""
    if isinstance(value, Decimal):
        return Literal(Type.DECIMAL, value)
    fits = INT64_MIN <= value <= INT64_MAX
    return Literal(Type.INTEGER if fits else Type.WIDE_INTEGER, value)


def read_number(text: str) -> Literal:
    """An unsigned number; superfluous zeros do not count, so that 17.0 is the integer 17."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise PolicyError(f"Write the number {text[:_SHOWN]} with digits and at most one point.")
    whole, fraction = match[1].lstrip("0") or "0", (match[2] or "").rstrip("0")
    if len(whole) + len(fraction) > MAX_DIGITS:
        raise PolicyError(f"A number has at most {MAX_DIGITS} digits; {text[:_SHOWN]} has more.")
    return numeric_literal(Decimal(f"{whole}.{fraction}") if fraction else int(whole))


def in_utc(moment: datetime) -> datetime:
    """A point in time as our timestamps have it: in UTC where it has an offset, without a zone.

    OverflowError where that is outside the calendar.
    """
    # A zone that knows no offset is none; astimezone() would take this machine's.
    aware = moment.utcoffset() is not None
    return (moment.astimezone(UTC) if aware else moment).replace(tzinfo=None, fold=0)


def read_date(text: str) -> Literal:
    """What stands in DATE '…'."""
    try:
        if _DATE.fullmatch(text):
            return Literal(Type.DATE, date.fromisoformat(text))
    except ValueError:
        pass
    raise PolicyError(f"DATE '{text[:_SHOWN]}' is no date; write it like DATE '2024-02-29'.")


def read_timestamp(text: str) -> Literal:
    """What stands in TIMESTAMP '…'."""
    try:
        if _TIMESTAMP.fullmatch(text):
            # Pythons before 3.13 read a fraction only where it has three or six digits.
            padded = text.ljust(26, "0") if "." in text else text
            return Literal(Type.TIMESTAMP, datetime.fromisoformat(padded))
    except ValueError:
        pass
    raise PolicyError(
        f"TIMESTAMP '{text[:_SHOWN]}' is no point in time; write it like "
        "TIMESTAMP '2024-02-29 23:59:59.123456', without a zone."
    )
