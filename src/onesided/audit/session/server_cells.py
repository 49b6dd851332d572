"""What stands in the columns of a table on a server: texts that it takes for its own types."""

from __future__ import annotations

from collections.abc import Sequence

from onesided.audit.session.cells import (
    AGE,
    LEAP,
    MOMENT,
    ODD,
    ROOM,
    SECRET,
    TEXTS,
    Column,
    server_column,
)
from onesided.audit.session.dice import Dice

_TEXTS = tuple(each.decode() for each in TEXTS)
_MOMENTS = ("infinity", "-infinity", "4713-01-01 00:00:00 BC", "294276-12-31 23:59:59.999999")
_LOCAL = LEAP.decode()
_WHOLE = ("9223372036854775807", "-9223372036854775808", "9007199254740993", "0", "-1")
_UNENDING = ("NaN", "Infinity", "-Infinity")
_FLOATS = (*_UNENDING, "-0", "5e-324", "1.7976931348623157e308")
_PLAIN = ("1.5", "7.5")
_MOST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff"


def on_a_server(dice: Dice) -> list[Column]:
    """Columns of a table in PostgreSQL; the last one is of any type."""
    plain_moments = ("2024-01-05 08:30:00", "2024-02-06 17:00:00")
    return [
        server_column(SECRET, "boolean", ("true", "false"), ()),
        server_column(ROOM, "text", ("cafe", "hall", "lab"), _TEXTS),
        server_column(AGE, dice.pick(("bigint", "numeric(20, 0)")), ("7", "31", "64"), _WHOLE),
        server_column(MOMENT, "timestamp", plain_moments, (*_MOMENTS, _LOCAL)),
        dice.pick(_ODD),
    ]


def _odd(kind: str, plain: Sequence[str], hostile: Sequence[str], comparison: str = "") -> Column:
    return server_column(ODD, kind, plain, hostile, comparison)


_ODD = (
    _odd("double precision", _PLAIN, _FLOATS, "x > 5.0 OR x = 0.0"),
    _odd("real", _PLAIN, _FLOATS[:4], "x > 5.0"),
    _odd("numeric", _PLAIN, (*_UNENDING, "1e300", "-1e-300", *_WHOLE), "x > 5"),
    _odd("numeric(10, 2)", _PLAIN, ("NaN", "99999999.99", "-99999999.99"), "x > 5"),
    _odd("date", ("2024-01-05",), ("infinity", "-infinity", "4713-01-01 BC", "5874897-01-01")),
    _odd("timestamptz", ("2024-01-05 08:30:00+00",), _MOMENTS, "hour(x) > 8"),
    _odd("text", ("cafe", "hall"), _TEXTS, "x LIKE 'c%'"),
    _odd("varchar(5)", ("cafe", "hall"), ("", "CAFE", "  "), "lower(x) = 'cafe'"),
    _odd("char(6)", ("cafe", "hall"), ("", "CAFE", "cafe  "), "x = 'cafe'"),
    _odd("uuid", ("00000000-0000-0000-0000-000000000001",), (_MOST_UUID,)),
    _odd("bytea", (r"\x61",), (r"\xfffe", r"\x00")),
    _odd("jsonb", ("{}", "[1]"), ('{"a": 1e400}', '"\\u00e9"')),
    _odd("interval", ("1 day",), ("-178000000 years", "178000000 years")),
    _odd("integer[]", ("{1}", "{}"), ("{NULL,2147483647}",)),
)
