"""Cells of a column that are found: a look at a public ladder of cells, then counts in finer ones.

The look counts non-sensitive units in each rung of the ladder, one-sidedly. Where they are seen the
cells are, and all units are counted in these.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from onesided.data.askable import USUAL_CELLS
from onesided.data.planned.option import Missing
from onesided.data.release import ReleaseKind
from onesided.language import BoundKey
from onesided.loss import Loss, show
from onesided.mechanisms.noise import geometric_mean
from onesided.mechanisms.one_sided import one_sided_noise, subtract_noise
from onesided.session.cells import Cells, check_number
from onesided.session.facts import DatasetFacts
from onesided.session.found_cells import ladder, nice, refined
from onesided.session.grouping import Grouping, WantedCounts
from onesided.session.questions.after import after
from onesided.session.questions.base import (
    BOUND_LOOK,
    Question,
    ReleaseTerms,
    Runnable,
    TwoStep,
)
from onesided.session.questions.bounded import AUTO
from onesided.session.questions.ranked import RankedCounts, celled
from onesided.session.requests import Request
from onesided.session.scope import Scope
from onesided.session.supposed import NOTHING_KNOWN, Supposed
from onesided.session.table import Reading

LADDER_SHARE = Fraction(1, 16)
"""The part of ε for the look at the ladder."""


@dataclass(frozen=True)
class GroupsBeside:
    """Groups, and a column beside them whose values are counted in cells.

    - `single`: a unit has one value of it at most.
    """

    facts: DatasetFacts
    scope: Scope
    column: BoundKey
    groups: Grouping
    single: bool

    def counted(self, kind: ReleaseKind, epsilon: Fraction, cells: Cells) -> RankedCounts:
        """The units in these cells of each group."""
        return RankedCounts(
            facts=self.facts,
            scope=self.scope,
            epsilon=epsilon,
            kind=kind,
            groups=celled(self.groups, cells, self.facts.schema, single=self.single),
            cells=cells,
        )


@dataclass(frozen=True, kw_only=True)
class FoundCells(Question, TwoStep):
    """Counts of units in cells that are found, at ε in all.

    - `rungs`: the ladder.
    - `most`: about how many cells there are to be, for quantiles.
    """

    seen: ClassVar[str] = BOUND_LOOK

    kind: ReleaseKind
    beside: GroupsBeside
    rungs: Cells
    most: int = USUAL_CELLS

    @property
    def by(self) -> str:
        """The name of its mechanism."""
        return RankedCounts.mechanism

    @property
    def groups(self) -> Grouping:
        """Those of the ladder."""
        return self._first.groups

    @property
    def missing(self) -> Missing | None:
        return self._first.missing

    def check(self) -> None:
        self._first.check()

    @property
    def request(self) -> Request:
        first = self._first.request
        details = {name: each for name, each in first.details.items() if name != "edges"}
        found = {"bounds": AUTO, "cells": self.most}
        return Request(self.kind, first.policy_id, self.epsilon, {**details, **found})

    @property
    def loss(self) -> Loss:
        """Held until the look has chosen: (0, ε/16) and a pair (s, t) of the rest, s ≤ t."""
        return Loss(self.epsilon / 2, self.epsilon / 2)

    @property
    def terms(self) -> ReleaseTerms:
        """What can be said before the cells are known."""
        first = self._first.terms
        return replace(
            first,
            loss=self.loss,
            figure=f"{self.kind.value} of {self.rungs.column.name}, in cells that are found"
            f"{self.groups.counted}",
            noise=f"{self._look_noise}; {first.noise}",
        )

    @property
    def _look_noise(self) -> str:
        rate = self._spent / self._line.bound
        return f"for the cells, {one_sided_noise(rate)} in each rung of a ladder"

    @property
    def _spent(self) -> Fraction:
        return self.epsilon * LADDER_SHARE

    @cached_property
    def _line(self) -> Grouping:
        """The rungs, of all groups together."""
        if not self.beside.groups.keys:
            return self._first.groups
        every = replace(self.beside.groups, keys=(), domains={})
        return replace(self.beside, groups=every).counted(self.kind, self._spent, self.rungs).groups

    @property
    def wants(self) -> tuple[WantedCounts, ...]:
        return self._line.wanted()

    def expected_error(self, supposed: Supposed = NOTHING_KNOWN) -> float | None:
        """By how many units the rank of a quantile is off in a group."""
        return self._first.expected_error(supposed)

    @property
    def assumes(self) -> str:
        return self._first.assumes

    @cached_property
    def _first(self) -> RankedCounts:
        """The counts in the rungs themselves, which can be said before the look."""
        return self._counted(self.rungs)

    def _counted(self, cells: Cells) -> RankedCounts:
        """The counts in these cells, at what the look leaves of ε."""
        return self.beside.counted(self.kind, self.epsilon - self._spent, cells)

    def look(self, reading: Reading) -> bytes:
        """How many non-sensitive units are in each rung."""
        line = self._line
        _, data = reading.histogram(line)
        noisy = subtract_noise(data.nonsensitive, self._spent / line.bound, reading.rng)
        return json.dumps({"counts": noisy.reshape(-1).tolist()}).encode()

    def decided(self, look: bytes) -> Runnable | TwoStep:
        counts = np.maximum(np.array(json.loads(look)["counts"]), 0)
        # What is seen has lost this much on average.
        lost = geometric_mean(self._spent / self._line.bound)
        likely = np.where(counts > 0, counts + lost, 0.0).tolist()
        made = nice(self.rungs, likely)
        if self.kind is ReleaseKind.QUANTILE:
            made = refined(self.rungs, likely, self.most)
        return after(self._counted(made), self._told)

    def _told(self, terms: ReleaseTerms) -> ReleaseTerms:
        cells = {
            "cells": "as many as units seem to be, by their values",
            "epsilon": show(self._spent),
        }
        return replace(
            terms,
            loss=Loss(0, self._spent) + terms.loss,
            noise=f"{self._look_noise}; {terms.noise}",
            error={**terms.error, "found": cells},
        )


def ranked(
    kind: ReleaseKind,
    epsilon: Fraction,
    beside: GroupsBeside,
    cells: Cells | None,
    most: int = USUAL_CELLS,
) -> RankedCounts | FoundCells:
    """The counts in `cells`, or in such as are found."""
    if cells is not None:
        return beside.counted(kind, epsilon, cells)
    check_number(most)
    return FoundCells(
        facts=beside.facts,
        scope=beside.scope,
        epsilon=epsilon,
        kind=kind,
        beside=beside,
        rungs=ladder(beside.column),
        most=most,
    )
