"""In how many groups units are: what a bound on groups is chosen by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data import Axis, Histogram, MeasurementTerms
from onesided.data.release import ReleaseKind, payload_of
from onesided.engine.base import TALLIED, Coins
from onesided.errors import RequestError
from onesided.loss import Loss
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.one_sided import OneSided
from onesided.mechanisms.rr import sample_measurement, sample_terms
from onesided.session.answers import Layout
from onesided.session.grouping import Grouping
from onesided.session.questions.base import COINS, Question, ReleaseTerms, Runnable
from onesided.session.questions.counts import COUNT
from onesided.session.requests import Request
from onesided.session.supposed import USUAL_SHARE, Touched
from onesided.session.table import Reading

_MOST = 4096
_FINEST, _COARSEST = 4, 1
_UNITS_A_RANGE = 32
"""So many units, beside the scale of the noise, are wanted for each range in a doubling."""


def ranges(fine: int) -> tuple[int, ...]:
    """The least number of groups in each range, so that `fine` of them begin in a doubling."""
    edges = [1]
    while edges[-1] < _MOST:
        edges.append(max(edges[-1] + 1, round(edges[-1] * 2 ** (1 / fine))))
    return tuple(edges)


def ranges_for(units: int, epsilon: Fraction) -> tuple[int, ...]:
    """Ranges for a release at `epsilon`: the fewer units beside the noise, the wider."""
    fine = int(units * epsilon / _UNITS_A_RANGE)
    return ranges(min(max(fine, _COARSEST), _FINEST))


TOUCHING = "touching"
"""The key under which a request says which groups it is about."""


@dataclass(frozen=True, kw_only=True)
class Touches(Question, Runnable):
    """How many units are in so many of the `groups`: one-sided, and a unit is in one range.

    The last range has no end. A count is of non-sensitive units.
    """

    mechanism: ClassVar[str] = OneSided.name

    groups: Grouping

    def check(self) -> None:
        """Refuse what nobody has to ask."""
        self._check_several()
        OneSided().check_rate(1, self.epsilon)

    def _check_several(self) -> None:
        if self.groups.single:
            raise RequestError("Each unit is in one group at most here; there is no bound to find.")

    @property
    def request(self) -> Request:
        details = {
            "by": [TALLIED.name],
            TOUCHING: touching(self.groups),
            "mechanism": self.mechanism,
            **self.scope.details(),
        }
        return Request(ReleaseKind.COUNT, self.scope.policy.id, self.epsilon, details)

    @property
    def terms(self) -> ReleaseTerms:
        layout = self.layout
        return ReleaseTerms(
            mechanism=self.mechanism,
            figure="count of non-sensitive units by the number of groups they are in",
            loss=layout.said.loss,
            noise=layout.said.noise,
            randomness=self.randomness,
            columns=layout.schema,
            error=layout.covered,
        )

    @property
    def randomness(self) -> str:
        """Where the noise comes from, in words."""
        return self.facts.randomness

    @property
    def said(self) -> MeasurementTerms:
        """What is said of the run beforehand."""
        said = OneSided().terms(PublicShape((len(self.edges),)), self.epsilon)
        return replace(said, loss=Loss(0, self.epsilon, fixed_n=self._reads_n))

    @property
    def _reads_n(self) -> bool:
        """Ranges follow the number of units, but for a part, which composes in parallel."""
        return self.scope.part is None

    @property
    def edges(self) -> tuple[int, ...]:
        """Where the ranges begin."""
        return ranges_for(self.facts.units if self._reads_n else 0, self.epsilon)

    @property
    def layout(self) -> Layout:
        """The columns of the answer."""
        return Layout((TALLIED,), COUNT, self.said)

    def run(self, reading: Reading) -> bytes:
        keys, data = ranged(reading, self.groups, self.edges)
        measurement = OneSided().measure(data, self.epsilon, reading.rng)
        return payload_of(self.layout.table(keys, data, measurement))


@dataclass(frozen=True, kw_only=True)
class SampledTouches(Touches):
    """The same of the units of a sample; free where that is paid for."""

    shares_coins: ClassVar[bool] = True
    mechanism: ClassVar[str] = "rr"

    def check(self) -> None:
        """Refuse that too, and what must not be told of a sample."""
        self._check_several()
        self.facts.check_sampled(self.groups.where, self.scope)

    @property
    def randomness(self) -> str:
        return COINS

    @property
    def said(self) -> MeasurementTerms:
        return sample_terms(self.epsilon)

    @property
    def edges(self) -> tuple[int, ...]:
        return ranges(_FINEST)

    def run(self, reading: Reading) -> bytes:
        coins = reading.coins(self.epsilon)
        keys, data = ranged(reading, self.groups, self.edges, coins=coins)
        measurement = sample_measurement(data, self.epsilon)
        return payload_of(self.layout.table(keys, data, measurement))


def touching(groups: Grouping) -> dict[str, Any]:
    """Which groups are meant, without any bound on them."""
    return {name: value for name, value in groups.details.items() if name != "max_groups"}


def ranged(
    reading: Reading, groups: Grouping, edges: tuple[int, ...], *, coins: Coins | None = None
) -> tuple[pa.Table, Histogram]:
    """The units in each range of numbers; with `coins` those of that sample."""
    tally = reading.tally(groups, coins=coins)
    numbers = tally.keys.column(0).to_numpy().astype(np.int64)
    place = np.searchsorted(np.array(edges), numbers, side="right") - 1
    whole, nonsensitive = (
        _added(place, each, len(edges)) for each in (tally.all, tally.nonsensitive)
    )
    axes = (Axis(TALLIED.name, edges),)
    return tally.keys, Histogram(whole, nonsensitive, axes, k=1, total_public=False)


def _added(place: NDArray[np.int64], counts: NDArray[np.int64], bins: int) -> NDArray[np.int64]:
    found = np.zeros(bins, dtype=np.int64)
    np.add.at(found, place, counts)
    return found


def likely_number(value: float, floor: float) -> float:
    """Of a range: what is released is corrected by no more than is certain of it.

    Small numbers are more frequent than large ones, and a corrected tail would weigh too much.
    """
    return floor + min(floor, value - floor)


def share_from(counts: Mapping[int, float], units: int) -> float:
    """The share of non-sensitive units, at least one half; there are some more beside these."""
    return min(max(sum(counts.values()) / units, USUAL_SHARE), 1.0)


def touched_from(counts: Mapping[int, float], units: int, groups: Grouping) -> Touched:
    """What is known of `counts` non-sensitive units, by the least number of each range.

    Where nothing is filtered, each of the `units` is in some group, and the others are taken to be
    like these. Else as many units are taken to be non-sensitive as are not.
    """
    edges = sorted(counts)
    ends = [*(beyond - 1 for beyond in edges[1:]), edges[-1]]
    middles = {
        float((least * most) ** 0.5): counts[least]
        for least, most in zip(edges, ends, strict=True)
        if counts[least] > 0
    }
    seen = sum(middles.values())
    return Touched.of(middles, seen if groups.where is None else max(seen, units / 2))
