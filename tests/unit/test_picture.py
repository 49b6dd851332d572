"""Pictures: pieces of a probe, how rough counts are, and stand-ins that agree with both."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.mechanisms.easel import Easel
from onesided.mechanisms.fitting import Span, grain_of_bins, measured_grain
from onesided.mechanisms.grain import Grain, Texture, made_up_levels
from onesided.mechanisms.localities import sensitive_means
from onesided.mechanisms.picture import (
    ALIKE,
    levelled_to,
    measured_likeness,
    picture,
    thinned_to,
)
from onesided.mechanisms.pieces import Pieces, Roughness, block_sizes, group_deviation, pieces
from onesided.mechanisms.whereabouts import Apart, distance
from onesided.randomness import seeded
from support.pieces import RATE, one_piece


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


def test_single_bins_that_stand_out_do_not_break_what_is_around_them() -> None:
    levels = np.full(1024, 30)
    levels[[100, 611]] = 1_800
    found = pieces(levels - seeded(3).geometric(Fraction(1, 200), 1024), 1 / 200)
    np.testing.assert_array_equal(np.flatnonzero(~found.several), [100, 611])
    assert np.unique(found.means[found.several]).size == 1
    assert found.means[0] == pytest.approx(30, abs=20)


def test_bins_stand_out_that_have_little_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """So less than its mean is added to them; the others have what is taken from these."""
    dice, noise = seeded(4).generator(), 200
    errors, plain, ground = [], [], []
    for seed in range(20):
        counts = np.full(4096, 20)
        counts[::64] += dice.exponential(700, 64).astype(int)
        probe = counts - seeded(seed).geometric(Fraction(1, noise), counts.size)
        found = pieces(probe, 1 / noise)
        alone = ~found.several
        errors.append(float(np.mean(found.means[alone] - counts[alone])))
        plain.append(float(np.mean(probe[alone] + noise - counts[alone])))
        ground.append(float(np.mean(found.means[~alone] - counts[~alone])))
    assert abs(np.mean(errors)) < 15 < 30 < np.mean(plain)
    assert abs(np.mean(ground)) < 1
    monkeypatch.setattr("onesided.mechanisms.pieces._taken_by_noise", lambda _, mean: mean)
    assert found.units == pytest.approx(pieces(probe, 1 / noise).units)


def test_neighbours_that_stand_out_together_are_a_level() -> None:
    levels = np.zeros(1024, int)
    levels[512:528] = np.where(np.arange(16) % 3, 0, 2_000)
    found = pieces(levels - seeded(3).geometric(Fraction(1, 400), 1024), 1 / 400)
    assert found.several[512:528].all()


def test_bins_in_which_nothing_was_seen_have_nothing() -> None:
    counts = np.zeros(1024, dtype=int)
    counts[300] = 2000
    for seed in range(8):
        found = pieces(probed(counts, seed), RATE)
        assert found.units == pytest.approx(2000, abs=120)
        assert not found.means[found.several].any()


def test_single_bins_in_which_nothing_was_seen_are_one_piece() -> None:
    """Their counts are not known: where most units are sensitive, they may be full."""
    counts = (1000 * 1.3 ** np.arange(48)).astype(int)
    counts[[7, 20, 33]] = 0
    found = pieces(probed(counts), RATE)
    assert np.unique(found.piece[counts == 0]).size == 1
    assert found.several.tolist() == (counts == 0).tolist()


@pytest.mark.parametrize("bins", [1, 2, 5, 37])
def test_any_number_of_bins_can_be_cut(bins: int) -> None:
    found = pieces(probed(np.full(bins, 10)), RATE)
    assert all(each.size == bins for each in (found.piece, *found.blocks, found.means))


def test_far_pieces_of_one_level_have_it_in_common() -> None:
    counts = np.zeros(2048, dtype=int)
    counts[::64] = 3000
    found = pieces(probed(counts), RATE)
    background = found.means[counts == 0]
    assert np.mean(background == np.median(background)) > 0.9


@given(st.lists(st.integers(0, 30), min_size=2, max_size=80), st.data())
def test_roughness_changes_by_at_most_one_with_a_count(
    counts: list[int], data: st.DataObject
) -> None:
    found = one_piece(len(counts))
    changed = np.array(counts)
    changed[data.draw(st.integers(0, changed.size - 1))] += 1
    before = Roughness.of(np.array(counts), found, 8).values
    after = Roughness.of(changed, found, 8).values
    assert max(abs(one - other) for one, other in zip(before, after, strict=True)) <= 1


NOISY = st.floats(-1e6, 1e6)


@given(st.tuples(NOISY, NOISY, NOISY), st.tuples(*[st.floats(1, 1e4)] * 3))
def test_deviations_never_shrink_from_scale_to_scale(
    noisy: tuple[float, ...], scales: tuple[float, ...]
) -> None:
    told = Roughness(0.0, noisy, 8, (1.0, *scales)).in_order().deviations
    assert list(told) == sorted(told)
    assert min(noisy) - 1e-6 <= told[0] <= told[-1] <= max(noisy) + 1e-6
    if list(noisy) == sorted(noisy):
        assert told == noisy


def test_answers_that_contradict_each_other_are_weighted_by_their_noise() -> None:
    told = Roughness(0.0, (90.0, 30.0, 60.0), 8, (1.0, 1.0, 2.0, 1.0)).in_order()
    assert told.deviations == pytest.approx((70.0, 70.0, 70.0))


def rough_counts(dice: np.random.Generator) -> np.ndarray:
    """Counts that are alike in blocks of 256 and differ between them, and a little inside."""
    return dice.poisson(np.repeat(dice.gamma(3, 100, size=16), 256) * dice.gamma(5, 0.2, 4096))


@pytest.mark.parametrize("texture", [Texture.LIKELY, Texture.LONG_TAILED])
def test_measured_roughness_is_reproduced(texture: Texture) -> None:
    dice = seeded(3).generator()
    counts = rough_counts(dice)
    found = one_piece(counts.size, 1.0)
    means = np.full(counts.size, counts.mean())
    truth = Roughness.of(counts, found, 40)
    easel = Easel(found, means - 1, dice)
    grain = measured_grain(easel, truth, grain_of_bins(easel, truth), texture)
    made_up = picture(found, means, made_up_levels(found, grain, dice), ALIKE, dice)
    again = Roughness.of(made_up.all, found, 40)
    small, large, whole = again.deviations
    assert small == pytest.approx(truth.deviations[0], rel=0.25)
    assert whole == pytest.approx(truth.deviations[2], rel=0.4)
    assert small < 0.7 * whole
    assert large < 0.9 * whole


@pytest.mark.parametrize(
    ("bins", "large"), [(1, 64), (64, 64), (256, 64), (1000, 128), (4096, 256), (65_536, 1024)]
)
def test_large_blocks_are_half_way_from_small_ones_to_all_bins(bins: int, large: int) -> None:
    assert block_sizes(bins) == (16, large)
    blocks = one_piece(bins, 1.0).blocks
    assert [int(np.bincount(each).max()) for each in blocks] == [min(16, bins), min(large, bins)]


def test_blocks_end_where_pieces_do() -> None:
    """Pieces are not in the order of their numbers: what has a level in common has one number."""
    piece = np.repeat([1, 0, 2, 0], [16, 8, 24, 16])
    blocks = Pieces.of(piece, np.ones(3), np.zeros(64, int), RATE).blocks
    assert blocks[0].tolist() == np.repeat(range(5), [16, 8, 8, 16, 16]).tolist()
    assert blocks[1].tolist() == np.repeat(range(4), [16, 8, 24, 16]).tolist()


def test_few_full_bins_are_told_from_many_nearly_empty_ones() -> None:
    dice = seeded(4).generator()
    counts = np.zeros(4096, dtype=int)
    counts[dice.permutation(4096)[:60]] = 500
    found = one_piece(counts.size, 1.0)
    means = np.full(counts.size, counts.mean())
    shapes = grain_of_bins(Easel(found, means - 1, dice), Roughness.of(counts, found, 100))
    assert shapes.even < 0.1


def test_textures_range_from_even_to_scattered() -> None:
    dice = seeded(5).generator()
    counts = dice.poisson(dice.gamma(0.5, 40, size=4096))
    found = pieces(probed(counts), RATE)
    shapes = grain_of_bins(Easel(found, np.zeros(4096), dice), None)
    spread = {
        each: float(np.std(made_up_levels(found, Grain.of_bins(shapes.at(each), each), dice)))
        for each in Texture
    }
    assert spread[Texture.EVEN] < spread[Texture.LIKELY] < spread[Texture.SCATTERED]
    assert spread[Texture.LIKELY] == pytest.approx(np.sqrt(2), rel=0.35)


def test_spans_agree_where_they_can() -> None:
    assert Span(10, 1).within(Span(5, 0.1)) == Span(5, 1)
    assert Span(10, 1).within(Span(0.5, 0.1)) == Span(1, 1)


def test_a_probe_that_shows_nothing_leaves_units_anywhere() -> None:
    dice = seeded(5).generator()
    found = pieces(np.full(256, -50), 10.0)
    hidden = sensitive_means(found, 2560.0, None)
    drawn = picture(found, hidden, np.ones(256), ALIKE, dice)
    assert drawn.all.sum() == pytest.approx(2560, rel=0.1)


def test_counts_that_deviate_less_than_chance_must_be_smaller() -> None:
    """Beside a full bin: it holds most units, so that the others can be fewer than expected."""
    dice = seeded(6).generator()
    piece = np.repeat([0, 1], [1, 1023])
    found = Pieces.of(piece, np.array([1e6, 0.0]), np.zeros(1024, int), RATE)
    empty = Roughness.of(np.zeros(1024, int), found, 8)
    rough = Roughness.of(dice.poisson(30, 1024), found, 8)
    expected = np.full(1024, 20.0)
    assert thinned_to(found, expected, empty, dice)[1][1] < 0.2
    assert thinned_to(found, expected, rough, dice)[1][1] == 20.0
    assert thinned_to(one_piece(1024, 0.0), expected, empty, dice)[1][1] == 20.0


@pytest.mark.parametrize(("below", "thinned"), [(2.0, False), (5.0, True)])
def test_chance_is_seldom_a_reason_for_counts_to_be_smaller(below: float, thinned: bool) -> None:
    dice = seeded(6).generator()
    piece = np.repeat([0, 1], [1, 1023])
    found = Pieces.of(piece, np.array([1e6, 0.0]), np.zeros(1024, int), RATE)
    truth = Roughness.of(dice.poisson(20, 1024), found, 8)
    answer = replace(truth, scales=(500.0,) * 4).moved(-below)
    expected = np.full(1024, 20.0)
    assert bool(thinned_to(found, expected, answer, dice)[1][1] < 20) is thinned


def test_counts_that_noise_does_not_hide_are_not_smaller_than_they_seem() -> None:
    """Pieces of bins that chance made equal deviate by less than chance."""
    dice = seeded(6).generator()
    piece = np.repeat([0, 1], [1, 1023])
    found = Pieces.of(piece, np.array([1e7, 2 / RATE**2]), np.zeros(1024, int), RATE)
    equal = Roughness.of(np.full(1024, 800), found, 8)
    assert thinned_to(found, np.zeros(1024), equal, dice)[0] is found


def test_pieces_are_drawn_together_as_far_as_all_bins_deviate_less_than_they_do() -> None:
    dice = seeded(6).generator()
    piece = np.repeat([0, 1], 512)
    found = Pieces.of(piece, np.array([50.0, 150.0]), np.zeros(1024, int), RATE)
    hidden = found.means / 2
    apart = Roughness.of(dice.poisson(found.means + hidden), found, 8)
    alike = Roughness.of(dice.poisson(150, 1024), found, 8)
    assert np.ptp(levelled_to(found, hidden, apart)[0].means) > 90
    drawn, other = levelled_to(found, hidden, alike)
    assert np.ptp(drawn.means) < 40
    assert drawn.means.sum() + other.sum() == pytest.approx(found.means.sum() + hidden.sum())


def test_empty_pieces_stay_empty_where_most_are() -> None:
    """Full ones have fewer units than seemed, and the rest does not lie in the empty ones."""
    piece = np.repeat([0, 1, 2], [200, 600, 224])
    found = Pieces.of(piece, np.array([0.0, 0.0, 300.0]), np.zeros(1024, int), RATE)
    fewer = Roughness.of(np.where(piece == 2, 200, 0), found, 8)
    drawn, _ = levelled_to(found, np.zeros(1024), fewer)
    assert drawn.means[0] == 0
    assert 190 < drawn.means[-1] < 210


def test_what_full_bins_deviate_by_is_no_difference_between_pieces() -> None:
    """Pieces of one ground, apart by noise alone; unless most mass is in bins that stand out."""
    piece = np.repeat([0, 1], 512)
    found = Pieces.of(piece, np.array([50.0, 150.0]), np.zeros(1024, int), RATE)
    none = np.zeros(1024)
    dice = seeded(6).generator()
    spiky = dice.poisson(np.where(np.arange(1024) % 16 == 0, 400, 80))
    scattered = dice.poisson(np.where(np.arange(1024) % 16 == 0, 1600, 0))
    assert np.ptp(levelled_to(found, none, Roughness.of(spiky, found, 8))[0].means) < 20
    assert levelled_to(found, none, Roughness.of(scattered, found, 8))[0] is found


@pytest.mark.parametrize("units", [700.0, 4_000.0, 10_000.0])
def test_pieces_hold_as_much_as_there_is(units: float) -> None:
    piece = np.repeat([0, 1, 2], [1, 1000, 23])
    found = Pieces.of(piece, np.array([500.0, 2.0, 4.0]), np.zeros(1024, int), RATE)
    changed = found.with_units(units)
    assert changed.units == pytest.approx(units)
    assert changed.means[0] == 500
    if units < 2 * found.units:
        assert changed.means[-1] == pytest.approx(2 * changed.means[1])
    else:
        assert changed.means[-1] == pytest.approx(changed.means[1] + 4)


def test_pieces_of_single_bins_stay_as_they_are() -> None:
    found = Pieces.of(np.arange(4), np.array([3.0, 0, 9, 1]), np.zeros(4, int), RATE)
    assert found.with_units(5) is found


def seen_and_hidden(likeness: float, alone: bool, seed: int) -> tuple[Pieces, np.ndarray, int]:
    """Pieces, how many sensitive units bins expect, and how far from that they are.

    Bins of a thousand units, of which a quarter is sensitive, more or less: shares are drawn from
    a beta distribution of that concentration.
    """
    dice = seeded(seed).generator()
    shares = dice.beta(0.75 * likeness, 0.25 * likeness, 1024)
    others = dice.poisson(1000 * shares)
    if alone:
        found = Pieces.of(np.arange(1024), others.astype(float), others, RATE)
        expected = others / 3
        hidden = dice.poisson(others * (1 - shares) / np.maximum(shares, 0.01))
    else:
        found, expected = one_piece(1024, 750.0), np.full(1024, 250.0)
        hidden = dice.poisson(1000 * (1 - shares))
    return found, expected, distance(hidden, expected)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("likeness", [4.0, 40.0])
def test_shares_differ_as_far_as_sensitive_units_are_apart(likeness: float, alone: bool) -> None:
    dice = seeded(8).generator()
    found, expected, apart = seen_and_hidden(likeness, alone, 7)
    even = Grain.of_bins(1e6, Texture.LIKELY)

    def told(scale: float) -> float:
        return measured_likeness(found, expected, expected, even, Apart(apart, scale), dice)

    assert likeness / 2 < told(1.0) < 2 * likeness
    # Nothing is beyond doubt where the noise is as large as the answer.
    assert told(apart / 2) == ALIKE


@pytest.mark.parametrize("alone", [False, True])
def test_shares_that_differ_by_chance_alone_are_taken_for_alike(alone: bool) -> None:
    found, expected, apart = seen_and_hidden(1e7, alone, 7)
    even = Grain.of_bins(1e6, Texture.LIKELY)
    dice = seeded(8).generator()
    near = Apart(float(apart), 1000.0)
    assert measured_likeness(found, expected, expected, even, near, dice) == ALIKE


@pytest.mark.parametrize("likeness", [0.01, 1.0, 100.0, ALIKE])
def test_pictures_of_any_likeness_have_as_many_units_of_either_kind(likeness: float) -> None:
    dice = seeded(8).generator()
    piece = np.append(np.zeros(4096, int), np.arange(1, 4097))
    means = np.append(300.0, np.full(4096, 50.0))
    found = Pieces.of(piece, means, np.full(8192, 50), RATE)
    drawn = picture(found, found.means, np.ones(8192), likeness, dice)
    for bins, each in ((slice(4096), 300), (slice(4096, None), 50)):
        assert drawn.nonsensitive[bins].mean() == pytest.approx(each, rel=0.05)
        assert drawn.all[bins].mean() == pytest.approx(2 * each, rel=0.25 if likeness < 1 else 0.05)
    # Bins of a piece keep what they have in all, and bins that stand alone what others they have.
    assert drawn.all[:4096].std() == pytest.approx(np.sqrt(600), rel=0.05)
    assert drawn.nonsensitive[4096:].std() == pytest.approx(np.sqrt(50), rel=0.05)


def test_bins_that_stand_alone_are_not_emptied_of_sensitive_units() -> None:
    """Where 1 of 20 units is not sensitive, and shares have the concentration 10."""
    found = Pieces.of(np.arange(4096), np.full(4096, 50.0), np.full(4096, 50), RATE)
    drawn = picture(found, np.full(4096, 950.0), np.ones(4096), 10.0, seeded(8).generator())
    hidden = drawn.all - drawn.nonsensitive
    assert np.mean(hidden < 50) < 0.1
    assert hidden.std() > 950 / 2


def test_an_answer_that_cannot_be_larger_does_not_make_blocks_unlike() -> None:
    """Most bins are empty, so that all together deviate by all there is; the rest is noise."""
    dice = seeded(8).generator()
    counts = np.append(dice.poisson(dice.gamma(4, 100, 1792)), np.zeros(2304, int))
    piece = np.repeat([0, 1], [1792, 2304])
    found = Pieces.of(piece, np.array([400.0, 0.0]), counts, RATE)
    exact = Roughness.of(counts, found, 400)
    *within, together = exact.deviations
    noisy = Roughness(
        exact.visible, (*within, together + 30_000), 400, (10_000.0, 3000.0, 10_000.0, 10_000.0)
    )
    easel = Easel(found, np.zeros(found.means.size), dice)
    bins = grain_of_bins(easel, noisy)
    for texture in Texture:
        grain = measured_grain(easel, noisy, bins, texture)
        assert grain.shapes[-1] > 1000
        drawn = dice.poisson(made_up_levels(found, grain, dice) * found.means)
        assert group_deviation(drawn, found.blocks[0]) == pytest.approx(within[0], rel=0.15)
