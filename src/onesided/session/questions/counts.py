"""Counts of units by group, by one mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data import Measured, MeasurementTerms
from onesided.data.planned.option import Missing
from onesided.data.release import ReleaseKind, payload_of
from onesided.errors import RequestError
from onesided.loss import Loss
from onesided.mechanisms.base import Mechanism, PublicShape
from onesided.session.answers import Layout
from onesided.session.by_policy import only_sensitive
from onesided.session.grouping import CountsOfGroups, Grouping, WantedCounts, spelled_parameters
from onesided.session.questions.base import Question, ReleaseTerms, Runnable
from onesided.session.questions.expected import expected_json
from onesided.session.requests import Request
from onesided.session.supposed import NOTHING_KNOWN, Supposed
from onesided.session.table import Reading

COUNT = "count"
_COUNTED = {
    Measured.NONSENSITIVE: "count of non-sensitive units",
    Measured.ALL: "count of units",
    Measured.BUCKETS: "total of each bucket, units",
}
"""What bounds cover where a bound on groups may leave something out."""


@dataclass(frozen=True, kw_only=True)
class CountingQuestion(Question):
    """How many units are in each group, asked of a mechanism with its `parameters`."""

    mechanism: Mechanism
    groups: Grouping
    parameters: Mapping[str, Any]

    @property
    def by(self) -> str:
        """The name of its mechanism."""
        return self.mechanism.name

    @property
    def missing(self) -> Missing | None:
        if self.groups.k is None:
            return Missing.MAX_GROUPS
        return Missing.DOMAIN if self.mechanism.needs_domain and self.groups.undeclared else None

    def check(self) -> None:
        if self.missing is Missing.MAX_GROUPS:
            raise RequestError(
                "A unit can be in several groups here; say with max_groups how many may count."
            )
        if self.missing is Missing.DOMAIN:
            raise RequestError(
                f"{self.mechanism.name} needs the possible values of {self.groups.undeclared[0]}; "
                "declare its domain, or use a mechanism that finds them, such as one-sided."
            )
        self.mechanism.check(self.public)
        self.mechanism.check_rate(self.groups.bound, self.epsilon)

    @property
    def request(self) -> Request:
        details = {
            **self.groups.details,
            **self.scope.details(),
            "mechanism": self.mechanism.name,
            "parameters": spelled_parameters(self.parameters),
        }
        return Request(ReleaseKind.COUNT, self.scope.policy.id, self.epsilon, details)

    @property
    def loss(self) -> Loss:
        return self.mechanism.loss(self.epsilon, fixed_n=self.groups.every_unit_once)

    @property
    def said(self) -> MeasurementTerms:
        """What the mechanism says of its run beforehand."""
        return self.mechanism.terms(self.public, self.epsilon)

    @property
    def randomness(self) -> str:
        """Where the noise comes from, in words."""
        return self.facts.randomness

    @property
    def terms(self) -> ReleaseTerms:
        return self.terms_of(self.said)

    def terms_of(self, said: MeasurementTerms) -> ReleaseTerms:
        """The terms of a release whose run says this of itself."""
        layout = self.layout(said)
        return ReleaseTerms(
            mechanism=self.mechanism.name,
            figure=f"count of units{self.counted}",
            loss=said.loss,
            noise=said.noise,
            randomness=self.randomness,
            columns=layout.schema,
            error={**layout.covered, **expected_json(self), **_variance(said)},
        )

    def layout(self, said: MeasurementTerms) -> Layout:
        """The columns of an answer by a run that says this of itself."""
        if not self.counted:
            return Layout(self.groups.keys, COUNT, said)
        words = {of: f"{words}{self.counted}" for of, words in _COUNTED.items()}
        return Layout(self.groups.keys, COUNT, said, words=words, cut=True)

    @property
    def counted(self) -> str:
        """What is added to the units in words, where some of their groups may be left out."""
        return self.groups.counted

    def expected_error(self, supposed: Supposed = NOTHING_KNOWN) -> float | None:
        """Of what is counted; where a bound leaves groups out, that comes on top."""
        found = [share * error for share, _, error in self.errors_by_size(supposed)]
        return sum(found) if found else None

    def errors_by_size(self, supposed: Supposed) -> list[tuple[float, float, float]]:
        """For each size a share of the groups, the mean of those units, and the expected error.

        Nothing where nobody can say.
        """
        public = self.supposed(supposed)
        if self.missing is Missing.MAX_GROUPS or public.supposed_bins is None:
            known = None if self.missing is Missing.MAX_GROUPS else self._expected(public)
            return [] if known is None else [(1.0, 0.0, known)]
        density = public.density or 0.0
        found = [
            (share, size * density, self._expected(resized(public, size)))
            for share, size in supposed.sizes
        ]
        return [(share, size, error) for share, size, error in found if error is not None]

    def _expected(self, public: PublicShape) -> float | None:
        """A sensitive unit of several groups is in others than those that the policy names."""
        error = self.mechanism.expected_error(public, self.epsilon)
        if error is None or not self.mechanism.reads_policy or self.groups.single:
            return error
        return error + (public.density or 0.0) * (1 - public.nonsensitive_share)

    @property
    def assumes(self) -> str:
        return self.mechanism.assumes

    def supposed(self, supposed: Supposed) -> PublicShape:
        """The histogram as it is supposed to be; without a domain, as if it had been declared."""
        public = self.groups.public(self.facts.units, supposed=supposed)
        if self.mechanism.needs_domain and public.shape is None and supposed.groups is not None:
            return replace(public, shape=(supposed.groups,))
        return public

    @property
    def public(self) -> PublicShape:
        """What is public about the histogram that this question makes."""
        by_policy = self.bins_by_policy is not None
        return self.groups.public(self.facts.units, by_policy=by_policy)

    @cached_property
    def bins_by_policy(self) -> NDArray[np.bool_] | None:
        """The bins of sensitive units only, for mechanisms that read the policy."""
        if not self.mechanism.reads_policy:
            return None
        return only_sensitive(self.scope.policy, self.groups)


@dataclass(frozen=True, kw_only=True)
class Counts(CountingQuestion, Runnable):
    """Counts by one run of the mechanism."""

    @property
    def wants(self) -> tuple[WantedCounts, ...]:
        return self.groups.wanted()

    @property
    def counts(self) -> tuple[CountsOfGroups, ...]:
        return (CountsOfGroups(self.groups),)

    def run(self, reading: Reading) -> bytes:
        keys, data = reading.histogram(self.groups, only_sensitive=self.bins_by_policy)
        measurement = self.mechanism.measure(data, self.epsilon, reading.rng)
        return payload_of(self.layout(self.said).table(keys, data, measurement))


def _variance(said: MeasurementTerms) -> dict[str, str]:
    """That of a group's noise, for whoever computes with the released figures."""
    return {} if said.variance is None else {"variance_per_group": f"{said.variance:.6g}"}


def resized(public: PublicShape, size: float) -> PublicShape:
    """The same with groups of another size beside their mean."""
    if size == 1 or public.supposed_bins is None:
        return public
    touches = public.likely_touches
    mean = float(min(public.k, public.supposed_bins)) if touches is None else touches
    return replace(public, likely_touches=size * mean)
