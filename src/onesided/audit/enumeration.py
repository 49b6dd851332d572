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
from enum import Enum
from fractions import Fraction
from math import expm1
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from onesided.audit import draws
from onesided.audit.draws import NotEnumerableError, Outcome, TooManyPathsError, Trial
from onesided.audit.exponentials import Mass, Weight
from onesided.audit.outputs import fingerprint
from onesided.randomness import Randomness

Run = Callable[[Randomness], Any]
"""A mechanism on fixed data: takes the source of noise, gives the output."""

Tried = dict[tuple[bytes, ...], Hashable]
"""What came of values for a draw after given earlier ones: the same under every horizon."""


class After(Enum):
    """What happens where a script ends."""

    STOP = "stop"
    PLAIN = "go on without noise"
    LIVELY = "go on with two-sided noise that is large and different everywhere"


@dataclass(frozen=True)
class Call:
    """What a mechanism asked for: its `outcomes` within a remaining horizon, and what it is given
    where it only has to go on, with or without noise."""

    outcomes: Callable[[Fraction, Trial], Iterator[Outcome]]
    plain: NDArray[Any]
    lively: NDArray[Any]

    @classmethod
    def of(
        cls, plain: NDArray[Any], outcomes: Callable[[Fraction, Trial], Iterator[Outcome]]
    ) -> Call:
        """A call that goes on in one way only."""
        return cls(outcomes, plain, plain)


class _ScriptEnded(BaseException):
    """Stops a mechanism at a call; no Exception, so that nothing in it can swallow this."""

    def __init__(self, call: Call) -> None:
        self.call = call


class EnumeratingRandomness(Randomness):
    """Deals out `script`, and then does what `after` says."""

    def __init__(self, script: tuple[Outcome, ...], after: After = After.STOP) -> None:
        self._script = script
        self._after = after
        self._calls = 0

    @property
    def description(self) -> str:
        return "every outcome in turn"

    @property
    def seeded(self) -> bool:
        return True

    def geometric(self, rate: Fraction, size: int) -> NDArray[np.int64]:
        plain = np.zeros(size, dtype=np.int64)
        return self.deal(
            Call.of(plain, lambda rest, trial: draws.one_sided(rate, size, rest, trial))
        )

    def two_sided_geometric(self, rate: Fraction, size: int) -> NDArray[np.int64]:
        plain = np.zeros(size, dtype=np.int64)
        lively = 1009 * (self._calls + 1) + 37 * np.arange(size)
        return self.deal(
            Call(lambda rest, trial: draws.two_sided(rate, size, rest, trial), plain, lively)
        )

    def bernoulli_exp(self, rate: Fraction, multiples: NDArray[np.int64]) -> NDArray[np.bool_]:
        exponents = [rate * int(each) for each in multiples.reshape(-1)]
        # A coin with exponent 0 never shows False, not even where the mechanism just goes on.
        certain = np.array([each == 0 for each in exponents], dtype=np.bool_)
        flags = self.deal(Call.of(certain, lambda *_: draws.coins(exponents)))
        return flags.reshape(multiples.shape)

    def below(self, bound: int, size: int) -> NDArray[np.int64]:
        plain = np.zeros(size, dtype=np.int64)
        return self.deal(Call.of(plain, lambda *_: draws.uniform(bound, size)))

    def words(self, count: int) -> NDArray[np.uint64]:
        plain = np.zeros(count, dtype=np.uint64)
        return self.deal(Call.of(plain, lambda _, trial: draws.words(count, trial)))

    def generator(self) -> np.random.Generator:
        stand_in: Any = _EnumeratedGenerator(self.deal)
        return stand_in  # type: ignore[no-any-return]

    def spawn(self, count: int) -> list[Randomness]:
        return [self] * count

    def deal(self, call: Call) -> NDArray[Any]:
        """The next outcome of the script, or what comes after it."""
        if call.plain.size == 0:
            return call.plain
        self._calls += 1
        if self._calls <= len(self._script):
            return self._script[self._calls - 1].values.astype(call.plain.dtype)
        if self._after is After.STOP:
            raise _ScriptEnded(call)
        return (call.plain if self._after is After.PLAIN else call.lively).copy()


class _EnumeratedGenerator:
    """The floating-point draws that can be listed: binomial ones."""

    def __init__(self, deal: Callable[[Call], NDArray[Any]]) -> None:
        self._deal = deal

    def binomial(self, n: NDArray[np.int64], p: float | Fraction) -> NDArray[np.int64]:
        trials = np.asarray(n)
        sizes = [int(each) for each in trials.reshape(-1)]
        plain = np.zeros(len(sizes), dtype=np.int64)
        drawn = self._deal(Call.of(plain, lambda *_: draws.binomials(sizes, Fraction(p))))
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
    run: Run,
    horizon: Fraction,
    margin: Fraction,
    most_paths: int | None = None,
    tried: Tried | None = None,
) -> Law:
    """The law of `run`, by noise of total exponent up to `horizon`, and up to horizon + margin.

    Who enumerates the same run again, with another horizon, hands over the same `tried`.
    """
    known: Tried = {} if tried is None else tried
    inner: dict[Hashable, list[Weight]] = {}
    outer: dict[Hashable, list[Weight]] = {}
    for output, weight, noise in _leaves(run, horizon + margin, known, most_paths):
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


def _leaves(
    run: Run, horizon: Fraction, tried: Tried, most_paths: int | None
) -> Iterator[tuple[Any, Weight, Fraction]]:
    """Every path within the horizon: its output, its weight and its noise exponent."""
    pending: list[tuple[tuple[Outcome, ...], Weight, Fraction]] = [((), Weight(), Fraction(0))]
    followed = 0
    while pending:
        # Each that is pending leads to a path at least, so that there is no need to follow them.
        if most_paths is not None and followed + len(pending) > most_paths:
            raise TooManyPathsError("The mechanism has too many paths; ask for a smaller horizon.")
        script, weight, noise = pending.pop()
        try:
            output = run(EnumeratingRandomness(script))
        except _ScriptEnded as stop:
            pending += [
                ((*script, each), weight * each.weight, noise + each.noise)
                for each in stop.call.outcomes(horizon - noise, _trial(run, script, tried))
            ]
        else:
            followed += 1
            yield output, weight, noise


def _trial(run: Run, script: tuple[Outcome, ...], tried: Tried) -> Trial:
    """What comes of values for the next draw. A difference that later noise of 0 hides, such as
    another way to sum up empty bins, shows with later noise that is different everywhere."""

    before = tuple(each.values.tobytes() for each in script)

    def trial(values: NDArray[Any]) -> Hashable:
        key = (*before, values.tobytes())
        if key not in tried:
            dealt = (*script, Outcome(values, Weight()))
            ways = (After.PLAIN, After.LIVELY)
            tried[key] = tuple(fingerprint(run(EnumeratingRandomness(dealt, way))) for way in ways)
        return tried[key]

    return trial
