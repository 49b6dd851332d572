"""Where sensitive units are supposed to be, from the numbers of localities."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.data import Histogram
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.localities import Located, localities, localities_of, sensitive_means
from onesided.mechanisms.pieces import Pieces
from onesided.mechanisms.probe import foreseen, take_probe
from onesided.mechanisms.whereabouts import (
    Apart,
    distance,
    filled,
    mean_within,
    raised_to,
    where_others_lack,
    with_gaps,
)
from onesided.randomness import seeded
from support.pieces import RATE


@pytest.mark.parametrize("bins", [1, 2, 5, 37, 5000])
def test_localities_are_numbered_from_none_to_the_last(bins: int) -> None:
    assert np.unique(localities(bins)).size == localities(bins)[-1] + 1


counted = st.lists(st.tuples(st.integers(0, 40), st.floats(0, 1e30)), min_size=1, max_size=20)


@given(counted, st.data())
def test_the_distance_changes_by_at_most_one_with_a_count(
    pairs: list[tuple[int, float]], data: st.DataObject
) -> None:
    """Whatever is expected, which is a function of what was released before."""
    counts = np.array([pair[0] for pair in pairs])
    expected = np.array([pair[1] for pair in pairs])
    changed = counts.copy()
    changed[data.draw(st.integers(0, counts.size - 1))] += 1
    assert abs(distance(changed, expected) - distance(counts, expected)) == 1


def test_sensitive_units_lie_where_they_were_counted_beyond_doubt() -> None:
    found = Pieces.of(np.zeros(1024, int), np.array([10.0]), np.full(1024, 10), RATE)
    local = np.zeros(16)
    local[3] = 5000.0
    hidden = sensitive_means(found, 5000.0, Located(local, 5.0))
    assert hidden[3 * 64 : 4 * 64].sum() == pytest.approx(5000, rel=0.05)
    vague = sensitive_means(found, 5000.0, Located(local, 1e6))
    assert vague == pytest.approx(np.full(1024, 5000 / 1024))


def test_sensitive_units_that_do_not_lie_like_the_others_are_spread_evenly() -> None:
    """As many in each locality, wherever the others are; and in proportion where that is so."""
    dice = seeded(3).generator()
    others = dice.gamma(0.3, 1000, 1024)
    found = Pieces.of(np.arange(1024), others, np.rint(others).astype(int), RATE)
    place = localities(1024)
    even = Located(np.full(16, 64 * 700.0) + dice.laplace(0, 100, 16), 100.0)
    assert sensitive_means(found, 1024 * 700.0, even) == pytest.approx(np.full(1024, 700), rel=0.2)
    alike = Located(3 * np.bincount(place, weights=others) + dice.laplace(0, 100, 16), 100.0)
    assert sensitive_means(found, 3 * others.sum(), alike) == pytest.approx(
        3 * others, rel=0.1, abs=10
    )
    vague = Located(np.full(16, 64 * 700.0), 1e6)
    expected = 1024 * 700.0 * others / others.sum()
    assert sensitive_means(found, 1024 * 700.0, vague) == pytest.approx(expected, rel=0.2)


def test_one_full_locality_does_not_hide_that_sensitive_units_are_spread_evenly() -> None:
    dice = seeded(4).generator()
    others = dice.gamma(0.5, 1000, 64)
    others[21] = 100_000.0
    sensitive = np.full(64, 2000.0)
    sensitive[21] = 400_000.0
    found = Pieces.of(np.arange(64), others, np.rint(others).astype(int), RATE)
    told = np.bincount(localities(64), weights=sensitive) + dice.laplace(0, 100, 16)
    hidden = sensitive_means(found, sensitive.sum(), Located(told, 100.0))
    assert hidden[21] == pytest.approx(400_000, rel=0.05)
    beside = np.delete(hidden, range(20, 24))
    assert beside.mean() == pytest.approx(2000, rel=0.05)
    assert beside.min() > 700


@pytest.mark.parametrize("apart", [0.0, *(10.0**-e for e in range(5, 17))])
@pytest.mark.parametrize("mean", [1e-6, 1.0, 1e7])
def test_others_that_lie_evenly_but_for_rounding_tell_nothing(apart: float, mean: float) -> None:
    dice = seeded(9).generator()
    others = mean * (1 + apart * dice.normal(size=1024))
    found = Pieces.of(np.arange(1024), others, np.rint(others).astype(int), RATE)
    for _ in range(20):
        local = Located(64 * 700.0 + dice.laplace(0, 100, 16), 100.0)
        hidden = sensitive_means(found, 1024 * 700.0, local)
        assert hidden == pytest.approx(np.full(1024, 700), rel=0.05)


def test_noise_on_the_numbers_of_localities_does_not_move_sensitive_units() -> None:
    """Nearly everywhere, that is: the largest of many noises can look like a crowd."""
    found = Pieces.of(np.zeros(1024, int), np.array([1.0]), np.zeros(1024, int), RATE)
    places = int(localities(1024)[-1]) + 1
    for seed in range(20):
        local = 50 + seeded(seed).generator().laplace(0, 1000, places)
        hidden = sensitive_means(found, 50.0 * places, Located(local, 1000.0))
        assert np.median(hidden) > 0.5 * hidden.mean(), seed


def with_full_bins(every: int) -> Pieces:
    """1,024 bins with 10 units each, but every so many stand alone and have 900."""
    alone = np.arange(1024) % every == 0
    _, first, piece = np.unique(np.cumsum(alone) * alone, return_index=True, return_inverse=True)
    return Pieces.of(piece, np.where(alone, 900.0, 10.0)[first], np.zeros(1024, int), RATE)


@pytest.mark.parametrize(("every", "more"), [(1, 0), (2, 0), (7, 0), (8, 1), (64, 1), (1024, 1)])
def test_few_bins_that_stand_alone_are_a_locality_of_their_own(every: int, more: int) -> None:
    """Where many do, all that localities tell would be lost in one number."""
    found = with_full_bins(every)
    places = localities_of(found)
    assert np.unique(places).tolist() == list(range(16 + more))
    if more:
        assert np.array_equal(places == 16, ~found.several)


@pytest.mark.parametrize("sensitive", [0, 5_000, 24_000])
def test_bins_that_stand_alone_have_as_many_sensitive_units_as_was_told(sensitive: int) -> None:
    found = with_full_bins(64)
    everywhere = 24_480.0 - sensitive
    told = np.append(np.full(16, everywhere / 16), sensitive)
    hidden = sensitive_means(found, 24_480.0, Located(told, 100.0))
    assert hidden[~found.several] == pytest.approx(np.full(16, sensitive / 16), abs=2)
    assert hidden[found.several] == pytest.approx(
        np.full(1008, everywhere / 1008), abs=0.1, rel=0.05
    )


def test_noise_on_what_was_told_of_bins_that_stand_alone_does_not_count() -> None:
    found = with_full_bins(64)
    for apart in (-1.4, 1.4):
        told = np.append(np.full(16, 630.0), 14_400 + apart * 1000)
        hidden = sensitive_means(found, 24_480.0, Located(told, 1000.0))
        assert hidden == pytest.approx(found.means)
    most = sensitive_means(found, 24_480.0, Located(np.append(np.zeros(16), 1e6), 1000.0))
    assert most[found.several].sum() == pytest.approx(0)
    assert most.sum() == pytest.approx(24_480)


@pytest.mark.parametrize("share", [0.0, 0.25])
def test_the_probe_tells_how_many_sensitive_units_bins_have_that_stand_out(share: float) -> None:
    """One bin of 64 is full; of the others' units a quarter is sensitive, of theirs a `share`."""
    full = np.arange(4096) % 64 == 7
    counts = np.where(full, 40_000, 200)
    nonsensitive = np.where(full, counts * (1 - share), 150).astype(int)
    data, epsilon = Histogram(counts, nonsensitive), Fraction(1, 100)
    found, expected = foreseen(take_probe(data, epsilon, seeded(2)), PublicShape.of(data), epsilon)
    assert np.array_equal(~found.several, full)
    off = expected[full].sum() - share * counts[full].sum()
    assert abs(off) < 0.02 * counts[full].sum()


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=20), st.integers(0, 5000).map(float))
def test_units_fill_up_what_is_lowest(counts: list[int], units: float) -> None:
    means = np.array(counts, dtype=np.float64)
    more = filled(means, units)
    assert more.sum() == pytest.approx(units)
    level = (means + more)[more > 0]
    assert level == pytest.approx(np.full(level.size, level.max(initial=0.0)))
    assert (means[more == 0] >= level.max(initial=0.0) - 1e-6).all()


