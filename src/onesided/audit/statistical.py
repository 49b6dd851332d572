"""The statistical audit: a black box, ordered neighbours, and an event that tells them apart.

1. *Search*: many pairs with few runs each; the most promising third goes on with twice the runs;
   the winner is improved by small random changes.
2. *Learn*: an event on fresh runs of the best pair (`events.py`).
3. *Test*: how often the event happens in further fresh runs on D and on D′ gives a Clopper–Pearson
   lower bound on the loss. Nothing that was chosen before depends on these runs, so the bound holds
   with the stated confidence however long the search was.

It can only reject. A mechanism that is not rejected may be sound, or too clever for this auditor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, log
from time import monotonic
from typing import Any

from onesided.audit.confidence import loss_at_least
from onesided.audit.events import Event, learn
from onesided.audit.neighbours import (
    Candidate,
    Setting,
    as_pair,
    patterns,
    random_pairs,
    varied,
)
from onesided.audit.outputs import Observations
from onesided.audit.protocol import Auditable
from onesided.audit.runs import Deadline, Progress, Workers, can_travel, chunks, stream
from onesided.errors import InputError
from onesided.loss import Number, positive

CONFIDENCE = 0.99
CALIBRATION_RUNS = (200, 2_000)
CALIBRATION_SHARE = 0.05
MOST_RUNS = 200_000

LEAST_RUNS = 20

SURVIVORS = 3
"""One in so many pairs goes on to the next round of the search, with twice the runs."""


@dataclass(frozen=True)
class Effort:
    """How much is done; the same effort and seed give the same report on any machine.

    - `search`: runs for each pair in the first round of the search;
    - `random`: random pairs besides the patterns;
    - `climbs`: attempts to improve the best pair;
    - `learn`, `test`: runs on D, and as many on D′.
    """

    search: int = 200
    random: int = 12
    climbs: int = 6
    learn: int = 2_000
    test: int = 4_000

    def __post_init__(self) -> None:
        if min(self.search, self.learn, self.test) < LEAST_RUNS:
            raise InputError(f"Each phase of an audit needs at least {LEAST_RUNS} runs.")

    @classmethod
    def within(cls, seconds: float, cost: Cost, pairs: int, workers: int) -> Effort:
        """What fits into so many seconds at this cost, for so many patterned pairs.

        The rounds of the search take 1 + 1/3 + … ≤ 1.5 attempts a pair, and 1 + 2/3 + … ≤ 3 times
        the runs of the first. A tenth of the time is kept back: machines have other things to do.
        """
        tried = pairs + cls.random
        for_search = 0.25 * seconds - 1.5 * tried * cost.attempt
        search = _clamped(for_search / (6 * tried * cost.run), 1_000)
        climb = cost.attempt + 2 * search * 2 ** rounds(tried) * cost.run
        learn = _clamped(0.15 * seconds / (2 * cost.run), MOST_RUNS // 4)
        test = _clamped(0.2 * seconds * (1 + workers) / (4 * cost.run), MOST_RUNS)
        return cls(search, cls.random, int(min(0.15 * seconds / climb, 30)), learn, test)


@dataclass(frozen=True)
class Cost:
    """Seconds for an `attempt` to learn an event, whatever the runs, and for each `run` besides."""

    attempt: float
    run: float


def _clamped(runs: float, most: int) -> int:
    return int(min(max(runs, LEAST_RUNS), most))


@dataclass(frozen=True)
class StatisticalReport:
    """What the audit can say: the loss is at least `at_least`, with the given confidence.

    `hits` of `runs` outputs on D were in the event, and `neighbour_hits` of as many on D′.
    """

    claimed: Fraction
    at_least: float
    confidence: float
    hits: int
    neighbour_hits: int
    runs: int
    pair: Any
    pairs_tried: int
    effort: Effort
    seed: int
    in_time: bool
    seconds: float

    @property
    def rejected(self) -> bool:
        """Whether the claim is false, with the given confidence. No proof of the contrary."""
        return self.at_least > self.claimed

    @property
    def estimate(self) -> float | None:
        """The log-ratio of the observed frequencies; None where the event never happened on D′."""
        if not self.hits or not self.neighbour_hits:
            return None
        return log(self.hits / self.neighbour_hits)


@dataclass(frozen=True)
class StatisticalAudit:
    """How a statistical audit is done.

    - `confidence`: of the lower bound;
    - `effort`: how many runs; None to use what fits into `seconds`;
    - `seconds`: after this no further work is begun, and what was done so far is reported;
    - `workers`: processes; they change the speed, not the result.
    """

    confidence: float = CONFIDENCE
    effort: Effort | None = None
    seconds: float | None = None
    workers: int = 1
    seed: int = 0
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if not 0.5 <= self.confidence < 1:
            raise InputError("The confidence must be at least 0.5 and below 1.")

    def claim(
        self,
        mechanism: Auditable,
        epsilon: Number,
        *,
        pairs: Sequence[tuple[Any, Any]] | None = None,
        setting: Setting | None = None,
    ) -> StatisticalReport:
        """Try to refute that the loss of `mechanism` is at most `epsilon`.

        Ordered `pairs` (D, D′) of any data may be given; else histograms of `setting` are searched.
        """
        claimed = positive(epsilon)
        started = monotonic()
        workers = self.workers if can_travel(mechanism) else 1
        candidates: list[Any] = list(patterns(setting or Setting()) if pairs is None else pairs)
        if not candidates:
            raise InputError("An audit needs at least one ordered pair of neighbours.")
        with Workers(workers) as pool:
            work = _Work(mechanism, pool, Deadline(self.seconds), self.seed, self.progress)
            effort = self.effort or self._affordable(work, candidates, workers)
            if pairs is None:
                rng = stream(f"{self.seed}/random pairs")
                candidates += random_pairs(setting or Setting(), effort.random, rng)
            best, tried = _search(work, candidates, effort)
            event = work.learnt(best, effort.learn, "learn")
            hits, other, runs = work.tested(best, event, effort.test)
        return StatisticalReport(
            claimed=claimed,
            at_least=loss_at_least(hits, other, runs, self.confidence),
            confidence=self.confidence,
            hits=hits,
            neighbour_hits=other,
            runs=runs,
            pair=best,
            pairs_tried=tried,
            effort=replace(effort, test=runs),
            seed=self.seed,
            in_time=not work.deadline.passed,
            seconds=monotonic() - started,
        )

    def _affordable(self, work: _Work, candidates: Sequence[Any], workers: int) -> Effort:
        if self.seconds is None:
            return Effort()
        return Effort.within(
            self.seconds, work.cost(candidates[-1], self.seconds), len(candidates), workers
        )


def rounds(pairs: int) -> int:
    """How many rounds after the first one leave a single pair."""
    count = 0
    while pairs > 1:
        pairs, count = ceil(pairs / SURVIVORS), count + 1
    return count


@dataclass(frozen=True)
class _Work:
    """A mechanism at work, for the phases of one audit."""

    mechanism: Auditable
    pool: Workers
    deadline: Deadline
    seed: int
    progress: Progress | None

    def report(self, phase: str, share: float) -> None:
        if self.progress is not None:
            self.progress(phase, share)

    def learnt(self, given: Any, runs: int, label: str) -> Event:
        """An event for a pair, from fresh runs."""
        jobs = [
            self._jobs(data, runs, f"{label}/{side}") for side, data in enumerate(as_pair(given))
        ]
        results = list(self.pool.results([*jobs[0], *jobs[1]]))
        half = len(jobs[0])
        return learn(Observations.joined(results[:half]), Observations.joined(results[half:]))

    def cost(self, given: Any, seconds: float) -> Cost:
        """Found by few runs, then by more of them as long as that takes little of the time."""
        self.learnt(given, LEAST_RUNS, "warming up")  # builds tables that later runs share
        few = self._duration(given, LEAST_RUNS)
        cost = Cost(0.0, few / (2 * LEAST_RUNS))
        for runs in CALIBRATION_RUNS:
            if 2 * runs * cost.run > CALIBRATION_SHARE * seconds:
                break
            each = max(self._duration(given, runs) - few, 0.0) / (2 * (runs - LEAST_RUNS))
            cost = Cost(max(few - 2 * LEAST_RUNS * each, 0.0), max(each, 1e-7))
        return cost

    def _duration(self, given: Any, runs: int) -> float:
        before = monotonic()
        self.learnt(given, runs, "calibration")
        return monotonic() - before

    def tested(self, given: Any, event: Event, runs: int) -> tuple[int, int, int]:
        """Hits on D, hits on D′ and runs on each, from fresh runs, until the deadline."""
        data, neighbour = as_pair(given)
        both = zip(
            self._jobs(data, runs, "test/0"), self._jobs(neighbour, runs, "test/1"), strict=True
        )
        hits = other = done = 0
        for first, second in both:
            here, there = self.pool.results([first, second])
            hits, other, done = hits + event.hits(here), other + event.hits(there), done + len(here)
            self.report("test", done / runs)
            if self.deadline.passed:
                break
        return hits, other, done

    def _jobs(self, data: Any, runs: int, label: str) -> Any:
        return chunks(self.mechanism, data, runs, f"{self.seed}/{label}")


def _search(work: _Work, candidates: list[Any], effort: Effort) -> tuple[Any, int]:
    """The most promising pair, and how many were tried."""
    if len(candidates) == 1 and not isinstance(candidates[0], Candidate):
        return candidates[0], 1
    runs, tried = effort.search, len(candidates)
    while True:
        promises = []
        for number, candidate in enumerate(candidates):
            if number and work.deadline.passed:
                break
            promises.append(work.learnt(candidate, runs, f"search/{runs}/{number}").promise)
            work.report("search", (number + 1) / len(candidates))
        ranked = sorted(range(len(promises)), key=lambda number: -promises[number])
        candidates = [candidates[number] for number in ranked[: ceil(len(ranked) / SURVIVORS)]]
        if len(candidates) == 1 or work.deadline.passed:
            break
        runs *= 2
    best = candidates[0]
    if isinstance(best, Candidate):
        best = _climbed(work, best, max(promises), runs, effort.climbs)
        tried += effort.climbs
    return best, tried


def _climbed(work: _Work, best: Candidate, promise: float, runs: int, climbs: int) -> Candidate:
    """Hill climbing: keep a random change where it promises more."""
    rng = stream(f"{work.seed}/climbing")
    for number in range(climbs):
        if work.deadline.passed:
            break
        changed = varied(best, rng)
        found = work.learnt(changed, runs, f"climb/{number}").promise
        if found > promise:
            best, promise = changed, found
        work.report("climb", (number + 1) / climbs)
    return best
