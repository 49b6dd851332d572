"""The recipe over any algorithm with buckets."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.data import Histogram
from onesided.data.histogram import Counts
from onesided.errors import InputError
from onesided.loss import Loss
from onesided.mechanisms.base import Kind
from onesided.mechanisms.buckets.algorithm import BucketAlgorithm, Bucketed
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.published.dawa_reference import DawaReference
from onesided.mechanisms.published.dawaz_reference import DawazReference
from onesided.mechanisms.recipe import (
    Dawaz,
    NaiveRecipe,
    Recipe,
    move_to_survivors,
)
from onesided.randomness import Randomness, seeded
from support.terms import stated


@dataclass(frozen=True, kw_only=True)
class Recorder(BucketAlgorithm):
    """Pairs of neighbours as buckets; the parts say what it was called with."""

    name: ClassVar[str] = "recorder"
    kind: ClassVar[Kind] = Kind.SOUND
    summary: ClassVar[str] = "for tests"
    reads_n: ClassVar[bool] = True

    def run(
        self, counts: Counts, k: int, budget: Fraction, rng: Randomness, n: int | None = None
    ) -> Bucketed:
        buckets = (np.arange(counts.size) // 2).reshape(counts.shape)
        parts = {"counts": counts, "call": np.array([k, budget, n], dtype=object)}
        return Bucketed(np.full(counts.shape, 3.0), buckets, parts=parts)

    def noise(self, shape: tuple[int, ...], k: int, budget: Fraction) -> str:
        return "none"


DATA = Histogram([9, 9, 9, 9, 9, 9], [0, 9, 0, 0, 9, 9])


def test_the_pair_of_the_recipe() -> None:
    loss = Dawaz().loss(Fraction(1))
    assert loss == Loss("9/20", "11/20")
    assert loss.epsilon == 1
    assert Recipe(detection_share=Fraction(1, 3)).loss(Fraction(2)) == Loss("2/3", "4/3")


def test_fixed_n_carries_over_where_the_inner_algorithm_reads_n() -> None:
    assert Recipe(inner=Recorder()).loss(Fraction(1), fixed_n=True).fixed_n
    assert not Recipe(inner=Dawa()).loss(Fraction(1), fixed_n=True).fixed_n


def test_the_inner_algorithm_sees_all_units_at_the_rest_of_the_budget() -> None:
    result = Recipe(inner=Recorder()).release(DATA, epsilon=1, rng=seeded(0))
    assert result.parts["counts"].tolist() == DATA.all.tolist()
    assert result.parts["call"].tolist() == [1, Fraction(9, 20), 54]
    assert stated(Recipe(inner=Recorder()), DATA, 1).loss == Loss("9/20", "11/20", fixed_n=True)


def test_the_naive_recipe_sees_nonsensitive_units_and_no_total() -> None:
    result = NaiveRecipe(inner=Recorder()).release(DATA, epsilon=1, rng=seeded(0))
    assert result.parts["counts"].tolist() == DATA.nonsensitive.tolist()
    assert result.parts["call"].tolist() == [1, 1, None]
    assert stated(NaiveRecipe(inner=Recorder()), DATA, 1).loss == Loss(0, 1)


def test_bins_without_nonsensitive_units_come_out_empty_and_mass_stays_in_its_bucket() -> None:
    result = Recipe(inner=Recorder()).release(DATA, epsilon=1000, rng=seeded(0))
    assert result.parts["looks_empty"].tolist() == [True, False, True, True, False, False]
    assert result.value.tolist() == [0, 6, 0, 0, 3, 3]


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30))
def test_surviving_buckets_keep_their_mass(bins: list[tuple[int, bool]]) -> None:
    numbers, flags = zip(*bins, strict=True)
    buckets, empty = np.array(numbers), np.array(flags)
    value = (buckets + 1.0) * 10
    moved = move_to_survivors(value, buckets, empty)
    assert np.all(moved[empty] == 0)
    for number in set(numbers):
        inside = buckets == number
        expected = 0 if empty[inside].all() else value[inside].sum()
        assert moved[inside].sum() == pytest.approx(expected)


@pytest.mark.parametrize("mechanism", [Dawaz(), DawazReference(), NaiveRecipe()])
@pytest.mark.parametrize("shape", [(1,), (50,), (5, 7), (2, 3, 4)])
@pytest.mark.parametrize("epsilon", ["1e-9", "1", "1000"])
def test_any_shape_has_an_answer(
    mechanism: Recipe | NaiveRecipe, shape: tuple[int, ...], epsilon: str
) -> None:
    counts = seeded(3).below(100, int(np.prod(shape))).reshape(shape)
    data = Histogram(counts, counts // 2, k=2)
    result = mechanism.release(data, epsilon=epsilon, rng=seeded(1))
    assert result.value.shape == shape
    assert np.all(np.isfinite(result.value))
    assert stated(mechanism, data, epsilon).loss.epsilon == Fraction(epsilon)


def test_a_sound_recipe_takes_no_broken_algorithm() -> None:
    assert (Dawaz.kind, DawazReference.kind) == (Kind.SOUND, Kind.BROKEN)
    for recipe in (Recipe, Dawaz, NaiveRecipe):
        with pytest.raises(InputError, match="so must its inner algorithm be"):
            recipe(inner=DawaReference())


@pytest.mark.parametrize("share", [0, 1, "3/2"])
def test_the_detection_share_is_a_share(share: object) -> None:
    with pytest.raises(InputError):
        Recipe(detection_share=share)  # type: ignore[arg-type]
