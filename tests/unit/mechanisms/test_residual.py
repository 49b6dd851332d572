"""`residual`: buckets, the remainder, bounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.data import Histogram, Measured
from onesided.errors import InputError
from onesided.loss import Loss
from onesided.mechanisms.residual import Residual, merged, shrunk_to_foreseen
from onesided.randomness import seeded
from support.terms import stated

SURE = 1000
"""An ε at which noise is 0 with overwhelming probability."""

weights = st.lists(st.floats(0, 50), min_size=1, max_size=60)


@given(weights, st.floats(0.5, 40))
def test_buckets_are_runs_of_about_the_target(values: list[float], target: float) -> None:
    laid_out = np.array(values)
    buckets = merged(laid_out, target)
    assert buckets[0] == 0
    assert set(np.diff(buckets)) <= {0, 1}
    # A bin is cut off in its middle at most, so a bucket overshoots by half a bin at either end.
    totals = np.bincount(buckets, weights=laid_out)
    assert totals.max() <= target + laid_out.max() + 1e-6


def test_without_noise_sensitive_units_are_spread_like_the_others() -> None:
    everyone, others = np.array([50, 150, 0, 30]), np.array([25, 75, 0, 30])
    found = Residual().release(Histogram(everyone, others), epsilon=SURE, rng=seeded(1))
    np.testing.assert_allclose(found.value, everyone, atol=0.1)


def test_unseen_bins_are_left_empty() -> None:
    everyone = np.concatenate([np.full(64, 500), np.full(64, 300)])
    others = np.concatenate([np.full(64, 400), np.zeros(64, dtype=np.int64)])
    left_out = Residual().release(Histogram(everyone, others), epsilon=2, rng=seeded(1)).value
    assert np.all(left_out[64:] == 0)


def test_what_would_drown_in_noise_is_not_believed() -> None:
    noisy = np.array([400, 400, 400, -3])
    found = shrunk_to_foreseen(noisy, np.array([1000.0, 100.0, 0.5, 1000.0]), rate=0.01)
    assert found[0] == pytest.approx((400 - 20) * 1e6 / (1e6 + 2e4))
    assert found[1] == pytest.approx((400 - 100) * 1e4 / (1e4 + 2e4))
    assert found[2] < 1
    assert found[3] == 0


def test_dimensions_are_put_back_in_place() -> None:
    everyone = np.arange(60).reshape(5, 12) * 10
    found = Residual().release(Histogram(everyone, everyone), epsilon=SURE, rng=seeded(2))
    np.testing.assert_allclose(found.value, everyone, atol=0.1)
    np.testing.assert_array_equal(found.parts["lower"], everyone)


def test_the_pair_is_the_split_with_or_without_public_n() -> None:
    everyone, others = [50, 150, 80], [25, 75, 80]
    share = Fraction(1, 3)
    chosen = Residual(sensitive_share=share)
    public, hidden = (Histogram(everyone, others, total_public=each) for each in (True, False))
    assert stated(chosen, public, 3).loss == Loss(1, 2, fixed_n=True)
    assert stated(chosen, hidden, 3).loss == Loss(1, 2)


def test_upper_bounds_come_from_the_bucket_or_from_n() -> None:
    data = Histogram([80, 120, 20], [40, 60, 0])
    found = Residual().release(data, epsilon=5, rng=seeded(3))
    (bound,) = [each for each in found.intervals if each.of is Measured.ALL]
    assert bound.upper is not None
    certain = 220 - (bound.lower.sum() - bound.lower)
    assert np.all(bound.upper <= certain)
    assert bound.upper[2] == certain[2]


@pytest.mark.parametrize(
    "parameters",
    [{"sensitive_share": "0"}, {"sensitive_share": 0.6}, {"merge": 0}],
)
def test_impossible_parameters_are_refused(parameters: dict[str, object]) -> None:
    with pytest.raises(InputError):
        Residual(**parameters)  # type: ignore[arg-type]
