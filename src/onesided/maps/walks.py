"""Least times of walks on a map, in microseconds.

`nearest` is Dijkstra's search. `least_times` finds the times from many places at once: a place
takes the best of what its neighbours offer, for all starts in one step of numpy, until nothing
changes any more. Times only ever fall and stay times of walks, so that what is left is the least.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from onesided.maps.edges import Edges, Integers

FAR = 1 << 61
"""No walk. A way added to it still fits into 64 bits, and is no better."""
_CELLS = 1 << 23
_MOST_AT_ONCE = 1024


def nearest(edges: Edges, starts: Iterable[int]) -> Integers:
    """For each place the least time of a walk to it from one of `starts`."""
    found = [FAR] * len(edges.places)
    waiting = [(0, start) for start in starts]
    leaving = edges.leaving
    for _, start in waiting:
        found[start] = 0
    while waiting:
        time, here = heappop(waiting)
        if time > found[here]:
            continue
        for there, way in leaving[here]:
            if time + way < found[there]:
                found[there] = time + way
                heappush(waiting, (time + way, there))
    return np.array(found, dtype=np.int64)


def blocks(edges: Edges, starts: NDArray[np.bool_]) -> Iterator[Integers]:
    """The places of `starts` in groups that lie together, as many as one search takes."""
    size = max(8, min(_MOST_AT_ONCE, _CELLS // max(1, len(edges.places))))
    ordered = [place for place in edges.in_order if starts[place]]
    for first in range(0, len(ordered), size):
        yield np.array(ordered[first : first + size], dtype=np.int64)


def least_times(edges: Edges, starts: Integers, limit: int | None) -> Integers:
    """The least times of walks, by place and by start; `FAR` where there is none within `limit`."""
    times = np.full((len(edges.places), len(starts)), FAR, dtype=np.int64)
    times[starts, np.arange(len(starts))] = 0
    leaving, offers = edges.leaving, edges.offers
    waiting = bytearray(len(edges.places))
    for start in starts.tolist():
        for there, _ in leaving[start]:
            waiting[there] = 1
    order = list(edges.in_order)
    while any(waiting):
        # There and back: a walk is followed to its end in as many sweeps as it has turns.
        for place in order:
            if not waiting[place]:
                continue
            waiting[place] = 0
            neighbours, ways = offers[place]
            offered = np.minimum.reduce(times[neighbours] + ways)
            better = offered < times[place]
            if limit is not None:
                better &= offered <= limit
            if better.any():
                np.copyto(times[place], offered, where=better)
                for there, _ in leaving[place]:
                    waiting[there] = 1
        order.reverse()
    return times
