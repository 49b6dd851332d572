"""All that can be seen is an outcome: both audits see exceptions, words, names and kinds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from onesided.audit import (
    Auditable,
    Effort,
    ExactAudit,
    NotEnumerableError,
    OutOfTimeError,
    StatisticalAudit,
    histogram_world,
    loss_claims,
)
from onesided.audit.neighbours import Candidate, Setting
from onesided.data import Histogram, Measurement
from onesided.errors import MechanismRefused
from onesided.loss import Loss
from onesided.mechanisms.base import Mechanism, PublicShape
from onesided.mechanisms.hybrid import Hybrid
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.residual import Residual
from onesided.randomness import Randomness
from support.audited import at

EPSILON = Fraction(1)
EXACT = ExactAudit(most_units=1, most_paths=300)
EFFORT = Effort(search=20, random=0, climbs=0, learn=100, test=200)
PAIRS = [Candidate(Setting(), (0, 2), (3, 1), 0, 1, False).pair()]


def exactly(mechanism: Auditable) -> bool:
    claims = loss_claims(Laplace().loss(EPSILON))
    return EXACT.claims(mechanism, histogram_world(), claims).rejected


def by_runs(mechanism: Auditable) -> bool:
    return StatisticalAudit(effort=EFFORT).claim(mechanism, EPSILON, pairs=PAIRS).rejected


@dataclass(frozen=True, kw_only=True)
class RaisesOnSensitive(Laplace):
    """Sound where it answers."""

    def measure(self, data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
        if data.sensitive.reshape(-1)[0]:
            raise ValueError("no")
        return super().measure(data, epsilon, rng)


@dataclass(frozen=True)
class Noisy:
    """Values in which nothing can be seen, if the noise is so large that no two are alike."""

    noise: Fraction

    def noisy(self, data: Histogram, rng: Randomness) -> Measurement:
        return Laplace().release(data, epsilon=self.noise, rng=rng)


class SaysInItsMessage(Noisy):
    """It never answers, and what it says is about sensitive units."""

    def release(self, data, rng):
        raise ValueError(f"{int(data.sensitive[0])} units are sensitive")


class SaysInItsNoise(Noisy):
    """The words about the noise follow from a count."""

    def release(self, data, rng):
        rate = self.noise / (1 + int(data.sensitive[0]))
        return f"two-sided geometric of rate {rate}", self.noisy(data, rng)


class SaysInAName(Noisy):
    def release(self, data, rng):
        name = "lower" if data.sensitive[0] else "upper"
        return replace(self.noisy(data, rng), parts={name: np.zeros(2)})


class SaysInTheKindOfNumbers(Noisy):
    def release(self, data, rng):
        found = self.noisy(data, rng)
        return replace(found, value=found.value.astype(float)) if data.sensitive[0] else found


class SaysInAnInterval(Noisy):
    def release(self, data, rng):
        found = self.noisy(data, rng)
        return replace(found, intervals=found.intervals[: int(data.sensitive[0])])


WORDY = [SaysInItsMessage, SaysInItsNoise, SaysInAName, SaysInTheKindOfNumbers, SaysInAnInterval]


@pytest.mark.parametrize("plant", WORDY)
def test_what_is_no_number_is_seen_in_exact_laws(plant):
    assert exactly(plant(EPSILON))


@pytest.mark.parametrize("plant", WORDY)
def test_what_is_no_number_is_seen_where_no_two_values_are_alike(plant):
    assert by_runs(plant(EPSILON / 10_000))


@pytest.mark.parametrize("audit", [exactly, by_runs])
def test_who_raises_on_sensitive_units_alone_is_rejected(audit):
    assert audit(at(RaisesOnSensitive(), EPSILON))


def test_many_runs_at_once_show_the_words_too():
    class Tells:
        """A sensitive unit chooses between two that differ in their words alone."""

        def chosen(self, data):
            return at(WordsOf(words="a" if data.sensitive[0] else "b"), EPSILON)

        def release(self, data, rng):
            return self.chosen(data).release(data, rng)

        def release_many(self, data, runs, rng):
            many = self.chosen(data).release_many(data, runs, rng)
            assert isinstance(many, np.ndarray)
            return many

    assert by_runs(Tells())


@dataclass(frozen=True, kw_only=True)
class WordsOf(Laplace):
    words: str

    def terms(self, public: PublicShape, epsilon: Fraction):
        return replace(super().terms(public, epsilon), noise=self.words)


@pytest.mark.parametrize("chosen", [Laplace(), Residual()], ids=lambda each: each.name)
def test_what_is_sound_is_not_rejected(chosen: Mechanism):
    assert not by_runs(at(chosen, EPSILON))


def test_an_exception_that_comes_by_chance_is_an_outcome_of_its_chance():
    class Coin:
        """Raises with e^−2 where sensitive, and e^−3 less often where not."""

        def release(self, data, rng):
            rate = Fraction(2) if data.sensitive[0] else Fraction(5)
            if rng.bernoulli_exp(rate, np.ones(1, dtype=np.int64))[0]:
                raise ZeroDivisionError("by chance")
            return 0

    report = EXACT.claims(Coin(), histogram_world((1,)), loss_claims(Loss(0, 2)))
    assert report.findings[0].loss == pytest.approx(3)
    assert report.rejected


@pytest.mark.parametrize(
    "own", [OutOfTimeError, NotEnumerableError, MemoryError, KeyboardInterrupt]
)
def test_what_the_audit_or_the_machine_raises_is_no_outcome(own):
    class Stops:
        def release(self, data, rng):
            raise own("stop")

    with pytest.raises(own):
        EXACT.claims(Stops(), histogram_world(), loss_claims(Loss(0, 1)))
    with pytest.raises(own):
        by_runs(Stops())


@pytest.mark.parametrize("audit", [exactly, by_runs])
def test_who_audits_what_is_always_refused_is_told_why(audit):
    with pytest.raises(MechanismRefused, match="needs a policy"):
        audit(at(Hybrid(), EPSILON))
