"""Exclusion attacks: what an attacker learns from the *absence* of somebody.

The attacker knows how the release works, has a prior over where everybody is, sees the release, and
computes the posterior by Bayes' rule. Freedom from exclusion attacks bounds by φ how far the odds
"the target is in sensitive room x against any room y" may move:

    ln (Pr[x | output] / Pr[y | output]) − ln (Pr[x] / Pr[y]) ≤ φ

OSDP at ε promises φ = ε to everybody whose prior is a product over people. Under a prior that ties
people together nothing is promised, and `scenes.py` has one that shows it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram
from onesided.data.histogram import Floats
from onesided.errors import InputError
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.one_sided import OneSided
from onesided.randomness import Randomness

Rooms = NDArray[np.int64]
"""Where everybody is: the number of a room for each person."""


@dataclass(frozen=True)
class Beliefs:
    """A prior: states of the world, one a row, and the probability of each.

    - `target`: the person whom the attacker is after;
    - `rooms`: names; `sensitive`: which of them are, by number.
    """

    states: Rooms
    weights: Floats
    target: int
    rooms: tuple[str, ...]
    sensitive: NDArray[np.bool_]

    def drawn(self, rng: Randomness) -> Rooms:
        """One state, by its probability."""
        number = int(rng.generator().choice(len(self.weights), p=self.weights))
        state: Rooms = self.states[number]
        return state

    def of_target(self, log_likelihood: Floats | None = None) -> Floats:
        """How likely each room is for the target: before, or after an output."""
        weights = self.weights
        if log_likelihood is not None:
            weights = weights * np.exp(log_likelihood - log_likelihood.max())
        by_room = np.bincount(
            self.states[:, self.target], weights=weights, minlength=len(self.rooms)
        )
        return np.asarray(by_room / by_room.sum(), dtype=np.float64)


@dataclass(frozen=True)
class Release(ABC):
    """A way to publish where people are, with the likelihood that an attacker computes."""

    @property
    @abstractmethod
    def name(self) -> str:
        """For tables."""

    @property
    def bound(self) -> float:
        """The φ that is claimed, for product priors; infinite where nothing is."""
        return float("inf")

    @abstractmethod
    def publish(self, state: Rooms, beliefs: Beliefs, rng: Randomness) -> Any:
        """The output when people are where `state` says."""

    @abstractmethod
    def log_likelihood(self, output: Any, beliefs: Beliefs) -> Floats:
        """ln Pr[output] for each state of the attacker's beliefs."""


@dataclass(frozen=True)
class TrumanModel(Release):
    """ "Where is the target?", answered from the authorised view: nobody is in a sensitive room."""

    @property
    def name(self) -> str:
        return "Truman"

    def publish(self, state: Rooms, beliefs: Beliefs, rng: Randomness) -> int | None:
        room = int(state[beliefs.target])
        return None if beliefs.sensitive[room] else room

    def log_likelihood(self, output: int | None, beliefs: Beliefs) -> Floats:
        rooms = beliefs.states[:, beliefs.target]
        fits = beliefs.sensitive[rooms] if output is None else rooms == output
        return _log(fits)


@dataclass(frozen=True)
class NonTrumanModel(TrumanModel):
    """The same question, honestly rejected where the whole truth may not be told."""

    @property
    def name(self) -> str:
        return "non-Truman"


@dataclass(frozen=True)
class AllNonSensitiveRecords(Release):
    """Every person who is not in a sensitive room, with the room."""

    @property
    def name(self) -> str:
        return "All-NS"

    def publish(self, state: Rooms, beliefs: Beliefs, rng: Randomness) -> Rooms:
        return np.where(beliefs.sensitive[state], ABSENT, state)

    def log_likelihood(self, output: Rooms, beliefs: Beliefs) -> Floats:
        shown = np.where(beliefs.sensitive[beliefs.states], ABSENT, beliefs.states)
        return _log((shown == output).all(axis=1))


