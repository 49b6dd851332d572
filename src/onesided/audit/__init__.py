"""The promise, checked by someone who does not believe it.

protocol.py      what can be audited: one method, `release(data, rng)`
exact.py         every small database, every ordered neighbour, every output, in exact arithmetic
                 (world.py, enumeration.py, exponentials.py, composition.py)
steps.py         one that looks first and then chooses, step by step; amounts.py: sums and means;
                 distinct.py: numbers of values
statistical.py   a black box and its runs: search, learn an event, test it; can only reject
                 (effort.py, neighbours.py, events.py, scores.py, trees.py, confidence.py,
                 outputs.py, runs.py)
exclusion.py     attackers who learn from who is missing (scenes.py)
targets.py       what each name claims; published.py: mistakes in print and in use
closed.py        all traces of a small building under a closed policy; passages.py: an attacker who
                 knows the map of a larger one

A mechanism of your own:

    class Mine:
        def release(self, data, rng):
            return data.nonsensitive.sum() - rng.geometric(Fraction(1), 1)[0]

    StatisticalAudit(seconds=20).claim(Mine(), epsilon=1).rejected
    ExactAudit().claims(Mine(), histogram_world(), loss_claims(Loss(0, 1))).verified
"""

from __future__ import annotations

from onesided.audit.composition import Together
from onesided.audit.draws import NotEnumerableError, OutOfTimeError
from onesided.audit.effort import Effort
from onesided.audit.exact import ExactAudit, ExactReport, Finding, Verdict, loss_claims
from onesided.audit.exclusion import AttackReport, Beliefs, attack, opponents
from onesided.audit.neighbours import Relation, Setting, Shape
from onesided.audit.protocol import AtEpsilon, Auditable
from onesided.audit.runs import Deadline
from onesided.audit.statistical import StatisticalAudit, StatisticalReport
from onesided.audit.targets import Target, target, target_names
from onesided.audit.world import SmallWorld, Step, histogram_world

__all__ = [
    "AtEpsilon",
    "AttackReport",
    "Auditable",
    "Beliefs",
    "Deadline",
    "Effort",
    "ExactAudit",
    "ExactReport",
    "Finding",
    "NotEnumerableError",
    "OutOfTimeError",
    "Relation",
    "Setting",
    "Shape",
    "SmallWorld",
    "StatisticalAudit",
    "StatisticalReport",
    "Step",
    "Target",
    "Together",
    "Verdict",
    "attack",
    "histogram_world",
    "loss_claims",
    "opponents",
    "target",
    "target_names",
]
