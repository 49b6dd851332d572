"""`rr` on a bare histogram, and what the counts of a drawn sample say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from onesided.data import Histogram
from onesided.errors import MechanismRefused
from onesided.mechanisms.rr import RandomizedResponse, keep_probability, sample_estimate
from onesided.randomness import seeded


def test_only_non_sensitive_units_are_kept() -> None:
    data = Histogram([100, 50, 8], [60, 0, 8])
    found = RandomizedResponse().release(data, epsilon=3, rng=seeded(1))
    assert np.all(found.value <= data.nonsensitive)


def test_the_share_kept_is_that_of_the_paper() -> None:
    shares = [keep_probability(Fraction(each)) for each in ("1", "1/2", "1/10")]
    assert shares == pytest.approx([0.632, 0.393, 0.095], abs=5e-4)


def test_several_bins_a_unit_are_refused() -> None:
    with pytest.raises(MechanismRefused, match="draw a sample"):
        RandomizedResponse().release(Histogram([3, 4], [1, 2], k=2), epsilon=1)


def test_scaled_counts_and_estimates_are_unbiased_with_the_stated_error() -> None:
    truth, epsilon = 2000, Fraction(1, 2)
    data = Histogram([truth] * 4000, [truth] * 4000)
    scaled = RandomizedResponse(scale=True).release(data, epsilon=epsilon, rng=seeded(2)).value
    kept = RandomizedResponse().release(data, epsilon=epsilon, rng=seeded(2)).value
    found = sample_estimate(kept, epsilon)
    np.testing.assert_allclose(found.estimate, scaled)
    assert np.mean(found.estimate) == pytest.approx(truth, rel=0.002)
    assert np.mean(found.standard_error) == pytest.approx(np.std(found.estimate), rel=0.05)
