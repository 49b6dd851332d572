"""Counts of the sample that the coins of the snapshot draw; free where that is paid for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from onesided.data import MeasurementTerms
from onesided.data.planned.option import Missing
from onesided.data.release import payload_of
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.rr import sample_measurement, sample_terms
from onesided.session.questions.base import COINS, Runnable
from onesided.session.questions.counts import CountingQuestion
from onesided.session.supposed import Supposed
from onesided.session.table import Reading


@dataclass(frozen=True, kw_only=True)
class SampledCounts(CountingQuestion, Runnable):
    """How many units of the sample at ε are in each group, scaled to all non-sensitive ones.

    It looks at released units alone, so that no bound on their groups is needed.
    """

    shares_coins: ClassVar[bool] = True

    @property
    def missing(self) -> Missing | None:
        return None

    def check(self) -> None:
        """Everything can be counted in a sample but what must not be told of it."""
        self.facts.check_sampled(self.groups.where, self.scope)

    def supposed(self, supposed: Supposed) -> PublicShape:
        """No bound on groups is kept: a unit of the sample counts in all of them."""
        public = super().supposed(supposed)
        if supposed.touched is None:
            return public
        touches = supposed.touched.counted(supposed.touched.most)
        return replace(public, likely_touches=touches)

    @property
    def said(self) -> MeasurementTerms:
        return sample_terms(self.epsilon)

    @property
    def counted(self) -> str:
        return ""

    @property
    def randomness(self) -> str:
        return COINS

    def run(self, reading: Reading) -> bytes:
        keys, data = reading.sampled(self.groups, reading.coins(self.epsilon))
        measurement = sample_measurement(data, self.epsilon)
        return payload_of(self.layout(self.said).table(keys, data, measurement))
