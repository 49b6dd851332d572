"""What one record is, in the sense of the promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from onesided.errors import RequestError


@dataclass(frozen=True)
class Unit:
    """All rows that share the key `columns`; every row for itself where there are none.

    A unit is sensitive when any of its rows is. It is kept or withheld whole, and it is what one
    step between neighbouring databases adds, removes or replaces.
    """

    columns: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: str | Sequence[str] | None) -> Unit:
        """From a list of names as they are, a text with commas, or None for single rows."""
        if columns is None:
            return cls()
        if isinstance(columns, str):
            columns = [name.strip() for name in columns.split(",")]
        if not all(columns) or len(set(columns)) != len(columns):
            raise RequestError("A unit is a list of different column names, such as device,day.")
        return cls(tuple(columns))

    @property
    def is_row(self) -> bool:
        """Whether every row is a unit of its own."""
        return not self.columns

    def __str__(self) -> str:
        return "row" if self.is_row else ", ".join(self.columns)
