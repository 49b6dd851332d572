"""The statistical audit: a black box, ordered neighbours, and an event that tells them apart.

1. *Search*: many pairs with few runs each; the most promising third goes on with twice the runs;
   the winner is improved by small random changes.
2. *Learn*: an event on fresh runs of the best pair (`events.py`).
3. *Test*: how often the event happens in further fresh runs on D and on D′ gives a Clopper–Pearson
   lower bound on the loss. Nothing that was chosen before depends on these runs, so the bound holds
   with the stated confidence however long the search was.

With a time limit each phase has its share of it; a phase that runs out hands on what it has.

It can only reject. A mechanism that is not rejected may be sound, or too clever for this auditor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, inf, log
from time import process_time
from typing import Any

import numpy as np

from onesided.audit.confidence import loss_at_least
from onesided.audit.effort import LEAST_RUNS, SURVIVORS, Cost, Effort
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
from onesided.audit.protocol import Auditable, BatchRaisedError, OneByOne
from onesided.audit.runs import CHUNK, Deadline, Job, Progress, Workers, can_travel, chunks, stream
from onesided.errors import InputError
from onesided.loss import Number, positive, show

CONFIDENCE = 0.99
CALIBRATION_SHARE = 0.03
FEWEST = 2
"""Runs from which an event can be learnt at all: one to fit scores, one to choose among them."""

SEARCH_ENDS, CLIMB_ENDS, LEARN_ENDS = 0.4, 0.55, 0.75
"""The shares of the time after which each phase has to be over; the test has the rest."""

STRIDE = 11
"""Pairs that follow each other in a search are so far apart in the list."""


@dataclass(frozen=True)
class StatisticalReport:
    """What the audit can say: the loss is at least `at_least`, with the given confidence.

    `hits` of `runs` outputs on D were in the event, and `neighbour_hits` of as many on D′. With
    `in_time` the search was not cut short, and `effort` and `seed` give the same report again.
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

    def __repr__(self) -> str:
        return f"<Audit by runs: {self.said}; ε ≥ {self.at_least:.3f} of {show(self.claimed)}>"

    @property
    def said(self) -> str:
        """The verdict in words."""
        return "refuted" if self.rejected else "not refuted, which proves nothing"

    def _repr_html_(self) -> str:
        from onesided import html

        facts = {
            "claimed": f"ε = {show(self.claimed)}",
            "at least": f"{self.at_least:.3f} (confidence {self.confidence:g})",
            "outputs": f"{self.hits:,} of {self.runs:,} against {self.neighbour_hits:,}",
            "searched": f"{self.pairs_tried:,} pairs, seed {self.seed}",
        }
        return html.card(f"Audit by runs: {self.said}", html.facts(facts))

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
        if self.seconds is not None and not 0 < self.seconds < inf:
            raise InputError("The time of an audit must be a number of seconds above 0.")

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
        (report,) = self.claims(mechanism, epsilon, 1, pairs=pairs, setting=setting)
        return report

    def claims(
        self,
        mechanism: Auditable,
        epsilon: Number,
        times: int,
        *,
        pairs: Sequence[tuple[Any, Any]] | None = None,
        setting: Setting | None = None,
    ) -> list[StatisticalReport]:
        """`claim` with several tests, each on fresh runs, of one event that is learnt once."""
        claimed, deadline = positive(epsilon), Deadline(self.seconds)
        chosen = setting or Setting()
        try:
            return self._claims(mechanism, claimed, times, pairs, chosen, deadline, str(self.seed))
        except BatchRaisedError:
            # What a single run raises is an outcome, so runs are done one by one, all of them anew.
            single, fresh = OneByOne(mechanism), f"{self.seed}/one by one"
            return self._claims(single, claimed, times, pairs, chosen, deadline, fresh)

    def _claims(
        self,
        mechanism: Auditable,
        claimed: Fraction,
        times: int,
        pairs: Sequence[tuple[Any, Any]] | None,
        setting: Setting,
        deadline: Deadline,
        draws: str,
    ) -> list[StatisticalReport]:
        """The reports, from streams of randomness whose names begin with `draws`."""
        workers = self.workers if can_travel(mechanism) else 1
        candidates: list[Any] = list(patterns(setting) if pairs is None else pairs)
        if not candidates:
            raise InputError("An audit needs at least one ordered pair of neighbours.")
        with Workers(workers) as pool:
            work = _Work(mechanism, pool, deadline, draws, self.progress)
            effort = self.effort or self._affordable(work, candidates)
            if pairs is None:
                rng = stream(f"{self.seed}/random pairs")
                candidates += random_pairs(setting, effort.random, rng)
            best, tried = _search(work, _spread(candidates, effort.pairs), effort)
            event, learnt = work.learnt(best, effort.learn, "learn", effort.chunk, LEARN_ENDS)
            effort = replace(effort, learn=max(learnt, LEAST_RUNS))
            return [
                self._report(claimed, work, best, event, tried, effort, number)
                for number in range(times)
            ]

    def _report(
        self,
        claimed: Fraction,
        work: _Work,
        pair: Any,
        event: Event,
        tried: int,
        effort: Effort,
        number: int,
    ) -> StatisticalReport:
        hits, other, runs = work.tested(pair, event, effort, f"test {number}")
        return StatisticalReport(
            claimed=claimed,
            at_least=loss_at_least(hits, other, runs, self.confidence),
            confidence=self.confidence,
            hits=hits,
            neighbour_hits=other,
            runs=runs,
            pair=pair,
            pairs_tried=tried,
            effort=replace(effort, test=max(runs, LEAST_RUNS)),
            seed=self.seed,
            in_time=not work.deadline.missed,
            seconds=work.deadline.elapsed,
        )

    def _affordable(self, work: _Work, candidates: Sequence[Any]) -> Effort:
        if self.seconds is None:
            return Effort()
        cost = work.cost(candidates[-1], self.seconds)
        left = self.seconds - work.deadline.elapsed
        return Effort.within(max(left, 0.0), cost, len(candidates))


