"""Policies over access points and rooms: the paper's P_ρ, and by kind of room.

P_ρ looks at the data to hit a wanted share of non-sensitive units. That is how the paper sets up
its experiments; a policy for a release must be chosen without looking.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data.histogram import Floats
from onesided.datasets.floorplan import RoomKind
from onesided.errors import RequestError


@dataclass(frozen=True, kw_only=True)
class LeastBusyPolicy:
    """The `k` least busy access points are sensitive.

    `share` is the share of units that none of them saw, and `sql` the policy's text.
    """

    k: int
    access_points: tuple[str, ...]
    share: float
    sql: str


@dataclass(frozen=True, kw_only=True)
class LeastBusy:
    """Access points from the least to the most busy, and what each number k of them leaves.

    An access point is as busy as the number of units (device-days) that pass it; names break
    ties. `shares[k]` is the share of units that pass none of the first k.
    """

    access_points: tuple[str, ...]
    shares: Floats
    column: str

    @classmethod
    def of(
        cls, trajectories: pa.Table, *, unit: tuple[str, ...] = ("device", "day"), ap: str = "ap"
    ) -> LeastBusy:
        """Rank the access points in the column `ap` of a table with one or more rows per unit."""
        if not trajectories.num_rows:
            raise RequestError("A policy by access point needs at least one row: name other data.")
        names, ap_code = _codes(trajectories[ap])
        unit_code = np.zeros(trajectories.num_rows, dtype=np.int64)
        for column in unit:
            values, code = _codes(trajectories[column])
            unit_code = unit_code * len(values) + code
        # Hashing first leaves few pairs to sort.
        passed = np.sort(pa.array(unit_code * len(names) + ap_code).unique().to_numpy())
        unit_of, ap_of = np.divmod(passed, len(names))
        busy = np.bincount(ap_of, minlength=len(names))
        order = np.lexsort((np.argsort(np.argsort(names)), busy))
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        starts = np.flatnonzero(np.diff(unit_of, prepend=-1))
        least = np.minimum.reduceat(rank[ap_of], starts)
        sensitive = np.cumsum(np.bincount(least, minlength=len(names)))
        return cls(
            access_points=tuple(names[index] for index in order),
            shares=1.0 - np.concatenate([[0], sensitive]) / starts.size,
            column=ap,
        )

    def first(self, k: int) -> LeastBusyPolicy:
        """The policy that makes the `k` least busy access points sensitive."""
        if not 0 <= k <= len(self.access_points):
            raise RequestError(
                f"There are {len(self.access_points)} access points: choose k from 0 to as many."
            )
        chosen = self.access_points[:k]
        return LeastBusyPolicy(
            k=k,
            access_points=chosen,
            share=float(self.shares[k]),
            sql=_any_of(self.column, chosen),
        )

    def nearest(self, share: float) -> LeastBusyPolicy:
        """P_ρ: the k whose share of non-sensitive units is nearest to `share` = ρ/100."""
        return self.first(int(np.argmin(np.abs(self.shares - share))))


def by_room_kind(kinds: Iterable[RoomKind], *, column: str = "kind") -> str:
    """Policy text: whoever passed a room of one of these kinds."""
    return _any_of(column, [kind.value for kind in kinds])


def _any_of(column: str, values: Iterable[str]) -> str:
    """SQL for "the column has one of these values"; of no values, never."""
    quoted = ", ".join("'" + value.replace("'", "''") + "'" for value in sorted(values))
    return f"{column} IN ({quoted})" if quoted else "FALSE"


def _codes(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct values as text, and for each row which of them it is."""
    if column.null_count:
        raise RequestError("Units and access points must have no empty cells: remove them first.")
    encoded = column.combine_chunks().dictionary_encode()
    names = [str(value) for value in encoded.dictionary.to_pylist()]
    return names, encoded.indices.to_numpy().astype(np.int64)
