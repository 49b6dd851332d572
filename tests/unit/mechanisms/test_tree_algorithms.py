"""What `privtree`, `ahp`, `agrid` and `privbayes` have in common: shape, loss, seeds and edges."""

from __future__ import annotations

from fractions import Fraction
from time import process_time

import numpy as np
import pytest

from onesided.data import Histogram, Measured
from onesided.errors import InputError
from onesided.loss import Loss
from onesided.mechanisms.agrid import AGrid
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm
from onesided.mechanisms.privbayes import PrivBayes
from onesided.mechanisms.privtree import PrivTree
from onesided.randomness import seeded
from support.terms import stated

SHAPES = [(1, 1), (1, 7), (5, 3), (16, 16)]
MOST_CPU_SECONDS = 0.2

each_algorithm = pytest.mark.parametrize(
    "algorithm", [PrivTree(), AHP(), AGrid(), PrivBayes()], ids=lambda each: each.name
)


def histogram(counts: np.ndarray, k: int = 1) -> Histogram:
    return Histogram(counts, counts // 2, k=k)


@each_algorithm
@pytest.mark.parametrize("epsilon", ["1e-9", 1, 1000])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("count", [0, 3, 10**9])
def test_every_input_gets_a_histogram_of_its_shape(
    algorithm: BucketAlgorithm, epsilon: int | str, shape: tuple[int, ...], count: int
) -> None:
    data = histogram(np.full(shape, count), k=2)
    result = algorithm.release(data, epsilon=epsilon, rng=seeded(1))
    assert result.value.shape == shape
    assert np.all(result.value >= 0)
    assert np.all(np.isfinite(result.value))
    assert result.buckets is not None
    assert result.buckets.shape == shape
    assert np.unique(result.buckets).tolist() == list(range(int(result.buckets.max()) + 1))
    (interval,) = result.intervals
    assert interval.of is Measured.BUCKETS
    assert interval.upper is not None
    assert interval.lower.size == interval.upper.size == int(result.buckets.max()) + 1
    assert np.all(interval.lower <= interval.upper)


@each_algorithm
def test_the_loss_is_that_of_ordinary_privacy_at_half_the_epsilon(
    algorithm: BucketAlgorithm,
) -> None:
    loss = stated(algorithm, histogram(np.ones((4, 4), dtype=int)), "0.3").loss
    assert loss == Loss("0.15", "0.15")
    assert loss.extended_epsilon == Fraction(15, 100)


@each_algorithm
def test_a_seed_decides_everything(algorithm: BucketAlgorithm) -> None:
    data = histogram(seeded(0).below(100, 400).reshape(20, 20))
    first, again, other = (
        algorithm.release(data, epsilon=1, rng=seeded(seed)) for seed in (7, 7, 8)
    )
    assert np.array_equal(first.value, again.value)
    assert not np.array_equal(first.value, other.value)


@each_algorithm
def test_the_nonsensitive_counts_are_not_read(algorithm: BucketAlgorithm) -> None:
    counts = seeded(0).below(100, 64).reshape(8, 8)
    some = algorithm.release(Histogram(counts, counts), epsilon=1, rng=seeded(7))
    none = algorithm.release(Histogram(counts, 0 * counts), epsilon=1, rng=seeded(7))
    assert np.array_equal(some.value, none.value)


@each_algorithm
def test_an_epsilon_too_small_for_the_sampler_is_refused(algorithm: BucketAlgorithm) -> None:
    with pytest.raises(InputError, match="ask for a larger"):
        algorithm.release(histogram(np.ones((8, 8), dtype=int)), epsilon="1e-12")


@each_algorithm
def test_4096_bins_take_a_fraction_of_a_second(algorithm: BucketAlgorithm) -> None:
    data = histogram(seeded(0).below(1000, 4096).reshape(64, 64))
    begin = process_time()
    algorithm.release(data, epsilon="0.731", rng=seeded(1))
    assert process_time() - begin < MOST_CPU_SECONDS


@pytest.mark.parametrize("algorithm", [PrivTree(), AHP()], ids=lambda each: each.name)
def test_sparse_counts_are_far_better_than_noise_on_every_bin(algorithm: BucketAlgorithm) -> None:
    counts = np.zeros(4096, dtype=int)
    counts[1000:1010] = 5000
    noise = seeded(2).two_sided_geometric(Fraction(1, 20), counts.size)
    result = algorithm.release(Histogram(counts, counts), epsilon="0.1", rng=seeded(2))
    assert 10 * np.abs(result.value - counts).sum() < np.abs(noise).sum()
