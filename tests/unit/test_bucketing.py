"""What `auto` puts into buckets after its probe: what that costs, and what the probe adds to it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from onesided.data import Histogram
from onesided.experiments.metrics import mre
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.auto import Auto
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.bucketing import InPieces, Ordinary, Split
from onesided.mechanisms.candidate import BOLD, BOLDER, Before, Candidate
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.probe import probe_rate, released_total
from onesided.mechanisms.wary import SHARES
from onesided.randomness import seeded

EVERY: list[Candidate] = [
    Ordinary(Dawa(), SHARES[0], "wary dawa", BOLD),
    Ordinary(AHP(), SHARES[1], "wary ahp", BOLDER),
    Split(),
    InPieces(),
]


def drawn(levels: np.ndarray, share: float, **public: object) -> Histogram:
    dice = seeded(2).generator()
    everyone = dice.poisson(levels)
    return Histogram(everyone, dice.binomial(everyone, share), **public)  # type: ignore[arg-type]


def released(chosen: Candidate, data: Histogram, epsilon: str, seed: int = 3):
    """What is released after a probe, which is returned too."""
    exact, public, rng = Fraction(epsilon), PublicShape.of(data), seeded(seed)
    probe = Auto().probe(data, exact, rng)
    total = released_total(probe, public, exact) if not public.total_public else None
    before = Before(probe.value, probe_rate(exact, public), total)
    return chosen.measure(data, before, chosen.loss(exact, public), rng), probe


@pytest.mark.parametrize("chosen", EVERY, ids=lambda each: each.label)
@pytest.mark.parametrize("n_is_public", [True, False])
def test_even_bins_get_what_they_have(chosen: Candidate, n_is_public: bool) -> None:
    data = drawn(np.full(1024, 400.0), 0.3, total_public=n_is_public)
    found, _ = released(chosen, data, "1/20")
    assert mre(data.all, found.value) < 0.25


@pytest.mark.parametrize("chosen", EVERY, ids=lambda each: each.label)
def test_several_dimensions_and_several_bins_for_a_unit(chosen: Candidate) -> None:
    found, _ = released(chosen, drawn(np.full((16, 20), 50.0), 0.5, k=3), "1")
    assert found.value.shape == (16, 20)


@pytest.mark.parametrize("chosen", EVERY, ids=lambda each: each.label)
def test_nothing_is_released_below_what_was_seen(chosen: Candidate) -> None:
    levels = np.where(np.arange(512) % 40, 5.0, 900.0)
    found, probe = released(chosen, drawn(levels, 0.8), "1/4")
    assert np.all(found.value >= probe.value)
    assert np.all(found.parts["lower"] >= np.maximum(probe.value, 0))


@pytest.mark.parametrize("chosen", EVERY, ids=lambda each: each.label)
def test_a_bin_that_would_have_been_seen_if_it_were_full_is_empty(chosen: Candidate) -> None:
    """900 units are unseen with probability e^(−9) at ε/8 = 1/100."""
    levels = np.full(1024, 1000.0)
    levels[500] = 0
    found, _ = released(chosen, drawn(levels, 0.9), "2/25")
    assert found.value[500] == 0
    assert np.count_nonzero(found.value) > 1000


def test_pieces_of_the_probe_are_buckets_at_no_cost() -> None:
    """Two levels and a single bin between them; the totals are right to a few scales of noise."""
    levels = np.repeat([100.0, 3000.0], 512)
    levels[77] = 50_000
    data = drawn(levels, 0.9)
    found, _ = released(InPieces(), data, "1/25")
    totals = np.sort(found.parts["bucket_totals"])
    assert totals.size <= 6
    assert mre(data.all, found.value) < 0.2


def test_one_piece_has_the_public_number_of_units() -> None:
    data = drawn(np.full(256, 12.0), 0.3)
    found, _ = released(InPieces(), data, "1/50")
    np.testing.assert_array_equal(found.parts["bucket_totals"], [data.n])
