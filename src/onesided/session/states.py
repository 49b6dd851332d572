"""The states of data that grow: what was released on each, and what changed between two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from onesided.engine.base import CountQuery, Engine
from onesided.engine.duckdb.growth import Growth, growth
from onesided.errors import RequestError
from onesided.language import BoundKey, Key, Predicate, Type
from onesided.language.tree import Column
from onesided.ledger import Balance, ChargeState, Snapshot


@dataclass(frozen=True)
class DataState:
    """One state of the data of an account.

    - `since`: when it was first charged on or, for the current one, first opened.
    - `releases`: how many answers are stored that were found on it.
    - `of_parts`: those of them that are about one part alone.
    - `current`: whether it is the state of today; answers of all others are stale.
    """

    number: int
    since: str
    releases: int
    of_parts: int
    current: bool

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return dict(vars(self))


def states_of(balance: Balance, current: Snapshot) -> tuple[DataState, ...]:
    """The states that were charged on, and the current one; all of it follows from the ledger."""
    records = [each for each in balance.charges if each.charge.snapshot <= current.number]
    found = []
    for number in sorted({*(each.charge.snapshot for each in records), current.number}):
        own = [each for each in records if each.charge.snapshot == number]
        stored = [each for each in own if each.state is ChargeState.STORED]
        is_current = number == current.number
        found.append(
            DataState(
                number=number,
                since=current.time if is_current else own[0].charge.time,
                releases=len(stored),
                of_parts=sum(each.charge.spending.part is not None for each in stored),
                current=is_current,
            )
        )
    return tuple(found)


def grown(before: Engine, after: Engine, parts: tuple[str, ...]) -> Growth:
    """What became of the units from one state to the other; for the steward's eyes."""
    if before.rows_are_units or after.rows_are_units:
        raise RequestError("Rows without a key have no name by which two states could be compared.")
    if dict(before.schema.fields).keys() != dict(after.schema.fields).keys():
        raise RequestError("The two states have other columns; nothing can be compared.")
    unit = after.unit.columns
    return growth(_rows(before), _rows(after), unit, parts)


def _rows(engine: Engine) -> pa.Table:
    """The different rows of the table, each with the key of its unit."""
    keys: list[BoundKey] = list(engine.unit.computed)
    keys += [
        Key(Column(name)).bind(engine.schema)
        for name, field in engine.schema.fields
        if field.type is not Type.OTHER
    ]
    nobody = Predicate.parse("FALSE").bind(engine.schema)
    return engine.count(CountQuery(nobody, tuple(keys))).keys
