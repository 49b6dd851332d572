"""Clopper–Pearson bounds against an independent implementation, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from onesided.audit.confidence import at_least, at_most, incomplete_beta, loss_at_least


@given(st.integers(1, 5_000), st.data())
def test_bounds_agree_with_quantiles_of_the_beta_distribution(runs: int, data: st.DataObject):
    hits = data.draw(st.integers(0, runs))
    error = data.draw(st.sampled_from([0.05, 0.005, 1e-4]))
    low = stats.beta.ppf(error, hits, runs - hits + 1) if hits else 0.0
    high = stats.beta.ppf(1 - error, hits + 1, runs - hits) if hits < runs else 1.0
    assert at_least(hits, runs, error) == pytest.approx(low, rel=1e-8, abs=1e-12)
    assert at_most(hits, runs, error) == pytest.approx(high, rel=1e-8)


@given(st.floats(0, 1), st.integers(1, 300), st.integers(1, 300))
def test_the_incomplete_beta_function(x: float, a: int, b: int):
    assert incomplete_beta(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), rel=1e-9, abs=1e-13)


def test_the_chance_of_a_wrong_bound_is_what_is_allowed():
    # Every possible count, weighted by its probability: no simulation.
    runs, p, error = 200, 0.07, 0.005
    counts = np.arange(runs + 1)
    probabilities = stats.binom.pmf(counts, runs, p)
    too_high = np.array([at_least(int(k), runs, error) > p for k in counts])
    too_low = np.array([at_most(int(k), runs, error) < p for k in counts])
    assert 0 < probabilities[too_high].sum() <= error
    assert 0 < probabilities[too_low].sum() <= error


def test_the_loss_of_events_that_never_happen():
    assert loss_at_least(0, 0, 1_000, 0.99) == 0
    assert loss_at_least(1_000, 0, 1_000, 0.99) > 5
    assert loss_at_least(500, 500, 1_000, 0.99) == 0
