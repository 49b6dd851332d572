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
        """From a list of names, a text with commas, or None for single rows."""
        if columns is None:
            return cls()
        names = columns.split(",") if isinstance(columns, str) else columns
        stripped = tuple(name.strip() for name in names)
        if not all(stripped) or len(set(stripped)) != len(stripped):
            raise RequestError("A unit is a list of different column names, such as device,day.")
        return cls(stripped)

    @property
    def is_row(self) -> bool:
        """Whether every row is a unit of its own."""
        return not self.columns

    def __str__(self) -> str:
        return "row" if self.is_row else ", ".join(self.columns)
