"""`hybrid-paper`: the hybrid as the paper describes it, which costs more than it says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from onesided.loss import Loss
from onesided.mechanisms.base import Kind
from onesided.mechanisms.hybrid import Hybrid


@dataclass(frozen=True, kw_only=True)
class HybridPaper(Hybrid):
    """As the paper describes it: Laplace noise of scale 2/ε and one-sided noise of scale 1/ε."""

    name: ClassVar[str] = "hybrid-paper"
    kind: ClassVar[Kind] = Kind.BROKEN
    summary: ClassVar[str] = "the paper's hybrid, which costs 1.5 ε where it promises ε"
    refusal: ClassVar[str] = "its two parts cost (ε/2, ε), which is 1.5 ε and not ε; use hybrid."

    def rates(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """(ε/2, ε), whose OSDP ε is 1.5 ε."""
        return epsilon / 2, epsilon

    def loss(self, epsilon: Fraction, *, fixed_n: bool = False) -> Loss:
        """(0, ε): what it promises, and does not keep."""
        return Loss(0, epsilon)