@pytest.mark.parametrize("part", [0.0, 0.5, 1.0, 2.0])
def test_sensitive_units_are_where_others_lack_as_far_as_they_are_apart(part: float) -> None:
    """Even counts, of which the share that is sensitive differs from bin to bin."""
    others = np.rint(1000 * seeded(5).generator().beta(0.5, 1.5, 1024))
    found = Pieces.of(np.arange(1024), others, others.astype(int), RATE)
    local = np.bincount(localities(1024), weights=1000 - others)
    expected = sensitive_means(found, 1024_000 - others.sum(), Located(local, 1.0))
    apart = part * float(np.abs(1000 - others - expected).sum())
    supposed = where_others_lack(found, expected, Apart(apart, 1.0))
    kept = min(part, 1.0)
    wanted = expected + kept * (1000 - others - expected)
    assert supposed == pytest.approx(wanted, abs=15)
    assert supposed.sum() == pytest.approx(expected.sum())


def pieces_of(means: list[float], hidden: list[float]) -> tuple[Pieces, np.ndarray]:
    """As many pieces of 256 bins each, and what their bins expect of sensitive units."""
    piece = np.repeat(np.arange(len(means)), 256)
    return Pieces.of(piece, np.array(means), np.zeros(piece.size, int), RATE), np.repeat(
        hidden, 256
    )


