"""Laws of `privtree`, `ahp`, `agrid` and `privbayes` against exact ones, with negative controls."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from onesided.data import Histogram
from onesided.mechanisms.agrid import AGrid
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm
from onesided.mechanisms.buckets.totals import bucket_totals
from onesided.mechanisms.privbayes import PrivBayes, exponential_choice
from onesided.mechanisms.privtree import PrivTree
from onesided.randomness import seeded
from support.statistics import (
    CONTROL_FACTOR,
    agrees,
    binomial_p_value,
    chi_square_p_value,
    goodness_of_fit_p_value,
)
from support.tree_law import TreeLaw

RUNS = 2500
BUDGET = Fraction(2)
COUNTS = np.array([3, 0, 1, 0, 2])


def observed_trees(algorithm: PrivTree, runs: int) -> dict[tuple[int, ...], int]:
    """How often each partition of `COUNTS` was drawn, by the first bin of each leaf."""
    rng = seeded(21)
    seen: dict[tuple[int, ...], int] = {}
    for _ in range(runs):
        buckets = algorithm.run(COUNTS, 1, BUDGET, rng).buckets
        leaves = tuple(np.unique(buckets, return_index=True)[1].tolist())
        seen[leaves] = seen.get(leaves, 0) + 1
    return seen


@pytest.mark.parametrize("halvings", [1, 2])
def test_trees_follow_the_exact_law(halvings: int) -> None:
    algorithm = PrivTree(halvings=halvings)
    plan = algorithm.calibration(COUNTS.shape, 1, BUDGET * algorithm.partition_share)
    law = TreeLaw(float(plan.rate), plan.decay, halvings)
    faulty = replace(law, rate=law.rate * float(CONTROL_FACTOR))
    seen = observed_trees(algorithm, RUNS)

    def p_value(of: TreeLaw) -> float:
        expected = of.log_probabilities(COUNTS.tolist())
        assert seen.keys() <= expected.keys()
        observed = np.array([seen.get(leaves, 0) for leaves in expected])
        return goodness_of_fit_p_value(observed, np.exp(list(expected.values())))

    assert agrees(p_value(law))
    assert not agrees(p_value(faulty))


def noise_of_totals(algorithm: BucketAlgorithm, k: int) -> NDArray[np.int64]:
    """Released minus true bucket totals, over a few runs on a map with many buckets."""
    rng = seeded(22)
    counts = rng.below(2**16, 2500).reshape(50, 50)
    noise = []
    while sum(each.size for each in noise) < 20_000:
        result = algorithm.run(counts, k, BUDGET, rng)
        noise.append(result.parts["bucket_totals"] - bucket_totals(counts, result.buckets))
    return np.concatenate(noise)


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(
    ("algorithm", "share"),
    [
        pytest.param(PrivTree(), Fraction(1, 2), id="privtree"),
        pytest.param(AHP(), Fraction(15, 100), id="ahp"),
        pytest.param(AGrid(), Fraction(95, 200), id="agrid"),
    ],
)
def test_totals_carry_the_noise_of_their_share(
    algorithm: BucketAlgorithm, share: Fraction, k: int
) -> None:
    noise = noise_of_totals(algorithm, k)
    rate = BUDGET * share / k
    assert agrees(chi_square_p_value(noise, stats.dlaplace(float(rate))))
    assert not agrees(chi_square_p_value(noise, stats.dlaplace(float(rate * CONTROL_FACTOR))))


@pytest.mark.parametrize("algorithm", [PrivTree(), AHP(), AGrid()], ids=lambda each: each.name)
def test_intervals_cover_as_often_as_they_say(algorithm: BucketAlgorithm) -> None:
    counts = seeded(23).below(2**24, 10_000).reshape(100, 100) + 1000
    result = algorithm.release(Histogram(counts, counts), epsilon="0.1", rng=seeded(24))
    (interval,) = result.intervals
    assert result.buckets is not None
    assert interval.upper is not None
    truth = bucket_totals(counts, result.buckets)
    reach = (interval.upper - interval.lower) / 2
    middle = interval.lower + reach

    def p_value(factor: float) -> float:
        covered = int((np.abs(truth - middle) <= factor * reach).sum())
        return binomial_p_value(covered, truth.size, interval.confidence)

    assert agrees(p_value(1))
    assert not agrees(p_value(1 / float(CONTROL_FACTOR)))


def test_bounds_of_privbayes_hold_together() -> None:
    rng = seeded(25)
    counts = rng.below(50, 2 * 3 * 4 * 3).reshape(2, 3, 4, 3)
    data, runs, failures = Histogram(counts, counts), 200, 0
    for _ in range(runs):
        (interval,) = PrivBayes().release(data, epsilon="0.5", rng=rng).intervals
        assert interval.upper is not None
        failures += bool(np.any(counts.reshape(-1) > interval.upper))
    assert failures <= (1 - interval.confidence) * runs


def test_the_exponential_mechanism_has_its_law() -> None:
    rng, rate = seeded(26), Fraction(1, 7)
    scores = np.array([0, 3, 9, 9, 14])
    drawn = [exponential_choice(scores, rate, rng) for _ in range(RUNS)]
    observed = np.bincount(drawn, minlength=scores.size)

    def p_value(of: Fraction) -> float:
        weights = np.exp(float(of) * scores)
        return goodness_of_fit_p_value(observed, weights / weights.sum())

    assert agrees(p_value(rate))
    assert not agrees(p_value(rate * CONTROL_FACTOR))
