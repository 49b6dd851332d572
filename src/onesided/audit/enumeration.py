"""The exact law of a mechanism, found by running its real code on everything it could draw.

`EnumeratingRandomness` stands in for the source of noise and deals out a script: one outcome for
each call. Where the script ends, the mechanism is stopped, and run again once for each outcome of
that call. So the mechanism becomes a tree whose paths have known probabilities.

Geometric noise has infinitely many values. Paths are followed while the total exponent of their
noise stays within a *horizon*; what lies beyond is not guessed at but counted as `unexplored` mass.
Every reported mass is therefore a lower bound, and mass plus unexplored mass an upper one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import comb, expm1, prod
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from onesided.audit.exponentials import (
    Mass,
    Weight,
    one_minus_exponential,
    one_plus_exponential,
)
from onesided.audit.outputs import fingerprint
from onesided.errors import InputError
from onesided.randomness import Randomness

WORD = 1 << 64
FAR = 1 << 40
"""Noise far beyond every count of a small database."""

NEAR = 8
"""If one-sided noise of this size makes the same difference as FAR noise, it is clipped there."""

MOST_OUTCOMES = 1 << 16
"""A single call with more outcomes than this is not followed."""

Run = Callable[[Randomness], Any]
"""A mechanism on fixed data: takes the source of noise, gives the output."""


class NotEnumerableError(InputError):
    """The mechanism draws something whose outcomes cannot be listed."""


class TooManyPathsError(InputError):
    """The tree has more paths than was allowed."""


@dataclass(frozen=True)
class Outcome:
    """One answer to one call: the `values` dealt out, their probability, and the noise exponent."""

    values: NDArray[Any]
    weight: Weight
    noise: Fraction = Fraction(0)


@dataclass(frozen=True)
class Call:
    """What a mechanism asked for when the script ended; `outcomes` within a remaining horizon.

    Which outcomes there are may depend on what the mechanism does with them, so it can be tried:
    `Trial` runs it on this script, the given values, and 0 for all that is drawn later.
    """

    outcomes: Callable[[Fraction, Trial], Iterator[Outcome]]


Trial = Callable[[NDArray[Any]], Hashable]


class _ScriptEnded(BaseException):
    """Stops a mechanism at a call; no Exception, so that nothing in it can swallow this."""

    def __init__(self, call: Call) -> None:
        self.call = call


class After(Enum):
    """What happens where a script ends."""

    STOP = "stop"
    ZEROS = "go on with zeros"
    NUMBERS = "go on with two-sided noise that is large and different everywhere"


class EnumeratingRandomness(Randomness):
    """Deals out `script`, and then does what `after` says."""

    def __init__(self, script: tuple[Outcome, ...], after: After = After.STOP) -> None:
        self._rest = list(reversed(script))
        self._after = after
        self._dealt = 0

    @property
    def description(self) -> str:
        return "every outcome in turn"

    @property
    def seeded(self) -> bool:
        return True

    def geometric(self, rate: Fraction, size: int) -> NDArray[np.int64]:
        return self._deal(size, Call(lambda horizon, trial: _one_sided(rate, size, horizon, trial)))

    def two_sided_geometric(self, rate: Fraction, size: int) -> NDArray[np.int64]:
        noise = self._deal(
            size, Call(lambda horizon, trial: _two_sided(rate, size, horizon, trial))
        )
        if self._after is After.NUMBERS and not self._rest and self._ended:
            return noise + LIVELY * self._dealt + 37 * np.arange(size) + 11
        return noise

    def bernoulli_exp(self, rate: Fraction, multiples: NDArray[np.int64]) -> NDArray[np.bool_]:
        exponents = [rate * int(each) for each in multiples.reshape(-1)]
        flags = self._deal(multiples.size, Call(lambda *_: _coins(exponents)), np.bool_)
        return flags.reshape(multiples.shape)

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        return self._deal(size, Call(lambda *_: _uniform(bound, size)))

    def words(self, count: int) -> NDArray[np.uint64]:
        return self._deal(count, Call(lambda _, trial: _words(count, trial)), np.uint64)

    def generator(self) -> np.random.Generator:
        stand_in: Any = _EnumeratedGenerator(self._deal)
        return stand_in  # type: ignore[no-any-return]

    def spawn(self, count: int) -> list[Randomness]:
        return [self] * count

    def _deal(self, size: int, call: Call, dtype: Any = np.int64) -> NDArray[Any]:
        if size == 0:
            return np.zeros(0, dtype=dtype)
        if self._rest:
            return self._rest.pop().values.astype(dtype)
        if self._go_on:
            return np.zeros(size, dtype=dtype)
        raise _ScriptEnded(call)


class _EnumeratedGenerator:
    """The floating-point draws that can be listed: binomial ones."""

    def __init__(self, deal: Callable[[int, Call], NDArray[Any]]) -> None:
        self._deal = deal

    def binomial(self, n: NDArray[np.int64], p: float) -> NDArray[np.int64]:
        trials = np.asarray(n)
        sizes = [int(each) for each in trials.reshape(-1)]
        drawn = self._deal(len(sizes), Call(lambda *_: _binomials(sizes, Fraction(p))))
        return drawn.reshape(trials.shape)

    def __getattr__(self, name: str) -> NoReturn:
        raise NotEnumerableError(
            "The mechanism draws floating-point noise, which cannot be listed; audit it by runs."
        )


@dataclass(frozen=True)
class Law:
    """What was found of the distribution of a mechanism's output on one database.

    - `inner`: for each output the mass of the paths within the horizon;
    - `outer`: the same within the wider horizon, so a tighter lower bound;
    - `unexplored`: no less than the mass of all paths beyond the wider horizon.
    """

    inner: dict[Hashable, Mass]
    outer: dict[Hashable, Mass]
    unexplored: float


def enumerate_law(
    run: Run, horizon: Fraction, margin: Fraction, most_paths: int | None = None
) -> Law:
    """The law of `run`, by noise of total exponent up to `horizon`, and up to horizon + margin."""
    inner: dict[Hashable, list[Weight]] = {}
    outer: dict[Hashable, list[Weight]] = {}
    for paths, (output, weight, noise) in enumerate(_leaves(run, horizon + margin)):
        if paths == most_paths:
            raise TooManyPathsError("The mechanism has too many paths; ask for a smaller horizon.")
        key = fingerprint(output)
        outer.setdefault(key, []).append(weight)
        if noise <= horizon:
            inner.setdefault(key, []).append(weight)
    everything = Mass(weight for weights in outer.values() for weight in weights)
    return Law(
        {key: Mass(weights) for key, weights in inner.items()},
        {key: Mass(weights) for key, weights in outer.items()},
        _what_is_missing(everything),
    )


def _what_is_missing(everything: Mass) -> float:
    """No less than 1 − `everything`; 0 only where the mass is exactly 1."""
    whole = Mass([Weight()])
    return 0.0 if everything.compare(whole, Fraction(0)) == 0 else _gap(everything)


def _gap(everything: Mass) -> float:
    # Far below the noise of floating point the bound only has to be an upper one.
    return max(0.0, -expm1(everything.log)) + 1e-11


def _leaves(run: Run, horizon: Fraction) -> Iterator[tuple[Any, Weight, Fraction]]:
    """Every path within the horizon: its output, its weight and its noise exponent."""
    pending: list[tuple[tuple[Outcome, ...], Weight, Fraction]] = [((), Weight(), Fraction(0))]
    while pending:
        script, weight, noise = pending.pop()
        try:
            output = run(EnumeratingRandomness(script))
        except _ScriptEnded as stop:
            pending += [
                ((*script, each), weight * each.weight, noise + each.noise)
                for each in stop.call.outcomes(horizon - noise, _trial(run, script))
            ]
        else:
            yield output, weight, noise


def _trial(run: Run, script: tuple[Outcome, ...]) -> Trial:
    def trial(values: NDArray[Any]) -> Hashable:
        dealt = (*script, Outcome(values, Weight()))
        return fingerprint(run(EnumeratingRandomness(dealt, go_on=True)))

    return trial


def _noise(rate: Fraction, size: int, horizon: Fraction, *, two_sided: bool) -> Iterator[Outcome]:
    """Vectors z of `size` integers with rate·Σ|zᵢ| ≤ horizon; none negative if one-sided."""
    factors = frozenset(
        [(one_minus_exponential(rate), size)]
        + ([(one_plus_exponential(rate), -size)] if two_sided else [])
    )
    for vector, norm in _vectors(size, int(horizon / rate), two_sided):
        exponent = rate * norm
        yield Outcome(vector, Weight(exponent=exponent, factors=factors), exponent)


def _two_sided(rate: Fraction, size: int, horizon: Fraction, trial: Trial) -> Iterator[Outcome]:
    """Two-sided noise; entries that the mechanism does not use are left at 0."""
    answers = [
        {_with_one(size, position, noise, trial) for noise in (-FAR, 0, FAR)}
        for position in range(size)
    ]
    used = [position for position, each in enumerate(answers) if len(each) > 1]
    for outcome in _noise(rate, len(used), horizon, two_sided=True):
        values = np.zeros(size, dtype=np.int64)
        values[used] = outcome.values
        yield Outcome(values, outcome.weight, outcome.noise)


def _one_sided(rate: Fraction, size: int, horizon: Fraction, trial: Trial) -> Iterator[Outcome]:
    """One-sided noise, where entries that are clipped have finitely many outcomes.

    An entry is clipped from m on if the mechanism does the same for noise m as for noise FAR: then
    "m or more", of probability e^(−rate·m), is one outcome. The other entries go to the horizon.
    """
    clipped = [_clipped_from(size, position, trial) for position in range(size)]
    open_ended = [position for position, m in enumerate(clipped) if m is None]
    inside = frozenset([(one_minus_exponential(rate), 1)])
    sides = [
        [(g, Weight(exponent=rate * g, factors=inside)) for g in range(m)]
        + [(m, Weight(exponent=rate * m))]
        for m in clipped
        if m is not None
    ]
    closed = [position for position, m in enumerate(clipped) if m is not None]
    finite = list(_joint(sides)) if sides else [Outcome(np.zeros(0), Weight())]
    for outer in _noise(rate, len(open_ended), horizon, two_sided=False):
        for each in finite:
            values = np.zeros(size, dtype=np.int64)
            values[open_ended], values[closed] = outer.values, each.values
            yield Outcome(values, outer.weight * each.weight, outer.noise)


def _clipped_from(size: int, position: int, trial: Trial) -> int | None:
    far = _with_one(size, position, FAR, trial)
    if _with_one(size, position, NEAR, trial) != far:
        return None
    return next(m for m in range(NEAR + 1) if _with_one(size, position, m, trial) == far)


def _with_one(size: int, position: int, noise: int, trial: Trial) -> Hashable:
    """What the mechanism does when one entry of a draw is `noise` and all others are 0."""
    values = np.zeros(size, dtype=np.int64)
    values[position] = noise
    return trial(values)


@lru_cache(maxsize=64)
def _vectors(size: int, norm: int, two_sided: bool) -> list[tuple[NDArray[np.int64], int]]:
    """All integer vectors with Σ|zᵢ| ≤ norm, and that sum."""
    partial: list[tuple[tuple[int, ...], int]] = [((), 0)]
    for _ in range(size):
        longer = []
        for head, used in partial:
            rest = norm - used
            low = -rest if two_sided else 0
            longer += [((*head, value), used + abs(value)) for value in range(low, rest + 1)]
        if len(longer) > MOST_OUTCOMES:
            raise TooManyPathsError("One draw has too many outcomes; ask for a smaller horizon.")
        partial = longer
    return [(np.array(vector, dtype=np.int64), used) for vector, used in partial]


def _coins(exponents: list[Fraction]) -> Iterator[Outcome]:
    """True with probability e^(−exponent), each for itself."""
    sides = [
        [(True, Weight(exponent=each))]
        + ([(False, Weight(factors=frozenset([(one_minus_exponential(each), 1)])))] if each else [])
        for each in exponents
    ]
    return _joint(sides)


def _uniform(bound: int, size: int) -> Iterator[Outcome]:
    _refuse_too_many(float(bound) ** size)
    return _joint([[(value, Weight(Fraction(1, bound))) for value in range(bound)]] * size)


def _binomials(sizes: list[int], p: Fraction) -> Iterator[Outcome]:
    return _joint(
        [[(k, Weight(comb(n, k) * p**k * (1 - p) ** (n - k))) for k in range(n + 1)] for n in sizes]
    )


def _joint(sides: list[list[tuple[Any, Weight]]]) -> Iterator[Outcome]:
    """Independent draws together."""
    _refuse_too_many(prod(float(len(side)) for side in sides))
    for choice in product(*sides):
        weight = Weight()
        for _, each in choice:
            weight *= each
        yield Outcome(np.array([value for value, _ in choice]), weight)


def _refuse_too_many(outcomes: float) -> None:
    if outcomes > MOST_OUTCOMES:
        raise NotEnumerableError("One draw has too many outcomes to list; audit it by runs.")


def _words(count: int, trial: Trial) -> Iterator[Outcome]:
    """Raw words U·2⁶⁴ that a mechanism compares, each, with a threshold of its own.

    The threshold is found by bisection on what the mechanism does. The words next to it, where
    further bits decide, are left unexplored: a mass of 2⁻⁶³ at most.
    """
    sides = []
    for position in range(count):
        threshold = _threshold(count, position, trial)
        if threshold is None:
            sides.append([(0, Weight())])
            continue
        below, above = Fraction(threshold - 1, WORD), Fraction(WORD - threshold - 1, WORD)
        sides.append([(0, Weight(below)), (WORD - 1, Weight(above))])
    for outcome in _joint(sides):
        yield Outcome(outcome.values.astype(np.uint64), outcome.weight)


def _threshold(count: int, position: int, trial: Trial) -> int | None:
    """The least word that is answered like the largest; None if all words are answered alike."""

    def answer(word: int) -> Hashable:
        values = np.zeros(count, dtype=np.uint64)
        values[position] = word
        return trial(values)

    low, high = 0, WORD - 1
    last = answer(high)
    if answer(low) == last:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if answer(middle) == last else (middle, high)
    return high
