"""What an expected error supposes of the data: assumed, or learnt from what was released."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

USUAL_SHARE = 0.5
"""The share of non-sensitive units that is assumed where nothing is known."""


@dataclass(frozen=True)
class Touched:
    """In how many groups units are: pairs of a number of groups, rising, and a share of all units.

    The shares come to less than 1 where some units are in no group.
    """

    shares: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, counts: Mapping[float, float], units: float) -> Touched:
        """`counts` units of `units` in all are in so many groups."""
        return cls(tuple((groups, count / units) for groups, count in sorted(counts.items())))

    @property
    def most(self) -> int:
        """The most groups that a unit is in, as far as is known."""
        return max((round(groups) for groups, _ in self.shares), default=1)

    def counted(self, k: int) -> float:
        """In how many groups a unit counts on average where at most `k` do."""
        return sum(share * min(groups, k) for groups, share in self.shares)

    def left_out(self, k: int) -> float:
        """In how many groups a unit does not count on average where at most `k` do."""
        return sum(share * max(groups - k, 0) for groups, share in self.shares)


@dataclass(frozen=True, kw_only=True)
class Supposed:
    """What an expected error supposes; no release reads it.

    - `nonsensitive_share`: of all units.
    - `groups`: how many groups there are where they are found on the way.
    - `touched`: in how many of them units are; without it, in as many as count.
    - `sizes`: pairs of a share of the groups, and their size beside that of all on average.
    """

    nonsensitive_share: float = USUAL_SHARE
    groups: int | None = None
    touched: Touched | None = None
    sizes: tuple[tuple[float, float], ...] = ((1.0, 1.0),)


NOTHING_KNOWN = Supposed()


@dataclass(frozen=True)
class Basis:
    """What is supposed, and in words where each of it is from."""

    supposed: Supposed
    sources: tuple[str, ...] = ()
