"""A plan: all ways to answer one question, what they cost, and how far off they would be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from onesided.data.expectation import STATED_GROUPS
from onesided.digits import plain_size
from onesided.loss import show
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm
from onesided.session.best_bound import Curve
from onesided.session.planning.pricing import Price
from onesided.session.questions.base import Missing
from onesided.session.questions.expected import Expectation
from onesided.session.supposed import Basis

if TYPE_CHECKING:
    from onesided.charts.picture import Picture

LEAST_SAID = 0.05
"""Less than that a group is not worth a sentence."""
SHOWN = 3
"""So many options are shown; the others are folded."""
_MIDDLE = STATED_GROUPS[len(STATED_GROUPS) // 2]


@dataclass(frozen=True, kw_only=True)
class Option:
    """One way to answer the question.

    - `figure`: what it answers.
    - `mechanism`, `epsilon`: what to ask for.
    - `expectation`: the expected mean of |x̃ᵢ − xᵢ| over the groups; None where nobody can say.
    - `cost`: what it would add to the account's ε; None where the account cannot book it.
    - `plain_cost`: what it would add to the plain sum of ε.
    - `fits`: whether the account can pay it.
    - `missing`: what the question must say first.
    - `supposing`: what it says in the expectation in place of what is missing.
    - `refusal`: why the mechanism does not answer questions of this form, where it does not.
    - `note`: why it is free, where it is.
    """

    figure: str
    mechanism: str
    epsilon: Fraction
    expectation: Expectation | None
    cost: Fraction | None
    plain_cost: Fraction
    fits: bool
    missing: Missing | None = None
    supposing: str = ""
    refusal: str = ""
    note: str = ""

    @property
    def available(self) -> bool:
        """Whether it would be answered now."""
        return self.fits and self.missing is None and not self.refusal

    @property
    def errors(self) -> Mapping[int | None, float]:
        """The expected errors by the number of groups; under None where that is known."""
        return {} if self.expectation is None else self.expectation.errors

    @property
    def error(self) -> float | None:
        """The expected error; where the number of groups is not known, that for 100 of them."""
        return self.errors.get(None, self.errors.get(_MIDDLE))

    def within(self, error: float | None) -> bool:
        """Whether no expected error is larger."""
        return error is not None and bool(self.errors) and max(self.errors.values()) <= error

    @property
    def assumes(self) -> str:
        """What the expected error takes for granted about the data."""
        return "" if self.expectation is None else self.expectation.assumes

    def to_json(self) -> dict[str, Any]:
        """Plain JSON; exact numbers are texts."""
        return {
            "figure": self.figure,
            "mechanism": self.mechanism,
            "epsilon": show(self.epsilon),
            "expected_absolute_error_per_group": self.errors.get(None),
            "expected_absolute_error_by_groups": {
                str(number): error for number, error in self.errors.items() if number is not None
            },
            "expected_error_of": None if self.expectation is None else self.expectation.of,
            "expected_error_assumes": self.assumes,
            "cost": None if self.cost is None else show(self.cost),
            "cost_as_plain_sum": show(self.plain_cost),
            "fits": self.fits,
            "missing": self.needs,
            "refusal": self.refusal,
            "note": self.note,
        }

    @property
    def needs(self) -> str:
        """What is missing, in words."""
        return "" if self.missing is None else self.missing.value

    @property
    def said(self) -> str:
        """The expected error in words."""
        if not self.errors:
            return "unknown"
        upper = "up to " if self.assumes == BucketAlgorithm.assumes else ""
        sizes = " / ".join(plain_size(error) for error in self.errors.values())
        numbers = " / ".join(f"{number:,}" for number in self.errors if number is not None)
        stated = f" for {numbers} groups" if numbers else ""
        supposing = f" with {self.supposing}" if self.supposing else ""
        return f"{upper}±{sizes}{stated}{supposing}"

    @property
    def can(self) -> str:
        """Whether it can be had, in words."""
        if self.missing is not None:
            return f"no: it needs {self.needs}"
        if self.refusal:
            return f"no: {self.refusal}"
        if self.cost is None:
            return "no: it cannot be booked on one part"
        return (self.note or "yes") if self.fits else "no: over budget"


ErrorAt: TypeAlias = Callable[[Option, Fraction], float | None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All ways to answer one question: what can be had first, the most exact one on top.

    `left` and `budget` are None where no account was agreed to yet.

    - `basis`: what is supposed of the data, and from where it is known.
    - `left_out`: how many units a group lacks on average by the bound on groups, beside which the
      expected errors are of what is counted; None where nobody knows.
    - `curve`: of a count, the errors for a range of bounds; None where nobody knows.
    - `together`: of figures of one answer, which are asked for together, what all of them cost.
    - `lookups`: in words, what rows of lookup tables cost that decide over several units.
    - `map`: in words, what the map does over which units are closed.
    - `time_zones`: in words, where hours and days of columns are taken by declaration.
    - `error_at`: the expected error of an option at another ε.
    """

    by: tuple[str, ...]
    where: str | None
    facts: PublicShape
    basis: Basis
    left: Fraction | None
    budget: Fraction | None
    rows: tuple[Option, ...]
    left_out: float | None = None
    curve: Curve | None = None
    together: Price | None = None
    lookups: tuple[str, ...] = ()
    map: tuple[str, ...] = ()
    time_zones: tuple[str, ...] = ()
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
        supposed = self.basis.supposed
        return {
            "by": list(self.by),
            "where": self.where,
            "units": self.facts.n,
            "groups": self.facts.bins,
            "max_groups": self.facts.k,
            "supposed_nonsensitive_share": supposed.nonsensitive_share,
            "supposed_groups": supposed.groups if self.facts.bins is None else None,
            "supposed_from": list(self.basis.sources),
            "left": None if self.left is None else show(self.left),
            "budget": None if self.budget is None else show(self.budget),
            "cost": None if self.cost is None else show(self.cost),
            "left_out_per_group": self.left_out,
            "lookups": list(self.lookups),
            "map": list(self.map),
            "time_zones": list(self.time_zones),
            "bounds": None if self.curve is None else self.curve.to_json(),
            "options": [row.to_json() for row in self.rows],
        }

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
        facts = {"supposed": "; ".join(self.basis.sources)}
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
        return "\n".join([*lines, *self.folded(), *self.basis.sources, *beside])

    @property
    def beside(self) -> tuple[str, ...]:
        """What has to be known of the data set beside the figures, in words."""
        return (*self.lookups, *self.map, *self.time_zones)

    def on_bounds(self) -> list[str]:
        """What is known of the bound on groups, in words."""
        said = []
        if self.left_out is not None and self.left_out >= LEAST_SAID:
            said.append(
                f"max_groups = {self.facts.k} leaves out {plain_size(self.left_out)} more a group"
            )
        return said if self.curve is None else [*said, self.curve.said]

    def plot(self) -> Picture:
        """A chart of the expected errors: by mechanism, by ε and by the bound on groups.

        It needs the extra `charts`.
        """
        from onesided.session.planning.drawing import drawn

        return drawn(self)

    def folded(self) -> list[str]:
        """What is said of the options that are not shown."""
        more = len(self.rows) - len(self.shown())
        return [f"… {more} more ways to ask, less exact or not to be had"] if more else []


def usefulness(row: Option) -> tuple[bool, float, Fraction]:
    """What can be had first, then the least error, then the least cost."""
    error = inf if row.error is None else row.error
    return not row.available, error, Fraction(0) if row.cost is None else row.cost


def cheapness(row: Option) -> tuple[bool, Fraction, float]:
    """What can be had first, then the least cost, then the least error."""
    unavailable, error, cost = usefulness(row)
    return unavailable, cost, error