def _spread(candidates: list[Any], most: int | None) -> list[Any]:
    """All of them, or `most`, in strides: a search that is cut short has seen every part."""
    return [each for start in range(STRIDE) for each in candidates[start::STRIDE]][:most]


@dataclass(frozen=True)
class _Work:
    """A mechanism at work, for the phases of one audit."""

    mechanism: Auditable
    pool: Workers
    deadline: Deadline
    draws: str
    progress: Progress | None

    def report(self, phase: str, share: float) -> None:
        if self.progress is not None:
            self.progress(phase, share)

    def promise(self, given: Any, runs: int, label: str, chunk: int, ends: float) -> float:
        """What an event for a pair promises that is learnt from so many runs."""
        event, done = self.learnt(given, runs, label, chunk, ends)
        self.deadline.missed |= done < runs
        return event.promise

    def learnt(
        self, given: Any, runs: int, label: str, chunk: int, ends: float
    ) -> tuple[Event, int]:
        """An event for a pair, from fresh runs; from fewer where its share of the time is over.

        Also, how many runs it was on either side.
        """
        data, neighbour = as_pair(given)
        here, there = (
            self._jobs(each, runs, f"{label}/{side}", chunk)
            for side, each in enumerate((data, neighbour))
        )
        results: list[Observations] = []
        for both in self.pool.pairwise(zip(here, there, strict=True)):
            results += both
            if self.deadline.passed(ends) and sum(map(len, results)) >= 2 * FEWEST:
                break
        first, second = (Observations.joined(results[side::2]) for side in (0, 1))
        if not first.features.shape[1] + second.features.shape[1]:
            self._raise_what_all_raise(data, first, second)
        return learn(first, second), len(first)

    def _raise_what_all_raise(self, data: Any, *sides: Observations) -> None:
        """Where nothing is ever released, and all is refused alike, whoever asked is told why."""
        if np.unique(np.concatenate([each.tokens for each in sides])).size == 1:
            self.mechanism.release(data, stream(f"{self.draws}/refused"))

    def cost(self, given: Any, seconds: float) -> Cost:
        """Found by a single run, then by more of them as long as that takes little of the time."""
        before = process_time()
        self._jobs(as_pair(given)[0], 1, "calibration", CHUNK)[0]()  # builds tables for later runs
        single = process_time() - before
        if single > CALIBRATION_SHARE * seconds:
            return Cost(0.0, single)
        few = last = self._duration(given, FEWEST)
        runs = FEWEST
        while runs < CHUNK and last < CALIBRATION_SHARE * seconds:
            runs = min(4 * runs, CHUNK)
            last = self._duration(given, runs)
        if runs == FEWEST:
            return Cost(0.0, few / (2 * FEWEST))
        each = max(last - few, 0.0) / (2 * (runs - FEWEST))
        return Cost(max(few - 2 * FEWEST * each, 0.0), max(each, 1e-7))

    def _duration(self, given: Any, runs: int) -> float:
        """Processor seconds of an attempt in this process."""
        before = process_time()
        here, there = (self._jobs(each, runs, "calibration", CHUNK)[0]() for each in as_pair(given))
        learn(here, there)
        return process_time() - before

    def tested(self, given: Any, event: Event, effort: Effort, label: str) -> tuple[int, int, int]:
        """Hits on D, hits on D′ and runs on each, from fresh runs, until the deadline."""
        here, there = (
            self._jobs(each, effort.test, f"{label}/{side}", effort.chunk)
            for side, each in enumerate(as_pair(given))
        )
        hits = other = done = 0
        for first, second in self.pool.pairwise(zip(here, there, strict=True)):
            hits, other, done = (
                hits + event.hits(first),
                other + event.hits(second),
                done + len(first),
            )
            self.report("test", done / effort.test)
            if self.deadline.passed(1):
                break
        return hits, other, done

    def _jobs(self, data: Any, runs: int, label: str, chunk: int) -> list[Job]:
        return chunks(self.mechanism, data, runs, f"{self.draws}/{label}", chunk)


