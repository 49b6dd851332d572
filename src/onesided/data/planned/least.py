"""The least ε for a wanted error: an expected error only falls when ε grows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from onesided.errors import RequestError
from onesided.loss import Number, positive, privacy_loss

MOST_PLANNED = Fraction(10)
"""Above it next to nothing is hidden, so no error is bought for more."""
_LEAST_PLANNED = 3
"""The least ε that is looked at has so many digits behind the point."""
_DIGITS = 100
"""An ε is looked for to three digits."""


@dataclass(frozen=True)
class Aim:
    """What a plan is made for: an ε, or a mean expected error of a group; one of them is None."""

    epsilon: Fraction | None
    error: float | None

    @classmethod
    def of(cls, epsilon: Number | None, error: Number | None) -> Aim:
        """Checked: exactly one of them is given."""
        if (epsilon is None) == (error is None):
            raise RequestError("Say either epsilon, or the error that is wanted, and not both.")
        if error is not None:
            return cls(None, float(positive(error, "error")))
        assert epsilon is not None
        return cls(privacy_loss(epsilon), None)

    def epsilon_for(self, error_at: Callable[[Fraction], float | None]) -> Fraction | None:
        """The ε itself, or the least at which the error is had; None where it never is."""
        if self.error is None:
            return self.epsilon
        wanted = self.error
        return least_epsilon(lambda epsilon: _within(error_at(epsilon), wanted))


def least_epsilon(suffices: Callable[[Fraction], bool]) -> Fraction | None:
    """The least ε of three digits, at most 10, that suffices; None where 10 does not."""
    if not suffices(MOST_PLANNED):
        return None
    low, high = 0, _steps()
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(_epsilon(middle)) else (middle + 1, high)
    return _epsilon(low)


def _within(error: float | None, wanted: float) -> bool:
    return error is not None and error <= wanted


def _steps() -> int:
    """The place of 10 among the numbers of three digits."""
    return 9 * _DIGITS * (_LEAST_PLANNED + 1)


def _epsilon(place: int) -> Fraction:
    """The numbers of three digits in their order: 0.00100, 0.00101, …, 9.99, 10."""
    decade, digits = divmod(place, 9 * _DIGITS)
    return Fraction(_DIGITS + digits, _DIGITS) * Fraction(10) ** (decade - _LEAST_PLANNED)
