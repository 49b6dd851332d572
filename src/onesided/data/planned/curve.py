"""What each bound on groups costs: what noise adds with it, and what a cut leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onesided.digits import plain_size, plus_minus


@dataclass(frozen=True)
class Bound:
    """What a bound of `k` groups costs: mean errors of a group, beside the count of all units.

    - `noise`: of what is counted.
    - `cut`: what is left out.
    - `total`: both together; noise that raises a count makes good for a part of what it lacks.
    """

    k: int
    noise: float
    cut: float
    total: float

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"max_groups": self.k, "noise": self.noise, "cut": self.cut, "total": self.total}


@dataclass(frozen=True)
class Curve:
    """The errors of a count by `mechanism` for a range of bounds, in rising order."""

    mechanism: str
    bounds: tuple[Bound, ...]

    @property
    def best(self) -> Bound:
        """The least total; of equal ones the smallest bound."""
        return min(self.bounds, key=lambda bound: (bound.total, bound.k))

    @property
    def said(self) -> str:
        """The best bound in words, beside the least."""
        best, first = self.best, self.bounds[0]
        return (
            f"max_groups = {best.k} errs least beside all units with {self.mechanism}: "
            f"{plus_minus(best.total)}, with {plain_size(best.cut)} left out; "
            f"max_groups = 1: {plus_minus(first.total)}"
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON."""
        return {
            "mechanism": self.mechanism,
            "best_max_groups": self.best.k,
            "bounds": [each.to_json() for each in self.bounds],
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Curve:
        """The inverse of `to_json`."""
        bounds = (
            Bound(int(each["max_groups"]), each["noise"], each["cut"], each["total"])
            for each in said["bounds"]
        )
        return cls(str(said["mechanism"]), tuple(bounds))
