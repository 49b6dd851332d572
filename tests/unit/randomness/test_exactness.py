"""The samplers' exact distributions, by enumeration of all bit strings at small widths.

With 64 bits a tie happens once in 2⁶⁴ comparisons. The widths are parameters, so here the same
code runs with two or three bits and ties all the time, and its distribution must still be exact.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from onesided.randomness.exponential import exp_bounds
from onesided.randomness.geometric import (
    DIGIT_BITS,
    TAIL,
    GeometricSampler,
    Truncated,
    Untruncated,
    geometric_sampler,
)
from onesided.randomness.inverse import InverseTable, Widths
from onesided.randomness.lazy import BitSource, LazyUniform
from support.decision_tree import ScriptedBits, Walk, walk
from support.statistics import CONTROL_FACTOR

PRECISION = 200
NARROW = Widths(coarse=2, fine=2, step=1)
NARROWEST = Widths(coarse=1, fine=1, step=1)
UNEVEN = Widths(coarse=3, fine=1, step=3)

Bounds = tuple[Fraction, Fraction]


def exponential(rate: Fraction) -> Bounds:
    low, high = exp_bounds(rate, PRECISION)
    return Fraction(low, 1 << PRECISION), Fraction(high, 1 << PRECISION)


def geometric_probability(rate: Fraction, value: int) -> Bounds:
    """e^(−r·g) − e^(−r·(g+1)), enclosed."""
    here, next_one = exponential(rate * value), exponential(rate * (value + 1))
    return here[0] - next_one[1], here[1] - next_one[0]


def walk_geometric(sampler: GeometricSampler, depth: int) -> Walk:
    return walk(lambda source: int(sampler.draw(source, 1)[0]), depth)


def is_exactly_geometric(found: Walk, rate: Fraction) -> bool:
    return all(found.allows(value, *geometric_probability(rate, value)) for value in range(100))


@pytest.mark.parametrize("widths", [NARROW, NARROWEST, UNEVEN])
@pytest.mark.parametrize(
    ("rate", "digit_bits", "tail"),
    [
        (Fraction(1), 2, 3),  # three entries, then restarts
        (Fraction(3), 1, 1),  # a single entry
        (Fraction(1, 2), 1, 1),  # more than a third restarts
        (Fraction(20), 2, 16),  # almost always zero
    ],
)
def test_single_table_is_exact_at_small_widths(
    widths: Widths, rate: Fraction, digit_bits: int, tail: int
) -> None:
    sampler = geometric_sampler(rate, widths=widths, digit_bits=digit_bits, tail=tail)
    assert not sampler.digits
    found = walk_geometric(sampler, depth=15)
    assert found.undecided <= Fraction(1, 20)
    assert is_exactly_geometric(found, rate)


@pytest.mark.parametrize(
    ("rate", "digit_bits", "digits"),
    [(Fraction(1, 3), 1, 1), (Fraction(2, 9), 2, 1), (Fraction(1, 5), 1, 2)],
)
def test_digits_join_into_a_geometric_value(rate: Fraction, digit_bits: int, digits: int) -> None:
    """More bits are needed here, so less is decided; each table has its own sharper test."""
    sampler = geometric_sampler(rate, widths=NARROWEST, digit_bits=digit_bits, tail=1)
    assert len(sampler.digits) == digits
    found = walk_geometric(sampler, depth=14)
    assert found.undecided <= Fraction(1, 10)
    assert is_exactly_geometric(found, rate)
    for wrong in (1 / CONTROL_FACTOR, CONTROL_FACTOR):
        assert not is_exactly_geometric(found, rate * wrong)


def test_enumeration_rejects_a_rate_that_is_wrong_by_a_thousandth() -> None:
    rate = Fraction(1)
    found = walk_geometric(geometric_sampler(rate, widths=NARROW, digit_bits=2, tail=3), depth=14)
    assert not is_exactly_geometric(found, rate * Fraction(1001, 1000))


@pytest.mark.parametrize("resolved_towards", ["least", "most"])
def test_enumeration_rejects_ties_that_are_not_extended(
    resolved_towards: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Negative control: deciding a tie by its table entry is the bug to be caught."""

    def settle(self: InverseTable, source: BitSource, prefix: int, least: int, most: int) -> int:
        return least if resolved_towards == "least" else most

    monkeypatch.setattr(InverseTable, "_settle", settle)
    rate = Fraction(1)
    found = walk_geometric(geometric_sampler(rate, widths=NARROW, digit_bits=2, tail=3), depth=14)
    assert not is_exactly_geometric(found, rate)


