"""Weights meet the conditions of their minimum, and κ is the likeliest one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from onesided.weights import Margin, calibrated, total_of
from onesided.weights.calibration import likeliest_kappa
from onesided.weights.combinations import Combinations
from onesided.weights.newton import DualProblem


def _people(
    seed: int, *, units: int = 4000, cells: tuple[int, ...] = (3, 5, 8), noise: float = 10.0
) -> tuple[list[Margin], int, list[NDArray[Any]]]:
    """Margins of people of whom those in high cells are seldom in the sample, and the truth."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, number, units) for number in cells]
    chance = 0.9 - 0.7 * sum(
        column / number for column, number in zip(columns, cells, strict=True)
    ) / len(cells)
    kept = rng.random(units) < chance
    truths = [
        np.bincount(own, minlength=number) for own, number in zip(columns, cells, strict=True)
    ]
    margins = [
        Margin.of_one_cell(truth + rng.laplace(0, noise, len(truth)), 2 * noise**2, column[kept])
        for truth, column in zip(truths, columns, strict=True)
    ]
    return margins, int(kept.sum()), truths


def _matrix(margins: list[Margin]) -> NDArray[np.float64]:
    """A, a row for each cell and a column for each unit, written out."""
    return np.vstack([each.cells[each.pattern].T for each in margins]).astype(np.float64)


def _problem(margins: list[Margin], units: int, total: float) -> DualProblem:
    return DualProblem(
        found=Combinations.of(margins, units),
        flat=total / units,
        held=tuple(each.held for each in margins),
        counted=np.concatenate([each.counted for each in margins]),
        variance=np.concatenate([np.full(len(each.counted), each.variance) for each in margins]),
        total=total,
    )


@pytest.mark.parametrize("kappa", [0.05, 3.0, 500.0])
def test_weights_meet_the_conditions_of_the_minimum(kappa: float) -> None:
    margins, units, _ = _people(1)
    problem = _problem(margins, units, 4000.0)
    factor = problem.relative(kappa)
    weights = problem.flat * factor[problem.found.of_unit]
    matrix = _matrix(margins)
    pulls = (problem.counted - matrix @ weights) / problem.variance
    left = np.log(factor[problem.found.of_unit]) / kappa - matrix.T @ pulls
    # What is left is the multiplier of the total, which is one for all of them.
    assert np.ptp(left) * kappa < 1e-5
    assert weights.sum() == pytest.approx(4000.0, rel=1e-7)


def test_kappa_is_the_likeliest_of_a_grid() -> None:
    margins, units, _ = _people(2)
    problem = _problem(margins, units, 4000.0)
    matrix = _matrix(margins)
    flat = np.full(units, problem.flat)
    rest = problem.counted - matrix @ flat
    moving = (matrix * flat) @ matrix.T - np.outer(matrix @ flat, matrix @ flat) / 4000.0

    def likelihood(kappa: float) -> float:
        variance = np.diag(problem.variance) + kappa * moving
        _, size = np.linalg.slogdet(variance)
        return -(float(size) + float(rest @ np.linalg.solve(variance, rest))) / 2

    chosen = likeliest_kappa(problem)
    assert likelihood(chosen) > max(likelihood(chosen * 1.4), likelihood(chosen / 1.4))


def test_counts_that_say_nothing_leave_weights_almost_flat() -> None:
    rng = np.random.default_rng(3)
    effective = []
    for _ in range(20):
        noisy = 25.0 + rng.laplace(0, 300.0, 40)
        margin = Margin.of_one_cell(noisy, 2 * 300.0**2, rng.integers(0, 40, 900))
        effective.append(calibrated([margin], 900, 1000.0).effective_units)
    assert np.median(effective) > 850


def test_weighted_margins_are_nearer_to_the_truth() -> None:
    margins, units, truths = _people(4)
    found = calibrated(margins, units, 4000.0)
    flat = 4000.0 / units
    for margin, truth in zip(margins, truths, strict=True):
        before = np.abs(margin.units * flat - truth).sum()
        assert np.abs(found.sums(margin) - truth).sum() < before / 4
    assert 0 < found.effective_units < units
    assert (found.weights > 0).all()


def test_units_of_the_same_cells_have_the_same_weight() -> None:
    margins, units, _ = _people(5)
    found = calibrated(margins, units, 4000.0)
    by_cells: dict[tuple[int, ...], float] = {}
    for place, weight in enumerate(found.weights):
        cells = tuple(int(each.pattern[place]) for each in margins)
        assert by_cells.setdefault(cells, weight) == weight


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.5, 500.0))
def test_weights_follow_the_units_whatever_their_order(seed: int, noise: float) -> None:
    margins, units, _ = _people(seed, units=200, noise=noise)
    if not units:
        return
    order = np.random.default_rng(seed).permutation(units)
    other = [replace(each, pattern=each.pattern[order]) for each in margins]
    first, second = calibrated(margins, units, 200.0), calibrated(other, units, 200.0)
    assert first.weights.sum() == pytest.approx(200.0)
    assert (first.weights > 0).all()
    np.testing.assert_allclose(first.weights[order], second.weights, rtol=1e-6)


def test_units_in_several_cells_count_in_each() -> None:
    rng = np.random.default_rng(6)
    patterns = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1]], dtype=np.bool_)
    own = rng.integers(0, 4, 500)
    kept = rng.random(500) < np.array([0.9, 0.8, 0.3, 0.6])[own]
    truth = patterns[own].sum(axis=0)
    margin = Margin(truth.astype(np.float64), 0.5, own[kept], patterns)
    found = calibrated([margin], int(kept.sum()), 500.0)
    np.testing.assert_allclose(found.sums(margin), truth, atol=5)


def test_many_margins_are_combined_without_running_over() -> None:
    rng = np.random.default_rng(7)
    margins = [
        Margin.of_one_cell(np.full(900, 1.0), 1.0, rng.integers(0, 900, 300)) for _ in range(9)
    ]
    found = Combinations.of(margins, 300)
    for margin, pattern in zip(margins, found.patterns, strict=True):
        np.testing.assert_array_equal(pattern[found.of_unit], margin.pattern)
    assert found.number.sum() == 300


def test_cells_without_a_unit_have_no_say() -> None:
    cells = np.repeat([0, 1], [30, 70])
    margin = Margin.of_one_cell(np.array([50.0, 100.0, 50.0]), 1.0, cells)
    found = calibrated([margin], 100, 200.0)
    np.testing.assert_array_equal(margin.held, [True, True, False])
    np.testing.assert_allclose(found.sums(margin), [200 / 3, 400 / 3, 0], atol=1.0)


def test_a_sample_without_units_has_no_weights() -> None:
    nobody = Margin.of_one_cell(np.array([5.0, 6.0]), 1.0, np.zeros(0, dtype=np.int64))
    found = calibrated([nobody], 0, 11.0)
    assert (len(found.weights), found.effective_units) == (0, 0.0)


def test_the_total_comes_mostly_from_the_exact_margin() -> None:
    none = np.zeros(0, dtype=np.int64)
    exact = Margin.of_one_cell(np.array([60.0, 40.0]), 1.0, none)
    vague = Margin.of_one_cell(np.array([900.0, 0.0]), 1e6, none)
    assert total_of([exact, vague], 7.0) == pytest.approx(100.0, abs=0.1)
    assert total_of([], 7.0) == 7.0
