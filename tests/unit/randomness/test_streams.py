"""Streams, coins, and what the samplers refuse."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest

from onesided.errors import InputError
from onesided.randomness import (
    MINIMUM_RATE,
    Randomness,
    coin,
    coin_threshold,
    exp_bounds,
    floor_exp,
    fresh_coin_key,
    seeded,
    system,
)

GOLDEN_WORDS = [10357686915832217856, 12029535453764920145, 15982072527706706330]
GOLDEN_CHILDREN = [17067893602761006203, 7074557334760101603]
GOLDEN_GEOMETRIC = [55, 9, 1, 5, 19, 5, 7, 4]
GOLDEN_SMALL_RATE = [5541435142, 970774857, 110191762]
GOLDEN_TWO_SIDED = [11, 0, 0, 1, -1, 1, 0, 0]
GOLDEN_BELOW = [4, 387, 917, 574, 141]
GOLDEN_COIN_KEY = "8fbde55f60e40100a6f17ec28ea02351"
GOLDEN_GENERATOR = 13143366583151005663


def decimal_floor_exp(rate: Fraction, bits: int) -> int:
    """⌊2ᵇ·e⁻ʳ⌋ by the decimal module: another algorithm, with digits to spare."""
    with localcontext() as context:
        context.prec = bits + 60
        context.Emin = -(10**9)
        exponent = -Decimal(rate.numerator) / Decimal(rate.denominator)
        return int(exponent.exp() * (1 << bits))


class TestExponential:
    @pytest.mark.parametrize(
        "rate",
        [
            "1e-12",
            "1e-9",
            "0.001",
            "0.1",
            "0.693147180559945309417232",
            "1",
            "7/3",
            "43",
            "63",
            "64",
        ],
    )
    @pytest.mark.parametrize("bits", [1, 8, 64, 256, 1000])
    def test_agrees_with_decimal_arithmetic(self, rate: str, bits: int) -> None:
        assert floor_exp(Fraction(rate), bits) == decimal_floor_exp(Fraction(rate), bits)

    def test_known_digits(self) -> None:
        assert floor_exp(Fraction(1), 64) == 6786177901268885274
        assert exp_bounds(Fraction(1), 64) == (6786177901268885274, 6786177901268885275)

    def test_rate_zero_is_exactly_one(self) -> None:
        assert floor_exp(Fraction(0), 64) == 1 << 64
        assert exp_bounds(Fraction(0), 64) == (1 << 64, 1 << 64)

    def test_large_rates(self) -> None:
        assert floor_exp(Fraction(10**6), 64) == 0
        assert floor_exp(Fraction(10**400), 64) == 0
        assert floor_exp(Fraction(1000), 2000) == decimal_floor_exp(Fraction(1000), 2000)
        assert floor_exp(Fraction(1000), 2000).bit_length() == 2000 - 1442

    def test_a_floor_that_the_first_precision_cannot_decide(self) -> None:
        """e^(−2⁻²⁰⁰) is so close to 1 that 64 guard bits see only the integer itself."""
        rate = Fraction(1, 1 << 200)
        assert floor_exp(rate, 64) == (1 << 64) - 1
        assert floor_exp(rate, 190) == (1 << 190) - 1
        assert floor_exp(rate, 300) == (1 << 300) - (1 << 100)

    def test_negative_rate_is_refused(self) -> None:
        with pytest.raises(InputError, match="must not be negative"):
            floor_exp(Fraction(-1), 64)


class TestSeeded:
    """Golden values: a seed must mean the same on every platform and in every version."""

    def test_words(self) -> None:
        assert seeded(7).words(3).tolist() == GOLDEN_WORDS

    def test_children(self) -> None:
        first, second = seeded(7).spawn(2)
        assert [first.words(1)[0], second.words(1)[0]] == GOLDEN_CHILDREN

    def test_geometric(self) -> None:
        assert seeded(7).geometric(Fraction(1, 10), 8).tolist() == GOLDEN_GEOMETRIC

    def test_small_rate(self) -> None:
        assert seeded(7).geometric(Fraction(1, 10**9), 3).tolist() == GOLDEN_SMALL_RATE

    def test_two_sided(self) -> None:
        assert seeded(7).two_sided_geometric(Fraction(1, 2), 8).tolist() == GOLDEN_TWO_SIDED

    def test_below(self) -> None:
        assert seeded(7).below(1000, 5).tolist() == GOLDEN_BELOW

    def test_coin_key(self) -> None:
        assert seeded(7).coin_key() == GOLDEN_COIN_KEY

    def test_generator(self) -> None:
        assert seeded(7).generator().bit_generator.random_raw() == GOLDEN_GENERATOR

    def test_same_seed_same_stream_other_seed_other_stream(self) -> None:
        assert np.array_equal(seeded(3).words(100), seeded(3).words(100))
        assert not np.intersect1d(seeded(3).words(1000), seeded(4).words(1000)).size
        assert not np.intersect1d(seeded(3).words(1000), seeded(-3).words(1000)).size

    def test_stream_does_not_depend_on_how_it_is_cut(self) -> None:
        rng = seeded(5)
        pieces = np.concatenate([rng.words(1), rng.words(6), rng.words(3)])
        assert np.array_equal(pieces, seeded(5).words(10))

    def test_children_differ_from_parent_and_from_each_other(self) -> None:
        parent = seeded(5)
        sources = [parent, *parent.spawn(3), *parent.spawn(3), *parent.spawn(1)[0].spawn(2)]
        words = np.concatenate([source.words(1000) for source in sources])
        assert np.unique(words).size == words.size

    def test_spawning_does_not_disturb_the_parent(self) -> None:
        parent = seeded(5)
        parent.spawn(3)
        assert np.array_equal(parent.words(10), seeded(5).words(10))

    def test_each_generator_is_fresh_and_repeatable(self) -> None:
        rng = seeded(5)
        first, second = rng.generator().random(4), rng.generator().random(4)
        assert not np.array_equal(first, second)
        assert np.array_equal(first, seeded(5).generator().random(4))

    def test_description_names_seed_and_stream(self) -> None:
        rng = seeded(7)
        assert (rng.description, rng.seeded) == ("seed 7", True)
        child = rng.spawn(2)[1]
        assert child.spawn(1)[0].description == "seed 7, stream 1.0"

    @pytest.mark.parametrize("seed", ["7", 7.0, None])
    def test_seed_must_be_an_integer(self, seed: object) -> None:
        with pytest.raises(InputError, match="integer"):
            seeded(seed)  # type: ignore[arg-type]

    def test_threads_share_one_stream_without_repeating_it(self) -> None:
        rng = seeded(5)
        drawn: list[int] = []
        threads = [
            threading.Thread(target=lambda: drawn.extend(rng.words(100).tolist()))
            for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(drawn) == sorted(seeded(5).words(1600).tolist())


class TestSystem:
    def test_description(self) -> None:
        assert (system().description, system().seeded) == ("operating system", False)

    def test_words_are_never_repeated(self) -> None:
        sources = [system(), system(), *system().spawn(2)]
        words = np.concatenate([source.words(1000) for source in sources])
        assert np.unique(words).size == words.size

    def test_words_come_from_the_operating_system(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count)))
        assert system().words(1)[0] == np.frombuffer(bytes(range(8)), dtype=np.uint64)[0]
        assert fresh_coin_key() == system().coin_key()

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
    def test_forked_processes_draw_different_words(self) -> None:
        """In a process of its own, since forking one that has threads is unsafe."""
        script = (
            "import os, sys\n"
            "from onesided.randomness import system\n"
            "rng = system(); rng.words(5)\n"
            "child = os.fork()\n"
            "os.write(1, (' '.join(map(str, rng.words(3).tolist())) + ' ').encode())\n"
            "child and os.waitpid(child, 0)\n"
        )
        path = os.pathsep.join(entry for entry in sys.path if entry)
        printed = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.split()
        assert len(set(printed)) == 6


class TestBits:
    @pytest.mark.parametrize("width", [1, 3, 8, 12, 16, 17, 32, 48, 64])
    @pytest.mark.parametrize("count", [0, 1, 5, 1000])
    def test_fill_their_width(self, count: int, width: int) -> None:
        drawn = seeded(1).bits(count, width)
        assert drawn.size == count
        assert all(int(value) < 1 << width for value in drawn)
        if count == 1000:
            assert int(np.bitwise_or.reduce(drawn)) == (1 << width) - 1


class TestShapesAndRefusals:
    @pytest.mark.parametrize("size", [0, 1, 65536, 65537])
    def test_sizes_and_types(self, size: int) -> None:
        rng = seeded(1)
        for drawn in (
            rng.geometric(Fraction(1), size),
            rng.two_sided_geometric(Fraction(1), size),
            rng.below(10, size),
        ):
            assert drawn.size == size
            assert drawn.dtype == np.int64

    @pytest.mark.parametrize("rate", [Fraction(0), Fraction(-1), MINIMUM_RATE * Fraction(99, 100)])
    @pytest.mark.parametrize("draw", [Randomness.geometric, Randomness.two_sided_geometric])
    def test_rates_too_small_for_int64_are_refused(
        self, draw: Callable[[Randomness, Fraction, int], object], rate: Fraction
    ) -> None:
        with pytest.raises(InputError, match=r"at least 2\^-50"):
            draw(seeded(1), rate, 1)

    def test_floating_point_rate_is_refused(self) -> None:
        with pytest.raises(InputError, match="exact rational"):
            seeded(1).geometric(0.1, 1)  # type: ignore[arg-type]

    def test_extreme_rates(self) -> None:
        assert (seeded(1).geometric(MINIMUM_RATE, 1000) > 1 << 40).mean() > 0.99
        assert not seeded(1).geometric(Fraction(10**9), 100_000).any()

    def test_negative_size_is_refused(self) -> None:
        for draw in (seeded(1).words, seeded(1).spawn):
            with pytest.raises(InputError, match="must not be negative"):
                draw(-1)

    @pytest.mark.parametrize("bound", [0, -1, (1 << 63) + 1])
    def test_bounds_outside_int64_are_refused(self, bound: int) -> None:
        with pytest.raises(InputError, match="bound"):
            seeded(1).below(bound, 1)

    def test_extreme_bounds(self) -> None:
        assert not seeded(1).below(1, 100).any()
        assert (seeded(1).below(1 << 63, 100) > 1 << 55).any()

    def test_bernoulli_certain_and_impossible(self) -> None:
        rng = seeded(1)
        multiples = np.array([[0, 10**8], [0, 10**18]])
        expected = [[True, False], [True, False]]
        assert rng.bernoulli_exp(Fraction(1), multiples).tolist() == expected
        assert rng.bernoulli_exp(Fraction(0), multiples).all()

    @pytest.mark.parametrize(
        "multiples", [np.array([1, -1]), np.array([0.5]), np.array([1], dtype=np.uint64)]
    )
    def test_bernoulli_refuses_other_multiples(self, multiples: np.ndarray) -> None:
        with pytest.raises(InputError, match="multiples"):
            seeded(1).bernoulli_exp(Fraction(1), multiples)


class TestCoins:
    def test_key_has_128_bits_in_32_digits(self) -> None:
        keys = {fresh_coin_key() for _ in range(100)}
        assert len(keys) == 100
        assert all(len(key) == 32 and set(key) <= set("0123456789abcdef") for key in keys)

    def test_coin_is_sha256_of_key_and_text(self) -> None:
        assert coin("ab", "cé") == sha256("abcé".encode()).hexdigest()

    def test_threshold_of_one(self) -> None:
        threshold = coin_threshold(Fraction(1))
        kept = Fraction("0.63212055882855767840447622983853913255")  # 1 − 1/e
        assert abs(Fraction(int(threshold, 16), 1 << 256) - kept) < Fraction(1, 10**37)
        assert len(threshold) == 64

    @pytest.mark.parametrize("epsilon", ["1e-12", "0.1", "0.5", "1", "10", "177"])
    def test_threshold_is_rounded_down_by_less_than_one(self, epsilon: str) -> None:
        kept = (1 << 256) - Fraction(decimal_floor_exp(Fraction(epsilon), 500), 1 << 244)
        assert 0 <= kept - int(coin_threshold(Fraction(epsilon)), 16) < 1

    def test_threshold_keeps_its_width_at_the_ends(self) -> None:
        assert coin_threshold(Fraction(10**6)) == "f" * 64
        assert coin_threshold(Fraction(1, 10**90)) == "0" * 64

    @pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1)])
    def test_threshold_needs_a_positive_epsilon(self, epsilon: Fraction) -> None:
        with pytest.raises(InputError, match="greater than 0"):
            coin_threshold(epsilon)