@pytest.mark.parametrize("widths", [NARROW, NARROWEST, UNEVEN])
@pytest.mark.parametrize("rate", [Fraction(1, 1000), Fraction(1, 2), Fraction(3)])
def test_truncated_digit_is_exact_at_small_widths(widths: Widths, rate: Fraction) -> None:
    base = 4
    table = InverseTable(Truncated(rate, base), widths)
    found = walk(lambda source: int(table.draw(source, 1)[0]), depth=18)
    assert found.undecided < Fraction(1, 1 << 12)
    assert set(found.decided) <= set(range(base))
    end = exponential(rate * base)
    for value in range(base):
        low, high = geometric_probability(rate, value)
        assert found.allows(value, low / (1 - end[0]), high / (1 - end[1]))


def test_widths_do_not_change_the_survival_function() -> None:
    """The full-width table and a two-bit one agree wherever two bits decide."""
    wide = InverseTable(Untruncated(Fraction(1, 2), 6), Widths())
    narrow = InverseTable(Untruncated(Fraction(1, 2), 6), Widths(coarse=1, fine=1, step=2))
    for top_bits in range(1 << 9):
        string = f"{top_bits:09b}".ljust(64, "0")
        assert wide.draw(ScriptedBits(string), 1) == narrow.draw(ScriptedBits(string), 1)


def test_full_width_tie_is_extended_by_further_words() -> None:
    """A uniform that starts with the 64 bits of the table entry is decided by the 65th and on."""
    rate = Fraction(1, 10)
    sampler = geometric_sampler(rate)
    entry = exp_bounds(rate * 7, 64)[0]
    following = exp_bounds(rate * 7, 128)[0] & ((1 << 64) - 1)
    below = f"{entry:064b}{following - 1:064b}"
    above = f"{entry:064b}{following + 1:064b}"
    assert sampler.draw(ScriptedBits(below), 1)[0] == 7
    assert sampler.draw(ScriptedBits(above), 1)[0] == 6


def test_two_ties_in_a_row_are_extended_twice() -> None:
    rate = Fraction(1, 10)
    entry = exp_bounds(rate * 7, 192)[0]
    sampler = geometric_sampler(rate)
    assert sampler.draw(ScriptedBits(f"{entry - 1:0192b}"), 1)[0] == 7
    assert sampler.draw(ScriptedBits(f"{entry + 1:0192b}"), 1)[0] == 6


def test_a_draw_beyond_the_table_restarts_and_adds_its_length() -> None:
    rate = Fraction(1, 10)
    sampler = geometric_sampler(rate)
    beyond = "0" * 64
    halfway = f"{exp_bounds(rate * 3, 64)[0] - 1:064b}"
    assert sampler.draw(ScriptedBits(beyond + beyond + halfway), 1)[0] == 2 * 10 * TAIL + 3


@pytest.mark.parametrize(
    "rate", [Fraction(1, 1 << 50), Fraction(1, 10**12), Fraction(1, 10**9), Fraction(1, 1000)]
)
def test_small_rates_are_split_into_digits_of_moderate_size(rate: Fraction) -> None:
    sampler = geometric_sampler(rate)
    assert 1 <= len(sampler.digits) <= 5
    assert sampler.top.largest <= 1 << DIGIT_BITS
    assert all(digit.largest == (1 << sampler.digit_bits) - 1 for digit in sampler.digits)


@pytest.mark.parametrize("step", [1, 2, 5])
@pytest.mark.parametrize(
    ("numerator", "denominator"), [(1, 3), (1, 2), (5, 7), (1, 1000), (1, 1), (0, 1)]
)
def test_lazy_uniform_is_below_a_rational_with_that_probability(
    numerator: int, denominator: int, step: int
) -> None:
    def bounds(precision: int) -> tuple[int, int]:
        scaled = numerator << precision
        return scaled // denominator, -(-scaled // denominator)

    found = walk(lambda source: LazyUniform(source, step=step).compare(bounds), depth=20)
    truth = Fraction(numerator, denominator)
    assert found.undecided <= Fraction(1, 1 << 20)
    assert found.allows(True, truth, truth)


def test_lazy_uniform_is_one_number_in_all_its_comparisons() -> None:
    """Comparisons with 1/5, 1/3 and 5/7 in turn select four values with the gaps as chances."""
    cuts = [Fraction(1, 5), Fraction(1, 3), Fraction(5, 7)]

    def select(source: BitSource) -> int:
        uniform = LazyUniform(source, step=1)
        for index, cut in enumerate(cuts):
            scaled = cut.numerator, cut.denominator

            def bounds(n: int, scaled: tuple[int, int] = scaled) -> tuple[int, int]:
                low = (scaled[0] << n) // scaled[1]
                return low, low + 1

            if uniform.compare(bounds):
                return index
        return len(cuts)

    found = walk(select, depth=20)
    assert found.undecided <= Fraction(len(cuts), 1 << 20)
    for index, (start, end) in enumerate(
        zip([Fraction(0), *cuts], [*cuts, Fraction(1)], strict=True)
    ):
        assert found.allows(index, end - start, end - start)
