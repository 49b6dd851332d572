"""An expected error beside what the intervals of an answer say afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np
import pyarrow as pa

from onesided.digits import plus_minus

STATED_GROUPS = (10, 100, 1_000)
"""The numbers of groups for which an error is said where they are found on the way."""
NO_TWO_ALIKE = "no two groups are alike"
"""What an upper bound of an expected error takes for granted."""
SIDES = (("at_least", "at_most"), ("at_least", "counted_at_most"))
_PREFIXES = ("", "nonsensitive_")


@dataclass(frozen=True)
class Accuracy:
    """What was expected of an answer, and what came of it.

    - `expected`: the mean error of a group, as it was said before paying; None where none was.
    - `reach`: half of the mean width of the released intervals; None where they have one end only.
    """

    expected: float | None
    reach: float | None

    @property
    def said(self) -> str:
        """Both in words, as far as they are known."""
        # A plan may know more, from what was released; what a receipt says follows from its terms.
        known = "a group expected from public facts alone"
        expected = "" if self.expected is None else f"{plus_minus(self.expected)} {known}"
        reach = "" if self.reach is None else f"intervals reach {plus_minus(self.reach)} on average"
        return "; ".join(each for each in (expected, reach) if each)


def accuracy(error: Mapping[str, Any], table: pa.Table) -> Accuracy:
    """What the `error` of a receipt has said, at the number of groups that were released."""
    return Accuracy(_expected(error, len(table)), _reach(table))


def _expected(error: Mapping[str, Any], groups: int) -> float | None:
    """Between stated numbers of groups it is read off on logarithmic axes."""
    said = error.get("expected_absolute_error_per_group")
    if said is not None:
        return float(said)
    stated = {
        int(number): float(value)
        for number, value in error.get("expected_absolute_error_by_groups", {}).items()
        if float(value) > 0
    }
    if not stated or not groups:
        return None
    numbers = sorted(stated)
    heights = [log(stated[number]) for number in numbers]
    return exp(float(np.interp(log(groups), [log(number) for number in numbers], heights)))


def _reach(table: pa.Table) -> float | None:
    for prefix in _PREFIXES:
        for low, high in SIDES:
            names = (prefix + low, prefix + high)
            if set(names) <= set(table.column_names) and len(table):
                least, most = (table.column(each).to_numpy().astype(np.float64) for each in names)
                return float(np.nanmean((most - least) / 2))
    return None
