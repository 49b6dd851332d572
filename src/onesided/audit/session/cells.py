"""What stands in the columns of a table: plain cells, and cells that look for trouble.

A cell is an Arrow array of length one, since many of them are no values of Python. There are three
forms of tables: TYPED for files and frames that name their types, CSV whose cells are bytes, and
SQL whose cells are texts that a server converts to the column's type.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import pyarrow as pa

from onesided.audit.session.dice import Dice
from onesided.audit.session.hostile import HOSTILE, Hostile

Cell: TypeAlias = pa.Array
SECRET, ROOM, AGE, MOMENT, ODD = "secret", "room", "age", "ts", "x"
PERSON, DAY = "person", "day"
DAYS = ("2024-01-01", "2024-01-02", "2024-01-03")
"""All days that the key of a unit can have."""
SQL_TYPE = b"sql"
"""What the type on a server is called in the metadata of a field."""


class Form(Enum):
    """What a table is written in."""

    TYPED = "typed"
    CSV = "csv"
    SQL = "sql"


@dataclass(frozen=True)
class Column:
    """A column with the cells that it may hold.

    - `plain`: cells that nobody would look at twice.
    - `hostile`: cells at the ends of the type, and beyond.
    - `comparison`: a condition on the column, which a policy or a filter may ask.
    - `sql`: its type on a server.
    """

    name: str
    type: pa.DataType
    plain: tuple[Cell, ...]
    hostile: tuple[Cell, ...]
    comparison: str = ""
    sql: str = ""

    @property
    def field(self) -> pa.Field:
        """The column in the schema of a table."""
        return pa.field(self.name, self.type, metadata={SQL_TYPE: self.sql} if self.sql else None)

    @property
    def null(self) -> Cell:
        """The missing cell."""
        return pa.nulls(1, self.type)

    def cell(self, dice: Dice, hostile: int) -> Cell:
        """A cell that is hostile `hostile` times in a hundred, and now and then missing."""
        if dice.below(100) >= hostile:
            return dice.pick(self.plain)
        return dice.pick(self.hostile) if self.hostile and not dice.one_in(5) else self.null


TEXTS: tuple[bytes, ...] = (
    *(b"hiv", b"", b" ", b"Cafe", b"CAFE", b"cafe ", b"cafe\xcc\x81", b"x" * 5000),
    *(b"[/x]", b"[red]r[/red]", b"\x1b[31mred\x1b[0m\x1b]0;t\x07", b"\xe2\x80\xaecafe", b"<b>&"),
    *(
        b"None",
        b"null",
        b"NULL",
        b"NaN",
        b"*",
        b"=1+1",
        b"True",
        b"0",
        b"%_\\",
        b"\xf0\x9f\xa6\x84",
    ),
    *(b"o'clock", b'say "so"', b"a,b", b"two\nlines", b"tab\there", b"car\rriage", b"2024-01-01"),
)
BROKEN_TEXTS: tuple[bytes, ...] = (b"\xff\xfe no text", b"\xed\xa0\x80", b"cafe\x80", b"nul\x00l")
_ROOMS = (b"cafe", b"hall", b"lab")
LEAP = b"2024-02-29 08:30:00"
"""A moment that stands in no plain table; a declared one with an offset may be taken for it."""


def typed(dice: Dice) -> list[Column]:
    """Columns for files and frames; the last one is of any type that Arrow has."""
    broken = BROKEN_TEXTS if dice.one_in(3) else ()
    alike = [_whole("Age")] if dice.one_in(10) else []
    return [
        _flag(),
        _text(dice.pick((pa.string(), pa.string(), pa.large_string())), broken),
        dice.pick((_whole, _fractions, _fractions, _narrow))(AGE),
        _moments(),
        *alike,
        _odd(dice.pick(HOSTILE), dice),
    ]


def comma_separated(dice: Dice) -> list[Column]:
    """Columns for CSV files, whose types are found at the opening; all cells are bytes."""
    misfits = (b"", b"soon", b"99999999999999999999", b"1.5", b"1e999", b"NaN", b"-inf", b'""')
    # One day of each form says which part is the month; without it the opening refuses the column.
    day = dice.pick(
        (
            (b"20/02/2020", b"03/04/2021"),
            (b"2020-01-02", b"2021-03-04"),
            (b"25.06.2020", b"05.06.2020"),
        )
    )
    days = (b"02/13/2020", b"13/02/2020", b"2020-02-13", b"30/02/2020", b"0001-01-01", b"99999")
    number = (b"1.25", b"2.5", b"7.0")
    return [
        _bytes(SECRET, (b"true", b"false"), (b"perhaps", b"", b"TRUE", b"1")),
        _bytes(ROOM, _ROOMS, (*TEXTS, *(BROKEN_TEXTS[:1] if dice.one_in(8) else ()))),
        _bytes(AGE, (b"7", b"31", b"64"), misfits),
        _bytes(
            MOMENT,
            (b"2024-01-05 08:30:00", b"2024-02-06 17:00:00"),
            (*days, b"2024-01-05T08:30:00+05:00", b"25:00", b"2024-01-05 24:00:01", LEAP),
        ),
        *([_bytes("age ", (b"7", b"31"), (b"", b"12"))] if dice.one_in(10) else []),
        dice.pick(
            (
                _bytes(ODD, day, (*days, *misfits)),
                _bytes(ODD, number, (*misfits, *days), "x > 5.0"),
            )
        ),
    ]


def keys(form: Form, dice: Dice, units: int) -> list[Column]:
    """The columns of a unit's key; the cells are as many as there may be units."""
    numbers = [str(7 + 3 * place) for place in range(units)]
    days = [DAYS[place % len(DAYS)] for place in range(units)]
    far = ["9223372036854775807", "-9223372036854775808"]
    texts = dice.one_in(2)
    if form is Form.SQL:
        person = server_column(PERSON, "text" if texts else "bigint", numbers, far)
        return [person, server_column(DAY, "date", days, ())]
    if form is Form.CSV:
        coded = [each.encode() for each in numbers]
        return [_bytes(PERSON, coded, ()), _bytes(DAY, [each.encode() for each in days], ())]
    kind = pa.string() if texts else pa.int64()
    person = Column(PERSON, kind, _cast(numbers, kind), _cast(far, kind))
    return [person, Column(DAY, pa.date32(), _cast(days, pa.date32()), ())]