def test_pieces_that_noise_does_not_tell_from_empty_ones_may_be_gaps() -> None:
    """The scale of the noise is 20, and that of the mean of 512 bins less than 1."""
    found, hidden = pieces_of([1000.0, 1.0, 1.0, 50.0], [100.0, 0.5, 0.0, 5.0])
    gaps, moved = with_gaps(found, hidden, 1000.0)
    assert not gaps.means[256:768].any()
    assert not moved[256:768].any()
    assert gaps.means[:256] == pytest.approx(1000 * 1052 / 1050)
    assert gaps.means.sum() == pytest.approx(found.means.sum())
    assert moved.sum() == pytest.approx(hidden.sum())


@pytest.mark.parametrize(
    ("means", "hidden", "scale"),
    [
        ([1000.0, 3.0], [100.0, 1.0], 1000.0),  # beyond doubt
        ([1000.0, 1.0], [100.0, 50.0], 1000.0),  # sensitive units were counted there
        ([2.0, 1.0], [0.2, 2.0], 1e6),  # most units are there
        ([1.0, 1.0], [1.0, 1.0], 1000.0),  # all are
    ],
)
def test_pieces_are_no_gaps_where_anything_speaks_against_it(
    means: list[float], hidden: list[float], scale: float
) -> None:
    found, expected = pieces_of(means, hidden)
    gaps, moved = with_gaps(found, expected, scale)
    assert np.array_equal(gaps.means, found.means)
    assert np.array_equal(moved, expected)


@pytest.mark.parametrize(
    ("estimate", "expected"), [(50.0, 50.0), (-30.0, 0.0), (0.0, 4.0), (99.0, 95.6), (500.0, 100.0)]
)
def test_noise_does_not_say_what_is_impossible(estimate: float, expected: float) -> None:
    """A normal variable of error 5 that lies above 0 has the mean 5·√(2/π) there."""
    assert mean_within(estimate, 5.0, 100.0) == pytest.approx(expected, abs=0.8)


def crowd_and_rest() -> tuple[Pieces, np.ndarray]:
    """Eight bins of one piece, and two that stand alone; of the sensitive units a tenth is there.

    The piece has 8 other units and 100 sensitive ones.
    """
    found = Pieces.of(np.array([0] * 8 + [1, 2]), np.array([1.0, 50, 50]), np.zeros(10, int), RATE)
    return found, np.array([12.5] * 8 + [400.0, 500.0])


def test_bins_have_as_many_units_as_they_deviate_by() -> None:
    found, hidden = crowd_and_rest()
    assert raised_to(found, hidden, 108.0) is hidden
    raised = raised_to(found, hidden, 400.0)
    assert raised.sum() == pytest.approx(hidden.sum())
    assert raised[:8] == pytest.approx((400 / np.log(2) - 8) / 8)
    assert raised[8] / raised[9] == pytest.approx(400 / 500)


def test_no_more_units_are_moved_than_there_are() -> None:
    found, hidden = crowd_and_rest()
    assert raised_to(found, hidden, 1e9) == pytest.approx(np.array([125.0] * 8 + [0.0, 0.0]))
    nobody = np.where(found.several, hidden, 0.0)
    assert np.array_equal(raised_to(found, nobody, 1e9), nobody)
