"""Pairs of neighbouring tables: one sensitive unit is replaced by any other.

A world holds three tables of one form with the same number of units. `FIRST` is D, `SECOND` is D′,
and `PLAIN` is a third one without anything remarkable: what is seen of D must be explained by the
request, what was released, and what the three have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa

from onesided.audit.session import cells
from onesided.audit.session.cells import MOMENT, ROOM, SECRET, Cell, Column, Form
from onesided.audit.session.dice import Dice
from onesided.audit.session.server_cells import on_a_server

Row: TypeAlias = tuple[Cell, ...]
Unit: TypeAlias = tuple[Row, ...]
Item = TypeVar("Item")

ASIDE = "aside"
"""What a lookup table is called."""
WAYS = pa.table({"from": ["cafe", "hall"], "to": ["hall", "lab"]})
"""A public map for tables with rooms: the hall lies between the two others."""
RULE = {"rule": "quickest"}
LEAST_UNITS, MOST_UNITS = 4, 9
LOOKED_UP_IN, WITHHELD_IN, CHOSEN_IN, MAPPED_IN = 3, 4, 2, 4
MOST_ROWS = 3
MOST_CHOSEN = 3
_COLUMNS: dict[Form, Callable[[Dice], list[Column]]] = {
    Form.TYPED: cells.typed,
    Form.CSV: cells.comma_separated,
    Form.SQL: on_a_server,
}
_CLAUSES = (
    *(
        "",
        "",
        " OR room = 'clinic'",
        " OR room IN ('clinic', 'hiv')",
        " OR age < 18",
        " OR age > 60",
    ),
    *(" OR ts > TIMESTAMP '2024-02-01 00:00:00'", " OR x IS NULL", " OR lower(room) LIKE 'c%'"),
    " OR age > 9223372036854775808",
    " OR age > 64",
)


class Side(Enum):
    """Which of the tables of a world is meant."""

    PLAIN = "plain"
    FIRST = "D"
    SECOND = "D′"


@dataclass(frozen=True)
class World:
    """A pair of neighbouring tables, and a third one with the same public facts.

    - `unit`: the columns of the unit's key; empty where every row is a unit.
    - `policy`: true or NULL for at least one row of the unit that is replaced.
    - `place`: which unit is replaced.
    - `both`: the unit that comes instead is sensitive too, for certain.
    - `function`: where the table is in memory, its policy is a function of a row.
    - `aside`: the columns that lie in a lookup table, one row of which is the replaced unit's.
    - `max_units`: how many units a row of it decides over by declaration; then it is found by the
      person alone, and other units are left out. None where its key is the unit's.
    - `withheld`: the columns that never leave.
    - `mapped`: the policy is closed over `WAYS`, by where and when its rows are.
    """

    form: Form
    columns: tuple[Column, ...]
    unit: tuple[str, ...]
    policy: str
    place: int
    both: bool
    plain: tuple[Unit, ...]
    first: tuple[Unit, ...]
    replacement: Unit
    function: bool = False
    aside: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    max_units: int | None = None
    mapped: bool = False

    @property
    def map(self) -> dict[str, Any] | None:
        """The map as `onesided.open` takes it."""
        names = {column.name for column in self.columns}
        if not self.mapped or not {ROOM, MOMENT} <= names:
            return None
        return {"edges": WAYS, "place": ROOM, "time": MOMENT, "sensitive": ["hall"], **RULE}

    def units(self, side: Side) -> tuple[Unit, ...]:
        """The units of one of the tables."""
        if side is Side.PLAIN:
            return self.plain
        if side is Side.FIRST:
            return self.first
        return (*self.first[: self.place], self.replacement, *self.first[self.place + 1 :])

    def table(self, side: Side) -> pa.Table:
        """One of the tables, its rows in the order of its units."""
        return self._written([row for unit in self.units(side) for row in unit])

    def _written(self, rows: Sequence[Row]) -> pa.Table:
        arrays = [
            pa.concat_arrays([row[place] for row in rows]) for place in range(len(self.columns))
        ]
        return pa.table(arrays, schema=pa.schema([column.field for column in self.columns]))

    @property
    def spelled_policy(self) -> str:
        """The policy, which looks up what lies aside; it begins with the column that decides."""
        return f"{ASIDE}.{self.policy}" if SECRET in self.aside else self.policy

    @property
    def on(self) -> tuple[str, ...]:
        """The key of the lookup table."""
        return self.unit if self.max_units is None else self.unit[:1]

    @property
    def known(self) -> tuple[str, ...]:
        """What the columns are called by whoever asks, in the order of the opened table."""
        names = [column.name for column in self.columns if column.name not in self.aside]
        if self.aside:
            names += [f"{ASIDE}.{name}" for name in (*self.on, *self.aside)]
        return tuple(names)

    def handed_over(self, side: Side) -> tuple[pa.Table, pa.Table | None]:
        """The table without what lies aside, and the lookup table: the first row of each unit.

        A row that would say nothing is left out: its unit finds NULL all the same.
        """
        whole = self.table(side)
        if not self.aside:
            return whole, None
        rows = [unit[0] for unit in self.units(side)]
        says = [row for row in rows if self._says_something(row)]
        beside = self._written(says or rows).select([*self.on, *self.aside])
        return whole.drop_columns(list(self.aside)), beside

    def _says_something(self, row: Row) -> bool:
        cells = zip(self.columns, row, strict=True)
        return any(not cell.null_count for column, cell in cells if column.name in self.aside)

    def without_unit(self, place: int) -> World:
        """The same world with one unit fewer in all of its tables, not the one that is replaced."""
        assert place != self.place
        return replace(
            self,
            place=self.place - (place < self.place),
            plain=_without(self.plain, place),
            first=_without(self.first, place),
        )

    def without_column(self, place: int) -> World:
        """The same world without one column."""

        def cut(row: Row) -> Row:
            return _without(row, place)

        return replace(
            self,
            columns=_without(self.columns, place),
            plain=_mapped(self.plain, cut),
            first=_mapped(self.first, cut),
            replacement=tuple(map(cut, self.replacement)),
            aside=tuple(each for each in self.aside if each != self.columns[place].name),
            withheld=tuple(each for each in self.withheld if each != self.columns[place].name),
        )


def world(form: Form, dice: Dice, *, lookups: bool = False, declared: bool = True) -> World:
    """A world of this form.

    - `lookups`: some of its columns may lie in a lookup table, and some may never leave.
    - `declared`: the days of a unit's key can be, so that a row may decide over several units.
    """
    units = LEAST_UNITS + dice.below(MOST_UNITS - LEAST_UNITS + 1)
    columns = _COLUMNS[form](dice)
    # Rows on a server have no names of their own.
    keyed = 0 if dice.one_in(2) and form is not Form.SQL else 1 + dice.below(2)
    names = cells.keys(form, dice, units + 1)[:keyed]
    comparison = columns[-1].comparison
    clauses = (*_CLAUSES, f" OR ({comparison})") if comparison else _CLAUSES
    function = form is Form.TYPED and dice.one_in(3)
    rows = _Rows(columns, names, dice)
    place = dice.below(units)
    both = dice.one_in(2)
    first = [rows.unit(each, hostile=8, secret=_secret(dice)) for each in range(units)]
    first[place] = rows.unit(place, hostile=60, secret=True)
    elsewhere = units if dice.one_in(3) else place
    policy = SECRET + ("" if function else dice.pick(clauses))
    aside: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    # Dice of their own: a world without them is the same as ever, and so are its requests.
    more = Dice("lookups", units, place, policy, *(column.name for column in (*names, *columns)))
    if lookups and names and not function and more.one_in(LOOKED_UP_IN):
        others = [each.name for each in columns if each.name not in policy]
        aside = (SECRET, *(each for each in others if more.one_in(2)))
    if lookups and more.one_in(WITHHELD_IN):
        withheld = (more.pick([each.name for each in columns if each.name not in aside]),)
    placed = bool(names) and not {ROOM, MOMENT} & {*aside}
    mapped = placed and Dice("maps", units, place, policy, *aside).one_in(MAPPED_IN)
    chosen = declared and len(names) > 1 and bool(aside) and more.one_in(CHOSEN_IN)
    return World(
        form=form,
        columns=(*names, *columns),
        unit=tuple(column.name for column in names),
        policy=policy,
        place=place,
        both=both,
        plain=tuple(rows.unit(each, hostile=0, secret=each % 3 == 0) for each in range(units)),
        first=tuple(first),
        replacement=rows.unit(elsewhere, hostile=40, secret=True if both else None),
        function=function,
        aside=aside,
        withheld=withheld,
        max_units=1 + more.below(MOST_CHOSEN) if chosen else None,
        mapped=mapped,
    )


@dataclass(frozen=True)
class _Rows:
    """Makes the units of a table."""

    columns: Sequence[Column]
    names: Sequence[Column]
    dice: Dice

    def unit(self, number: int, *, hostile: int, secret: bool | None) -> Unit:
        """Unit number `number`; `secret` is whether it is sensitive for certain, None for any."""
        rows = 1 + self.dice.below(MOST_ROWS) if self.names else 1
        key = tuple(column.plain[number] for column in self.names)
        return tuple(
            (*key, *(self._cell(column, hostile, secret) for column in self.columns))
            for _ in range(rows)
        )

    def _cell(self, column: Column, hostile: int, secret: bool | None) -> Cell:
        if column.name != SECRET:
            return column.cell(self.dice, hostile)
        true, false = column.plain
        if secret is None:
            return self.dice.pick((true, false, column.null))
        if not secret:
            return false
        return column.null if hostile and self.dice.one_in(4) else true


def _secret(dice: Dice) -> bool:
    """Whether a unit that stays is sensitive: a third of them."""
    return dice.one_in(3)


def _mapped(units: Sequence[Unit], change: Callable[[Row], Row]) -> tuple[Unit, ...]:
    return tuple(tuple(map(change, unit)) for unit in units)


def _without(items: tuple[Item, ...], place: int) -> tuple[Item, ...]:
    return (*items[:place], *items[place + 1 :])
