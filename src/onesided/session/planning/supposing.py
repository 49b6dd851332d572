"""What a plan is told to suppose of the data."""

from __future__ import annotations

from dataclasses import dataclass

from onesided.errors import RequestError


@dataclass(frozen=True)
class Supposing:
    """What a plan is told to suppose; the rest is learnt from what was released, or assumed.

    - `nonsensitive_share`: of all units; the true one is secret.
    - `groups`: how many groups there are where they are found on the way.
    """

    nonsensitive_share: float | None = None
    groups: int | None = None

    def __post_init__(self) -> None:
        share, groups = self.nonsensitive_share, self.groups
        if share is not None and (
            isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1
        ):
            raise RequestError("nonsensitive_share, which is assumed, must be between 0 and 1.")
        if groups is not None and (
            isinstance(groups, bool) or not isinstance(groups, int) or groups < 1
        ):
            raise RequestError("groups, which is assumed, must be a whole number of at least 1.")
