"""What every engine can do, and what it hands to the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from onesided.data.histogram import Counts
from onesided.data.units import Unit
from onesided.engine.sources import frame_fingerprint
from onesided.language import BoundKey, BoundPredicate, Field, Key, Schema, Type
from onesided.language.tree import Column
from onesided.randomness import coin_threshold

COLUMNS_CHANGED = (
    "The columns of the table changed since it was opened, and the charge stands; "
    "open it again and repeat the request."
)
_KEY_TYPES = {
    Type.INTEGER: pa.int64(),
    Type.WIDE_INTEGER: pa.decimal128(38, 0),
    Type.FLOAT: pa.float64(),
    Type.TEXT: pa.string(),
    Type.BOOLEAN: pa.bool_(),
    Type.DATE: pa.date32(),
    Type.TIMESTAMP: pa.timestamp("us"),
}


_NUMBER = "groups"
TALLIED = Key(Column(_NUMBER)).bind(Schema.of({_NUMBER: Field(Type.INTEGER)}))
"""The key of a tally: a number of groups."""


def key_type(key: BoundKey) -> pa.DataType:
    """The Arrow type of a group key, the same whichever engine answers."""
    if key.type is Type.DECIMAL and key.digits is not None:
        return pa.decimal128(key.digits.total, key.digits.fraction)
    return _KEY_TYPES[key.type]


@dataclass(frozen=True)
class Coins:
    """The keyed coins of a sample at `epsilon`: keep a unit iff its coin is below the threshold."""

    key: str
    epsilon: Fraction

    @property
    def threshold(self) -> str:
        """⌊(1 − e^−ε)·2²⁵⁶⌋ as 64 hexadecimal digits."""
        return coin_threshold(self.epsilon)

    def __repr__(self) -> str:
        return f"Coins(key=hidden, epsilon={self.epsilon})"


@dataclass(frozen=True)
class Total:
    """What to add up instead of counting: whole steps of a grid, clipped within each unit.

    The unit's total of `value` in a group, divided by `grid` and rounded down, is clipped to
    [0, `steps`]: with bound B = steps·grid the sum moves by at most B when a unit comes or goes.
    Without a value every row adds one step: rows are counted.
    """

    value: BoundKey | None
    grid: Fraction
    steps: int


@dataclass(frozen=True)
class Ngrams:
    """What a unit had in the column `token` in `n` rows that follow one another in `position`."""

    token: str
    position: str
    n: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the group keys: the token's, numbered from 1."""
        return tuple(f"{self.token}_{number}" for number in range(1, self.n + 1))


@dataclass(frozen=True)
class PublicTable:
    """A table that everybody may see.

    - `content`: all of it, its columns in our types.
    - `relation`: the FROM item under which an engine holds it; None where it is written out.
    """

    name: str
    schema: Schema
    content: pa.Table = field(compare=False, repr=False)
    relation: str | None = None

    @property
    def digest(self) -> str:
        """Names the content, so that a release says which table it was joined with."""
        return frame_fingerprint(self.content)

    def numbers(self) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """The columns of finite numbers."""
        for name, known in self.schema.fields:
            column = self.content.column(name)
            exact = known.type in (Type.INTEGER, Type.DECIMAL)
            if exact or (known.type is Type.FLOAT and pc.all(pc.is_finite(column)).as_py()):
                yield name, column

    def tells_apart(self, columns: tuple[str, ...]) -> bool:
        """Whether no two rows share the values of `columns`; NULL is never found."""
        keys = self.content.select(list(columns)).drop_null()
        return len(keys.group_by(list(columns)).aggregate([])) == len(keys)


@dataclass(frozen=True)
class Lookup:
    """A public table, found through pairs of a column of the data and one of its key's."""

    table: PublicTable
    on: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SampleQuery:
    """Which rows of the kept units to hand out; sensitivity is taken over all rows of a unit."""

    policy: BoundPredicate
    coins: Coins
    columns: tuple[str, ...]
    where: BoundPredicate | None = None


@dataclass(frozen=True)
class CountQuery:
    """Distinct units for each group of keys.

    - `max_groups`: keep at most this many groups of each unit, chosen by a rule that looks at the
      unit alone; None where a unit cannot be in more than one.
    - `coins`: count the units of that sample instead of all units.
    - `totals`: add up these instead of counting units, all of them in the same groups.
    - `tally`: count units by the number of groups that they are in, without a bound on it.
    - `grams`: the keys are n-grams, columns that the table does not have itself (ngrams.py).
    - `lookups`: public tables whose columns may be read as `table.column` (lookups.py).
    - `kinds`: how many groups there are, instead of the groups; only `count_each` is asked that.
    """

    policy: BoundPredicate
    by: tuple[BoundKey, ...]
    where: BoundPredicate | None = None
    max_groups: int | None = None
    coins: Coins | None = None
    totals: tuple[Total, ...] = ()
    grams: Ngrams | None = None
    lookups: tuple[Lookup, ...] = ()
    tally: bool = False
    kinds: bool = False

    @property
    def listed(self) -> tuple[BoundKey, ...]:
        """The keys that the answer lists."""
        return (TALLIED,) if self.tally else self.by