@dataclass(frozen=True)
class SampleOfRecords(Release):
    """OsdpRR: every person who is not in a sensitive room, with probability 1 − e^−ε."""

    epsilon: Fraction

    @property
    def name(self) -> str:
        return f"OsdpRR, ε={self.epsilon}"

    @property
    def bound(self) -> float:
        return float(self.epsilon)

    def publish(self, state: Rooms, beliefs: Beliefs, rng: Randomness) -> Rooms:
        left_out = rng.bernoulli_exp(self.epsilon, np.ones(state.size, dtype=np.int64))
        return np.where(beliefs.sensitive[state] | left_out, ABSENT, state)

    def log_likelihood(self, output: Rooms, beliefs: Beliefs) -> Floats:
        shown = output != ABSENT
        wrong = (beliefs.states != output) | beliefs.sensitive[beliefs.states]
        possible = ~(wrong & shown).any(axis=1)
        left_out = (~shown & ~beliefs.sensitive[beliefs.states]).sum(axis=1)
        kept = int(shown.sum()) * np.log(-np.expm1(-float(self.epsilon)))
        return np.asarray(_log(possible) + kept - float(self.epsilon) * left_out)


@dataclass(frozen=True)
class NoisyCounts(Release):
    """People per room with integer noise; subclasses say who is counted, and with which noise."""

    rate: Fraction

    def counted(self, states: Rooms, beliefs: Beliefs) -> NDArray[np.bool_]:
        """Who is counted: everybody outside of sensitive rooms."""
        return ~beliefs.sensitive[states]

    @abstractmethod
    def log_noise(self, noise: NDArray[np.int64]) -> Floats:
        """ln Pr of the noise of each room."""

    def log_likelihood(self, output: NDArray[np.int64], beliefs: Beliefs) -> Floats:
        counts = _counts(beliefs.states, self.counted(beliefs.states, beliefs), beliefs)
        return np.asarray(self.log_noise(output - counts).sum(axis=1), dtype=np.float64)

    def histogram(self, state: Rooms, beliefs: Beliefs) -> Histogram:
        row = state[np.newaxis]
        everybody = np.ones_like(row, dtype=np.bool_)
        return Histogram(
            _counts(row, everybody, beliefs)[0],
            _counts(row, ~beliefs.sensitive[row], beliefs)[0],
        )


@dataclass(frozen=True)
class SuppressedCounts(NoisyCounts):
    """Suppress(τ): sensitive people are left out, the rest is counted with DP at τ = `rate`."""

    @property
    def name(self) -> str:
        return f"Suppress, τ={self.rate}"

    @property
    def bound(self) -> float:
        return float(self.rate)

    def publish(self, state: Rooms, beliefs: Beliefs, rng: Randomness) -> NDArray[np.int64]:
        counts = self.histogram(state, beliefs).nonsensitive
        return counts + rng.two_sided_geometric(self.rate, counts.size)

    def log_noise(self, noise: NDArray[np.int64]) -> Floats:
        return -float(self.rate) * np.abs(noise)


@dataclass(frozen=True)
class OneSidedCounts(NoisyCounts):
    """The mechanism `one-sided`, unclipped, so that the attacker sees all there is; ε = `rate`."""

    @property
    def name(self) -> str:
        return f"one-sided, ε={self.rate}"

    @property
    def bound(self) -> float:
        return float(self.rate)

    def publish(self, state: Rooms, beliefs: Beliefs, rng: Randomness) -> NDArray[np.int64]:
        release = OneSided(clip=False, correct=False).release
        value: NDArray[np.int64] = release(
            self.histogram(state, beliefs), epsilon=self.rate, rng=rng
        ).value
        return value

    def log_noise(self, noise: NDArray[np.int64]) -> Floats:
        return _log(noise <= 0) + float(self.rate) * noise


@dataclass(frozen=True)
class LaplaceCounts(NoisyCounts):
    """The mechanism `laplace` on everybody; `rate` is ε/2."""

    @property
    def name(self) -> str:
        return f"laplace, ε={2 * self.rate}"

    @property
    def bound(self) -> float:
        return 2 * float(self.rate)

    def counted(self, states: Rooms, beliefs: Beliefs) -> NDArray[np.bool_]:
        return np.ones_like(states, dtype=np.bool_)

    def publish(self, state: Rooms, beliefs: Beliefs, rng: Randomness) -> NDArray[np.int64]:
        value: NDArray[np.int64] = (
            Laplace().release(self.histogram(state, beliefs), epsilon=2 * self.rate, rng=rng).value
        )
        return value

    def log_noise(self, noise: NDArray[np.int64]) -> Floats:
        return -float(self.rate) * np.abs(noise)


