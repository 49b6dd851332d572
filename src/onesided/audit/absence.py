"""Who is missing from what was published: an attacker who knows that somebody is in the data.

The attacker takes everybody who is missing for sensitive. How often that is right is counted over
simulated people, for three ways to publish those who are not sensitive.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from onesided.datasets.building import Building
from onesided.randomness import seeded

IMPROVISED = Fraction(1, 20)
"""The share that somebody leaves out who removes some at random."""
_SCALE, _DAYS, _SEED = 0.05, 20, 7
_YARD = "smokers yard"

Truths = NDArray[np.bool_]


@dataclass(frozen=True)
class AbsenceReport:
    """One way to publish: how many are missing, and how many of these are sensitive."""

    way: str
    published: int
    missing: int
    sensitive: int

    @property
    def share_right(self) -> float:
        """How often the attacker is right."""
        return self.sensitive / self.missing if self.missing else 0.0


def attack_absence(epsilon: Fraction, seed: int = 0) -> tuple[AbsenceReport, ...]:
    """The same simulated people, published in three ways."""
    sensitive = simulated_people()
    count = len(sensitive)
    rng = seeded(seed)
    improvised = rng.below(IMPROVISED.denominator, count) < IMPROVISED.numerator
    by_coins = rng.bernoulli_exp(epsilon, np.ones(count, dtype=np.int64))
    left_out = {
        "filtering": np.zeros(count, dtype=bool),
        "improvised": improvised,
        "one-sided": by_coins,
    }
    return tuple(_report(way, sensitive, out) for way, out in left_out.items())


@cache
def simulated_people() -> Truths:
    """Which person-days of a simulated building are sensitive: in the yard, or opted out."""
    building = Building.simulate(scale=_SCALE, seed=_SEED)
    rows = pa.Table.from_batches(list(islice(building.visits(), _DAYS)))
    marked = pc.or_(pc.equal(rows["kind"], _YARD), rows["opted_out"])
    units = pa.table({"device": rows["device"], "day": rows["day"], "sensitive": marked})
    found = units.group_by(["device", "day"]).aggregate([("sensitive", "max")])
    truths: Truths = found["sensitive_max"].to_numpy()
    return truths


def _report(way: str, sensitive: Truths, left_out: Truths) -> AbsenceReport:
    missing = sensitive | left_out
    total = int(missing.sum())
    return AbsenceReport(way, len(sensitive) - total, total, int(sensitive.sum()))
