"""Exclusion attacks in a building that a person can follow, and on the real trace."""

from __future__ import annotations

from fractions import Fraction
from math import inf, log

import numpy as np
import pytest

from onesided.audit import attack
from onesided.audit.exclusion import (
    AllNonSensitiveRecords,
    LaplaceCounts,
    NonTrumanModel,
    OneSidedCounts,
    Release,
    SampleOfRecords,
    SuppressedCounts,
    TrumanModel,
)
from onesided.audit.scenes import (
    PEOPLE,
    informed_attacker,
    inseparable_friends,
    known_but_one,
    republica,
    small_building,
)
from onesided.datasets.wifi import republica_archive
from onesided.randomness import seeded

EPSILON = Fraction(1)
TRIALS = 150
ACCESS_CONTROL = [TrumanModel(), NonTrumanModel(), AllNonSensitiveRecords()]
KEEP_EPSILON = [SampleOfRecords(EPSILON), OneSidedCounts(EPSILON), LaplaceCounts(EPSILON / 2)]


def named(release: Release) -> str:
    return release.name


@pytest.mark.parametrize("release", ACCESS_CONTROL, ids=named)
def test_absence_gives_people_away_under_access_control(release: Release):
    report = attack(release, small_building(), TRIALS, seeded(1))
    assert report.worst == inf
    assert report.before == pytest.approx(0.1)
    assert report.after == 1.0


@pytest.mark.parametrize("scene", [small_building, informed_attacker])
@pytest.mark.parametrize("release", KEEP_EPSILON, ids=named)
def test_one_sided_privacy_keeps_the_odds_within_epsilon(release: Release, scene):
    report = attack(release, scene(), TRIALS, seeded(2))
    assert report.within_bound
    assert report.worst == pytest.approx(1, abs=1e-6)
    assert report.after < 0.25


@pytest.mark.parametrize("multiple", [10, 50, 100])
def test_suppress_is_as_free_as_tau_and_not_as_epsilon(multiple: int):
    report = attack(SuppressedCounts(EPSILON * multiple), informed_attacker(), TRIALS, seeded(3))
    assert report.worst == pytest.approx(multiple)
    assert report.after > 0.99


@pytest.mark.parametrize("release", KEEP_EPSILON, ids=named)
def test_the_promise_ends_where_people_are_tied_together(release: Release):
    report = attack(release, inseparable_friends(), TRIALS, seeded(4))
    assert report.worst == pytest.approx(len(PEOPLE), abs=1e-6)


@pytest.mark.parametrize(
    "release", [*KEEP_EPSILON, SuppressedCounts(EPSILON), *ACCESS_CONTROL], ids=named
)
def test_the_attacker_is_calibrated(release: Release):
    """A posterior is right on average: that is how a wrong likelihood would show."""
    beliefs = informed_attacker()
    rng = seeded(5)
    posteriors, truths = [], []
    for _ in range(1_000):
        state = beliefs.drawn(rng)
        output = release.publish(state, beliefs, rng)
        posterior = beliefs.of_target(release.log_likelihood(output, beliefs))
        posteriors.append(posterior[beliefs.sensitive].sum())
        truths.append(beliefs.sensitive[state[beliefs.target]])
    # The standard error of the difference is below 0.01.
    assert np.mean(posteriors) == pytest.approx(np.mean(truths), abs=0.03)


def test_the_yard_of_a_larger_crowd():
    state = np.array([0] * 40 + [1] * 40 + [2] * 10)
    beliefs = known_but_one(state, ("hall", "stage", "yard"), "yard")
    assert beliefs.of_target()[2] == pytest.approx(1 / 9)
    assert attack(AllNonSensitiveRecords(), beliefs, 50, seeded(6)).after == 1.0
    sampled = attack(SampleOfRecords(EPSILON), beliefs, 50, seeded(6))
    assert sampled.within_bound
    # Whoever is absent is in the yard with odds e times those of before.
    assert log(sampled.after / (1 - sampled.after)) == pytest.approx(log(1 / 8) + 1, abs=1e-6)


@pytest.mark.skipif(republica_archive() is None, reason="ONESIDED_DATA has no re:publica trace")
def test_who_was_in_the_smokers_yard():
    beliefs = republica()
    assert beliefs.states.shape[1] == 14_341
    assert beliefs.of_target()[beliefs.sensitive].sum() == pytest.approx(0.126, abs=0.001)
    assert attack(AllNonSensitiveRecords(), beliefs, 30, seeded(7)).worst == inf
    assert attack(SuppressedCounts(10 * EPSILON), beliefs, 30, seeded(7)).after > 0.99
    sampled = attack(SampleOfRecords(EPSILON), beliefs, 30, seeded(7))
    assert sampled.within_bound
    assert sampled.after < 0.3
