"""`hybrid` and the paper's version of it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from onesided.data import Histogram
from onesided.errors import InputError, MechanismRefused
from onesided.loss import Loss
from onesided.mechanisms.hybrid import Hybrid
from onesided.mechanisms.published.hybrid_paper import HybridPaper
from onesided.randomness import seeded

BINS = 4000
MASK = np.arange(BINS) < BINS // 2


def by_policy() -> Histogram:
    everyone = np.full(BINS, 500)
    return Histogram(everyone, np.where(MASK, 0, everyone), only_sensitive=MASK)


@pytest.mark.parametrize(("share", "pair"), [("1/2", (1, 1)), ("1/4", ("1/2", "3/2"))])
def test_both_parts_together_cost_epsilon(share: str, pair: tuple[str, str]) -> None:
    loss = Hybrid(sensitive_share=Fraction(share)).loss(Fraction(2))
    assert loss == Loss(*pair)
    assert loss.epsilon == 2


def test_sensitive_bins_err_both_ways_and_the_others_are_corrected() -> None:
    value = Hybrid().release(by_policy(), epsilon=Fraction(1, 5), rng=seeded(1)).value
    assert np.mean(value[MASK] - 500) == pytest.approx(0, abs=1)
    assert np.mean(np.abs(value[MASK] - 500)) == pytest.approx(10, rel=0.1)
    assert np.median(value[~MASK]) == pytest.approx(500, abs=1)


def test_the_papers_version_costs_half_as_much_again() -> None:
    sensitive, others = HybridPaper().rates(Fraction(1))
    assert Loss(sensitive, others).epsilon == Fraction(3, 2)
    assert HybridPaper().loss(Fraction(1)).epsilon == 1


def test_a_policy_that_does_not_decide_by_bin_is_refused() -> None:
    with pytest.raises(MechanismRefused, match="decides by the group keys"):
        Hybrid().release(Histogram([3], [1]), epsilon=1)


def test_the_sensitive_share_is_at_most_a_half() -> None:
    with pytest.raises(InputError, match="at most 1/2"):
        Hybrid(sensitive_share=Fraction(2, 3))
