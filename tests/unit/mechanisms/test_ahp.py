"""`ahp`: clusters are optimal, their bins need not be neighbours, and the stages add up."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.data import Histogram
from onesided.errors import InputError
from onesided.mechanisms.ahp import AHP, clusters
from onesided.randomness import seeded
from support.recording import RecordingRandomness


def error_estimate(noisy: np.ndarray, labels: np.ndarray, variance: float) -> float:
    """Σ over clusters of Σ(y − ȳ)² + variance/|C|, straight from its definition."""
    groups = [noisy[labels == label] for label in np.unique(labels)]
    return float(sum(((g - g.mean()) ** 2).sum() + variance / g.size for g in groups))


def least_error(noisy: np.ndarray, variance: float) -> float:
    """The least estimate over all ways to cut the sorted distinct values into intervals."""
    values, where = np.unique(noisy, return_inverse=True)
    cuts = product((0, 1), repeat=values.size - 1)
    return min(
        error_estimate(noisy, np.concatenate(([0], np.cumsum(cut)))[where], variance)
        for cut in cuts
    )


@given(
    noisy=st.lists(st.integers(-20, 60), min_size=1, max_size=9).map(np.array),
    variance=st.floats(0.01, 1000),
)
def test_no_other_clusters_have_a_smaller_error(noisy: np.ndarray, variance: float) -> None:
    found = error_estimate(noisy, clusters(noisy, variance), variance)
    assert found == pytest.approx(least_error(noisy, variance), rel=1e-9, abs=1e-6)


def test_bins_far_apart_share_a_cluster() -> None:
    counts = np.array([[700, 0, 0], [0, 0, 700]])
    result = AHP().release(Histogram(counts, counts), epsilon=2, rng=seeded(3))
    assert result.buckets is not None
    assert result.buckets[0, 0] == result.buckets[1, 2]
    assert np.unique(result.buckets).tolist() == [0, 1]


@pytest.mark.parametrize("k", [1, 4])
def test_both_stages_together_cost_the_budget(k: int) -> None:
    rng, budget = RecordingRandomness(2), Fraction(3, 7)
    AHP().run(np.arange(50), k, budget, rng)
    assert len(rng.rates()) == 2
    assert k * sum(rng.rates()) == budget


def test_labels_are_consecutive_and_ordered_by_value() -> None:
    labels = clusters(np.array([900, 5, 5, 300, 900]), 1.0)
    assert labels.tolist() == [2, 0, 0, 1, 2]
    for low, high in pairwise(sorted(set(labels.tolist()))):
        assert high == low + 1


@pytest.mark.parametrize("parameters", [{"partition_share": 2}, {"cutoff": -1.0}], ids=str)
def test_bad_parameters_are_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(InputError):
        AHP(**parameters)  # type: ignore[arg-type]
