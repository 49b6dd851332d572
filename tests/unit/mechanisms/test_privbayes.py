"""`privbayes`: the score's sensitivity, the network, its product, and the budget."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from onesided.data import Histogram
from onesided.errors import InputError, MechanismRefused
from onesided.mechanisms.privbayes import (
    INTEGER_LIMIT,
    SCORE_SENSITIVITY,
    Edge,
    Marginals,
    PrivBayes,
    joint_distribution,
    maximal,
)
from onesided.randomness import seeded
from support.recording import RecordingRandomness

EDGES = [Edge(0, (1,)), Edge(1, (2,)), Edge(2, (0, 1)), Edge(1, (0, 2))]
tables = hnp.arrays(np.int64, (2, 3, 2), elements=st.integers(0, 30))
cells = st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1))


def with_one_more(counts: np.ndarray, cell: tuple[int, ...]) -> np.ndarray:
    more = counts.copy()
    more[cell] += 1
    return more


@given(counts=tables, cell=cells)
def test_one_unit_moves_no_score_by_more_than_its_sensitivity(
    counts: np.ndarray, cell: tuple[int, ...]
) -> None:
    fewer, more = Marginals(counts), Marginals(with_one_more(counts, cell))
    for edge in EDGES:
        assert abs(fewer.dependence(edge) - more.dependence(edge)) <= SCORE_SENSITIVITY


def test_the_sensitivity_is_attained() -> None:
    counts = np.zeros((2, 2), dtype=np.int64)
    counts[0, 0], counts[1, 1] = 100, 1
    more = with_one_more(counts, (1, 1))
    steps = Marginals(more).dependence(EDGES[0]) - Marginals(counts).dependence(EDGES[0])
    assert steps == SCORE_SENSITIVITY


@given(counts=tables, edge=st.sampled_from(EDGES))
def test_the_score_is_its_definition_also_beyond_64_bits(counts: np.ndarray, edge: Edge) -> None:
    counts = counts + 1
    for factor in (1, INTEGER_LIMIT):
        table = Marginals(counts * factor)
        joint = np.moveaxis(table.marginal(edge.axes), edge.axes.index(edge.attribute), 0)
        rows = [[int(value) for value in row] for row in joint.reshape(joint.shape[0], -1)]
        n = sum(map(sum, rows))
        columns = [sum(column) for column in zip(*rows, strict=True)]
        distance = sum(
            abs(Fraction(value) - Fraction(sum(row) * column, n))
            for row in rows
            for value, column in zip(row, columns, strict=True)
        )
        assert table.dependence(edge) == distance / 2 // 1


@given(counts=tables, cell=cells)
def test_an_edge_is_drawn_with_nearly_the_same_probability_from_neighbours(
    counts: np.ndarray, cell: tuple[int, ...]
) -> None:
    rate = 0.25 / (2 * SCORE_SENSITIVITY)

    def log_probabilities(table: Marginals) -> list[float]:
        weights = [rate * table.dependence(edge) for edge in EDGES]
        total = log(sum(exp(weight) for weight in weights))
        return [weight - total for weight in weights]

    pairs = zip(
        log_probabilities(Marginals(counts)),
        log_probabilities(Marginals(with_one_more(counts, cell))),
        strict=True,
    )
    assert max(abs(first - second) for first, second in pairs) <= 0.25 + 1e-12


def test_marginals_of_many_attributes_are_plain_sums() -> None:
    counts = seeded(1).below(9, 2**9).reshape((2,) * 9)
    table = Marginals(counts)
    for axes in [(0,), (8,), (0, 1, 2), (2, 5, 8), (1, 3), tuple(range(9))]:
        others = tuple(axis for axis in range(9) if axis not in axes)
        assert np.array_equal(table.marginal(axes), counts.sum(axis=others))


def test_exact_marginals_of_a_chain_give_back_its_distribution() -> None:
    first = np.array([0.2, 0.8])
    step = np.array([[0.9, 0.1], [0.3, 0.7]])
    chain = first[:, None, None] * step[:, :, None] * step[None, :, :]
    network = [Edge(0, ()), Edge(1, (0,)), Edge(2, (1,))]
    marginals = {(0, 1): chain.sum(axis=2), (1, 2): chain.sum(axis=0)}
    assert joint_distribution(network, marginals, (2, 2, 2)) == pytest.approx(chain)


def test_a_strong_dependence_is_found() -> None:
    counts = np.zeros((2, 2, 2, 2), dtype=int)
    for value in (0, 1):
        counts[value, :, :, value] = 5000  # the last attribute repeats the first
    result = PrivBayes(degree=1).release(Histogram(counts, counts), epsilon=1, rng=seeded(2))
    assert np.abs(result.value - counts).sum() < 0.05 * counts.sum()


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("shape", [(6,), (4, 5), (2, 3, 4, 2, 2)])
def test_all_stages_together_cost_the_budget(shape: tuple[int, ...], k: int) -> None:
    rng, budget = RecordingRandomness(3), Fraction(5, 3)
    PrivBayes().run(np.full(shape, 50), k, budget, rng)
    noise = sum(rng.rates())
    steps = len(shape) - 1
    coins = set(rng.rates(coins=True))
    assert len(coins) <= 1
    network = steps * 2 * SCORE_SENSITIVITY * sum(coins)
    assert k * (noise + network) == budget


def test_single_valued_attributes_change_nothing() -> None:
    counts = np.arange(12).reshape(1, 3, 1, 4)
    plain = PrivBayes().run(counts.reshape(3, 4), 1, Fraction(1), seeded(4))
    padded = PrivBayes().run(counts, 1, Fraction(1), seeded(4))
    assert padded.value.shape == counts.shape
    assert np.array_equal(padded.value.reshape(3, 4), plain.value)


def test_maximal_sets() -> None:
    assert maximal([(0,), (0, 1), (1,), (1, 2), (0, 1)]) == [(0, 1), (1, 2)]
    assert maximal([()]) == [()]


def test_domains_that_do_not_fit_are_refused() -> None:
    counts = np.broadcast_to(np.int64(0), (4000, 4000))
    with pytest.raises(MechanismRefused, match="fewer attributes"):
        PrivBayes().run(counts, 1, Fraction(1), seeded(1))


@pytest.mark.parametrize(
    "parameters",
    [{"total_share": "0.5", "network_share": "0.5"}, {"degree": 0}, {"usefulness": 0.0}],
    ids=str,
)
def test_bad_parameters_are_refused(parameters: dict[str, float]) -> None:
    with pytest.raises(InputError):
        PrivBayes(**parameters)  # type: ignore[arg-type]
