"""What a run would write into the ledger, held back until a moment that does not depend on it.

Numbers of entries, settled sums and what is left for others are seen by everybody who shares the
ledger. Where each run wrote them when it came to them, they would tell how long it took. A server
therefore lets a run write into a `HeldBooks`, and publishes all of it at a fixed time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from onesided.errors import ReleaseFailed
from onesided.ledger import Charge, Json, RunBooks, StoredRelease
from onesided.loss import Loss
from onesided.session.receipts import receipt


class HeldBooks:
    """The books of one run; meets the protocol `RunBooks`, and writes nothing before `publish`."""

    def __init__(self, books: RunBooks) -> None:
        self._books = books
        self._steps: list[tuple[str, bytes]] = []
        self._settlement: tuple[Loss, Json] | None = None
        self._release: tuple[Charge, bytes, Json] | None = None

    def step(self, charge: Charge, name: str) -> bytes | None:
        """What was kept before, by an earlier run or in this one."""
        held = next((payload for each, payload in self._steps if each == name), None)
        return held or self._books.step(charge, name)

    def keep_step(self, charge: Charge, name: str, payload: bytes) -> bytes:
        """Hold an intermediate result."""
        self._steps.append((name, payload))
        return payload

    def settle(self, charge: Charge, loss: Loss, terms: Json) -> Charge:
        """Hold a settlement; its price is known when it is published."""
        self._settlement = loss, terms
        spending = replace(charge.spending, loss=loss)
        return replace(charge, spending=spending, terms=terms, reserved=False)

    def store(self, charge: Charge, payload: bytes, receipt: Json) -> StoredRelease:
        """Hold a release; nobody may be shown it yet."""
        self._release = charge, payload, receipt
        return StoredRelease(
            number=0,
            charge=charge.number,
            request=charge.request,
            snapshot=charge.snapshot,
            time=charge.time,
            payload=payload,
            receipt=receipt,
            entry_hash="",
        )

    def failed(self, charge: Charge, error: type[BaseException]) -> None:
        """Nothing to hold: whoever publishes nothing notes a failure of its own."""

    def publish(self) -> StoredRelease:
        """Write everything into the ledger; what it stores is what may be shown."""
        assert self._release is not None
        charge, payload, written = self._release
        for name, look in self._steps:
            if self._books.keep_step(charge, name, look) != look:
                raise ReleaseFailed("Another run of the same question came first.")
        if self._settlement is not None:
            settled = self._books.settle(charge, *self._settlement)
            if settled.spending.loss != charge.spending.loss:
                raise ReleaseFailed("Another run of the same question came first.")
            written = {**written, **receipt(settled.terms or self._settlement[1], settled)}
            charge = settled
        return self._books.store(charge, payload, written)


def publish_all(runs: Sequence[HeldBooks]) -> list[StoredRelease]:
    """Write the runs of one answer, one after the other."""
    return [each.publish() for each in runs]
