"""The law of partitions: its enclosures, its error bound, its loss, and its slow path."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onesided.mechanisms.buckets.deviation import box_deviations
from onesided.mechanisms.buckets.partition import CERTAIN, PruningLaw
from onesided.mechanisms.buckets.scaled import Powers, PowerTable, Scaled
from onesided.mechanisms.buckets.tree import halving_tree
from onesided.randomness import seeded
from support.pruning_law import EnumeratedLaw
from support.statistics import CONTROL_FACTOR

rates = st.fractions(Fraction(1, 10**9), Fraction(200))
stays = st.fractions(Fraction(1, 1000), Fraction(999, 1000))
histograms = st.lists(st.integers(0, 10**6), min_size=1, max_size=40).map(np.array)


def law_of(counts: np.ndarray, rate: Fraction, stay: Fraction) -> PruningLaw:
    tree = halving_tree(counts.shape)
    ordered = counts.reshape(-1)[tree.order]
    return PruningLaw(tree, box_deviations(ordered, tree), rate, stay)


@given(st.integers(0, 2**60), rates, st.sampled_from([60, 128, 300]))
def test_powers_are_enclosed_narrowly(multiple: int, rate: Fraction, precision: int) -> None:
    coarse, fine = (Powers(rate, bits).power(multiple) for bits in (precision, 2 * precision))
    shift = coarse.exponent - fine.exponent
    assert coarse.low << shift <= fine.low
    assert fine.high <= coarse.high << shift
    assert coarse.high - coarse.low <= 4
    assert coarse.low.bit_length() >= precision - 2 or coarse == Scaled(1, 1, 0)


@given(st.integers(0, 10**5), st.fractions(Fraction(1, 1000), Fraction(2)))
def test_powers_are_exponentials(multiple: int, rate: Fraction) -> None:
    power = Powers(rate, 96).power(multiple)
    logarithm = log(power.low) + power.exponent * log(2)
    assert logarithm == pytest.approx(-float(rate * multiple), rel=1e-12, abs=1e-12)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 2**60), min_size=1, max_size=20), rates)
def test_table_entries_are_within_their_roundings(multiples: list[int], rate: Fraction) -> None:
    table = PowerTable(rate, max(multiples))
    mantissas, exponents = table.powers(np.array(multiples))
    powers = Powers(rate, 128)
    for multiple, mantissa, exponent in zip(multiples, mantissas, exponents, strict=True):
        power = powers.power(multiple)
        if power.exponent < -(2**49):
            continue  # the table need not tell these apart
        ratio = Fraction(mantissa) * Fraction(2) ** (int(exponent) - power.exponent) / power.low
        assert abs(ratio - 1) <= Fraction(3 * table.digits + 1, 2**53)


@settings(max_examples=50)
@given(histograms, rates, stays)
def test_the_margin_contains_the_error(counts: np.ndarray, rate: Fraction, stay: Fraction) -> None:
    law = law_of(counts, rate, stay)
    bits = 100
    for level, shares in enumerate(law.shares):
        for box in np.flatnonzero(shares.margin != CERTAIN).tolist():
            low, high = law.exact.share_staying(level, box, bits)
            assert high - low <= 2
            error = max(abs(Fraction(shares.value[box]) * 2**bits - end) for end in (low, high))
            assert error <= Fraction(shares.margin[box]) * 2**bits


def all_prunings(
    law: PruningLaw, level: int, box: int
) -> dict[frozenset[frozenset[int]], Fraction]:
    """Every pruning of a box of the law's tree, as sets of bins, with its probability."""
    tree = law.tree
    start, size = tree.levels[level][box], tree.sizes[level][box]
    whole = frozenset([frozenset(tree.order[start : start + size].tolist())])
    if size == 1:
        return {whole: Fraction(1)}
    first = int(tree.first_parts[level][box])
    if box not in tree.halved[level]:
        return all_prunings(law, level + 1, first)
    share = Fraction(law.exact.share_staying(level, box, 150)[0], 2**150)
    halves = [all_prunings(law, level + 1, first + second) for second in (0, 1)]
    prunings = {
        left | right: (1 - share) * halves[0][left] * halves[1][right]
        for left, right in product(*halves)
    }
    return {whole: share, **prunings}


