"""Many runs at once have the law of single runs, and buffered noise is the noise of its source."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from onesided.audit.runs import BUFFERED, BufferedRandomness, Deadline
from onesided.data import Histogram
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.buckets.workload import Workload
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.hybrid import Hybrid
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.one_sided import OneSided
from onesided.mechanisms.privtree import PrivTree
from onesided.mechanisms.recipe import NaiveRecipe, Recipe
from onesided.mechanisms.residual import Residual
from onesided.randomness import seeded
from support.audited import OneBucket

EPSILON = Fraction(4)
DATA = Histogram([0, 3, 1, 1, 2, 0, 0, 4], [0, 2, 1, 0, 2, 0, 0, 1])
RUNS, SINGLE_RUNS = 4_000, 600
LEAST_P_VALUE = 1e-4


class LouderDawa(Dawa):
    """A run of its own, of which the many runs of `dawa` know nothing."""

    def run(self, counts, k, budget, rng, n=None):
        return super().run(counts, k, 2 * budget, rng, n)


def seen(sizes, total_of_last_bin, beside) -> tuple[int, ...]:
    """What is compared: the partition, whether the last total is high, and for two bins whether
    they look empty, or the number of their cluster."""
    return (*sizes.tolist(), int(total_of_last_bin > 4), *beside[1:3].tolist())


def single(mechanism, rng) -> tuple[int, ...]:
    measured = mechanism.release(DATA, epsilon=EPSILON, rng=rng)
    buckets = measured.buckets
    total = measured.parts["bucket_totals"][buckets[-1]]
    other = buckets if isinstance(mechanism, AHP) else np.zeros(8, dtype=np.int64)
    return seen(np.bincount(buckets)[buckets], total, measured.parts.get("looks_empty", other))


def batched(mechanism, rng) -> list[tuple[int, ...]]:
    rows = mechanism.release_many(DATA, epsilon=EPSILON, runs=RUNS, rng=rng)
    beside = rows[:, :-16] if rows.shape[1] > 16 else np.zeros((RUNS, 8), dtype=np.int64)
    return [seen(row[-16:-8], row[-1], each) for row, each in zip(rows, beside, strict=True)]


@pytest.mark.parametrize(
    "mechanism", [Dawa(), PrivTree(), AHP(), Recipe(), NaiveRecipe()], ids=lambda each: each.name
)
def test_a_batch_has_the_law_of_single_runs(mechanism):
    rng = seeded(3)
    many = Counter(batched(mechanism, rng))
    few = Counter(single(mechanism, rng) for _ in range(SINGLE_RUNS))
    common = [outcome for outcome, count in many.most_common() if count * SINGLE_RUNS > 8 * RUNS]
    table = [[counts[outcome] for outcome in common] for counts in (many, few)]
    for row, counts in zip(table, (many, few), strict=True):
        row.append(counts.total() - sum(row))
    assert len(common) > 4
    assert stats.chi2_contingency(table).pvalue > LEAST_P_VALUE


@pytest.mark.parametrize(
    "mechanism",
    [
        Dawa(workload=Workload.RANGES),
        Residual(),
        OneSided(use_n=True),
        OneBucket(),
        LouderDawa(),
        Recipe(inner=LouderDawa()),
    ],
    ids=repr,
)
def test_what_many_runs_at_once_would_not_show_is_run_one_by_one(mechanism):
    assert mechanism.release_many(DATA, epsilon=EPSILON, runs=3, rng=seeded(1)) is None


@pytest.mark.parametrize("mechanism", [OneSided(), Laplace(), Hybrid()], ids=lambda each: each.name)
def test_many_runs_bin_by_bin_show_all_that_one_run_does(mechanism):
    mask = np.arange(8) < 4
    data = Histogram(DATA.all, np.where(mask, 0, DATA.nonsensitive), only_sensitive=mask)
    found = mechanism.release(data, epsilon=EPSILON, rng=seeded(9))
    (row,) = mechanism.release_many(data, epsilon=EPSILON, runs=1, rng=seeded(9))
    assert np.array_equal(row, np.concatenate([found.value, *found.beside]))


def test_a_buffer_hands_out_what_its_source_draws_each_value_once():
    rate = Fraction(1, 3)
    buffered = BufferedRandomness(seeded(5))
    handed_out = np.concatenate([buffered.geometric(rate, size) for size in (3, 1, 2000, 44)])
    assert np.array_equal(handed_out, seeded(5).geometric(rate, BUFFERED)[:2048])
    assert buffered.geometric(rate, 3 * BUFFERED).size == 3 * BUFFERED
    words = [buffered.words(100) for _ in range(30)]
    assert np.unique(np.concatenate(words)).size == 3000


def test_a_deadline_remembers_that_something_was_left_undone():
    assert not Deadline(None).passed(1)
    deadline = Deadline(1e-9)
    assert deadline.passed(0.5)
    assert not deadline.missed
    assert deadline.missed_at(1)
    assert deadline.missed