ABSENT = -1
"""Stands for "no record of this person"."""


@dataclass(frozen=True)
class AttackReport:
    """What an attacker gained in so many trials.

    - `shifts`: for each trial, by how much the log-odds of a sensitive room against the room that
      suffers most moved; the largest is the measured φ, `worst`;
    - `before`, `after`: how likely the attacker held it that the target is in a sensitive room, on
      average over the trials in which that was true.
    """

    release: str
    bound: float
    shifts: Floats
    before: float
    after: float

    @property
    def worst(self) -> float:
        return float(self.shifts.max())

    def __repr__(self) -> str:
        return f"<Attack on {self.release}: φ {self._measured}, {self.said}>"

    @property
    def _measured(self) -> str:
        return f"{self.worst:.3f}" if isfinite(self.worst) else "unbounded"

    @property
    def said(self) -> str:
        """What is claimed, in words."""
        if not isfinite(self.bound):
            return "nothing is claimed"
        return f"{'within' if self.within_bound else 'above'} the claimed {self.bound:.3f}"

    def _repr_html_(self) -> str:
        from onesided import html

        facts = {
            "φ measured": f"{self._measured}, {self.said}",
            "in a sensitive room, held before": f"{self.before:.3f}",
            "and after": f"{self.after:.3f}",
            "trials": f"{len(self.shifts):,}",
        }
        return html.card(f"Attack on {self.release}", html.facts(facts))

    @property
    def within_bound(self) -> bool:
        # Likelihoods are computed in floating point, to far more digits than these.
        return self.worst <= self.bound + 1e-9


def attack(release: Release, beliefs: Beliefs, trials: int, rng: Randomness) -> AttackReport:
    """Let an attacker with these beliefs watch `trials` outputs of the release."""
    if trials < 1:
        raise InputError("An attack needs at least one trial.")
    prior = beliefs.of_target()
    shifts, certainty = [], []
    for _ in range(trials):
        state = beliefs.drawn(rng)
        output = release.publish(state, beliefs, rng)
        posterior = beliefs.of_target(release.log_likelihood(output, beliefs))
        shifts.append(_shift(prior, posterior, beliefs.sensitive))
        if beliefs.sensitive[state[beliefs.target]]:
            certainty.append(float(posterior[beliefs.sensitive].sum()))
    before = float(prior[beliefs.sensitive].sum())
    after = float(np.mean(certainty)) if certainty else before
    return AttackReport(release.name, release.bound, np.array(shifts), before, after)


def opponents(epsilon: Fraction, multiples: Sequence[int] = (10, 50, 100)) -> list[Release]:
    """Everything that is attacked: access control, Suppress at several τ, and what keeps φ ≤ ε."""
    return [
        TrumanModel(),
        NonTrumanModel(),
        AllNonSensitiveRecords(),
        *(SuppressedCounts(epsilon * each) for each in reversed(multiples)),
        SampleOfRecords(epsilon),
        OneSidedCounts(epsilon),
        LaplaceCounts(epsilon / 2),
    ]


def _shift(prior: Floats, posterior: Floats, sensitive: NDArray[np.bool_]) -> float:
    """The most by which the log-odds of a sensitive room against any other one grew."""
    known = prior > 0
    with np.errstate(divide="ignore"):
        gains = np.log(posterior[known]) - np.log(prior[known])
    best = float(gains[sensitive[known]].max())
    # Where no sensitive room is left possible, nothing was learnt about being in one.
    return best - float(gains.min()) if np.isfinite(best) else 0.0


def _counts(states: Rooms, counted: NDArray[np.bool_], beliefs: Beliefs) -> NDArray[np.int64]:
    """How many counted people are in each room, for each state."""
    rooms = len(beliefs.rooms)
    codes = states + rooms * np.arange(len(states))[:, np.newaxis]
    flat = np.bincount(codes[counted], minlength=rooms * len(states))
    return flat.reshape(len(states), rooms)


def _log(possible: NDArray[np.bool_]) -> Floats:
    """0 where something is possible and −∞ where it is not."""
    return np.where(possible, 0.0, -np.inf)
