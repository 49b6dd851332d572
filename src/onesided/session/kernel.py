"""The trusted kernel: charge first, run afterwards, store before showing.

Everything that can be refused is refused before the charge. After it, nothing that leaves depends
on a secret except through a mechanism: whatever fails then fails with one sentence, and the charge
stands. What is shown is always what the ledger has stored.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from onesided.errors import (
    BudgetError,
    Interrupted,
    LedgerError,
    MechanismRefused,
    ReleaseFailed,
)
from onesided.ledger import Account, Charge, Snapshot, Spending, StoredRelease
from onesided.loss import show
from onesided.session.requests import Request

Produced = tuple[bytes, dict[str, Any]]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Kernel:
    """One account on one snapshot of the data."""

    account: Account
    snapshot: Snapshot

    def paid(
        self,
        request: Request,
        spending: Spending,
        produce: Callable[[Charge], Produced],
        *,
        fresh: bool = False,
    ) -> StoredRelease:
        """The stored release of `request`: charged once, computed by `produce`, stored, returned.

        An equal request on this snapshot is not charged again and returns the stored bytes, unless
        `fresh`. A request whose earlier run never got as far as storing is free too: nothing of it
        was ever shown.
        """
        return self.completed(self.charge(request, spending, fresh=fresh), produce)

    def completed(self, charge: Charge, produce: Callable[[Charge], Produced]) -> StoredRelease:
        """What is stored for `charge`, produced and stored now where nothing is yet."""
        if charge.release is not None:
            return charge.release
        payload, receipt = self.noting_failure(charge, lambda: produce(charge))
        return self.store(charge, payload, receipt)

    def store(self, charge: Charge, payload: bytes, receipt: dict[str, Any]) -> StoredRelease:
        """Store what was produced; what cannot be stored is not shown."""
        try:
            return self.account.store(charge, payload, receipt)
        except LedgerError as error:
            raise ReleaseFailed(f"{error} The charge stands.") from None

    def stored(self, request: Request) -> StoredRelease | None:
        """What was stored for an equal request on this snapshot."""
        return self.account.stored(request.fingerprint, self.snapshot)

    def charge(self, request: Request, spending: Spending, *, fresh: bool = False) -> Charge:
        """A durable charge for `request`, or the one that stands for an equal request."""
        return self.account.charge(
            request.fingerprint,
            spending,
            self.snapshot,
            description=request.to_json(),
            paid_once=not fresh,
        )

    def charged(self, request: Request) -> bool:
        """Whether a charge stands for an equal request on this snapshot."""
        name, snapshot = request.fingerprint, self.snapshot.number
        charges = (record.charge for record in self.account.balance().charges)
        return any(each.request == name and each.snapshot == snapshot for each in charges)

    def check_affordable(self, spending: Spending) -> None:
        """Refuse a release in several steps, before the first, where the budget is too small."""
        quote = self.account.quote(spending, self.snapshot)
        if not quote.fits:
            raise BudgetError(
                f"This release would cost ε = {show(quote.cost)} but {show(quote.left)} of the "
                f"budget {show(quote.budget)} is left; nothing was spent; ask for a smaller "
                "epsilon or have the budget raised."
            )

    def noting_failure(self, charge: Charge, run: Callable[[], Result]) -> Result:
        """Do `run`; what fails is noted beside the charge, and says nothing of the data."""
        try:
            return run()
        except BaseException as error:
            with suppress(LedgerError):  # a ledger that cannot note it still holds the charge
                self.account.failed(charge, type(error))
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted(
                    f"Interrupted after the charge of ε = {show(charge.cost)}, which stands; "
                    "the same request is free from now on."
                ) from None
            if isinstance(error, ReleaseFailed) or not isinstance(error, Exception):
                raise
            raise ReleaseFailed(_sentence(error)) from None


def _sentence(error: Exception) -> str:
    """One sentence that does not depend on the data; a mechanism refuses for public reasons."""
    if isinstance(error, MechanismRefused):
        return f"{error} The charge stands."
    return (
        "The release failed after its charge, which stands; asking again is free. "
        "Check memory and disk."
    )
