"""Several mechanisms as one, so that what is claimed for compositions can be audited too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from onesided.audit.protocol import Auditable
from onesided.randomness import Randomness


@dataclass(frozen=True)
class Together:
    """Each of `parts` on its own view of the database, all outputs seen together.

    The views are what a small world builds: the same histogram again (sequential composition),
    one for each policy, or one for each part of a partition.
    """

    parts: tuple[Auditable, ...]

    def release(self, data: tuple[Any, ...], rng: Randomness) -> tuple[Any, ...]:
        return tuple(part.release(view, rng) for part, view in zip(self.parts, data, strict=True))
