"""How much a statistical audit does: given, or what fits into a number of seconds."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from onesided.audit.runs import CHUNK
from onesided.errors import InputError

LEAST_RUNS, MOST_RUNS = 20, 200_000
"""In each phase of an audit."""

SURVIVORS = 3
"""One in so many pairs goes on to the next round of the search, with twice the runs."""

PIECES = 100
"""Work is cut so that a piece of it takes no more than one of so many parts of the time."""


@dataclass(frozen=True)
class Effort:
    """How much is done; the same effort and seed give the same report on any machine.

    - `search`: runs for each pair in the first round of the search;
    - `random`: random pairs besides the patterns;
    - `climbs`: attempts to improve the best pair;
    - `learn`, `test`: runs on D, and as many on D′;
    - `pairs`: the most pairs that are tried, spread over all there are; None for all of them;
    - `chunk`: runs that are done in one piece.
    """

    search: int = 200
    random: int = 12
    climbs: int = 6
    learn: int = 2_000
    test: int = 4_000
    pairs: int | None = None
    chunk: int = CHUNK

    def __post_init__(self) -> None:
        if min(self.search, self.learn, self.test) < LEAST_RUNS:
            raise InputError(f"Each phase of an audit needs at least {LEAST_RUNS} runs.")

    @classmethod
    def within(cls, seconds: float, cost: Cost, pairs: int) -> Effort:
        """What fits into so many seconds at this cost, for so many patterned pairs.

        The rounds of the search take 1 + 1/3 + … ≤ 1.5 attempts a pair, and 1 + 2/3 + … ≤ 3 times
        the runs of the first. A part of the time is kept back: machines have other things to do.
        Learning and testing go on for as long as they may, so they need no estimate.
        """
        for_search = 0.3 * seconds
        least = 1.5 * cost.attempt + 6 * LEAST_RUNS * cost.run
        tried = int(min(max(for_search / least, 1), pairs + cls.random))
        search = _clamped((for_search / tried - 1.5 * cost.attempt) / (6 * cost.run), 1_000)
        climb = cost.attempt + 2 * search * 2 ** rounds(tried) * cost.run
        climbs = int(min(0.12 * seconds / climb, 30))
        chunk = int(min(max(seconds / (PIECES * cost.run), 1), CHUNK))
        return cls(search, cls.random, climbs, MOST_RUNS // 4, MOST_RUNS, tried, chunk)


@dataclass(frozen=True)
class Cost:
    """Seconds for an `attempt` to learn an event from any number of runs, and for each `run`."""

    attempt: float
    run: float


def _clamped(runs: float, most: int) -> int:
    return int(min(max(runs, LEAST_RUNS), most))


def rounds(pairs: int) -> int:
    """How many rounds after the first one leave a single pair."""
    count = 0
    while pairs > 1:
        pairs, count = ceil(pairs / SURVIVORS), count + 1
    return count
