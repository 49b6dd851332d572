"""What one record is, in the sense of the promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from onesided.errors import PolicyError, RequestError
from onesided.language import BoundKey, Key, Schema
from onesided.language.tree import Column
from onesided.language.zones import Zones
from onesided.lists import split_list, unquoted

ROWS = "rows"
"""What a unit is called where every row is one."""


@dataclass(frozen=True)
class Unit:
    """All rows that share the key `columns`; every row for itself where there are none.

    A unit is sensitive when any of its rows is. It is kept or withheld whole, and it is what one
    step between neighbouring databases adds, removes or replaces.

    - `columns`: the names of the key's parts.
    - `computed`: those of them that are no columns of the table, such as date(ts).
    - `zones`: in which time zones hours and days of columns are taken, here and in all questions.
    """

    columns: tuple[str, ...] = ()
    computed: tuple[BoundKey, ...] = ()
    zones: Zones = field(default_factory=Zones)

    @classmethod
    def of(cls, columns: str | Sequence[str], zones: Zones | None = None) -> Unit:
        """From a list of names as they are, a text with commas, or the word `rows`.

        In a text a name may stand in double quotes: a column called rows has to.
        """
        if columns == ROWS:
            return cls(zones=zones or Zones())
        if isinstance(columns, str):
            columns = [unquoted(name) for name in split_list(columns)]
        if not all(columns) or len(set(columns)) != len(columns):
            raise RequestError("A unit is a list of different column names, such as device,day.")
        return cls(tuple(columns), zones=zones or Zones())

    def bind(self, schema: Schema) -> Unit:
        """The unit of a table, its columns found and what is computed from them understood."""
        keys = [_computed(name, schema) or schema.resolve(name) for name in self.columns]
        computed = tuple(key for key in keys if isinstance(key, BoundKey))
        return Unit(tuple(map(str, keys)), computed, self.zones)

    @property
    def read(self) -> frozenset[str]:
        """The columns of the table that the key is made from."""
        return self.stored | {name for key in self.computed for name in key.columns}

    @property
    def stored(self) -> frozenset[str]:
        """The parts of the key that are columns of the table."""
        return frozenset(self.columns) - {key.name for key in self.computed}

    @property
    def is_row(self) -> bool:
        """Whether every row is a unit of its own."""
        return not self.columns

    def __str__(self) -> str:
        return "row" if self.is_row else ", ".join(self.columns)


def _computed(name: str, schema: Schema) -> BoundKey | None:
    """The key that `name` spells, where no column is called so."""
    if name in schema or "(" not in name:
        return None
    try:
        key = Key.parse(name)
    except PolicyError:
        return None
    return None if isinstance(key.expression, Column) else key.bind(schema)