def _flag() -> Column:
    kind = pa.bool_()
    return Column(SECRET, kind, cells([True, False], kind), ())


def _text(kind: pa.DataType, broken: Sequence[bytes]) -> Column:
    large = pa.types.is_large_string(kind)
    store = pa.large_binary() if large else pa.binary()
    plain, hostile = cells(_ROOMS, store), cells((*TEXTS, *broken), store)
    return Column(ROOM, kind, _viewed(plain, kind), _viewed(hostile, kind), "room = 'cafe'")


def _whole(name: str) -> Column:
    ends = (2**63 - 1, -(2**63), 2**53 + 1, 2**31, 0, -1)
    return Column(name, pa.int64(), cells((7, 31, 64), pa.int64()), cells(ends, pa.int64()))


def _narrow(name: str) -> Column:
    return Column(name, pa.int8(), cells((7, 31, 64), pa.int8()), cells((127, -128, 0), pa.int8()))


def _fractions(name: str) -> Column:
    special = (float("nan"), float("inf"), -float("inf"), -0.0, 5e-324, 1.7976931348623157e308)
    payload = pa.array([0x7FF8DEADBEEF0001, -0x8000000000000]).view(pa.float64())
    hostile = (*cells(special, pa.float64()), payload.slice(0, 1), payload.slice(1, 1))
    return Column(name, pa.float64(), cells((7.0, 31.0, 64.0), pa.float64()), hostile)


def _moments() -> Column:
    kind = pa.timestamp("us")
    ends = (2**63 - 1, -(2**63), -(2**63) + 1, -62135596800000001, 253402300800000000, 0)
    plain = cells((1704443400000000, 1707238800000000), pa.int64())
    hostile = cells((*ends, 1709195400000000), pa.int64())
    return Column(MOMENT, kind, _viewed(plain, kind), _viewed(hostile, kind))


def _odd(hostile: Hostile, dice: Dice) -> Column:
    plain, cells = dice.pick(hostile.columns())
    kept = tuple(plain.slice(place, 1) for place in range(len(plain)))
    return Column(ODD, plain.type, kept, tuple(cells), hostile.comparison)


def _bytes(
    name: str, plain: Sequence[bytes], hostile: Sequence[bytes], comparison: str = ""
) -> Column:
    kind = pa.binary()
    return Column(name, kind, cells(plain, kind), cells(hostile, kind), comparison)


def server_column(
    name: str, kind: str, plain: Sequence[str], hostile: Sequence[str], comparison: str = ""
) -> Column:
    text = pa.string()
    return Column(name, text, cells(plain, text), cells(hostile, text), comparison, kind)


def cells(values: Iterable[Any], kind: pa.DataType) -> tuple[Cell, ...]:
    """One array for each value."""
    return tuple(pa.array([value], kind) for value in values)


def _cast(texts: Sequence[str], kind: pa.DataType) -> tuple[Cell, ...]:
    return tuple(each.cast(kind) for each in cells(texts, pa.string()))


def _viewed(some: Iterable[Cell], kind: pa.DataType) -> tuple[Cell, ...]:
    """The same bits as another type, as which they may be no value at all."""
    return tuple(each.view(kind) for each in some)
