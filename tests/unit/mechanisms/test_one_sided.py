"""`one-sided`: clipping, correction, open domains, bounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.data import Histogram, Measured
from onesided.errors import MechanismRefused
from onesided.mechanisms.noise import geometric_quantile
from onesided.mechanisms.one_sided import OneSided
from onesided.randomness import seeded
from support.terms import stated

counts = st.lists(st.tuples(st.integers(0, 500), st.integers(0, 500)), min_size=1, max_size=30)


@given(counts, st.integers(0, 2**32), st.sampled_from(["1/100", "1/2", "3"]))
def test_before_correction_no_count_exceeds_the_truth(
    pairs: list[tuple[int, int]], seed: int, epsilon: str
) -> None:
    others = np.array([pair[0] for pair in pairs])
    data = Histogram(others + [pair[1] for pair in pairs], others)
    found = OneSided(correct=False).release(data, epsilon=epsilon, rng=seeded(seed))
    assert np.all(found.value <= data.nonsensitive)
    assert np.all(found.value >= 0)
    assert np.all(found.value[others == 0] == 0)


def test_correction_adds_the_median_to_positive_counts_only() -> None:
    data = Histogram([500, 500, 0], [400, 300, 0])
    plain = OneSided(correct=False).release(data, epsilon=Fraction(1, 10), rng=seeded(1))
    corrected = OneSided().release(data, epsilon=Fraction(1, 10), rng=seeded(1))
    median = geometric_quantile(Fraction(1, 10), Fraction(1, 2))
    np.testing.assert_array_equal(corrected.value - plain.value, [median, median, 0])


def test_noise_grows_with_the_bins_that_a_unit_may_touch() -> None:
    everyone = np.full(2000, 1000)
    data = Histogram(everyone, everyone, k=50, total_public=False)
    found = OneSided(correct=False).release(data, epsilon=1, rng=seeded(3))
    assert 45 < np.mean(1000 - found.value) < 55


def test_unclipped_counts_may_be_negative_and_need_a_domain() -> None:
    data = Histogram([3] * 50, [0] * 50)
    found = OneSided(clip=False, correct=False).release(data, epsilon=1, rng=seeded(1))
    assert found.value.min() < 0
    hidden = Histogram([3] * 50, [0] * 50, open_domain=True)
    with pytest.raises(MechanismRefused, match="declare the keys, or clip"):
        OneSided(clip=False).release(hidden, epsilon=1)


def test_an_open_domain_without_any_key() -> None:
    found = OneSided().release(Histogram([], [], open_domain=True), epsilon=1, rng=seeded(1))
    assert found.value.size == 0
    assert found.keys is not None
    assert found.keys.size == 0


def test_public_n_bounds_counts_from_above_for_certain_and_is_paid_for() -> None:
    data = Histogram([40, 60, 7], [30, 50, 0])
    found = OneSided(use_n=True).release(data, epsilon=1, rng=seeded(4))
    (bound,) = [each for each in found.intervals if each.of is Measured.ALL]
    assert bound.upper is not None
    assert bound.confidence == 1
    np.testing.assert_array_equal(bound.upper, 107 - bound.lower.sum() + bound.lower)
    assert stated(OneSided(use_n=True), data, 1).loss.fixed_n
    assert not stated(OneSided(), data, 1).loss.fixed_n
