"""A claim, what was measured, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

MANY = 1000


class ClaimVerdict(Enum):
    """Whether a claim held; the value is the word to show."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    OPEN = "cannot be tested"

    @classmethod
    def of(cls, *checks: bool) -> ClaimVerdict:
        """All checks pass, some do, or none does."""
        if all(checks):
            return cls.HOLDS
        return cls.PARTLY if any(checks) else cls.FAILS


def digits(value: float) -> str:
    """Three significant digits."""
    rounded = float(f"{value:.3g}")
    if rounded == 0:
        return "0"
    return f"{rounded:,.0f}" if abs(rounded) >= MANY else f"{value:#.3g}".rstrip(".")


@dataclass(frozen=True)
class Spread:
    """A mean with the least and the greatest run."""

    mean: float
    low: float
    high: float

    def over(self, other: Spread) -> Spread:
        """How many times `other`: of the means, and from the most favourable runs to the least."""
        if not other.low:
            return Spread(self.mean / other.mean, self.low / other.high, float("inf"))
        return Spread(self.mean / other.mean, self.low / other.high, self.high / other.low)

    def __str__(self) -> str:
        return f"{digits(self.mean)} ({digits(self.low)}–{digits(self.high)})"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of the paper, held against a measurement.

    - `data`: what it was measured on, with a word where that is a stand-in.
    - `measured`: the numbers with their spread, line by line.
    - `criterion`: what the verdict was computed from, to be read after "holds if".
    - `remark`: why the measurement differs.
    """

    data: str
    paper: str
    measured: str
    criterion: str
    verdict: ClaimVerdict
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class NumberTable:
    """Numbers to look up."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, kw_only=True)
class Plot:
    """A chart as SVG text, and the sentence that says what to see in it."""

    svg: str
    caption: str


@dataclass(frozen=True, kw_only=True)
class Section:
    """One figure or table of the paper."""

    name: str
    title: str
    setting: str
    claims: Sequence[Claim]
    plots: Sequence[Plot] = ()
    tables: Sequence[NumberTable] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The whole report."""

    title: str
    introduction: Sequence[str]
    warnings: Sequence[str]
    sections: Sequence[Section]