def _search(work: _Work, candidates: list[Any], effort: Effort) -> tuple[Any, int]:
    """The most promising pair, and how many were tried; the first where there is no time."""
    if len(candidates) == 1 and not isinstance(candidates[0], Candidate):
        return candidates[0], 1
    runs, tried = effort.search, 0
    while True:
        promises: list[float] = []
        for number, candidate in enumerate(candidates):
            if work.deadline.missed_at(SEARCH_ENDS):
                break
            label = f"search/{runs}/{number}"
            promises.append(work.promise(candidate, runs, label, effort.chunk, SEARCH_ENDS))
            work.report("search", (number + 1) / len(candidates))
        tried, was_cut = max(tried, len(promises)), len(promises) < len(candidates)
        if not promises:
            return candidates[0], tried
        ranked = sorted(range(len(promises)), key=lambda number: -promises[number])
        candidates = [candidates[number] for number in ranked[: ceil(len(ranked) / SURVIVORS)]]
        if len(candidates) == 1 or was_cut:
            break
        runs *= 2
    best = candidates[0]
    if isinstance(best, Candidate) and effort.climbs:
        climbed, climbs = _climbed(work, best, max(promises), runs, effort)
        tried += climbs
        best = _better(work, best, climbed, runs, effort)
    return best, tried


def _climbed(
    work: _Work, best: Candidate, promise: float, runs: int, effort: Effort
) -> tuple[Candidate, int]:
    """Hill climbing: keep a random change where it promises more. Also, how many were tried."""
    rng = stream(f"{work.draws}/climbing")
    for number in range(effort.climbs):
        if work.deadline.missed_at(CLIMB_ENDS):
            return best, number
        changed = varied(best, rng)
        found = work.promise(changed, runs, f"climb/{number}", effort.chunk, CLIMB_ENDS)
        if found > promise:
            best, promise = changed, found
        work.report("climb", (number + 1) / effort.climbs)
    return best, effort.climbs


def _better(
    work: _Work, before: Candidate, after: Candidate, runs: int, effort: Effort
) -> Candidate:
    """The better of two pairs by fresh runs: of many attempts the best may just be a lucky one."""
    if before == after or work.deadline.missed_at(CLIMB_ENDS):
        return before
    promises = [
        work.promise(each, 2 * runs, f"compare/{number}", effort.chunk, CLIMB_ENDS)
        for number, each in enumerate((before, after))
    ]
    return after if promises[1] > promises[0] else before
