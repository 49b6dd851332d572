"""`laplace`: unbiased integer noise on all units, and what clipping changes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from onesided.data import Histogram
from onesided.loss import Loss
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.laplace import Laplace
from onesided.randomness import seeded
from support.statistics import CONTROL_FACTOR, agrees, chi_square_p_value

BINS = 20_000
COUNT = 1_000


def noise(epsilon: Fraction, k: int = 1) -> np.ndarray:
    everyone = np.full(BINS, COUNT)
    data = Histogram(everyone, np.zeros_like(everyone), k=k, total_public=False)
    return Laplace().release(data, epsilon=epsilon, rng=seeded(6)).value - COUNT


def test_noise_is_two_sided_geometric_of_rate_epsilon_over_2k() -> None:
    epsilon, k = Fraction(1, 2), 7
    rate = float(epsilon) / (2 * k)
    found = noise(epsilon, k)
    assert agrees(chi_square_p_value(found, stats.dlaplace(rate)))
    assert not agrees(chi_square_p_value(found, stats.dlaplace(rate * float(CONTROL_FACTOR))))


def test_the_terms_state_the_variance_of_a_cell_unless_negative_counts_are_raised() -> None:
    epsilon, shape = Fraction(1, 2), PublicShape((BINS,), k=7)
    stated = Laplace().terms(shape, epsilon).variance
    assert stated == pytest.approx(stats.dlaplace(float(epsilon) / 14).var())
    assert Laplace(clip=True).terms(shape, epsilon).variance is None


def test_the_pair_is_half_of_epsilon_for_every_unit() -> None:
    assert Laplace().loss(Fraction(3)) == Loss("3/2", "3/2")


def test_it_does_not_look_at_the_policy() -> None:
    everyone = np.array([40, 0, 7])
    closed = Laplace().release(Histogram(everyone, [0, 0, 0]), epsilon=1, rng=seeded(2))
    open_ = Laplace().release(Histogram(everyone, everyone), epsilon=1, rng=seeded(2))
    np.testing.assert_array_equal(closed.value, open_.value)


def test_clipping_raises_negative_counts_and_nothing_else() -> None:
    data = Histogram(np.zeros(200, dtype=np.int64), np.zeros(200, dtype=np.int64))
    plain = Laplace().release(data, epsilon=1, rng=seeded(1)).value
    clipped = Laplace(clip=True).release(data, epsilon=1, rng=seeded(1)).value
    assert plain.min() < 0
    np.testing.assert_array_equal(clipped, np.maximum(plain, 0))


def test_the_error_is_the_one_that_was_foreseen() -> None:
    epsilon = Fraction(1, 5)
    foreseen = Laplace().expected_error(PublicShape((BINS,), n=COUNT * BINS), epsilon)
    assert np.mean(np.abs(noise(epsilon))) == pytest.approx(foreseen, rel=0.03)
