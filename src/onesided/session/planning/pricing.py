"""What a question would cost on the account as it stands, and what it has paid for already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from onesided.data.planned.price import Price
from onesided.errors import RequestError
from onesided.ledger import (
    Balance,
    Charge,
    ChargeRecord,
    ChargeState,
    Quote,
    Spending,
    StoredRelease,
)
from onesided.loss import Loss
from onesided.session.kernel import Kernel
from onesided.session.questions.base import Question, TwoStep
from onesided.session.scope import Scope


@dataclass(frozen=True)
class Pricing:
    """The account, or None before there is one: then everything fits."""

    kernel: Kernel | None

    @cached_property
    def balance(self) -> Balance | None:
        """Where the account stands."""
        return None if self.kernel is None else self.kernel.account.balance()

    @property
    def left(self) -> Fraction | None:
        """What can still be spent."""
        return None if self.balance is None else self.balance.left

    @property
    def budget(self) -> Fraction | None:
        """What all releases may cost."""
        return None if self.balance is None else self.balance.budget

    @cached_property
    def records(self) -> tuple[ChargeRecord, ...]:
        """What was charged on this snapshot."""
        if self.balance is None or self.kernel is None:
            return ()
        number = self.kernel.snapshot.number
        return tuple(each for each in self.balance.charges if each.charge.snapshot == number)

    def within(self, scope: Scope) -> list[ChargeRecord]:
        """Those of one policy and part."""
        return [
            each
            for each in self.records
            if each.charge.spending.policy_id == scope.policy.id
            and each.charge.spending.part == scope.part
        ]

    def stored(self, record: ChargeRecord) -> StoredRelease | None:
        """What was released for a charge."""
        if self.kernel is None or record.state is not ChargeState.STORED:
            return None
        return self.kernel.account.stored(record.charge.request, self.kernel.snapshot)

    def look(self, record: ChargeRecord, name: str) -> bytes | None:
        """What was looked at first for a charge, under this name."""
        return None if self.kernel is None else self.kernel.account.step(record.charge, name)

    def held_sample(self, scope: Scope) -> Fraction:
        """The ε of the largest sample that the snapshot's coins were paid for; 0 without one."""
        charges = (each.charge for each in self.within(scope))
        paid = (each.spending.loss.nonsensitive for each in charges if _shares_coins(each))
        return max(paid, default=Fraction(0))

    def price(self, question: Question) -> Price:
        """What `question` would cost now."""
        return self.together([question])

    def together(self, questions: Sequence[Question]) -> Price:
        """What they would cost if all of them were charged at once, under one policy and part.

        A reservation is held as a pair of equal halves, which adds to any other pair its own ε.
        """
        new = [each for each in questions if not self._is_paid(each)]
        if not new:
            return Price(Fraction(0), Fraction(0), fits=True, again=True)
        loss = Loss.sequential([each.loss for each in new])
        plain = sum((each.loss.epsilon for each in new), start=Fraction(0))
        if self.kernel is None:
            return Price(loss.epsilon, plain, fits=True)
        reserves = all(isinstance(each, TwoStep) for each in new)
        spending = new[0].spending if len(new) == 1 else new[0].scope.spending(loss)
        if (spending, reserves) not in self._quotes:  # many mechanisms have the same pair
            self._quotes[spending, reserves] = self._quote(self.kernel, spending, reserves)
        quote = self._quotes[spending, reserves]
        if quote is None:
            return Price(None, plain, fits=False)
        return Price(quote.cost, plain, fits=quote.fits)

    @cached_property
    def _quotes(self) -> dict[tuple[Spending, bool], Quote | None]:
        return {}

    def _quote(self, kernel: Kernel, spending: Spending, reserves: bool) -> Quote | None:
        """What the account says; None where it does not take such a charge at all."""
        try:
            return kernel.account.quote(spending, kernel.snapshot, reserves=reserves)
        except RequestError:
            return None

    def _is_paid(self, question: Question) -> bool:
        request = question.request.fingerprint
        return any(each.charge.request == request for each in self.records)


def _shares_coins(charge: Charge) -> bool:
    return charge.spending.shared_coins
