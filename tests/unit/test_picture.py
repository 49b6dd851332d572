"""Pictures: pieces of a probe, deviations, and stand-ins that agree with them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.mechanisms.picture import (
    Deviations,
    Texture,
    group_deviation,
    levels_measured,
    levels_seen,
    picture,
    pieces,
)
from onesided.randomness import seeded

RATE = 0.05


def probed(counts: np.ndarray, seed: int = 1) -> np.ndarray:
    dice = seeded(seed).generator()
    return counts - dice.geometric(1 - np.exp(-RATE), size=counts.size) + 1


grouped = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), min_size=1, max_size=40)


@given(grouped)
def test_deviation_is_that_from_the_median_of_each_group(pairs: list[tuple[int, int]]) -> None:
    ordered = sorted(pairs, key=lambda pair: pair[1])
    counts = np.array([pair[0] for pair in ordered])
    groups = np.array([pair[1] for pair in ordered])
    expected = sum(
        np.abs(counts[groups == each] - np.median(counts[groups == each])).sum()
        for each in np.unique(groups)
    )
    assert group_deviation(counts, groups) == expected


@given(grouped, st.data())
def test_deviation_changes_by_at_most_one_with_a_count(
    pairs: list[tuple[int, int]], data: st.DataObject
) -> None:
    ordered = sorted(pairs, key=lambda pair: pair[1])
    counts = np.array([pair[0] for pair in ordered])
    groups = np.array([pair[1] for pair in ordered])
    changed = counts.copy()
    changed[data.draw(st.integers(0, counts.size - 1))] += 1
    assert abs(group_deviation(changed, groups) - group_deviation(counts, groups)) <= 1


def test_level_data_are_one_piece_in_spite_of_outliers() -> None:
    found = pieces(probed(np.full(4096, 200)), RATE)
    assert found.piece[-1] == 0
    assert found.means[0] == pytest.approx(200, abs=2)


def test_steps_and_spikes_are_found_and_little_else() -> None:
    counts = np.repeat([0, 900], 512)
    counts[100] = 5000
    found = pieces(probed(counts), RATE)
    assert found.means[100] == pytest.approx(5000, abs=200)
    assert np.mean(np.abs(found.means - counts) < 60) > 0.98


@pytest.mark.parametrize("bins", [1, 2, 5, 37])
def test_any_number_of_bins_can_be_cut(bins: int) -> None:
    found = pieces(probed(np.full(bins, 10)), RATE)
    assert found.piece.size == found.block.size == bins


def test_measured_deviations_are_reproduced() -> None:
    dice = seeded(3).generator()
    counts = dice.poisson(np.repeat(dice.gamma(3, 100, size=64), 16) * dice.gamma(5, 0.2, 1024))
    found = pieces(probed(np.full(1024, 10)), RATE)
    truth = Deviations.of(counts, found)
    levels = levels_measured(found, float(counts.sum()), truth, Texture.LIKELY, dice)
    again = picture(found, float(counts.sum()), levels, dice)
    made_up = Deviations.of(again.all - again.nonsensitive, found)
    assert made_up.near == pytest.approx(truth.near, rel=0.2)
    assert made_up.far == pytest.approx(truth.far, rel=0.4)
    assert made_up.near < 0.6 * made_up.far


def test_textures_range_from_even_to_scattered() -> None:
    dice = seeded(5).generator()
    counts = dice.poisson(dice.gamma(0.5, 40, size=4096))
    found = pieces(probed(counts), RATE)
    spread = {each: float(np.std(levels_seen(found, each, dice))) for each in Texture}
    assert spread[Texture.EVEN] < spread[Texture.LIKELY] < spread[Texture.SCATTERED]
    assert spread[Texture.LIKELY] == pytest.approx(np.sqrt(2), rel=0.35)


def test_a_probe_that_shows_nothing_leaves_units_anywhere() -> None:
    dice = seeded(5).generator()
    found = pieces(np.full(256, -50), 10.0)
    drawn = picture(found, 2560.0, np.ones(256), dice)
    assert drawn.all.sum() == pytest.approx(2560, rel=0.1)
