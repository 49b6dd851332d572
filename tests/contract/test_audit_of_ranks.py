"""Cells in blocks, which the audits of small histograms have not: both levels are paid for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from onesided.audit import AtEpsilon, Effort, StatisticalAudit
from onesided.data import Histogram
from onesided.mechanisms.ranks import Ranks
from onesided.mechanisms.ranks_of_all import RanksOfAll

TWO = Fraction(2)
AUDIT = StatisticalAudit(effort=Effort(search=100, random=0, climbs=0, learn=800, test=1_500))
SENSITIVE = Histogram([1, 0], [0, 0], total_public=False)
OTHERS = [
    Histogram([0, 1], [0, 1], total_public=False),
    Histogram([0, 1], [0, 0], total_public=False),
]


@pytest.mark.soak
@pytest.mark.parametrize("chosen", [Ranks(block=1), RanksOfAll(block=1)])
@pytest.mark.parametrize("times", [1, 4])
def test_blocks_lose_no_more_than_is_claimed(chosen: Ranks | RanksOfAll, times: int) -> None:
    """At four times the ε that it is held to, the same run is rejected."""
    pairs = [(SENSITIVE, other) for other in OTHERS]
    (report,) = AUDIT.claims(AtEpsilon(chosen, times * TWO), TWO, 1, pairs=pairs)
    assert report.rejected is (times > 1)
