"""Made-up counts that are drawn for a number: by how much they deviate, how much is visible."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from onesided.data.histogram import Counts
from onesided.mechanisms.grain import Grain, made_up_levels
from onesided.mechanisms.pieces import Floats, Pieces, group_deviation

if TYPE_CHECKING:
    from numpy.random import Generator

LEAST_DRAWN, MOST_REPEATED = 1024, 16
"""Few bins are drawn again and again for one number, until there are so many or so often."""


@dataclass(frozen=True)
class Easel:
    """Made-up counts of bins in pieces that were `found`, which expect `hidden` sensitive units.

    All numbers of one grain are of the same counts, which are `drawn` when first asked for; so is
    by how much they `deviated` within groups of each scale.
    """

    found: Pieces
    hidden: Floats
    generator: Generator
    drawn: dict[Grain, list[Counts]] = field(default_factory=dict)
    deviated: dict[Grain, tuple[float, ...]] = field(default_factory=dict)

    @cached_property
    def means(self) -> Floats:
        """What bins expect of all units if pieces are even."""
        return self.found.means + self.hidden

    def draw(self, grain: Grain) -> list[Counts]:
        """Counts of a `grain`; several times where bins are few."""
        if grain not in self.drawn:
            times = repeats(self.means.size)
            levels = (made_up_levels(self.found, grain, self.generator) for _ in range(times))
            self.drawn[grain] = [self.generator.poisson(each * self.means) for each in levels]
        return self.drawn[grain]

    def deviation(self, grain: Grain, groups: Counts) -> float:
        drawn = self.draw(grain)
        return sum(group_deviation(each, groups) for each in drawn) / len(drawn)

    def deviations(self, grain: Grain) -> tuple[float, ...]:
        """Those within the groups of each scale: a grain is compared more than once."""
        if grain not in self.deviated:
            groups = self.found.groups
            self.deviated[grain] = tuple(self.deviation(grain, each) for each in groups)
        return self.deviated[grain]

    def visible(self, grain: Grain, threshold: int) -> float:
        drawn = self.draw(grain)
        return sum(self.found.visible(each, threshold) for each in drawn) / len(drawn)


def repeats(bins: int) -> int:
    """How often few bins are drawn again for one number."""
    return min(-(-LEAST_DRAWN // bins), MOST_REPEATED)
