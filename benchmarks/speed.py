"""CPU seconds of every mechanism, beside the goal for each.

    python benchmarks/speed.py

- `one-sided` and `residual` on ten million bins, and how their time grows from a tenth of that;
- `dawa` on 65,536 bins, and how its time grows from a quarter of that;
- `auto` on 64, 4,096 and 65,536 bins;
- every mechanism on 4,096 bins (`agrid` on 64 × 64).

Exits with 1 where a goal is missed. `privbayes` is for several attributes and has no goal here.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from onesided.data import Histogram
from onesided.mechanisms.registry import mechanism, mechanism_names
from onesided.randomness import seeded, system

MANY_BINS = 10_000_000
MANY_BINS_GOAL = 4.0
LINEAR_GROWTH = 15.0
"""Ten times the bins in at most this multiple of the time: linear, with room for chance."""

DAWA_BINS = 65_536
DAWA_GOAL = 1.4
DAWA_GROWTH = 6.5
"""Four times the bins; d·log² d from 16,384 on grows by a factor of 5.2."""

USUAL_SHAPE = (4_096,)
SQUARE_SHAPE = (64, 64)
USUAL_GOAL = 0.2
GOALS = {"privbayes": None}
AUTO_GOALS = {64: 0.07, 4_096: 0.2, 65_536: 1.5}

ROUNDS = 3


@dataclass(frozen=True)
class Timing:
    """What was timed: `figure` is in CPU seconds, or a ratio of such; `goal` is the most of it."""

    what: str
    figure: float
    goal: float | None
    unit: str = "s"

    @property
    def missed(self) -> bool:
        return self.goal is not None and self.figure > self.goal

    @property
    def row(self) -> tuple[str, str, str, str]:
        goal = "" if self.goal is None else f"{self.goal:g} {self.unit}"
        verdict = "" if self.goal is None else "MISSED" if self.missed else "met"
        return self.what, f"{self.figure:.3g} {self.unit}", goal, verdict


def histogram(shape: tuple[int, ...]) -> Histogram:
    """Skewed counts, a third of the bins empty, 60 % of the units non-sensitive."""
    dice = seeded(1).generator()
    everyone = dice.poisson(dice.gamma(0.2, 200, size=shape))
    mask = np.zeros(shape, dtype=np.bool_)
    return Histogram(everyone, dice.binomial(everyone, 0.6), only_sensitive=mask)


def cpu_seconds(name: str, data: Histogram, rounds: int = ROUNDS) -> float:
    """The best of a few releases with noise of the system: a busy machine only makes it slower."""
    chosen, rng = mechanism(name), system()
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        chosen.release(data, epsilon=1, rng=rng)
        best = min(best, time.process_time() - start)
    return best


def growth(name: str, bins: int, factor: int, goal: float, most: float) -> Iterator[Timing]:
    """The time on `bins` bins, and how many times that on `bins`/`factor` it is."""
    smaller = cpu_seconds(name, histogram((bins // factor,)))
    larger = cpu_seconds(name, histogram((bins,)))
    yield Timing(f"{name}, {bins:,} bins", larger, goal)
    yield Timing(f"{name}, from {bins // factor:,} to {bins:,}", larger / smaller, most, unit="×")


def usual() -> Iterator[Timing]:
    for name in mechanism_names():
        if name == "auto":
            continue
        shape = SQUARE_SHAPE if mechanism(name).dimensions == 2 else USUAL_SHAPE
        size = " × ".join(f"{side:,}" for side in shape)
        seconds = cpu_seconds(name, histogram(shape))
        yield Timing(f"{name}, {size} bins", seconds, GOALS.get(name, USUAL_GOAL))


def auto() -> Iterator[Timing]:
    """The default, on few bins and on many; the first release of a process makes its samplers."""
    for bins, goal in AUTO_GOALS.items():
        yield Timing(
            f"auto, {bins:,} bins", cpu_seconds("auto", histogram((bins,)), ROUNDS + 1), goal
        )


def main() -> int:
    timings = [
        *growth("one-sided", MANY_BINS, 10, MANY_BINS_GOAL, LINEAR_GROWTH),
        *growth("residual", MANY_BINS, 10, MANY_BINS_GOAL, LINEAR_GROWTH),
        *growth("dawa", DAWA_BINS, 4, DAWA_GOAL, DAWA_GROWTH),
        *auto(),
        *usual(),
    ]
    table = Table("release at ε = 1", "CPU", "goal", "", title="Speed of the mechanisms")
    for timing in timings:
        table.add_row(*timing.row)
    Console().print(table)
    return 1 if any(timing.missed for timing in timings) else 0


if __name__ == "__main__":
    sys.exit(main())
