"""A plan: all ways to answer one question, what they cost, and how far off they would be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from onesided.data.planned.curve import Curve
from onesided.data.planned.option import Option
from onesided.data.planned.price import Price, exact_of, text_of
from onesided.digits import plain_size
from onesided.loss import show

if TYPE_CHECKING:
    from onesided.charts.picture import Picture

LEAST_SAID = 0.05
"""Less than that a group is not worth a sentence."""
SHOWN = 3
"""So many options are shown; the others are folded."""

ErrorAt: TypeAlias = Callable[[Option, Fraction], float | None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All ways to answer one question: what can be had first, the most exact one on top.

    `left` and `budget` are None where no account was agreed to yet.

    - `units`, `groups`, `max_groups`: what is known of the groups; None where it is not.
    - `nonsensitive_share`, `supposed_groups`: what is supposed, where the groups are not known.
    - `sources`: in words, from where that is known.
    - `left_out`: how many units a group lacks on average by the bound on groups, beside which the
      expected errors are of what is counted; None where nobody knows.
    - `curve`: of a count, the errors for a range of bounds; None where nobody knows.
    - `together`: of figures of one answer, which are asked for together, what all of them cost.
    - `lookups`: in words, what rows of lookup tables cost that decide over several units.
    - `map`: in words, what the map does over which units are closed.
    - `time_zones`: in words, where hours and days of columns are taken by declaration.
    - `from_releases`: how figures of SQL could be read from what was released, in words.
    - `error_at`: the expected error of an option at another ε.
    """

    by: tuple[str, ...]
    where: str | None
    units: int | None
    groups: int | None
    max_groups: int
    nonsensitive_share: float
    supposed_groups: int | None
    sources: tuple[str, ...]
    left: Fraction | None
    budget: Fraction | None
    rows: tuple[Option, ...]
    left_out: float | None = None
    curve: Curve | None = None
    together: Price | None = None
    lookups: tuple[str, ...] = ()
    map: tuple[str, ...] = ()
    time_zones: tuple[str, ...] = ()
    from_releases: tuple[str, ...] = ()
    error_at: ErrorAt | None = field(default=None, compare=False)

    @property
    def best(self) -> Option | None:
        """The option with the least expected error among those that can be had."""
        known = [row for row in self.rows if row.available and row.error is not None]
        return known[0] if known else None

    @property
    def cost(self) -> Fraction | None:
        """Of figures that are asked for together: what they cost; else that of the best option."""
        if self.together is not None:
            return self.together.cost
        return None if self.best is None else self.best.cost

    @property
    def table(self) -> pa.Table:
        """The options as a table, for display; `to_json` has the exact numbers."""
        return pa.table(
            {
                "figure": [row.figure for row in self.rows],
                "mechanism": [row.mechanism for row in self.rows],
                "epsilon": [float(row.epsilon) for row in self.rows],
                "expected_error": pa.array([row.error for row in self.rows], pa.float64()),
                "expected_error_assumes": [row.assumes for row in self.rows],
                "cost": pa.array(
                    [None if row.cost is None else float(row.cost) for row in self.rows],
                    pa.float64(),
                ),
                "plain_cost": [float(row.plain_cost) for row in self.rows],
                "fits": [row.fits for row in self.rows],
                "missing": [row.needs for row in self.rows],
                "refusal": [row.refusal for row in self.rows],
                "note": [row.note for row in self.rows],
            }
        )

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; exact numbers are texts."""
        return {
            "by": list(self.by),
            "where": self.where,
            "units": self.units,
            "groups": self.groups,
            "max_groups": self.max_groups,
            "supposed_nonsensitive_share": self.nonsensitive_share,
            "supposed_groups": self.supposed_groups,
            "supposed_from": list(self.sources),
            "left": text_of(self.left),
            "budget": text_of(self.budget),
            "cost": text_of(self.cost),
            "together": None if self.together is None else self.together.to_json(),
            "left_out_per_group": self.left_out,
            "lookups": list(self.lookups),
            "map": list(self.map),
            "time_zones": list(self.time_zones),
            "from_releases": list(self.from_releases),
            "bounds": None if self.curve is None else self.curve.to_json(),
            "options": [row.to_json() for row in self.rows],
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Plan:
        """The inverse of `to_json`; only where it was made are other ε known."""
        together, bounds = said["together"], said["bounds"]
        return cls(
            by=tuple(said["by"]),
            where=said["where"],
            units=said["units"],
            groups=said["groups"],
            max_groups=said["max_groups"],
            nonsensitive_share=said["supposed_nonsensitive_share"],
            supposed_groups=said["supposed_groups"],
            sources=tuple(said["supposed_from"]),
            left=exact_of(said["left"]),
            budget=exact_of(said["budget"]),
            rows=tuple(map(Option.from_json, said["options"])),
            left_out=said["left_out_per_group"],
            curve=None if bounds is None else Curve.from_json(bounds),
            together=None if together is None else Price.from_json(together),
            lookups=tuple(said["lookups"]),
            map=tuple(said["map"]),
            time_zones=tuple(said["time_zones"]),
            from_releases=tuple(said["from_releases"]),
        )

    def shown(self, *, every: bool = False) -> tuple[Option, ...]:
        """The options to show: figures of one answer, or the best ways to have it and what is free.

        With `every` all of them.
        """
        if every or self.together is not None:
            return self.rows
        free = (row for row in self.rows[SHOWN:] if row.available and not row.cost)
        return (*self.rows[:SHOWN], *free)

    def cells(self, *, every: bool = False) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The options in words: the headings and, for each option, its cells."""
        figure = () if self.together is None else ("figure",)
        headings = ("mechanism", "ε", "expected error", "cost", "as plain sum", "can be had")
        rows = [
            (
                *(() if self.together is None else (row.figure,)),
                row.mechanism,
                show(row.epsilon),
                row.said,
                "" if row.cost is None else show(row.cost),
                show(row.plain_cost),
                row.can,
            )
            for row in self.shown(every=every)
        ]
        return (*figure, *headings), rows

    def __repr__(self) -> str:
        best = self.best
        said = "nothing can be had" if best is None else f"{best.mechanism} {best.said}"
        cost = "" if self.cost is None else f", ε = {show(self.cost)}"
        return f"<Plan: {said}{cost}>"

    def _repr_html_(self) -> str:
        from onesided import html

        headings, rows = self.cells()
        facts = {"supposed": "; ".join(self.sources)}
        if self.left is not None and self.budget is not None:
            facts["left"] = f"ε = {show(self.left)} of {show(self.budget)}"
        return html.card(
            "Plan",
            html.table(headings, [[html.Cell(cell) for cell in row] for row in rows]),
            *map(html.note, [*self.folded(), *self.on_bounds(), *self.beside]),
            html.facts(facts),
        )

    def __str__(self) -> str:
        headings, rows = self.cells()
        widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (headings, *rows)
        ]
        beside = (*self.on_bounds(), *self.beside)
        return "\n".join([*lines, *self.folded(), *self.sources, *beside])

    @property
    def beside(self) -> tuple[str, ...]:
        """What has to be known of the data set beside the figures, in words."""
        free = (f"from releases: {each}" for each in self.from_releases)
        return (*free, *self.lookups, *self.map, *self.time_zones)

    def on_bounds(self) -> list[str]:
        """What is known of the bound on groups, in words."""
        said = []
        if self.left_out is not None and self.left_out >= LEAST_SAID:
            lacks = plain_size(self.left_out)
            said.append(f"max_groups = {self.max_groups} leaves out {lacks} more a group")
        return said if self.curve is None else [*said, self.curve.said]

    def plot(self) -> Picture:
        """A chart of the expected errors: by mechanism, by ε and by the bound on groups.

        It needs the extra `charts`.
        """
        from onesided.data.planned.drawing import drawn

        return drawn(self)

    def folded(self) -> list[str]:
        """What is said of the options that are not shown."""
        more = len(self.rows) - len(self.shown())
        return [f"… {more} more ways to ask, less exact or not to be had"] if more else []
