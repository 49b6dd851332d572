"""The plan of a sample: how many units to expect, and rows where a sample has shown them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

from onesided.loss import show
from onesided.mechanisms.rr import keep_probability
from onesided.session.lookups import row_costs
from onesided.session.maps import map_notes
from onesided.session.planning.learnt import Learnt
from onesided.session.questions.samples import Samples
from onesided.session.zones import zone_notes

SPREADS = 2
"""In how many standard deviations the number of units lies, for about 95 %."""


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
            "cost": None if self.cost is None else show(self.cost),
            "fits": self.fits,
            "supposed_from": list(self.sources),
            "left": None if self.left is None else show(self.left),
            "budget": None if self.budget is None else show(self.budget),
        }

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
            *map(html.note, [*self.lookups, *self.map, *self.time_zones]),
        )

    def __str__(self) -> str:
        cost = "unknown" if self.cost is None else show(self.cost)
        fits = "" if self.fits else ", over budget"
        leaving = f"columns that will leave: {', '.join(self.columns)}"
        first = f"{self.said}; cost ε = {cost}{fits}"
        return "\n".join(
            [first, leaving, *self.lookups, *self.map, *self.time_zones, *self.sources]
        )


def sample_plan(question: Samples, learnt: Learnt, *, share: float | None) -> SamplePlan:
    """What to expect of the sample that `question` asks for."""
    basis = learnt.share(share)
    price = learnt.pricing.price(question)
    units = question.expected_units(basis.supposed)
    held = learnt.sample
    rows = None
    if held is not None and held.units and question.where is None:
        rows = units * held.rows / held.units
    return SamplePlan(
        epsilon=question.epsilon,
        units=units,
        spread=SPREADS * sqrt(units * (1 - keep_probability(question.epsilon))),
        rows=rows,
        cost=price.cost,
        fits=price.fits,
        sources=basis.sources,
        left=learnt.pricing.left,
        budget=learnt.pricing.budget,
        columns=question.columns,
        lookups=row_costs(question.facts.lookups),
        map=map_notes(question.facts.map),
        time_zones=zone_notes(question.facts.schema),
    )


def _left(plan: SamplePlan) -> str:
    assert plan.left is not None
    assert plan.budget is not None
    return f"{show(plan.left)} of {show(plan.budget)}"
