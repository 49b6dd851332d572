"""Numbers for people: as many digits as the noise leaves meaning, and the same in all of a column.

Files and JSON keep every digit; only what is shown is rounded. An error of ±47 leaves the units of
a count their meaning, and one of ±415 the tens: the second digit of an error is the last that is
worth reading. The ends of an interval are rounded outwards, so that it still holds what it held.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from math import floor, isfinite, log10
from typing import Any

NOT_COUNTED = "not counted"
"""Where nothing was counted, which is no zero."""
ALL_OTHERS = "(all others)"
NO_VALUE = "(no value)"
_OF_ERROR, _OF_VALUE = 2, 4
"""So many digits of an error are worth reading, and of a number whose error nobody knows."""
_LARGE, _SMALL = 15, -4
"""Numbers of more digits, or with more zeros behind the point, are said in a power of ten."""
_MOST_DECIMALS = 12
_EXACT = Context(prec=700)


@dataclass(frozen=True)
class ColumnDigits:
    """How the numbers of one column are written.

    - `decimals`: digits behind the point; below 0 that many places before it are zeros.
    - `exponent`: numbers are said in units of ten to this power.
    """

    decimals: int
    exponent: int = 0

    @classmethod
    def of(
        cls, values: Iterable[Any], *, error: float | None = None, whole: bool = False
    ) -> ColumnDigits:
        """For a column of these values, which are off by about `error`.

        With `whole` they are whole numbers by their nature.
        """
        sizes = [abs(float(each)) for each in values if _is_number(each)]
        most = max(sizes, default=0.0)
        highest = floor(log10(most)) if most else 0
        exponent = 3 * (highest // 3) if most and not _SMALL <= highest < _LARGE else 0
        if error and isfinite(error) and error > 0:
            decimals = _OF_ERROR - 1 - floor(log10(error)) + exponent
        elif whole and not exponent:
            decimals = 0
        else:
            decimals = max(_OF_VALUE - 1 - (highest - exponent), 0)
        if whole:
            decimals = min(decimals, exponent)
        return cls(min(decimals, _MOST_DECIMALS), exponent)

    @property
    def unit(self) -> str:
        """What numbers are said in, where it is no 1."""
        return f"10^{self.exponent}" if self.exponent else ""

    def text(self, value: Any) -> str:
        """A value, rounded to the nearest."""
        return self._written(value, ROUND_HALF_EVEN)

    def lower(self, value: Any) -> str:
        """The lower end of an interval."""
        return self._written(value, ROUND_FLOOR)

    def upper(self, value: Any) -> str:
        """The upper end of an interval."""
        return self._written(value, ROUND_CEILING)

    def interval(self, low: Any, high: Any) -> str:
        """Both ends, or the one that there is."""
        if low is None and high is None:
            return ""
        if high is None:
            return f"≥ {self.lower(low)}"
        if low is None:
            return f"≤ {self.upper(high)}"
        return f"{self.lower(low)} – {self.upper(high)}"

    def _written(self, value: Any, rounding: str) -> str:
        if value is None:
            return NOT_COUNTED
        if not _is_number(value):
            return str(value)
        exact = Decimal(str(value)).scaleb(-self.exponent, _EXACT)
        step = Decimal(1).scaleb(-self.decimals)
        near = exact.quantize(step, rounding=rounding, context=_EXACT)
        # Without the sum a small negative number would be written as -0.
        return f"{_EXACT.add(near, Decimal(0)):,.{max(self.decimals, 0)}f}"


def plain_size(error: float) -> str:
    """The size of an error, in the digits that are worth reading."""
    return ColumnDigits.of([error], error=error).text(error)


def plus_minus(error: float) -> str:
    """An error on both sides."""
    return f"±{plain_size(error)}"


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    return value.is_finite() if isinstance(value, Decimal) else isfinite(value)
