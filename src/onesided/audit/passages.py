"""An attacker who knows the map: who went through the yard, and was not seen there?

The attacker is trained on days of which everything is known, and sees all units that a policy does
not call sensitive. That is more than any release shows. Each unit gets the share of training units
that look like it and used the yard. Whoever is named with the highest shares, as long as at least
nine of ten named ones did, is betrayed.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from onesided.datasets.passage import YARD, Habits, PassageBuilding, Walked
from onesided.errors import InputError
from onesided.maps import Rule
from onesided.maps.judging import MapJudge
from onesided.maps.meaning import Meaning
from onesided.randomness import Randomness

PRECISION = 0.9
LEAST_NAMED = 20
"""Fewer than so many may all be right by chance."""
_SHORT = (0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 4.0)
_LONG = (2.0, 4.0, 8.0)

Look = tuple[int, ...]


@dataclass(frozen=True)
class PassageReport:
    """What the closed policies do to one building, as shares of all people.

    - `went`, `seen`: who was in the yard, and who was seen there.
    - `closed`: by rule, who is sensitive.
    - `caught`: by rule, the share of hidden visits (went and not seen) that are sensitive then.
    - `true`: by rule, of those who are sensitive only by the map, who was in the yard.
    - `betrayed`: before, and by rule, of all who went, whom the attacker names.
    """

    name: str
    people: int
    went: float
    seen: float
    closed: dict[str, float]
    caught: dict[str, float]
    true: dict[str, float]
    betrayed: dict[str, float]


BEFORE = "before"


def attack_passage(
    name: str, building: PassageBuilding, habits: Habits, people: int, rng: Randomness
) -> PassageReport:
    """Train on so many people, and attack as many others."""
    if people < LEAST_NAMED:
        raise InputError(f"Such an attack needs at least {LEAST_NAMED} people.")
    first, second = rng.spawn(2)
    known = building.walked(people, habits, first)
    others = building.walked(people, habits, second)
    went = np.array([each.was_in_yard for each in others])
    seen = np.array([YARD in dict(each.sightings) for each in others])
    judges = {rule.value: MapJudge(building.closed(rule)) for rule in Rule}
    sensitive = {BEFORE: seen}
    for rule, judge in judges.items():
        sensitive[rule] = np.array([judge.is_sensitive(each.rows) for each in others])
    looks = _Looks(Meaning(building.closed(Rule.CERTAIN)))
    shares = looks.learnt(known)
    scores = np.array([shares.get(looks.of(each), 0.0) for each in others])
    hidden = went & ~seen
    return PassageReport(
        name=name,
        people=people,
        went=float(went.mean()),
        seen=float(seen.mean()),
        closed={rule: float(sensitive[rule].mean()) for rule in judges},
        caught={rule: _share(sensitive[rule], hidden) for rule in judges},
        true={rule: _share(went, sensitive[rule] & ~seen) for rule in judges},
        betrayed={
            policy: _named(scores[~found], went[~found]) / max(1, int(went.sum()))
            for policy, found in sensitive.items()
        },
    )


class _Looks:
    """What an attacker looks at: moves whose quickest way leads through the yard."""

    def __init__(self, meaning: Meaning) -> None:
        self._least, self._around = meaning.least, meaning.around

    def of(self, day: Walked) -> Look:
        """How fast the fastest such move was, how many there were, and the longest of them."""
        short, long, many = float("inf"), 0.0, 0
        for (start, early), (end, late) in pairwise(sorted(day.rows, key=lambda row: row[1])):
            around = self._around.get((start, end))
            if around is None or late == early or self._least[start, end] == around:
                continue
            share = (late - early) / around
            short, long, many = min(short, share), max(long, share), many + 1
        return bisect(_SHORT, short), min(many, 3), bisect(_LONG, long)

    def learnt(self, days: Sequence[Walked]) -> dict[Look, float]:
        """Among those who were not seen in the yard, how many of each look were there."""
        hidden = [day for day in days if YARD not in dict(day.sightings)]
        all_of = Counter(self.of(day) for day in hidden)
        there = Counter(self.of(day) for day in hidden if day.was_in_yard)
        return {look: (there[look] + 0.5) / (count + 1) for look, count in all_of.items()}


def _named(scores: np.ndarray, went: np.ndarray) -> int:
    """How many are named rightly, with as many named as the precision allows."""
    best, right, named = 0, 0, 0
    for score in sorted(set(scores.tolist()), reverse=True):
        alike = scores == score
        named += int(alike.sum())
        right += int(went[alike].sum())
        if named >= LEAST_NAMED and right >= PRECISION * named:
            best = right
    return best


def _share(found: np.ndarray, among: np.ndarray) -> float:
    return float(found[among].mean()) if among.any() else 0.0
