"""`agrid`: grids cover the map, refine where it is full, and the stages add up."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.data import Histogram
from onesided.errors import InputError, MechanismRefused
from onesided.mechanisms.agrid import AGrid, Grid, Refinement
from onesided.randomness import seeded
from support.recording import RecordingRandomness

sides = st.integers(1, 12)


@given(height=sides, width=sides, side=st.integers(1, 15), data=st.data())
def test_a_refined_grid_numbers_its_parts_consecutively(
    height: int, width: int, side: int, data: st.DataObject
) -> None:
    grid = Grid.even((height, width), side)
    cells = int(grid.cells().max()) + 1
    wanted = data.draw(st.lists(st.integers(1, 4), min_size=cells, max_size=cells))
    parts = Refinement.of(grid, np.array(wanted)).cells()
    assert np.unique(parts).tolist() == list(range(int(parts.max()) + 1))
    for part in range(int(parts.max()) + 1):
        inside = np.argwhere(parts == part)
        assert np.prod(np.ptp(inside, axis=0) + 1) == len(inside), "a part is a rectangle"
        assert len(set(grid.cells()[parts == part].tolist())) == 1, "in one coarse cell"


@given(
    counts=st.lists(st.integers(-50, 50), min_size=9, max_size=9),
    coarse=st.lists(st.integers(-50, 50), min_size=4, max_size=4),
    alpha=st.floats(0.1, 0.9),
)
def test_reconciled_parts_add_up_to_the_weighted_cell(
    counts: list[int], coarse: list[int], alpha: float
) -> None:
    grid = Grid.even((4, 4), 2)
    finer = Refinement.of(grid, np.array([1, 2, 1, 2]))
    fine = np.array([*counts, 0])
    totals = finer.reconciled(np.array(coarse), fine, alpha)
    for cell, where in enumerate((slice(0, 1), slice(1, 5), slice(5, 6), slice(6, 10))):
        parts = fine[where].size
        precision = np.array([alpha**2, (1 - alpha) ** 2 / parts])
        expected = np.average([coarse[cell], fine[where].sum()], weights=precision)
        assert totals[where].sum() == pytest.approx(expected, abs=1e-9)


def test_the_grid_is_fine_only_where_the_map_is_full() -> None:
    counts = np.zeros((100, 100), dtype=int)
    counts[:10, :10] = 150
    result = AGrid().release(Histogram(counts, counts), epsilon=2, rng=seeded(1))
    assert result.buckets is not None
    full, empty = result.buckets[:10, :10], result.buckets[50:, 50:]
    assert np.unique(full).size == 100
    assert np.unique(empty).size == 25


@pytest.mark.parametrize("k", [1, 3])
def test_the_three_stages_together_cost_the_budget(k: int) -> None:
    rng, budget = RecordingRandomness(2), Fraction(3, 7)
    AGrid().run(np.full((20, 30), 9), k, budget, rng)
    assert len(rng.rates()) == 3
    assert k * sum(rng.rates()) == budget


@pytest.mark.parametrize("shape", [(9,), (3, 3, 3)])
def test_only_maps_are_accepted(shape: tuple[int, ...]) -> None:
    counts = np.ones(shape, dtype=int)
    with pytest.raises(MechanismRefused, match="two dimensions"):
        AGrid().release(Histogram(counts, counts), epsilon=1)


@pytest.mark.parametrize("parameters", [{"total_share": 1}, {"granularity": 0.0}], ids=str)
def test_bad_parameters_are_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(InputError):
        AGrid(**parameters)  # type: ignore[arg-type]
