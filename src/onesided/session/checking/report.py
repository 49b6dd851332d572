"""What a check has found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

SECRET = (
    "Secret, and for the steward's eyes alone. Choose the policy by what it means and not by these "
    "numbers: a policy that was tuned to the data gives away what it was tuned to."
)


@dataclass(frozen=True)
class Concern:
    """One thing that somebody should look at: `about` a column, a policy or a domain.

    - `withhold`: the column had better never leave.
    """

    about: str
    text: str
    withhold: bool = False


@dataclass(frozen=True)
class ColumnSeen:
    """A column as it was understood.

    - `note`: the zone of a time, or that the column is a part of the unit key.
    """

    name: str
    type: str
    may_be_null: bool
    note: str = ""


@dataclass(frozen=True)
class SecretUnits:
    """How many units are protected, and how many of them only by NULL, or only by the map."""

    sensitive: int
    by_null: int
    by_map: int
    units: int

    @property
    def sentence(self) -> str:
        share = self.sensitive / self.units
        closed = f", and {self.by_map:,} only by the map" if self.by_map else ""
        return (
            f"{self.sensitive:,} of {self.units:,} units ({share:.1%}) are sensitive, "
            f"{self.by_null:,} of them only because the policy meets a NULL{closed}."
        )


@dataclass(frozen=True)
class SourceCheck:
    """Everything that was found; true where nothing needs to be looked at.

    - `most_rows`: the most rows of one unit; None where every row is a unit.
    - `stands_for`: columns of the policy, and for whom a sample with weights by them stands.
    - `secret`: only where it was asked for. It is no part of the verdict.
    """

    units: int
    rows: int
    most_rows: int | None
    columns: tuple[ColumnSeen, ...]
    findings: tuple[Concern, ...]
    stands_for: tuple[tuple[str, str], ...] = ()
    secret: SecretUnits | None = None

    def __bool__(self) -> bool:
        return not self.findings

    @property
    def proposed(self) -> tuple[str, ...]:
        """The columns that had better be withheld."""
        return tuple(each.about for each in self.findings if each.withhold)

    def to_json(self) -> dict[str, Any]:
        """The check as plain JSON."""
        content = asdict(self)
        if self.secret is None:
            del content["secret"]
        else:
            content["secret"]["warning"] = SECRET
        return content
