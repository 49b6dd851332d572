"""The plan of a sample: how many units to expect, and rows where a sample has shown them."""

from __future__ import annotations

from math import sqrt

from onesided.data.planned.sample import SamplePlan
from onesided.mechanisms.rr import keep_probability
from onesided.session.lookups import row_costs
from onesided.session.maps import map_notes
from onesided.session.planning.learnt import Learnt
from onesided.session.questions.samples import Samples
from onesided.session.standing import AskedStanding, drawn
from onesided.session.zones import zone_notes

SPREADS = 2
"""In how many standard deviations the number of units lies, for about 95 %."""


def sample_plan(
    asked: Samples | AskedStanding, learnt: Learnt, *, share: float | None
) -> SamplePlan:
    """What to expect of the sample that is asked for, and of the counts beside it."""
    question = drawn(asked)
    basis = learnt.share(share)
    beside = asked if isinstance(asked, AskedStanding) else None
    price = learnt.pricing.together([question] if beside is None else beside.questions)
    units = question.expected_units(basis.supposed)
    held = learnt.sample
    rows = None
    if held is not None and held.units and question.where is None:
        rows = units * held.rows / held.units
    return SamplePlan(
        epsilon=asked.epsilon,
        units=units,
        spread=SPREADS * sqrt(units * (1 - keep_probability(question.epsilon))),
        rows=rows,
        cost=price.cost,
        fits=price.fits,
        sources=basis.sources,
        left=learnt.pricing.left,
        budget=learnt.pricing.budget,
        columns=question.columns,
        lookups=row_costs(question.facts.lookups),
        map=map_notes(question.facts.map),
        time_zones=zone_notes(question.facts.schema),
        stands_for=() if beside is None else beside.said,
    )
