"""One value for every region that literals cut out of a column.

The literals c₁ < … < cₙ that a column is compared with divide its values into the n points cᵢ and
the n+1 gaps around them. A predicate that does nothing else with the column cannot tell two values
of a region apart, so one representative of each region stands for all values. A gap may be empty:
between 17 and 18 there is no integer, between 'a' and 'a\\0' no text.

NaN, the infinities and infinite dates lie in the outer gaps and need no representative of their
own: NaN is above every number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

from onesided.language.tree import Value
from onesided.language.types import INT64_MAX, INT64_MIN, Field, Type

_DAY = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)
_WIDE = 2**127
_ENOUGH_DIGITS = 100
_EXACT_FLOATS = 2**53
_END_OF_CALENDAR = "A literal is at the end of the calendar; use one further inside it."


class NoRepresentative(Exception):
    """The regions of a column cannot be told; the message says why."""


@dataclass(frozen=True)
class Representative:
    """A value of one region; `certain` unless only some of the column's possible types hold it."""

    value: Value
    certain: bool = True


def representatives(
    field: Field | None, cuts: Iterable[Value], *, meets_columns: bool = False
) -> list[Representative]:
    """One value, or more, of every region of a column that is not NULL.

    `field` is the column where a schema is at hand. Without one the type follows from the literals
    in `cuts`. Then a number need not be an integer, and a date may have a time of day. A value that
    only the wider type has is marked as not certain. Where the column `meets_columns`, one of them
    may hold floats, which integers are converted to then.
    """
    values = [cut for cut in cuts if cut is not None]
    kind = _kind_of(values) if field is None else field.type
    match kind:
        case Type.BOOLEAN:
            return [Representative(False), Representative(True)]
        case Type.TEXT:
            return _certain(_texts(sorted(str(cut) for cut in values)))
        case Type.FLOAT:
            return _certain(_floats(sorted({float(cut) for cut in values})))  # type: ignore[arg-type]
        case Type.DATE | Type.TIMESTAMP:
            return _moments(values, None if field is None else kind)
        case Type.INTEGER | Type.WIDE_INTEGER | Type.DECIMAL:
            return _numbers(values, field, meets_columns)
        case Type.OTHER:
            return [Representative(0)]


def _kind_of(values: Sequence[Value]) -> Type:
    """The widest type that the literals leave open; OTHER where there are none."""
    kinds = {_family(value) for value in values}
    if len(kinds) > 1:
        raise NoRepresentative("The policies use a column with different types.")
    return kinds.pop() if kinds else Type.OTHER


def _family(value: Value) -> Type:
    match value:
        case bool():
            return Type.BOOLEAN
        case str():
            return Type.TEXT
        case date():
            return Type.TIMESTAMP
        case _:
            return Type.DECIMAL


def _certain(values: Iterable[Value]) -> list[Representative]:
    return [Representative(value) for value in values]


def _numbers(
    values: Sequence[Value], field: Field | None, meets_columns: bool
) -> list[Representative]:
    cuts = sorted({Fraction(value) for value in values})  # type: ignore[arg-type]
    if field is None:
        if len({float(cut) for cut in cuts}) < len(cuts):
            # In a column of floats these literals are one point, in any other they are two.
            raise NoRepresentative("Two literals are the same as floats; give a schema.")
        if meets_columns and not all(map(_as_float, cuts)):
            raise NoRepresentative("A literal is so long that floats round it; give a schema.")
        whole = [Representative(n, INT64_MIN <= n <= INT64_MAX) for n in _grid(cuts)]
        return whole + [Representative(n, certain=False) for n in _between_integers(cuts)]
    if field.type is Type.INTEGER:
        rounded = (value for value in values if isinstance(value, float))
        return _certain(_integers([*cuts, *_roundings(rounded)], INT64_MIN, INT64_MAX))
    if field.type is Type.WIDE_INTEGER:
        return _certain(_integers(cuts, -_WIDE, _WIDE - 1))
    if field.digits is None:
        return _certain([*_grid(cuts), *_between_integers(cuts)])
    unit = Fraction(1, 10**field.digits.fraction)
    return _certain(_decimal(n * unit) for n in _grid([cut / unit for cut in cuts]))


