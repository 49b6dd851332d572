"""Pictures that `auto` tries its candidates on: those that contradict an answer are none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from onesided.data import Histogram
from onesided.mechanisms.agreement import disagreement
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.easel import Easel
from onesided.mechanisms.gallery import CONTRADICTED, pictures
from onesided.mechanisms.grain import EVEN_SHAPES, Grain, Texture, TwoLevels
from onesided.mechanisms.pieces import Pieces, Roughness
from onesided.mechanisms.probe import take_probe
from onesided.randomness import seeded

BINS, GROUND, FULL, EVERY = 1024, 40, 12000, 64


def on_ground() -> np.ndarray:
    """Few full bins on even ground."""
    levels = np.full(BINS, GROUND)
    levels[::EVERY] = FULL
    return seeded(1).generator().poisson(levels)


def drawn(
    counts: np.ndarray, share: float | np.ndarray, epsilon: Fraction, seed: int
) -> list[np.ndarray]:
    """The counts of all pictures of a probe."""
    others = seeded(seed).generator().binomial(counts, share)
    data = Histogram(counts, others, total_public=True)
    probe = take_probe(data, epsilon, seeded(seed + 1))
    lists = pictures(probe, PublicShape.of(data), epsilon, seeded(seed + 2))
    return [each.all for alike in lists for each in alike]


def test_counts_that_vary_by_degrees_contradict_what_is_visible_of_full_bins() -> None:
    counts = on_ground()
    found = Pieces.of(np.zeros(BINS, int), np.zeros(1), np.zeros(BINS, int), 0.01)
    exact = Roughness.of(counts, found, 200)
    released = Roughness(exact.visible, exact.deviations, 200, (1000.0,) * 4)
    mean = counts.mean()
    easel = Easel(found, np.full(BINS, mean), seeded(2).generator())
    levels = TwoLevels(1 / EVERY, GROUND / mean)
    right = Grain(EVEN_SHAPES, Texture.EVEN, levels=levels)
    assert disagreement(easel, right, released) < 1
    assert disagreement(easel, Grain.of_bins(0.5, Texture.LIKELY), released) > CONTRADICTED


@pytest.mark.parametrize("seed", range(4))
def test_pictures_that_contradict_an_answer_are_dropped(seed: int) -> None:
    """Every other bin is empty: so it is in all that are left, and they are few."""
    counts = seeded(1).generator().poisson(np.arange(4 * BINS) % 2 * GROUND)
    found = drawn(counts, 0.9, Fraction(1, 10), seed)
    assert len(found) == 1
    assert np.mean(found[0] == 0) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("seed", range(4))
def test_pictures_of_counts_that_vary_by_degrees_stay(seed: int) -> None:
    counts = seeded(1).generator().poisson(seeded(2).generator().gamma(1.5, 200, BINS))
    assert len(drawn(counts, 0.02, Fraction(1, 10), seed)) >= 3 * (2048 // BINS)


@pytest.mark.parametrize(("share", "even"), [(0.25, True), (0.9, True), (None, False)])
def test_counts_may_be_even_where_shares_are_not(share: float | None, even: bool) -> None:
    """Some pictures are even, unless all bins have the same share: then it is counts that vary."""
    dice = seeded(6).generator()
    if share is None:
        counts, shares = dice.poisson(dice.gamma(1.0, 1000.0, BINS)), np.full(BINS, 0.5)
    else:
        counts, shares = dice.poisson(1000, BINS), dice.beta(2 * share, 2 * (1 - share), BINS)
    varies = [each.std() / each.mean() for each in drawn(counts, shares, Fraction(1), 7)]
    assert (min(varies) < 0.25) == even