@dataclass(frozen=True)
class Figure:
    """One figure of every group: over all units, and over the non-sensitive ones."""

    all: Counts
    nonsensitive: Counts


@dataclass(frozen=True)
class GroupCounts:
    """The groups that occur, sorted by key, with one figure a total, or the numbers of units.

    Which keys occur is secret, and so is what they are: they stay in Arrow until noise has passed
    over them, since a value that Python or NumPy cannot hold must not decide anything.
    """

    keys: pa.Table
    figures: tuple[Figure, ...]

    @property
    def all(self) -> Counts:
        """The first figure, over all units."""
        return self.figures[0].all

    @property
    def nonsensitive(self) -> Counts:
        """The first figure, over the non-sensitive units."""
        return self.figures[0].nonsensitive

    @classmethod
    def of(cls, table: pa.Table, by: tuple[BoundKey, ...]) -> GroupCounts:
        """The answer of a counting statement: the keys, then the two columns of each figure.

        The keys get the same types whichever engine answered.
        """
        columns = [
            column.cast(key_type(key)) for key, column in zip(by, table.columns, strict=False)
        ]
        keys = pa.table(columns, names=[key.name for key in by])
        numbers = [column.to_numpy().astype(np.int64) for column in table.columns[len(by) :]]
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        return cls(keys, tuple(Figure(*pair) for pair in pairs))


@dataclass(frozen=True)
class Inspection:
    """What the steward is told when a data set is opened: it is free, and never for release."""

    units: int
    rows_without_key: int


@dataclass(frozen=True)
class Placed:
    """A sample that an engine left somewhere.

    - `digest`: names its rows in any order; the same sample has the same one.
    """

    rows: int
    digest: str


@runtime_checkable
class PlacesSamples(Protocol):
    """An engine that can leave a sample where the data lies: as a new table, or as a folder."""

    def check_place(self, place: str) -> None:
        """Refuse a place that is taken or cannot be written; before the charge."""
        ...

    def place(self, query: SampleQuery, place: str) -> Placed:
        """Write the sample there, whole or not at all."""
        ...


@runtime_checkable
class TellsProgress(Protocol):
    """An engine that knows how far its running statement is."""

    def progress(self) -> float | None:
        """The share of the work that is done, from another thread; None where nobody knows.

        It follows the reading of all rows, and is for the steward's eyes alone.
        """
        ...


@runtime_checkable
class StopsStatements(Protocol):
    """An engine whose running statement can be ended."""

    def stop(self) -> None:
        """End the running statement, from another thread; it fails then like any other."""
        ...


@runtime_checkable
class HoldsPublicTables(Protocol):
    """An engine that can hold public tables beside the data."""

    def hold(self, table: PublicTable) -> PublicTable:
        """The table as this engine knows it from now on."""
        ...


class Engine(Protocol):
    """A table and its units. Only the session holds one; nothing it returns may be shown as is."""

    @property
    def schema(self) -> Schema: ...

    @property
    def format(self) -> Mapping[str, Any]:
        """How the source is read, in plain JSON: found at the opening, public, frozen from then on.

        Columns with their types, and what else was found: dialect, order of dates, encoding. An
        engine that is given one looks for nothing, and a value that does not fit it is NULL.
        """
        ...

    @property
    def unit(self) -> Unit: ...

    @property
    def rows_are_units(self) -> bool:
        """Whether the source itself guarantees that every unit is one row."""
        ...

    def inspect(self) -> Inspection:
        """Count the units, and the rows whose key is NULL; for the steward, at opening."""
        ...

    def fingerprint(self) -> str:
        """Names the state of the data, so that a change can be noticed; secret, never shown."""
        ...

    def sample(self, query: SampleQuery) -> Iterator[pa.RecordBatch]:
        """The rows of the kept units in an order that depends on nothing else."""
        ...

    def output_schema(self, columns: tuple[str, ...]) -> pa.Schema:
        """The schema of the batches that `sample` gives for these columns."""
        ...

    def count(self, query: CountQuery) -> GroupCounts:
        """The counts for each group."""
        ...

    def count_each(self, queries: Sequence[CountQuery]) -> list[GroupCounts]:
        """The answers to all of them, in one statement.

        Each has one key at most, a whole number or a text, and counts all units of the table.
        """
        ...

    @property
    def in_memory(self) -> bool:
        """Whether the table is one in memory, which alone a policy in Python can run on."""
        ...

    def evaluate_policy(self, function: Callable[[Mapping[str, Any]], bool]) -> BoundPredicate:
        """Run a policy in Python once on every row; the result stands for it from then on."""
        ...

    def close(self) -> None:
        """Let go of the source, and remove what was spilled."""
        ...