def _integers(cuts: Sequence[Fraction], least: int, most: int) -> Iterator[int]:
    """Integers from every region within the range of a type.

    A cut beyond the range divides nothing in it, and has neighbours that the type does not hold.
    """
    inside = sorted({cut for cut in cuts if least <= cut <= most})
    yield from (n for n in _grid(inside) if least <= n <= most)


def _roundings(cuts: Iterable[float]) -> Iterator[Fraction]:
    """The integers next to those where a conversion to floats begins or ends to give each cut.

    Up to 2^53 it changes nothing. Beyond, integers on both sides of a cut become equal to it,
    from half-way to the float before up to half-way to the float after.
    """
    for cut in cuts:
        if abs(cut) >= _EXACT_FLOATS:
            for other in (math.nextafter(cut, -math.inf), math.nextafter(cut, math.inf)):
                middle = math.floor((Fraction(cut) + Fraction(other)) / 2)
                yield from (Fraction(middle), Fraction(middle + 1))


def _as_float(cut: Fraction) -> bool:
    """Whether integers and floats compare with the literal as with the float it becomes."""
    near = Fraction(float(cut))
    same = cut == near or (math.floor(cut) == math.floor(near) and near.denominator != 1)
    return same and abs(cut) < _EXACT_FLOATS


def _grid(cuts: Sequence[Fraction]) -> list[int]:
    """Integers from every region that holds one, sorted."""
    if not cuts:
        return [0]
    points = {math.ceil(cuts[0]) - 1}
    for cut in cuts:
        points.add(math.floor(cut) + 1)
        if cut.denominator == 1:
            points.add(int(cut))
    return sorted(points)


def _between_integers(cuts: Sequence[Fraction]) -> Iterator[Decimal]:
    """A value from every region that holds no integer."""
    yield from (_decimal(cut) for cut in cuts if cut.denominator != 1)
    for low, high in pairwise(cuts):
        if math.floor(low) + 1 >= high:
            yield _decimal((low + high) / 2)


def _decimal(number: Fraction) -> Decimal:
    with localcontext(prec=_ENOUGH_DIGITS):
        return Decimal(number.numerator) / Decimal(number.denominator)


def _floats(cuts: Sequence[float]) -> Iterator[float]:
    if not cuts:
        yield 0.0
        return
    yield cuts[0] - max(1.0, abs(cuts[0]))
    yield from cuts
    for low, high in pairwise(cuts):
        nice = (float(math.floor(low) + 1), low / 2 + high / 2, math.nextafter(low, math.inf))
        yield from [number for number in nice if low < number < high][:1]
    yield cuts[-1] + max(1.0, abs(cuts[-1]))


def _texts(cuts: Sequence[str]) -> Iterator[str]:
    """The least text is the empty one, and the next after a text is that text with NUL added."""
    yield ""
    for low in cuts:
        yield low
        for high in cuts:
            if high > low:
                nice = (low + " ", low + "\x01", low + "\0")
                yield from [text for text in nice if text < high][:1]
                break
        else:
            yield low + " "


def _moments(values: Sequence[Value], kind: Type | None) -> list[Representative]:
    """Days where the column is a DATE, microseconds where it is a TIMESTAMP, days first if open."""
    cuts = sorted({_microseconds(value) for value in values})
    days = _grid([Fraction(cut, _DAY // _MICROSECOND) for cut in cuts])
    if kind is Type.DATE:
        return _certain(_day(n) for n in days)
    moments = _grid([Fraction(cut) for cut in cuts])
    if kind is Type.TIMESTAMP:
        return _certain(_moment(n) for n in moments)
    midnights = {n * (_DAY // _MICROSECOND) for n in days}
    others = [Representative(_moment(n), certain=False) for n in moments if n not in midnights]
    return _certain(_day(n) for n in days) + others


def _microseconds(value: Value) -> int:
    if isinstance(value, datetime):
        return (value - datetime.min) // _MICROSECOND
    if isinstance(value, date):
        return (value - date.min) // _MICROSECOND
    raise AssertionError("a date met something else")


def _day(days: int) -> date:
    try:
        return date.min + days * _DAY
    except OverflowError:
        raise NoRepresentative(_END_OF_CALENDAR) from None


def _moment(microseconds: int) -> datetime:
    try:
        return datetime.min + microseconds * _MICROSECOND
    except OverflowError:
        raise NoRepresentative(_END_OF_CALENDAR) from None
