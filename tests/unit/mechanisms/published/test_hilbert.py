"""The Hilbert curve: all cells once, each next to the one before where the box is a cube."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.errors import RequestError
from onesided.mechanisms.published.hilbert import hilbert_order


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4).map(tuple))
def test_every_cell_is_visited_once(shape: tuple[int, ...]) -> None:
    assert np.array_equal(np.sort(hilbert_order(shape)), np.arange(np.prod(shape)))


@pytest.mark.parametrize("shape", [(16,), (2, 2), (8, 8), (32, 32), (4, 4, 4), (8, 8, 8), (2,) * 5])
def test_steps_lead_to_a_neighbour(shape: tuple[int, ...]) -> None:
    path = np.array(np.unravel_index(hilbert_order(shape), shape))
    assert np.abs(np.diff(path)).sum(axis=0).tolist() == [1] * (path.shape[1] - 1)


def test_one_dimension_stays_in_order() -> None:
    assert hilbert_order((11,)).tolist() == list(range(11))


def test_dropping_cells_keeps_the_order_of_the_others() -> None:
    cube, part = hilbert_order((8, 8)), hilbert_order((5, 7))
    rows, columns = np.unravel_index(cube, (8, 8))
    inside = (rows < 5) & (columns < 7)
    assert np.array_equal(np.ravel_multi_index((rows[inside], columns[inside]), (5, 7)), part)


def test_too_many_dimensions_are_refused() -> None:
    with pytest.raises(RequestError, match="fewer dimensions"):
        hilbert_order((2,) * 61 + (4, 1))
