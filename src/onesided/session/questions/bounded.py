"""A count that finds its own bound on groups: a look at how many groups units are in, then it.

Where the account has released that already, the look costs nothing. It is stored before the count
is run, so that the bound stays what it was: after a crash, and for whoever asks again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from onesided.data.planned.curve import Curve
from onesided.data.release import ReleaseKind
from onesided.loss import Loss, show
from onesided.mechanisms.one_sided import OneSided
from onesided.session.best_bound import bound_curve, with_bound
from onesided.session.grouping import Grouping, spelled_parameters
from onesided.session.questions.after import after
from onesided.session.questions.base import (
    BOUND_LOOK,
    Question,
    ReleaseTerms,
    Runnable,
    TwoStep,
)
from onesided.session.questions.choosing import counting
from onesided.session.questions.counts import CountingQuestion
from onesided.session.questions.touches import (
    likely_number,
    ranged,
    ranges_for,
    share_from,
    touched_from,
)
from onesided.session.requests import Request
from onesided.session.supposed import Supposed
from onesided.session.table import Reading

AUTO = "auto"
"""In place of a bound: the one that promises the least error."""
LOOK_SHARES = (Fraction(1, 50), Fraction(1, 20), Fraction(1, 10))
"""The parts of ε that a look may take, where nothing is known yet."""
_ENOUGH = 100
"""The first of them is taken that tells so many units from noise, or else the last."""


@dataclass(frozen=True, kw_only=True)
class BoundedCount(Question, TwoStep):
    """A count by `mechanism` of groups whose bound is to be found.

    - `groups`: without a bound.
    - `supposed`: what is known of them from earlier releases.
    - `known_from`: where from, in words.
    """

    seen: ClassVar[str] = BOUND_LOOK

    mechanism: str
    groups: Grouping
    parameters: Mapping[str, Any]
    supposed: Supposed
    known_from: str

    def check(self) -> None:
        """Refuse what a bound does not make possible."""
        self.counting(with_bound(self.groups, 1), self._rest).check()

    @property
    def request(self) -> Request:
        details = {
            **self.groups.details,
            **self.scope.details(),
            "max_groups": AUTO,
            "mechanism": self.mechanism,
            "parameters": spelled_parameters(self.parameters),
        }
        return Request(ReleaseKind.COUNT, self.scope.policy.id, self.epsilon, details)

    @property
    def terms(self) -> ReleaseTerms:
        """What can be said before the bound is known: all but the bound."""
        first = self.counting(with_bound(self.groups, 1), self._rest)
        return replace(
            first.terms,
            loss=self.loss,
            figure="count of units, each in at most as many groups as promise the least error",
            noise="that of the bound which is chosen",
            error={},
        )

    @property
    def loss(self) -> Loss:
        """Held until the bound is chosen: it covers the look, and each way to spend the rest.

        What the look costs, its ranges and the choice all read the number of units.
        """
        return Loss(self.epsilon / 2, self.epsilon / 2, fixed_n=True)

    @property
    def spent(self) -> Fraction:
        """What the look costs."""
        if self.supposed.touched is not None:
            return Fraction(0)
        looks = [share * self.epsilon for share in LOOK_SHARES]
        return next((each for each in looks if each * self.facts.units >= _ENOUGH), looks[-1])

    @property
    def _rest(self) -> Fraction:
        return self.epsilon - self.spent

    def counting(self, groups: Grouping, epsilon: Fraction) -> CountingQuestion:
        """The count of groups with a bound."""
        return counting(
            self.mechanism,
            groups,
            facts=self.facts,
            scope=self.scope,
            epsilon=epsilon,
            parameters=self.parameters,
        )

    def curve(self, supposed: Supposed) -> Curve | None:
        """The errors for a range of bounds."""
        return bound_curve(lambda groups: self.counting(groups, self._rest), self.groups, supposed)

    def look(self, reading: Reading) -> bytes:
        """The bound and what it follows from; by the account's releases, or by one of its own."""
        supposed, counts = self.supposed, dict[int, float]()
        if supposed.touched is None:
            counts = self._ranges(reading)
            units = self.facts.units
            touched = touched_from(counts, units, self.groups)
            share = max(supposed.nonsensitive_share, share_from(counts, units))
            supposed = replace(supposed, touched=touched, nonsensitive_share=share)
        curve = self.curve(supposed)
        k = 1 if curve is None else curve.best.k
        said = {"max_groups": k, "epsilon": str(self.spent), "from": self.known_from}
        return json.dumps({**said, "counts": list(counts.items())}, sort_keys=True).encode()

    def _ranges(self, reading: Reading) -> dict[int, float]:
        """How many non-sensitive units are in each range of numbers of groups, one-sided."""
        edges = ranges_for(self.facts.units, self.spent)
        _, data = ranged(reading, self.groups, edges)
        found = OneSided().measure(data, self.spent, reading.rng)
        numbers = map(likely_number, found.value.tolist(), found.parts["lower"].tolist())
        return dict(zip(edges, numbers, strict=True))

    def decided(self, look: bytes) -> Runnable | TwoStep:
        said = json.loads(look)
        spent = Fraction(said["epsilon"])
        found = FoundBound(int(said["max_groups"]), spent, said["from"])
        question = self.counting(with_bound(self.groups, found.k), self.epsilon - spent)
        assert isinstance(question, Runnable | TwoStep)
        return after(question, found.terms)


@dataclass(frozen=True)
class FoundBound:
    """The bound `k`, found at the cost of `spent`, or from earlier releases."""

    k: int
    spent: Fraction
    known_from: str

    def terms(self, terms: ReleaseTerms) -> ReleaseTerms:
        """Those of the count, with the look."""
        said = {
            "max_groups": self.k,
            "chosen_from": self.known_from or "how many units are in so many groups",
            "epsilon": show(self.spent),
        }
        noise = terms.noise
        if self.spent:
            noise = f"for the bound, one-sided geometric of rate {self.spent}; then {noise}"
        return replace(
            terms,
            loss=terms.loss + Loss(0, self.spent, fixed_n=True),
            noise=noise,
            error={**terms.error, "bound": said},
        )


def ranges_in(look: bytes) -> dict[int, float]:
    """How many units a look has found in each range of numbers of groups; nothing where none."""
    return {int(least): float(count) for least, count in json.loads(look)["counts"]}