@pytest.mark.parametrize("shape", [(1,), (5,), (7,), (2, 3), (2, 2, 2), (1, 6), (3, 3)])
def test_probabilities_are_those_of_an_independent_enumeration(shape: tuple[int, ...]) -> None:
    counts = (np.arange(np.prod(shape)) * 7 % 5).reshape(shape)
    rate, stay = Fraction(2, 7), Fraction(3, 5)
    enumerated = EnumeratedLaw(rate, stay).probabilities(dict(np.ndenumerate(counts)))
    computed = all_prunings(law_of(counts, rate, stay), 0, 0)
    assert len(computed) == len(enumerated)
    for pruning, probability in enumerated.items():
        numbers = frozenset(
            frozenset(int(np.ravel_multi_index(each, shape)) for each in bucket)
            for bucket in pruning
        )
        assert abs(computed[numbers] - Fraction(probability)) < Fraction(1, 10**40)


def worst_loss(law: EnumeratedLaw, counts: tuple[int, ...], touched: tuple[int, ...]) -> float:
    fewer = {(i,): count for i, count in enumerate(counts)}
    more = {(i,): count + (i in touched) for i, count in enumerate(counts)}
    before, after = law.probabilities(fewer), law.probabilities(more)
    return max(abs(float((before[each] / after[each]).ln())) for each in before)


@pytest.mark.parametrize("stay", [Fraction(1, 20), Fraction(3, 5), Fraction(19, 20)])
def test_no_unit_moves_a_partition_beyond_the_loss(stay: Fraction) -> None:
    law = EnumeratedLaw(Fraction(1, 2), stay)
    for counts in product((0, 1, 5), repeat=4):
        for touched in ((0,), (2,), (0, 1), (1, 2)):
            assert worst_loss(law, counts, touched) <= 2 * law.rate * len(touched) + 1e-12


def test_a_rate_too_high_by_the_control_factor_exceeds_the_loss() -> None:
    law = EnumeratedLaw(CONTROL_FACTOR / 2, Fraction(19, 20))
    assert worst_loss(law, (0, 0, 29, 29), (0,)) > 1


@given(histograms, rates, stays, st.integers(0, 10**6))
def test_every_margin_draws_the_same_partition(
    counts: np.ndarray, rate: Fraction, stay: Fraction, seed: int
) -> None:
    law = law_of(counts, rate, stay)
    quick, slow = (law.draw(seeded(seed), least_margin=margin) for margin in (0.0, 2.0))
    assert quick.tolist() == slow.tolist()


def test_a_draw_on_the_boundary_is_settled_by_more_bits() -> None:
    """All 64 bits drawn first agree with the boundary; only the bits after them can decide."""
    law = law_of(np.array([0, 3]), Fraction(1, 3), Fraction(1, 2))
    boundary = law.exact.share_staying(0, 0, 128)[0]
    outcomes = set()
    for following in (0, 2**64 - 1):
        source = Scripted([boundary >> 64, following])
        outcomes.add(tuple(law.draw(source).tolist()))  # type: ignore[arg-type]
        assert source.exhausted
    assert outcomes == {(0,), (0, 1)}


class Scripted:
    """Random words that were written down beforehand."""

    def __init__(self, words: list[int]) -> None:
        self._words = words

    @property
    def exhausted(self) -> bool:
        return not self._words

    def words(self, count: int) -> np.ndarray:
        return np.array([self._words.pop(0) for _ in range(count)], dtype=np.uint64)

    def bits(self, count: int, width: int) -> np.ndarray:
        assert width == 64
        return self.words(count)
