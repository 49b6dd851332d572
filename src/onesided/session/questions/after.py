"""What comes after a look of a question: the next step, under terms that say the look as well."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from onesided.session.grouping import WantedCounts
from onesided.session.questions.base import ReleaseTerms, Runnable, TwoStep
from onesided.session.table import Reading

Told: TypeAlias = Callable[[ReleaseTerms], ReleaseTerms]
"""From the terms of the next step to those of the whole, the look included."""


def after(step: Runnable | TwoStep, told: Told) -> Runnable | TwoStep:
    """The next step of a question, and all that follow it."""
    return _NextLook(step, told) if isinstance(step, TwoStep) else _NextRun(step, told)


@dataclass(frozen=True)
class _NextLook(TwoStep):
    step: TwoStep
    told: Told

    @property
    def seen(self) -> str:  # type: ignore[override]
        return self.step.seen

    @property
    def wants(self) -> tuple[WantedCounts, ...]:
        return self.step.wants

    def look(self, reading: Reading) -> bytes:
        return self.step.look(reading)

    def decided(self, look: bytes) -> Runnable | TwoStep:
        return after(self.step.decided(look), self.told)


@dataclass(frozen=True)
class _NextRun(Runnable):
    step: Runnable
    told: Told

    @property
    def terms(self) -> ReleaseTerms:
        return self.told(self.step.terms)

    @property
    def wants(self) -> tuple[WantedCounts, ...]:
        return self.step.wants

    def run(self, reading: Reading) -> bytes:
        return self.step.run(reading)
