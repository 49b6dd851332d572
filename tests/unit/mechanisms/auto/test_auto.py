"""`auto`: what it chooses where that is known, and that the probe is not wasted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from onesided.data import Histogram
from onesided.data.metrics import mre
from onesided.mechanisms.auto import Auto
from onesided.mechanisms.auto.candidates import Candidate, candidates
from onesided.mechanisms.auto.choice import best_candidate
from onesided.mechanisms.auto.look import Look
from onesided.mechanisms.auto.probe import ProbePlan
from onesided.mechanisms.auto.scenarios import Scenario, scenarios
from onesided.mechanisms.base import Mechanism, PublicShape
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.laplace import Laplace
from onesided.randomness import seeded
from support.terms import assert_fits

BINS = 1024
ONE = Fraction(1)


def drawn(levels: np.ndarray, share: float, seed: int) -> Histogram:
    """Poisson counts around `levels`, each unit non-sensitive with probability `share`."""
    dice = seeded(seed).generator()
    everyone = dice.poisson(levels)
    return Histogram(everyone, dice.binomial(everyone, share))


def error(chosen: Mechanism, data: Histogram, epsilon: str, runs: int = 3) -> float:
    rng = seeded(4)
    values = (chosen.release(data, epsilon=epsilon, rng=rng).value for _ in range(runs))
    return float(np.mean([mre(data.all, value) for value in values]))


def choice(data: Histogram, epsilon: str, seed: int = 4) -> str:
    exact, rng = Fraction(epsilon), seeded(seed)
    return Auto().choose(Auto().probe(data, exact, rng), PublicShape.of(data), exact, rng).label


def looked(data: Histogram, epsilon: Fraction = ONE) -> Look:
    plan = ProbePlan(PublicShape.of(data), epsilon)
    probe = plan.ask(data, seeded(2))
    return Look(plan, probe.value, probe.sensitive, plan.public.total)


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
def test_where_noise_drowns_even_bins_they_are_not_given_up(share: float) -> None:
    data = drawn(np.full(BINS, 300.0), share, 2)
    assert error(Auto(), data, "1/100") < 0.7


def test_nothing_at_all_stays_nothing() -> None:
    nothing = Histogram(np.zeros(BINS, dtype=int), np.zeros(BINS, dtype=int), total_public=False)
    assert error(Auto(), nothing, "1") < 0.05


def test_the_probe_bounds_what_comes_after_it() -> None:
    data, rng = drawn(sparse_levels(), 0.8, 5), seeded(6)
    probe = Auto().probe(data, ONE, rng)
    final = Auto().choose(probe, PublicShape.of(data), ONE, rng).measure(data, rng)
    assert np.all(final.parts["lower"] >= probe.value)
    assert np.all(final.parts["lower"] <= data.nonsensitive)


def test_the_choice_sees_nothing_but_the_probe() -> None:
    """A stored probe leads to the same choice, also where the data have changed."""
    data = drawn(sparse_levels(), 0.8, 5)
    public, probe = PublicShape.of(data), Auto().probe(data, ONE, seeded(6))
    stored = Auto().stored_probe(probe.to_json(), probe.value, probe.keys)
    first = Auto().choose(probe, public, ONE, seeded(7))
    second = Auto().choose(stored, public, ONE, seeded(7))
    assert (first.label, first.terms) == (second.label, second.terms)


def test_open_domains_are_probed_and_continued() -> None:
    everyone = np.array([300, 40, 7, 0, 90])
    data = Histogram(everyone, everyone // 2, open_domain=True)
    found = Auto().release(data, epsilon=5, rng=seeded(1))
    assert found.keys is not None
    np.testing.assert_allclose(found.value, everyone[found.keys], rtol=0.5)


def test_listed_keys_may_stand_elsewhere_when_the_probe_is_continued() -> None:
    """Between the two steps a key was added before all others, which nobody saw."""
    counts = np.array([500, 900])
    data = Histogram(counts, counts, open_domain=True)
    probe = Auto().probe(data, ONE, seeded(1))
    chosen = Auto().choose(probe, PublicShape.of(data), ONE, seeded(2))
    larger = Histogram([0, 500, 900], [0, 500, 900], open_domain=True)
    found = chosen.measure(larger, seeded(3), listed=np.array([1, 2]))
    assert found.keys is not None
    assert found.keys.tolist() == [1, 2]


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("total_public", [True, False])
@pytest.mark.parametrize("shape", [(BINS,), (8, 9)])
def test_every_candidate_comes_to_epsilon_and_is_as_it_says(
    shape: tuple[int, ...], total_public: bool, k: int
) -> None:
    dice = seeded(3).generator()
    everyone = dice.poisson(dice.gamma(0.4, 100, shape))
    others = dice.binomial(everyone, 0.5)
    data = Histogram(everyone, others, k=k, total_public=total_public)
    look = looked(data)
    for each in _forms(look.plan):
        terms = each.terms(look)
        both = look.plan.loss + terms.loss
        assert terms.loss == each.left
        assert both.epsilon == 1
        assert both.sensitive <= Fraction(1, 2)
        assert both.fixed_n is data.total_public
        found = each.measure(data, look, seeded(4))
        assert_fits(found, terms, data.bins)
        assert found.value.shape == shape
        assert np.all(found.value >= 0)


def test_beyond_a_hundred_thousand_bins_each_is_looked_at_alone() -> None:
    few, many = (_forms(ProbePlan(PublicShape((bins,)), ONE)) for bins in (1 << 17, (1 << 17) + 1))
    assert len(few) == len(many) + 2 == 8
    assert len(_forms(ProbePlan(PublicShape(None), ONE))) == len(many) - 2


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), ONE])
def test_scenarios_agree_with_the_probe(epsilon: Fraction) -> None:
    """No bin has fewer non-sensitive units than were seen, and totals are about those estimated."""
    data = drawn(seeded(5).generator().gamma(0.5, 4000, BINS), 0.5, 6)
    look = looked(data, epsilon)
    for each in scenarios(look, seeded(1).generator()):
        assert np.all(each.data.nonsensitive >= each.look.counts)
        assert each.data.total_public
        assert each.data.all.sum() == pytest.approx(data.all.sum(), rel=0.6)


def test_scenarios_of_many_bins_are_stretches_of_them() -> None:
    data = drawn(np.full(100_000, 9.0), 0.5, 6)
    assert all(each.data.bins == BINS for each in scenarios(looked(data), seeded(1).generator()))


def test_some_textures_have_empty_bins_and_others_none() -> None:
    """Noise of 800 hides whether single bins with 200 non-sensitive units are empty."""
    look = looked(drawn(np.full(BINS, 400.0), 0.5, 6), Fraction(1, 100))
    empty = [np.mean(each.data.all == 0) for each in scenarios(look, seeded(1).generator())]
    assert min(empty) < 0.01
    assert max(empty) == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("levels", ["far apart", "even"])
def test_on_scenarios_that_are_the_data_the_best_candidate_is_taken(levels: str) -> None:
    counts = np.full(BINS, 40.0) if levels == "even" else np.repeat([0.0, 4000.0], BINS // 2)
    data = drawn(counts, 0.3, 8)
    look = looked(data, Fraction(1, 10))
    known = [Scenario(data, look, 1.0)] * 5
    best = best_candidate(candidates(look.plan), known, seeded(3))
    errors = {each: _error(each, data, look) for each in _forms(look.plan)}
    assert errors[best] <= 1.3 * min(errors.values()) + 1 / BINS


def _forms(plan: ProbePlan) -> list[Candidate]:
    return [form for each in candidates(plan) for form in each.forms]


def _error(chosen: Candidate, data: Histogram, look: Look) -> float:
    return float(
        np.mean([mre(data.all, chosen.measure(data, look, seeded(s)).value) for s in range(8)])
    )
