"""`auto`: what it probes, what it chooses, and that the probe is not wasted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from onesided.data import Histogram
from onesided.experiments.metrics import mre
from onesided.loss import Loss
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.auto import Auto
from onesided.mechanisms.base import Mechanism, PublicShape
from onesided.mechanisms.candidates import candidates
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.probe import (
    DECISIVE,
    MOST_QUESTION_SHARE,
    NUMBER,
    QUESTION_SHARE,
    probe_loss,
    question_share,
    questions,
)
from onesided.mechanisms.residual import Residual
from onesided.randomness import seeded

BINS = 1024


def drawn(levels: np.ndarray, share: float, seed: int) -> Histogram:
    """Poisson counts around `levels`, each unit non-sensitive with probability `share`."""
    dice = seeded(seed).generator()
    everyone = dice.poisson(levels)
    return Histogram(everyone, dice.binomial(everyone, share))


def error(chosen: Mechanism, data: Histogram, epsilon: str, runs: int = 3) -> float:
    rng = seeded(4)
    values = (chosen.release(data, epsilon=epsilon, rng=rng).value for _ in range(runs))
    return float(np.mean([mre(data.all, value) for value in values]))


def choice(data: Histogram, epsilon: str) -> str:
    exact, rng = Fraction(epsilon), seeded(4)
    return Auto().choose(Auto().probe(data, exact, rng), PublicShape.of(data), exact, rng).label


def sparse_levels() -> np.ndarray:
    levels = np.zeros(BINS)
    levels[::37] = 400 / np.arange(1, levels[::37].size + 1)
    return levels


@pytest.mark.parametrize("share", [0.99, 0.5])
def test_sparse_data_with_many_non_sensitive_units_are_continued_one_sidedly(share: float) -> None:
    data = drawn(sparse_levels(), share, 1)
    assert choice(data, "1").startswith(("residual", "all bins"))
    assert error(Auto(), data, "1") < 0.05 * min(
        error(Dawa(), data, "1"), error(Laplace(), data, "1")
    )


@pytest.mark.parametrize("share", [0.9, 0.1])
def test_dense_even_data_at_a_small_epsilon_go_to_buckets(share: float) -> None:
    assert choice(drawn(np.full(BINS, 300.0), share, 2), "1/100").startswith("wary")


@pytest.mark.parametrize(("level", "share"), [(300.0, 0.9), (300.0, 0.1), (3000.0, 0.01)])
def test_dense_even_data_come_within_twice_the_error_of_buckets(level: float, share: float) -> None:
    data = drawn(np.full(BINS, level), share, 2)
    assert error(Auto(), data, "1/100") < 2 * error(Dawa(), data, "1/100")


def test_dense_uneven_data_come_within_twice_the_best_ordinary_algorithm() -> None:
    dice = seeded(8).generator()
    data = drawn(dice.gamma(2, 500, size=BINS) + 50, 0.5, 3)
    best = min(error(Laplace(), data, "1"), error(Dawa(), data, "1"))
    assert error(Auto(), data, "1") < 2 * best


def test_a_small_sensitive_budget_would_have_done_badly_there() -> None:
    dice = seeded(8).generator()
    data = drawn(dice.gamma(2, 500, size=BINS) + 50, 0.1, 3)
    frugal = Residual(sensitive_share=Fraction(1, 16))
    assert error(Auto(), data, "1") < error(frugal, data, "1")


@pytest.mark.parametrize(("epsilon", "share"), [("1", 0.3), ("1/10", 0.5), ("1/10", 0.9)])
def test_shares_of_sensitive_units_that_differ_from_bin_to_bin_are_noticed(
    epsilon: str, share: float
) -> None:
    """All units together are smooth, and tell nothing of it; nor do the others alone."""
    dice = seeded(9).generator()
    everyone = dice.poisson(400 + 300 * np.sin(np.arange(BINS) / 100))
    shares = dice.beta(4 * share, 4 * (1 - share), BINS)
    data = Histogram(everyone, dice.binomial(everyone, shares))
    best = min(error(Laplace(), data, epsilon), error(Dawa(), data, epsilon))
    assert error(Auto(), data, epsilon) < 2 * best


@pytest.mark.parametrize(("n", "asked"), [(300_000, False), (100_000, True)])
def test_the_number_of_sensitive_units_is_asked_where_the_probe_would_not_tell_it(
    n: int, asked: bool
) -> None:
    """At ε = 1/100 the sum over 1,024 bins has noise of 12,800, which is an eighth of 102,400."""
    public, epsilon = PublicShape((BINS,), n=n, total_public=True), Fraction(1, 100)
    assert (NUMBER in questions(epsilon, public)) is asked
    known = probe_loss(epsilon, replace(public, n=10**9))
    extra = question_share(NUMBER, epsilon, public) * epsilon if asked else 0
    assert probe_loss(epsilon, public) == known + Loss(extra, 0)


@pytest.mark.parametrize("epsilon", ["1", "1/10"])
def test_few_full_bins_whose_shares_differ_are_measured_one_by_one(epsilon: str) -> None:
    """Most units are sensitive, by bins more or less so, and none of the 64 bins is small."""
    dice = seeded(11).generator()
    everyone = dice.poisson(3000 * (dice.pareto(1.2, 64) + 0.1))
    data = Histogram(everyone, dice.binomial(everyone, dice.beta(0.4, 3.6, 64)))
    assert error(Auto(), data, epsilon, runs=10) < 2 * error(Laplace(), data, epsilon, runs=10)


@pytest.mark.parametrize("share", [0.75, 0.5])
def test_even_bins_that_noise_drowns_are_not_given_up(share: float) -> None:
    """Whether they are sensitive is as unknown as anything; that they are alike can be learnt."""
    data = drawn(np.full(2048, 15.0), share, 2)
    assert error(Auto(), data, "1/100", runs=64) < 2 * error(Dawa(), data, "1/100", runs=64)


def test_empty_bins_between_full_ones_are_not_filled() -> None:
    """Every other bin is empty, and few units are not sensitive; clusters find it with noise."""
    data = drawn(np.where(np.arange(64) % 2, 430.0, 0.0), 0.25, 2)
    best = error(AHP(), data, "1/10", runs=16)
    assert error(Auto(), data, "1/10", runs=16) < best / 4


def test_the_probe_bounds_what_comes_after_it() -> None:
    data, rng, epsilon = drawn(sparse_levels(), 0.8, 5), seeded(6), Fraction(1)
    probe = Auto().probe(data, epsilon, rng)
    final = Auto().choose(probe, PublicShape.of(data), epsilon, rng).measure(data, rng)
    assert np.all(final.parts["lower"] >= probe.value)
    assert np.all(final.parts["lower"] <= data.nonsensitive)


def test_the_choice_sees_nothing_but_the_probe() -> None:
    data, epsilon = drawn(sparse_levels(), 0.8, 5), Fraction(1)
    probe = Auto().probe(data, epsilon, seeded(6))
    first = Auto().choose(probe, PublicShape.of(data), epsilon, seeded(7))
    second = Auto().choose(probe, PublicShape.of(data), epsilon, seeded(7))
    assert (first.label, first.terms) == (second.label, second.terms)


def test_open_domains_are_probed_and_continued() -> None:
    everyone = np.array([300, 40, 7, 0, 90])
    data = Histogram(everyone, everyone // 2, open_domain=True)
    found = Auto().release(data, epsilon=5, rng=seeded(1))
    assert found.keys is not None
    np.testing.assert_allclose(found.value, everyone[found.keys], rtol=0.5)


@pytest.mark.parametrize(
    ("bins", "epsilon"), [(4, "1"), (64, "1/100"), (4096, "1"), (4096, "1/10")]
)
def test_every_candidate_and_the_probe_come_to_epsilon(bins: int, epsilon: str) -> None:
    public, exact = PublicShape((bins,), 3), Fraction(epsilon)
    probe = Auto().probe_terms(public, exact).loss
    for each in candidates(public, exact):
        left = each.loss(exact, public)
        assert left.sensitive > 0
        assert left.nonsensitive > 0
        assert (probe + left).epsilon == exact


def test_answers_on_which_most_depends_are_as_exact_as_bins_are_few() -> None:
    shares = [
        question_share(DECISIVE[0], Fraction(epsilon), PublicShape((bins,)))
        for bins, epsilon in ((64, "1/100"), (4096, "1/10"), (4096, "1"))
    ]
    assert shares[0] == MOST_QUESTION_SHARE > shares[1] > shares[2] == QUESTION_SHARE
