"""Pieces of a line of noisy values: steps are found where they are, and nothing else is."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.mechanisms.cutting import dyadic_pieces, pieces_anywhere
from onesided.randomness import seeded


def price(bins: int) -> float:
    return 1 + log(bins)


def cost(values: np.ndarray, piece: np.ndarray) -> float:
    means = np.bincount(piece, weights=values) / np.bincount(piece)
    return float(np.sum((values - means[piece]) ** 2) / 2 + price(values.size) * (piece[-1] + 1))


@pytest.mark.parametrize("width", [128, 125, 77])
def test_steps_are_found_where_they_are(width: int) -> None:
    levels = np.repeat([0.0, 4.0, 1.0, 6.0, 2.0], width)
    found = pieces_anywhere(levels + seeded(1).generator().standard_normal(levels.size), 7.5)
    begins = np.flatnonzero(np.diff(found))
    assert begins.size == 4
    np.testing.assert_allclose(begins + 1, width * np.arange(1, 5), atol=2)


def test_noise_alone_is_one_piece() -> None:
    noise = seeded(2).generator().standard_normal((20, 512))
    assert sum(int(pieces_anywhere(each, price(512))[-1]) for each in noise) <= 1


def test_a_single_bin_stands_alone() -> None:
    values = np.zeros(300)
    values[111] = 12.0
    np.testing.assert_array_equal(
        pieces_anywhere(values, price(300)), (np.arange(300) > 110) + 1 * (np.arange(300) > 111)
    )


@given(st.lists(st.floats(-50, 50), min_size=1, max_size=60))
def test_pieces_cost_no_more_than_dyadic_ones(found: list[float]) -> None:
    values = np.array(found)
    anywhere = pieces_anywhere(values, price(values.size))
    assert anywhere[0] == 0
    assert set(np.diff(anywhere)) <= {0, 1}
    dyadic = dyadic_pieces(values, price(values.size))
    assert cost(values, anywhere) <= cost(values, dyadic) + 1e-6
