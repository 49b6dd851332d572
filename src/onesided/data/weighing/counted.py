"""A released count as a margin that a sample is weighted by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa

from onesided.data.receipt import Receipt, ReleaseKind
from onesided.data.release import TableRelease
from onesided.data.values import python_rows
from onesided.digits import NO_VALUE
from onesided.errors import PolicyError, RequestError
from onesided.language import Key
from onesided.visible import visible
from onesided.weights.margins import Floats

_COUNT = "count"
_OTHER_KINDS = ("ngrams", "touching")
_OF_ALL = ("count of all units", "count of units")


@dataclass(frozen=True)
class CountedMargin:
    """A count of units by group, and what its receipt says of the noise.

    - `keys`: what it groups by.
    - `labels`: their columns, a row for each group.
    - `variance`: of the noise of one group.
    - `noise`: its mean size.
    - `open`: keys whose values were found, where NULL is a group as well.
    """

    receipt: Receipt
    keys: tuple[Key, ...]
    labels: pa.Table
    counted: Floats
    variance: float
    noise: float
    open: frozenset[str]

    @classmethod
    def of(cls, release: Any) -> CountedMargin:
        """That of a release; refused with the reason where it is no such count."""
        if not isinstance(release, TableRelease) or not _is_count(release):
            raise RequestError(
                "A sample is weighted by counts of units; give releases of count, and of a SELECT "
                "its figures."
            )
        asked, error = release.receipt["request"], release.receipt["error"]
        name = margin_name(asked["by"])
        expected = release.accuracy.expected
        stated = error.get("variance_per_group")
        if not len(release):
            expected = 0.0  # of groups that were not found nothing is said, nor needed
        if stated is None and (expected is None or not _is_of_all(error)):
            raise RequestError(
                f"The count by {name} ({release.receipt['mechanism']}) does not say how exact it "
                "is for all units; count by laplace on a declared domain, or by residual."
            )
        variance = 2 * (expected or 0.0) ** 2 if stated is None else float(stated)
        return cls(
            receipt=release.receipt,
            keys=tuple(_key(text) for text in asked["by"]),
            labels=release.table.select(asked["by"]),
            counted=np.nan_to_num(release.table.column(_COUNT).to_numpy().astype(np.float64)),
            variance=max(variance, 1e-12),
            noise=sqrt(variance / 2) if expected is None else expected,
            open=frozenset(set(asked["by"]) - set(asked.get("domain") or {})),
        )

    @property
    def name(self) -> str:
        """What it counts by, in words."""
        return margin_name(self.receipt["request"]["by"])

    @property
    def where(self) -> str | None:
        """The condition on the rows that it counts units of."""
        found = self.receipt["request"].get("where")
        return None if found is None else str(found)

    @property
    def most_groups(self) -> int | None:
        """The bound on the groups of a unit; None where a unit has one by construction."""
        found = self.receipt["request"].get("max_groups")
        return None if found is None else int(found)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that its keys are made from."""
        return tuple(dict.fromkeys(name for key in self.keys for name in key.columns))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The groups as people read them."""
        if not self.keys:
            return ("all",)
        return tuple(
            " · ".join(NO_VALUE if each is None else visible(str(each)) for each in row)
            for row in python_rows(self.labels)
        )


def margin_name(by: list[str]) -> str:
    """What is counted by, in words."""
    return " × ".join(map(visible, by)) or "all"


def _is_count(release: TableRelease) -> bool:
    receipt = release.receipt
    asked = receipt["request"]
    columns = release.table.column_names
    return (
        receipt["kind"] == ReleaseKind.COUNT.value
        and not any(name in asked for name in _OTHER_KINDS)
        and columns[: len(asked["by"]) + 1] == [*asked["by"], _COUNT]
    )


def _is_of_all(error: Any) -> bool:
    """Whether all units were measured: only then are they bounded from above too."""
    return any(
        each["bound"].startswith(_OF_ALL) and len(each["columns"]) > 1
        for each in error.get("intervals", ())
    )


def _key(text: str) -> Key:
    try:
        return Key.parse(text)
    except PolicyError:
        # An odd name of a column: it stands for itself.
        from onesided.language.tree import Column

        return Key(Column(text))
