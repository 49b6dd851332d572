"""All that `auto` can spend the rest of its budget on when it has probed."""

from __future__ import annotations

from fractions import Fraction

from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.bucketing import InPieces, Ordinary, Split
from onesided.mechanisms.candidate import BOLD, BOLDER, Candidate
from onesided.mechanisms.completing import Completed, Continued
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.probe import is_bucketed, probe_loss
from onesided.mechanisms.residual import Residual, Unseen
from onesided.mechanisms.wary import SHARES

SPLITS = (Fraction(1, 16), Fraction(1, 8), Fraction(1, 4), Fraction(1, 2))
"""The parts of ε that `residual` may measure sensitive units with."""

LEAST_LEFT = Fraction(1, 64)
"""The part of ε that questions must leave of such a part."""

CLUSTERS = AHP(partition_share=Fraction(1, 2))
"""With half of the budget for totals: whether those of large clusters are noise must be told."""

NONE_EMPTY = Completed(f"{Completed.label}, none of them empty", BOLD, none_empty=True)
"""It fills bins that are empty after all, so it must promise more."""


def candidates(public: PublicShape, epsilon: Fraction) -> list[Candidate]:
    """All that may be run; where two promise the same, the earlier one is taken."""
    least = probe_loss(epsilon, public).sensitive / epsilon + LEAST_LEFT
    found: list[Candidate] = [
        Continued(Residual(sensitive_share=share, correct=correct), f"residual at a = {share} ε")
        for share in SPLITS
        if share >= least
        for correct in (False, True)
    ]
    if public.shape is None:
        return found
    found += (Completed(), NONE_EMPTY)
    if is_bucketed(public):
        half = Residual(sensitive_share=Fraction(1, 2), unseen=Unseen.BUCKETS)
        found.append(Continued(half, "residual at a = 1/2 ε, unseen bins in buckets"))
        found.append(Ordinary(Dawa(), SHARES[0], "wary dawa", BOLD))
        found.append(Ordinary(CLUSTERS, SHARES[1], "wary ahp", BOLDER))
        found += (Split(), InPieces())
    return found
