"""Outputs as numbers, and events learnt from them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from onesided.audit.events import learn
from onesided.audit.outputs import Observations, fingerprint
from onesided.audit.scores import (
    ColumnScore,
    Score,
    SumOfScores,
    WeightedScore,
    lowest_bits,
)
from onesided.audit.trees import TreeScore
from onesided.data import Measurement
from onesided.randomness import seeded


def measurement(value: list[float], buckets: list[int]) -> Measurement:
    return Measurement(np.array(value), buckets=np.array(buckets))


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        (np.array([1, 2]), np.array([1, 2]), np.array([2, 1])),
        ({"a", "b"}, {"b", "a"}, {"a"}),
        (Counter("aab"), Counter("aba"), Counter("ab")),
        (pa.table({"x": [1, 2, 2]}), pa.table({"x": [2, 1, 2]}), pa.table({"x": [1, 1, 2]})),
        (measurement([1], [0]), measurement([1], [0]), measurement([1], [1])),
        ([1, None], (1, None), [None, 1]),
    ],
    ids=["array", "set", "multiset", "table", "measurement", "sequence"],
)
def test_fingerprints_tell_outputs_apart_and_nothing_else(one, same, other):
    assert fingerprint(one) == fingerprint(same)
    assert fingerprint(one) != fingerprint(other)
    tokens = Observations.of([one, same, other]).tokens
    assert tokens[0] == tokens[1] != tokens[2]


def test_outputs_of_different_length_are_filled_up():
    observed = Observations.of([[1, 2, 3], [4]])
    assert observed.features[0].tolist() == [1, 2, 3]
    assert np.isnan(observed.features[1, 1:]).all()


def test_the_lowest_set_bit():
    values = np.array([1.0, 0.5, 3.0, 12.0, 0.0, np.nan, 1 + 2.0**-52])
    assert lowest_bits(values)[:4].tolist() == [0, -1, 0, 2]
    assert np.isnan(lowest_bits(values)[4:6]).all()
    assert lowest_bits(values)[6] == -52


def test_an_event_in_two_numbers_at_once_is_learnt():
    draw = seeded(1).generator().normal
    here = Observations.of(draw(0, 1, (4_000, 6)) + np.array([0, 1, 0, 0, 1, 0]))
    there = Observations.of(draw(0, 1, (4_000, 6)))
    event = learn(here, there)
    fresh = Observations.of(draw(0, 1, (4_000, 6)) + np.array([0, 1, 0, 0, 1, 0]))
    fresh_there = Observations.of(draw(0, 1, (4_000, 6)))
    # One number alone would reach about 2 here; the best event of both reaches more.
    assert np.log(event.hits(fresh) / event.hits(fresh_there)) > 2
    assert event.promise > 1.5


def test_a_tree_finds_numbers_that_tell_only_together():
    draw = seeded(4).below

    def outputs(together: bool) -> Observations:
        # 1, 1, 1 comes up in one of eight outputs on D and in none on D′.
        bits = draw(2, 3 * 4_000).reshape(-1, 3)
        if not together:
            bits[bits.all(axis=1)] = 0
        return Observations.of(np.hstack([bits, draw(1000, 4_000)[:, None]]))

    event = learn(outputs(True), outputs(False))
    assert event.hits(outputs(False)) == 0
    assert 400 < event.hits(outputs(True)) < 600
    tree = TreeScore.fitted(outputs(True), outputs(False), np.arange(4)).of(outputs(True))
    assert 400 < np.count_nonzero(tree == tree.max()) < 600


def test_numbers_that_say_the_same_are_weighed_once():
    draw = seeded(6).generator().normal

    def outputs(shift: float) -> Observations:
        # Ten copies of a number that tells little, and one that tells much.
        copied, telling = draw(shift / 4, 1, 4_000), draw(shift, 1, 4_000)
        return Observations.of(np.stack([copied] * 10 + [telling], axis=1))

    here, there = outputs(1.0), outputs(0.0)
    columns = [ColumnScore.fitted(here, there, column, False) for column in range(11)]
    weighted = WeightedScore.fitted(here, there, columns)
    added = SumOfScores(tuple(columns))
    fresh, fresh_there = outputs(1.0), outputs(0.0)

    def right_side(score: Score) -> float:
        return float(np.mean(score.of(fresh)[:, None] > score.of(fresh_there)[None, :500]))

    assert right_side(weighted) > right_side(added) + 0.05


def test_nothing_is_learnt_where_nothing_differs():
    draw = seeded(2).generator().normal
    event = learn(Observations.of(draw(0, 1, (2_000, 5))), Observations.of(draw(0, 1, (2_000, 5))))
    assert event.promise < 0.3
