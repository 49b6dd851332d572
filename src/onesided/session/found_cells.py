"""Cells of a column of which nobody says between which numbers its values lie.

First a public ladder of cells: fine near 1, ever wider on both sides, a year each for dates. What
is seen in them, one-sidedly, says where cells are wanted: each rung is cut into more of them the
more units it seems to have, and rungs that seem empty are one cell together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, log10

from onesided.language import BoundKey, Type
from onesided.session.cells import EPOCH, Cells, step_of

_FINE, _ENDS = 4, (-7, 20)
"""Rungs to a doubling, and between which powers of 2 there are so many; one beyond."""
_FLOATS, _WHOLE = (-30, 60), (0, 62)
"""The powers of 2 that the ladder reaches, for floating point and in steps of the column."""
_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_SECONDS_A_DAY = 86_400
_MICROSECONDS = 1_000_000
NICE_CELLS = 24
"""So many cells of one width a chart has at the most."""
_TAIL = 0.005
"""The share of what is seen beyond each end of the cells of a chart."""
_NICE = (1, 2, 5, 10)


def ladder(key: BoundKey) -> Cells:
    """The public cells that are looked at first."""
    step = step_of(key)
    if key.type in (Type.DATE, Type.TIMESTAMP):
        years = range(_FIRST_YEAR, _LAST_YEAR + 1)
        return Cells(key, tuple(_point(key, datetime(year, 1, 1)) for year in years), step)
    rungs = [Fraction(2**each) for each in _rungs(_FLOATS if step is None else _WHOLE)]
    if step is not None:
        most = Fraction(10**key.digits.total) if key.digits is not None else Fraction(2**63 - 1)
        rungs = [step * round(each) for each in rungs if each < most]
    positive = sorted({Fraction(float(each)) if step is None else each for each in rungs})
    return Cells(key, (*(-each for each in reversed(positive)), Fraction(0), *positive), step)


def refined(rungs: Cells, counts: Sequence[float], most: int) -> Cells:
    """At most about `most` cells: each rung has as many of them as its share of `counts`.

    - `counts`: noisy, at least 0, one for each rung.
    """
    seen = [place for place, count in enumerate(counts) if count > 0]
    if not seen:
        return rungs
    total = sum(counts)
    first, last = max(seen[0] - 1, 0), min(seen[-1] + 1, len(rungs) - 1)
    edges = [rungs.edges[first]]
    for place in range(first, last + 1):
        low, high = rungs.edges[place], rungs.edges[place + 1]
        if counts[place] > 0:
            edges += _parts(low, high, ceil(most * counts[place] / total), rungs.step)
        elif place in (first, last) or counts[place - 1] > 0:
            edges.append(high)
        else:
            edges[-1] = high
    return Cells(rungs.column, tuple(edges), rungs.step)


def nice(rungs: Cells, counts: Sequence[float]) -> Cells:
    """Cells of one width, a round number, that hold nearly all of `counts`; for a chart."""
    total = sum(counts)
    if not total:
        return nice(rungs, [1.0] * len(counts)) if counts else rungs
    low, high = (_reached(rungs, counts, share * total) for share in (_TAIL, 1 - _TAIL))
    width = _round_width(max((high - low) / NICE_CELLS, Fraction(1, 10**12)), rungs.step)
    first = floor(low / width)
    number = max(ceil(high / width) - first, 1)
    edges = [width * (first + place) for place in range(number + 1)]
    if rungs.step is None:
        edges = [Fraction(float(each)) for each in edges]
    return Cells(rungs.column, tuple(edges), rungs.step)


def _rungs(ends: tuple[int, int]) -> Iterator[float]:
    low, high = ends
    for power in range(low, high):
        parts = _FINE if _ENDS[0] <= power < _ENDS[1] else 1
        yield from (power + part / parts for part in range(parts))
    yield high


def _point(key: BoundKey, moment: datetime) -> Fraction:
    since = moment - EPOCH
    if key.type is Type.DATE:
        return Fraction(since.days)
    return Fraction(since.days * _SECONDS_A_DAY * _MICROSECONDS)


def _parts(low: Fraction, high: Fraction, number: int, step: Fraction | None) -> list[Fraction]:
    """The ends of so many parts; of whole steps there are no more parts than steps."""
    if step is None:
        places = [Fraction(float(low + (high - low) * part / number)) for part in range(1, number)]
        inside = [each for each in places if low < each < high]
        return [*dict.fromkeys(inside), high]
    wide = step * ceil((high - low) / step / number)
    places = [low + wide * part for part in range(1, number)]
    return [*(each for each in places if each < high), high]


def _reached(rungs: Cells, counts: Sequence[float], rank: float) -> Fraction:
    """Where so many of `counts` are reached, within a rung in proportion."""
    before = 0.0
    for (low, high), count in zip(pairwise(rungs.edges), counts, strict=True):
        if count > 0 and before + count >= rank:
            return low + (high - low) * Fraction(max(rank - before, 0.0) / count)
        before += count
    return rungs.edges[-1]


def _round_width(least: Fraction, step: Fraction | None) -> Fraction:
    """The least of 1, 2 and 5 times a power of ten that is at least this wide."""
    power = Fraction(10) ** floor(log10(float(least)))
    wide = next((power * each for each in _NICE if power * each >= least), power * 10)
    return wide if step is None else max(ceil(wide / step) * step, step)
