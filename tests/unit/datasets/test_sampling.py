"""Opt-in policies: subsets of the right size, close or far as they should be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from scipy import stats

from onesided.datasets import sampling
from onesided.datasets.dpbench import ONE_DIMENSIONAL, load_1d
from onesided.datasets.sampling import (
    HiLoSampling,
    MSampling,
    OptIn,
    position_moments,
    weighted_draws,
)
from onesided.errors import RequestError
from onesided.randomness import seeded
from support.statistics import CONTROL_FACTOR, agrees, chi_square_p_value

SHARES = (0.99, 0.9, 0.75, 0.5, 0.25, 0.1, 0.01)
histograms = arrays(np.int64, st.integers(1, 40), elements=st.integers(0, 60))
shares = st.floats(0, 1)
NAMES = [shape.name for shape in ONE_DIMENSIONAL]


def _is_part(part: NDArray[np.int64], whole: NDArray[np.int64], share: float) -> bool:
    return bool(
        part.sum() == round(share * int(whole.sum()))
        and (part >= 0).all()
        and (part <= whole).all()
    )


@given(histograms, shares, st.integers(0, 1000))
def test_far_returns_a_part_of_the_asked_size(
    x: NDArray[np.int64], share: float, seed: int
) -> None:
    assert _is_part(HiLoSampling().sample(x, share, seeded(seed)), x, share)


@given(histograms, shares, st.integers(0, 1000))
def test_close_returns_a_part_of_the_asked_size(
    x: NDArray[np.int64], share: float, seed: int
) -> None:
    # With a wide bound every non-empty part is accepted, so only the size is at stake.
    wide = MSampling(theta=1e9)
    if round(share * int(x.sum())):
        assert _is_part(wide.sample(x, share, seeded(seed)), x, share)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("name", NAMES)
def test_close_keeps_mean_and_deviation_of_the_position(name: str, share: float) -> None:
    x = load_1d(name).counts
    part = MSampling().sample(x, share, seeded(1))
    assert _is_part(part, x, share)
    for new, old in zip(position_moments(part), position_moments(x), strict=True):
        assert new == pytest.approx(old, rel=0.1)


def _contrast(part: NDArray[np.int64], x: NDArray[np.int64], beta: float) -> float:
    """The largest ratio of the kept shares inside and outside any window of ±beta·d bins."""
    position = np.arange(x.size)
    ratios = []
    for centre in range(0, x.size, 64):
        inside = np.abs(position - centre) <= beta * x.size
        ratios.append(
            part[inside].sum() / x[inside].sum() / (part[~inside].sum() / x[~inside].sum())
        )
    return float(max(ratios))


@pytest.mark.parametrize("name", ["hepth", "patent", "searchlogs"])
def test_far_prefers_one_region(name: str) -> None:
    x = load_1d(name).counts
    far = HiLoSampling().sample(x, 0.1, seeded(2))
    even = HiLoSampling(gamma=1.0).sample(x, 0.1, seeded(2))
    assert _contrast(far, x, beta=0.4) == pytest.approx(5, rel=0.25)
    assert _contrast(even, x, beta=0.4) == pytest.approx(1, rel=0.25)


@pytest.mark.parametrize("policy", [MSampling(), HiLoSampling()], ids=["close", "far"])
def test_the_same_seed_gives_the_same_part(policy: OptIn) -> None:
    x = load_1d("hepth").counts
    first, second, other = (policy.sample(x, 0.5, seeded(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("few", [8, sampling.FEW_RECORDS], ids=["halving", "race"])
def test_weighted_draws_follow_the_law_of_drawing_one_by_one(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "FEW_RECORDS", few)
    heavy, light, draws, weight = 60, 140, 80, 5.0
    generator = seeded(3).generator()
    drawn = np.array([weighted_draws(heavy, light, draws, weight, generator) for _ in range(4000)])
    law = stats.nchypergeom_wallenius(heavy + light, heavy, draws, weight)
    control = stats.nchypergeom_wallenius(
        heavy + light, heavy, draws, weight / float(CONTROL_FACTOR)
    )
    assert agrees(chi_square_p_value(drawn, law))
    assert not agrees(chi_square_p_value(drawn, control))


@pytest.mark.parametrize(
    ("heavy", "light", "draws", "expected"),
    [(0, 9, 4, 0), (9, 0, 4, 4), (5, 6, 11, 5), (5, 6, 0, 0), (10**7, 10**7, 2 * 10**7, 10**7)],
)
def test_weighted_draws_at_the_edges(heavy: int, light: int, draws: int, expected: int) -> None:
    assert weighted_draws(heavy, light, draws, 5.0, seeded(1).generator()) == expected


def test_moments_of_positions() -> None:
    assert position_moments(np.array([0, 2, 0, 2])) == (2.0, 1.0)
    assert position_moments(np.zeros(3, dtype=np.int64)) == (0.0, 0.0)


def test_an_unreachable_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "MOST_ATTEMPTS", 20)
    with pytest.raises(RequestError, match="larger share"):
        MSampling().sample(np.array([1, 0, 0, 1]), 0.5, seeded(1))


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_an_impossible_share_is_refused(share: float) -> None:
    with pytest.raises(RequestError, match="between 0 and 1"):
        HiLoSampling().sample(np.array([1, 2]), share, seeded(1))


@pytest.mark.parametrize("x", [np.array([-1, 2]), np.array([0.5, 1.0]), np.ones((2, 2), int)])
def test_what_is_no_histogram_is_refused(x: NDArray[np.int64]) -> None:
    with pytest.raises(RequestError, match="counts"):
        MSampling().sample(x, 0.5, seeded(1))


def test_a_weight_out_of_range_is_refused() -> None:
    with pytest.raises(RequestError, match="gamma"):
        HiLoSampling(gamma=0.5)
