"""The most that statements may cost together: what is not in the purse is not asked for."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from onesided.errors import BudgetError, InputError
from onesided.loss import Number, privacy_budget, show


class Purse:
    """An amount of ε for one or several connections. Any thread may take from it.

    What is counted is the ε that a statement is asked at, which is never less than what the account
    charges. An equal statement is counted once.
    """

    def __init__(self, most: Number | None = None) -> None:
        self.most = None if most is None else privacy_budget(most)
        self._spent = Fraction(0)
        self._paid: set[Hashable] = set()
        self._turn = threading.Lock()

    @classmethod
    def of(cls, most: Number | Purse | None) -> Purse:
        """The purse itself, or a new one with this amount; without one it holds any amount."""
        return most if isinstance(most, Purse) else cls(most)

    @property
    def spent(self) -> Fraction:
        """What statements were asked at so far."""
        return self._spent

    @property
    def left(self) -> Fraction | None:
        """What can still be asked; None where that is not limited."""
        return None if self.most is None else self.most - self._spent

    @contextmanager
    def paying(self, statement: Hashable, epsilon: Fraction) -> Iterator[None]:
        """Take ε for what is asked within, and put it back where nothing was charged."""
        with self._turn:
            new = statement not in self._paid
            if new:
                self._check(epsilon)
                self._spent += epsilon
                self._paid.add(statement)
        try:
            yield
        except (BudgetError, InputError):  # by their meaning nothing was spent
            if new:
                with self._turn:
                    self._spent -= epsilon
                    self._paid.discard(statement)
            raise

    def _check(self, epsilon: Fraction) -> None:
        left = self.left
        if self.most is not None and left is not None and epsilon > left:
            raise BudgetError(
                f"The statement asks for ε = {show(epsilon)}, and this connection has "
                f"{show(left)} of {show(self.most)} left; it was not sent, and nothing was spent."
            )
