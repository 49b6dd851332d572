"""Holes in pictures: what takes mass away that would be visible, but was not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from onesided.mechanisms.easel import Easel
from onesided.mechanisms.fitting import Span, grain_of_bins, measured_grain
from onesided.mechanisms.grain import (
    EVEN_SHAPES,
    NEARLY_NOTHING,
    Grain,
    Texture,
    made_up_levels,
)
from onesided.mechanisms.pieces import Pieces, Roughness, pieces
from onesided.randomness import seeded
from support.pieces import RATE, one_piece

EVEN_BINS = Span(1e3, 1e3)


def easel_of(counts: np.ndarray) -> Easel:
    """One piece, in which hardly any unit was seen."""
    found = one_piece(counts.size, 1.0)
    return Easel(found, np.full(counts.size, counts.mean() - 1), seeded(4).generator())


def with_stretch(low: float, share: float) -> np.ndarray:
    """A thousand units for each bin, but for a stretch that has `low`."""
    means = np.where(np.arange(4096) < share * 4096, low, 1000)
    return np.asarray(seeded(4).generator().poisson(means))


def fitted(counts: np.ndarray, threshold: int, texture: Texture) -> tuple[Easel, Grain, Roughness]:
    easel = easel_of(counts)
    truth = Roughness.of(counts, easel.found, threshold)
    return easel, measured_grain(easel, truth, EVEN_BINS, texture), truth


@pytest.mark.parametrize("seed", range(4, 12))
def test_a_region_that_is_empty_becomes_holes(seed: int) -> None:
    dice = seeded(seed).generator()
    counts = dice.poisson(np.where(np.arange(4096) < 400, 0, 1000))
    found = one_piece(counts.size, 1.0)
    truth = Roughness.of(counts, found, 100)
    easel = Easel(found, np.full(4096, 899.0), dice)
    even = measured_grain(easel, truth, EVEN_BINS, Texture.SCATTERED)
    assert even.holes == pytest.approx(0.1, abs=0.04)


@pytest.mark.parametrize("texture", [Texture.EVEN, Texture.SCATTERED])
def test_a_stretch_that_is_empty_becomes_holes(texture: Texture) -> None:
    easel, grain, truth = fitted(with_stretch(0, 0.25), 100, texture)
    assert grain.holes == pytest.approx(0.25, abs=0.06)
    assert easel.visible(grain, 100) == pytest.approx(truth.visible, rel=0.1)


@pytest.mark.parametrize("threshold", [100, 800])
def test_blocks_are_low_and_not_empty(threshold: int) -> None:
    """As low as was not visible: even a tenth of a thousand is, if a hundred are."""
    easel, grain, truth = fitted(with_stretch(threshold / 10, 0.4), threshold, Texture.EVEN)
    assert grain.hole_place == 2
    counts = np.concatenate(easel.draw(grain))
    assert 0.25 < np.mean(counts < threshold / 2) < 0.55
    assert np.median(counts[counts < threshold / 2]) > threshold / 20
    assert easel.visible(grain, threshold) == pytest.approx(truth.visible, rel=0.07)


@pytest.mark.parametrize(("place", "ratio"), [(0, NEARLY_NOTHING), (1, 0.1), (2, 0.02)])
def test_holes_have_a_part_of_what_others_have(place: int, ratio: float) -> None:
    easel = easel_of(with_stretch(0, 0))
    even = Grain(EVEN_SHAPES, Texture.EVEN)
    grain = replace(even, holes=0.25, hole_place=place, hole_ratio=ratio)
    levels = np.sort(made_up_levels(easel.found, grain, easel.generator))
    assert np.count_nonzero(levels < 1) == 1024
    assert levels[0] / levels[-1] == pytest.approx(ratio, abs=2 * NEARLY_NOTHING)
    assert levels.mean() == pytest.approx(1)


@pytest.mark.parametrize(("bins", "place"), [(256, 1), (4096, 2)])
def test_where_large_blocks_are_few_holes_may_be_small(bins: int, place: int) -> None:
    """Even if all that is known is even: one of five small blocks is low here."""
    counts = np.where(np.arange(bins) // 16 % 5 < 1, 10, 1000)
    easel, grain, truth = fitted(counts, 100, Texture.EVEN)
    assert grain.hole_place == place
    assert easel.visible(grain, 100) == pytest.approx(truth.visible, rel=0.15)


@pytest.mark.parametrize("texture", Texture)
def test_where_bins_hardly_deviate_it_was_chance_that_little_was_seen(texture: Texture) -> None:
    easel = easel_of(np.full(4096, 1000))
    even = Roughness.of(np.full(4096, 1000), easel.found, 100)
    released = replace(even, visible=0.8 * even.visible, scales=(20_000.0, *(3_000.0,) * 3))
    assert measured_grain(easel, released, EVEN_BINS, texture).holes == 0


def test_single_bins_that_are_holes_are_empty() -> None:
    easel = easel_of(np.full(4096, 1000))
    mass = 1000.0 * 4096
    released = Roughness(70.0 * 4096, (0.5 * mass, 0.5 * mass, 0.5 * mass), 100)
    grain = measured_grain(easel, released, EVEN_BINS, Texture.SCATTERED)
    assert (grain.hole_place, grain.hole_ratio) == (0, NEARLY_NOTHING)
    assert grain.holes > 0.1


def test_bins_that_stand_alone_are_no_holes_whatever_was_seen() -> None:
    """Nothing was asked of them, so that an answer below 0 is noise."""
    means = np.full(64, 900.0)
    found = Pieces.of(np.arange(64), means, means.astype(int), RATE)
    easel = Easel(found, np.zeros(64), seeded(4).generator())
    released = Roughness(-500.0, (0.0, 0.0, 0.0), 100, (100.0,) * 4)
    with np.errstate(divide="raise", invalid="raise"):
        grain = measured_grain(easel, released, EVEN_BINS, Texture.EVEN)
        levels = made_up_levels(found, grain, easel.generator)
    assert levels.min() > 0.9


def test_holes_among_full_bins_are_no_smaller_than_the_deviations_allow() -> None:
    dice = seeded(6).generator()
    found = pieces(np.full(1024, 20), 0.01)
    means = np.full(1024, 2000.0)
    counts = dice.poisson(means)
    counts[:256] = 0
    released = Roughness.of(counts, found, 400)
    easel = Easel(found, means - found.means, dice)
    grain = measured_grain(easel, released, grain_of_bins(easel, released), Texture.SCATTERED)
    assert grain.holes > 0.1
    assert grain.hole_place == 2


def scattered(counts: np.ndarray, seen: int = 0) -> Grain:
    """How bins lie whose deviation is told exactly, if the probe saw so many of them."""
    probe = np.arange(counts.size) < seen
    found = Pieces.of(np.zeros(counts.size, int), np.array([1.0]), probe.astype(int), RATE)
    easel = Easel(found, np.full(counts.size, counts.mean() - 1), seeded(4).generator())
    truth = Roughness.of(counts, found, 10 * int(counts.mean()))
    return measured_grain(easel, truth, grain_of_bins(easel, truth), Texture.SCATTERED)


def test_bins_that_deviate_by_much_may_be_empty_if_as_few_would_have_been_seen() -> None:
    """A fifth of them is, and others differ by degrees."""
    dice = seeded(5).generator()
    counts = dice.poisson(np.where(dice.random(4096) < 0.2, 0, dice.gamma(6, 12, 4096)))
    grain = scattered(counts)
    assert grain.hole_place == 0
    assert grain.holes == pytest.approx(0.2, abs=0.07)
    assert scattered(counts, 250).holes == 0


@pytest.mark.parametrize("shape", [10.0, 100.0])
def test_bins_that_deviate_by_little_are_not_empty(shape: float) -> None:
    dice = seeded(5).generator()
    assert scattered(dice.poisson(dice.gamma(shape, 70 / shape, 4096))).holes == 0
