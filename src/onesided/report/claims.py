"""A claim, what was measured, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any


class Verdict(Enum):
    """Whether a claim held; the value is the word to show."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"
    OPEN = "cannot be tested"

    @classmethod
    def of(cls, *checks: bool) -> Verdict:
        """All checks pass, some do, or none does."""
        if all(checks):
            return cls.HOLDS
        return cls.PARTLY if any(checks) else cls.FAILS


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One statement of the paper, held against a measurement.

    `data` names what it was measured on, and says so where that is a stand-in; `remark` explains
    any difference.
    """

    data: str
    paper: str
    measured: str
    verdict: Verdict
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class Table:
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
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """The whole report."""

    title: str
    introduction: Sequence[str]
    warnings: Sequence[str]
    sections: Sequence[Section]
