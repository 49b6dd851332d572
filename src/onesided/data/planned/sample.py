"""What to expect of a sample: how many units, and rows where a sample has shown them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from onesided.data.planned.price import exact_of, text_of
from onesided.digits import plus_minus
from onesided.loss import show


@dataclass(frozen=True)
class PlannedMargin:
    """A count that a sample is to be weighted by.

    - `name`: what it groups by.
    - `groups`: how many there are; None where they are found on the way.
    - `noise`: the expected error of a group; None where nobody can say.
    """

    name: str
    mechanism: str
    groups: int | None
    noise: float | None

    @property
    def said(self) -> str:
        """Both in words."""
        found = "groups that are found" if self.groups is None else f"{self.groups:,} groups"
        noise = "" if self.noise is None else f", {plus_minus(self.noise)} a group expected"
        return f"{self.name}: {found} by {self.mechanism}{noise}"


@dataclass(frozen=True, kw_only=True)
class SamplePlan:
    """What to expect of a sample at `epsilon`.

    - `units`: how many units, before `where`; `spread` is how far off that may be, at about 95 %
      and where the supposed share of non-sensitive units is right.
    - `rows`: how many rows, as many a unit as in a sample that was released; None without one.
    - `cost`, `fits`: as in an option of a plan.
    - `sources`: in words, what is supposed.
    - `columns`: the columns that will leave.
    - `lookups`: in words, what rows of lookup tables cost that decide over several units.
    - `map`: in words, what the map does over which units are closed.
    - `time_zones`: in words, where hours and days of columns are taken by declaration.
    - `stands_for`: in words, the counts that it is to be weighted by, and how exact they are.
    """

    epsilon: Fraction
    units: float
    spread: float
    rows: float | None
    cost: Fraction | None
    fits: bool
    sources: tuple[str, ...]
    left: Fraction | None
    budget: Fraction | None
    columns: tuple[str, ...]
    lookups: tuple[str, ...] = ()
    map: tuple[str, ...] = ()
    time_zones: tuple[str, ...] = ()
    stands_for: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; exact numbers are texts."""
        return {
            "epsilon": show(self.epsilon),
            "units": self.units,
            "spread": self.spread,
            "rows": self.rows,
            "columns": list(self.columns),
            "lookups": list(self.lookups),
            "map": list(self.map),
            "time_zones": list(self.time_zones),
            "stands_for": list(self.stands_for),
            "cost": text_of(self.cost),
            "fits": self.fits,
            "supposed_from": list(self.sources),
            "left": text_of(self.left),
            "budget": text_of(self.budget),
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> SamplePlan:
        """The inverse of `to_json`."""
        return cls(
            epsilon=Fraction(said["epsilon"]),
            units=said["units"],
            spread=said["spread"],
            rows=said["rows"],
            cost=exact_of(said["cost"]),
            fits=bool(said["fits"]),
            sources=tuple(said["supposed_from"]),
            left=exact_of(said["left"]),
            budget=exact_of(said["budget"]),
            columns=tuple(said["columns"]),
            lookups=tuple(said["lookups"]),
            map=tuple(said["map"]),
            time_zones=tuple(said["time_zones"]),
            stands_for=tuple(said.get("stands_for", ())),
        )

    @property
    def said(self) -> str:
        """What to expect, in words."""
        rows = "" if self.rows is None else f", in about {self.rows:,.0f} rows"
        return f"about {self.units:,.0f} units (±{self.spread:,.0f}){rows}"

    def __repr__(self) -> str:
        return f"<Plan of a sample: ε = {show(self.epsilon)}, {self.said}>"

    def _repr_html_(self) -> str:
        from onesided import html

        cost = "unknown" if self.cost is None else show(self.cost)
        left = {} if self.left is None or self.budget is None else {"left": _left(self)}
        facts = {"expected": self.said, "cost": f"ε = {cost}", **left}
        return html.card(
            f"Plan of a sample at ε = {show(self.epsilon)}",
            html.facts({**facts, "supposed": "; ".join(self.sources)}),
            *map(html.note, [*self.stands_for, *self.lookups, *self.map, *self.time_zones]),
        )

    def __str__(self) -> str:
        cost = "unknown" if self.cost is None else show(self.cost)
        fits = "" if self.fits else ", over budget"
        leaving = f"columns that will leave: {', '.join(self.columns)}"
        first = f"{self.said}; cost ε = {cost}{fits}"
        notes = [*self.stands_for, *self.lookups, *self.map, *self.time_zones, *self.sources]
        return "\n".join([first, leaving, *notes])


def _left(plan: SamplePlan) -> str:
    assert plan.left is not None
    assert plan.budget is not None
    return f"{show(plan.left)} of {show(plan.budget)}"
