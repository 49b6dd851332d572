"""Nearly empty bins that noise has lifted into a cluster of full ones."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from onesided.experiments.metrics import mre
from onesided.mechanisms import lifted
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.lifted import may_hold_lifted
from onesided.mechanisms.wary import Wary
from onesided.randomness import seeded

SCALE = 100.0


def flagged(given: list[float], sizes: list[int], edges: list[int]) -> list[bool]:
    return may_hold_lifted(np.array(given), np.array(sizes), np.array(edges), SCALE).tolist()


def test_a_few_full_bins_above_many_empty_ones_must_be_far_above_them() -> None:
    near, far = [0.0, 800.0], [0.0, 3000.0]
    assert flagged(near, [4000, 5], [-900, 700]) == [False, True]
    assert flagged(far, [4000, 5], [-900, 2500]) == [False, False]


def test_where_none_are_nearly_empty_those_that_were_lifted_are_hardly_wrong() -> None:
    assert flagged([600.0, 800.0], [4000, 200], [0, 650]) == [False, False]
    assert flagged([1.0, 800.0], [4000, 200], [0, 650]) == [False, True]


def test_as_many_full_bins_as_empty_ones_are_worth_a_few_that_are_wrong() -> None:
    assert flagged([0.0, 60.0], [50, 1000], [-90, 300]) == [False, False]
    assert flagged([0.0, 60.0], [5000, 10], [-90, 300]) == [False, True]


def test_a_cluster_ends_where_the_next_begins() -> None:
    """Noise that is large enough for the next cluster is no matter for this one."""
    alone = flagged([0.0, 3000.0], [40_000, 2], [-900, 1150])
    narrow = flagged([0.0, 3000.0, 3000.0], [40_000, 2, 500], [-900, 1150, 1150])
    assert alone == [False, True]
    assert narrow == [False, False, False]


def test_one_cluster_keeps_what_it_has() -> None:
    assert flagged([5.0], [64], [-100]) == [False]


def test_noise_lifts_as_many_bins_as_is_supposed(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the number of lifted bins that is just worth it, a little more or less decides."""
    bins, edge, upper = 100_000, 250, 400
    noisy = seeded(5).two_sided_geometric(Fraction(1, 100), bins)
    among = np.count_nonzero((noisy >= edge) & (noisy < upper))
    monkeypatch.setattr(lifted, "WORTH", 1.0)
    for times, expected in ((0.9, True), (1.1, False)):
        sizes = [bins, int(among * 500 * times), 10**9]
        assert flagged([0.0, 500.0, 500.0], sizes, [-900, edge, upper])[1] is expected


def test_clusters_of_full_bins_do_not_cost_empty_ones_their_zero() -> None:
    counts = np.zeros(4096, dtype=np.int64)
    counts[::100] = 2500
    wary = Wary(inner=AHP(partition_share=Fraction(1, 2)), deviation_share=Fraction(1, 4))
    rng = seeded(3)
    errors = [mre(counts, wary.run(counts, 1, Fraction(1, 250), rng).value) for _ in range(8)]
    assert np.mean(errors) < 0.1


def test_even_counts_in_several_clusters_stay() -> None:
    counts = np.full(1000, 400) + 600 * (np.arange(1000) % 2)
    wary = Wary(inner=AHP(partition_share=Fraction(1, 2)), deviation_share=Fraction(1, 4))
    value = wary.run(counts, 1, Fraction(1, 20), seeded(3)).value
    assert np.mean(value > 0) > 0.95
