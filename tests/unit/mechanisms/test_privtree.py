"""`privtree`: the exact privacy of its tree on small domains, its shape, and its edges."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.data import Histogram
from onesided.errors import InputError
from onesided.mechanisms.privtree import PrivTree, path_constant
from onesided.randomness import seeded
from support.recording import RecordingRandomness
from support.statistics import CONTROL_FACTOR
from support.tree_law import TreeLaw

ROUNDING = 1e-9
BUDGETS = [Fraction(budget) for budget in ("0.05", "0.5", "2", "20")]
#: Budgets at which the decay, an integer, is close to ln β / r, so that there is little to spare.
TIGHT_BUDGETS = BUDGETS[:2]


def law(
    bins: int, halvings: int, budget: Fraction, k: int = 1, too_little: Fraction = Fraction(1)
) -> TreeLaw:
    """The law of the tree as the mechanism calibrates it for `budget` times `too_little`."""
    algorithm = PrivTree(halvings=halvings)
    plan = algorithm.calibration((bins,), k, budget * too_little)
    return TreeLaw(float(plan.rate), plan.decay, halvings)


def critical_counts(tree: TreeLaw, levels: int) -> list[int]:
    """Counts at which some node on a path of `levels` is about to change its mind."""
    around = [level * tree.decay + step for level in range(levels + 1) for step in (-1, 0, 1, 2)]
    return sorted({count for count in around if count >= 0})


def worst_loss(bins: int, tree: TreeLaw, levels: int) -> float:
    """The largest loss over neighbours with critical counts in two bins, and none elsewhere."""
    losses = []
    for heavy, light in product(critical_counts(tree, levels), (0, 1, tree.decay)):
        fewer = [heavy, light] + [0] * (bins - 2)
        for bin_ in (0, bins - 1):
            more = [count + (position == bin_) for position, count in enumerate(fewer)]
            losses.append(tree.loss(fewer, more))
    return max(losses)


@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize(
    ("bins", "halvings"), [(2, 1), (3, 1), (4, 1), (8, 1), (3, 2), (4, 2), (7, 2)]
)
def test_no_tree_tells_neighbours_apart_by_more_than_the_budget(
    bins: int, halvings: int, budget: Fraction
) -> None:
    levels = PrivTree(halvings=halvings).tests((bins,))
    assert worst_loss(bins, law(bins, halvings, budget), levels) <= float(budget) + ROUNDING


@pytest.mark.parametrize("budget", TIGHT_BUDGETS, ids=str)
@pytest.mark.parametrize(("bins", "halvings"), [(2, 1), (4, 1), (8, 1), (4, 2)])
def test_noise_too_small_by_the_control_factor_is_caught(
    bins: int, halvings: int, budget: Fraction
) -> None:
    levels = PrivTree(halvings=halvings).tests((bins,))
    faulty = law(bins, halvings, budget, too_little=CONTROL_FACTOR)
    assert worst_loss(bins, faulty, levels) > float(budget) * 1.05


def test_the_path_constant_is_nearly_attained() -> None:
    assert worst_loss(8, law(8, 1, Fraction(1, 100)), levels=3) > 0.99 * 0.01


@given(
    counts=st.lists(st.integers(0, 12), min_size=4, max_size=4),
    touched=st.sets(st.integers(0, 3), min_size=1, max_size=3),
)
def test_a_unit_in_k_bins_costs_no_more(counts: list[int], touched: set[int]) -> None:
    tree = law(4, 1, Fraction(1), k=len(touched))
    more = [count + (position in touched) for position, count in enumerate(counts)]
    assert tree.loss(counts, more) <= 1 + ROUNDING


def test_path_constant_is_below_the_published_one() -> None:
    assert path_constant(1, 1) == 1
    assert path_constant(1, 2) == 2
    assert path_constant(1, 3) == Fraction(2334, 1000)  # 2 + 1/3, rounded up
    assert path_constant(1, 64) < 3
    assert path_constant(2, 32) < Fraction(7, 3)


@given(
    shape=st.lists(st.integers(1, 6), min_size=1, max_size=3).map(tuple),
    halvings=st.integers(1, 3),
    seed=st.integers(0, 10**6),
)
def test_leaves_are_boxes_that_cover_every_bin(
    shape: tuple[int, ...], halvings: int, seed: int
) -> None:
    counts = seeded(seed).below(50, prod(shape)).reshape(shape)
    result = PrivTree(halvings=halvings).run(counts, 1, Fraction(1), seeded(seed))
    assert result.value.shape == result.buckets.shape == shape
    assert np.all(result.value >= 0)
    found = np.unique(result.buckets)
    assert found.tolist() == list(range(found.size))
    for bucket in found:
        inside = np.argwhere(result.buckets == bucket)
        assert prod(np.ptp(inside, axis=0) + 1) == len(inside)


def test_a_large_budget_finds_every_full_bin() -> None:
    counts = np.array([0, 0, 500, 0, 0, 0, 0, 900, 0, 0, 0])
    result = PrivTree().release(Histogram(counts, counts), epsilon=1000, rng=seeded(1))
    assert result.value == pytest.approx(counts, abs=1e-3)


@pytest.mark.parametrize("k", [1, 3])
def test_both_stages_together_cost_the_budget(k: int) -> None:
    rng = RecordingRandomness(5)
    algorithm, counts, budget = PrivTree(), np.full(64, 40), Fraction(2, 3)
    algorithm.run(counts, k, budget, rng)
    *tested, totals = rng.rates()
    assert len(set(tested)) == 1
    kappa = path_constant(2, algorithm.tests((64,)))
    assert k * (kappa * tested[0] + totals) == budget


@pytest.mark.parametrize(
    "parameters",
    [{"partition_share": 0}, {"partition_share": 1}, {"halvings": 0}, {"threshold": 0.5}],
    ids=str,
)
def test_bad_parameters_are_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(InputError):
        PrivTree(**parameters)  # type: ignore[arg-type]
