"""Distributions of the samplers against independent oracles, with negative controls.

scipy's `planck` is the geometric distribution of rate r on 0, 1, 2, …, and its `dlaplace` the
two-sided one; OpenDP's exact sampler is a second oracle.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from onesided.randomness import Randomness, coin, coin_threshold, seeded
from onesided.randomness.geometric import geometric_sampler
from onesided.randomness.inverse import Widths
from support.statistics import (
    CONTROL_FACTOR,
    FRESH_SIGNIFICANCE,
    Distribution,
    agrees,
    binomial_p_value,
    chi_square_p_value,
    correlation_p_value,
    goodness_of_fit_p_value,
    kolmogorov_smirnov_p_value,
    total_variation,
    two_sample_p_value,
)

SIZE = 200_000
RATES = [Fraction(rate) for rate in ("1e-12", "1e-9", "0.0001", "0.01", "0.1", "0.7", "1", "3")]
WRONG = [CONTROL_FACTOR, 1 / CONTROL_FACTOR]

Draw = Callable[[Randomness, Fraction, int], NDArray[np.int64]]
Family = Callable[[float], Distribution]

by_side = pytest.mark.parametrize(
    ("draw", "family"),
    [
        pytest.param(Randomness.geometric, stats.planck, id="one-sided"),
        pytest.param(Randomness.two_sided_geometric, stats.dlaplace, id="two-sided"),
    ],
)
by_test = pytest.mark.parametrize("p_value", [chi_square_p_value, kolmogorov_smirnov_p_value])


@by_test
@by_side
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_distribution(
    draw: Draw, family: Family, rate: Fraction, p_value: Callable[..., float]
) -> None:
    sample = draw(seeded(11), rate, SIZE)
    assert agrees(p_value(sample, family(float(rate))))


@by_test
@by_side
@pytest.mark.parametrize("factor", WRONG, ids=str)
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_control_wrong_rate_is_rejected(
    draw: Draw, family: Family, rate: Fraction, factor: Fraction, p_value: Callable[..., float]
) -> None:
    sample = draw(seeded(12), rate * factor, SIZE)
    assert not agrees(p_value(sample, family(float(rate))))


@pytest.mark.soak
@by_side
@pytest.mark.parametrize("rate", RATES, ids=str)
def test_distribution_of_many(draw: Draw, family: Family, rate: Fraction) -> None:
    sample = draw(seeded(13), rate, 100 * SIZE)
    assert agrees(chi_square_p_value(sample, family(float(rate))))


@by_side
def test_control_values_shifted_by_one_are_rejected(draw: Draw, family: Family) -> None:
    """At this rate a shift moves the distribution by less than three per cent."""
    sample = draw(seeded(14), Fraction(1, 20), SIZE) + 1
    assert not agrees(chi_square_p_value(sample, family(0.05)))


@pytest.mark.parametrize(
    ("rate", "beyond"),
    [(Fraction(1, 10), 100), (Fraction(1), 9), (Fraction(5), 1)],
)
def test_tail_mass_and_memorylessness(rate: Fraction, beyond: int) -> None:
    size = 1_000_000
    sample = seeded(15).geometric(rate, size)
    tail = sample[sample >= beyond] - beyond
    assert agrees(binomial_p_value(tail.size, size, float(np.exp(-float(rate) * beyond))))
    assert agrees(chi_square_p_value(tail, stats.planck(float(rate))))


def test_tail_restarts_keep_the_distribution() -> None:
    """A table that ends at its median sends every second draw through a restart."""
    rate = Fraction(1, 10)
    sample = geometric_sampler(rate, tail=Fraction(7, 10)).draw(seeded(16), SIZE)
    assert agrees(chi_square_p_value(sample, stats.planck(float(rate))))
    assert sample.max() > 60


@pytest.mark.parametrize("rate", [Fraction(1, 10**6), Fraction(1, 20), Fraction(1)], ids=str)
def test_ties_keep_the_distribution(rate: Fraction) -> None:
    """With a table of eight bits, ties and the lazy extension are everyday events."""
    widths = Widths(coarse=3, fine=5, step=4)
    sample = geometric_sampler(rate, widths=widths, digit_bits=6).draw(seeded(17), 8_000)
    assert agrees(chi_square_p_value(sample, stats.planck(float(rate))))


def test_total_variation_shrinks_as_it_should() -> None:
    """E[TV] ≤ ½ Σ √(p/n): about 0.004 here; a rate wrong by the control factor has 0.1."""
    rate = Fraction(1, 2)
    distribution = stats.planck(float(rate))
    limit = 0.01
    assert total_variation(seeded(18).geometric(rate, SIZE), distribution) < limit
    for factor in WRONG:
        wrong = seeded(18).geometric(rate * factor, SIZE)
        assert total_variation(wrong, distribution) > 5 * limit


def test_digits_of_small_rates_are_independent_of_each_other() -> None:
    sample = seeded(19).geometric(Fraction(1, 10**9), SIZE)
    low, high = (sample & 0xFFF).astype(float), (sample >> 12).astype(float)
    assert agrees(correlation_p_value(low, high))


def test_consecutive_draws_are_uncorrelated() -> None:
    sample = seeded(20).geometric(Fraction(1, 10), SIZE).astype(float)
    assert agrees(correlation_p_value(sample[:-1], sample[1:]))


def test_parent_and_children_are_uncorrelated() -> None:
    parent = seeded(21)
    streams = [
        source.geometric(Fraction(1), SIZE).astype(float) for source in (parent, *parent.spawn(2))
    ]
    for first, second in ((0, 1), (0, 2), (1, 2)):
        assert agrees(correlation_p_value(streams[first], streams[second]))


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1), Fraction(2)], ids=str)
def test_agrees_with_opendp(rate: Fraction) -> None:
    opendp = pytest.importorskip("opendp.prelude", reason="opendp is not installed")
    opendp.enable_features("contrib")
    size = 20_000
    space = (
        opendp.vector_domain(opendp.atom_domain(T="i64"), size=size),
        opendp.l1_distance(T="i64"),
    )
    measurement = opendp.m.make_laplace(*space, scale=float(1 / rate))
    oracle = np.array(measurement([0] * size))
    rng = seeded(22)
    # OpenDP draws fresh entropy at each run, so the three rates together get a rarer threshold.
    assert two_sample_p_value(rng.two_sided_geometric(rate, size), oracle) > FRESH_SIGNIFICANCE
    wrong = rng.two_sided_geometric(rate * CONTROL_FACTOR, size)
    assert not agrees(two_sample_p_value(wrong, oracle))


@pytest.mark.parametrize("multiple", [0, 1, 7, 30])
def test_bernoulli_exp(multiple: int) -> None:
    rate = Fraction(1, 10)
    heads = seeded(23).bernoulli_exp(rate, np.full(SIZE, multiple))
    truth = float(np.exp(-0.1 * multiple))
    assert agrees(binomial_p_value(heads.sum(), SIZE, truth))
    if multiple:
        wrong = seeded(23).bernoulli_exp(rate * CONTROL_FACTOR, np.full(SIZE, multiple))
        assert not agrees(binomial_p_value(wrong.sum(), SIZE, truth))


def test_bernoulli_exp_of_many_different_multiples() -> None:
    """Each bin has a chance of its own: the sum of squared deviations is what it should be."""
    rate = Fraction(1, 10**8)
    multiples = seeded(24).below(3 * 10**8, 4096)
    truth = np.exp(-float(rate) * multiples)
    rng = seeded(25)
    heads = sum(rng.bernoulli_exp(rate, multiples).astype(int) for _ in range(100))
    squares = (heads - 100 * truth) ** 2 / (100 * truth * (1 - truth))
    # Each term has mean 1 and variance about 2, and there are 4,096 of them.
    deviation = (squares.sum() - 4096) / np.sqrt(2 * 4096)
    assert agrees(2 * stats.norm.sf(abs(deviation)))


@pytest.mark.parametrize("bound", [2, 3, 10, 1000, 3 << 40])
def test_below_is_uniform(bound: int) -> None:
    sample = seeded(26).below(bound, SIZE)
    assert agrees(chi_square_p_value(sample, stats.randint(0, bound)))
    assert not agrees(chi_square_p_value(sample, stats.randint(0, -(-bound * 13 // 10))))


@pytest.mark.parametrize("width", [1, 4, 12, 16])
def test_bits_are_uniform(width: int) -> None:
    counts = np.bincount(seeded(27).bits(SIZE, width), minlength=1 << width)
    assert agrees(goodness_of_fit_p_value(counts, np.full(1 << width, 2.0**-width)))


@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(1, 2), Fraction(1, 10)], ids=str)
def test_share_of_coins_kept(epsilon: Fraction) -> None:
    units = 50_000
    key = seeded(28).coin_key()
    coins = [coin(key, f"{unit}") for unit in range(units)]
    promised = -np.expm1(-float(epsilon))

    def kept(threshold: str) -> int:
        return sum(drawn < threshold for drawn in coins)

    assert agrees(binomial_p_value(kept(coin_threshold(epsilon)), units, promised))
    wrong = coin_threshold(epsilon * CONTROL_FACTOR)
    assert not agrees(binomial_p_value(kept(wrong), units, promised))


def test_coins_of_different_keys_are_independent() -> None:
    threshold = coin_threshold(Fraction(1))
    keys = [child.coin_key() for child in seeded(29).spawn(2)]
    first, second = (
        np.array([coin(key, f"{unit}") < threshold for unit in range(20_000)], dtype=float)
        for key in keys
    )
    assert agrees(correlation_p_value(first, second))


def test_floating_point_generator_is_usable() -> None:
    sample = seeded(30).generator().geometric(0.3, SIZE)
    assert agrees(chi_square_p_value(sample, stats.geom(0.3)))
