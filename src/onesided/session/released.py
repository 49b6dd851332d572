"""What was released before: the list of it, and each release as it was stored."""

from __future__ import annotations

from onesided.data.cells import USUAL_QUANTILES, HistogramRelease, QuantileRelease
from onesided.data.described import DescriptionRelease
from onesided.data.listed import ReleaseEntry
from onesided.data.release import Receipt, Release, ReleaseKind, SampleRelease, TableRelease
from onesided.data.units import Unit
from onesided.errors import RequestError
from onesided.ledger import Account, Balance, ChargeState, StoredRelease
from onesided.session.kept import is_whole, unpacked


def listed(balance: Balance) -> tuple[ReleaseEntry, ...]:
    """All that is stored, in the order of its charges."""
    return tuple(
        ReleaseEntry(
            number=charge.number,
            question=charge.description,
            loss=charge.spending.loss,
            cost=charge.cost,
            who=charge.who,
            purpose=charge.purpose,
            time=charge.time,
            snapshot=charge.snapshot,
        )
        for charge in (each.charge for each in balance.charges if each.state is ChargeState.STORED)
    )


def release_numbered(account: Account, number: int, unit: Unit) -> Release:
    """A release by its number in the list."""
    stored = account.release_of(number)
    if stored is None:
        raise RequestError(f"There is no release {number}; `releases` lists all there are.")
    return as_stored(stored, unit)


def as_stored(stored: StoredRelease, unit: Unit) -> Release:
    """A stored release as it was shown; quantiles are the usual ones, and others are free."""
    receipt = Receipt(stored.receipt)
    kind = ReleaseKind(receipt["kind"])
    if kind is ReleaseKind.SAMPLE:
        if not is_whole(stored.payload):
            raise RequestError(
                "The rows of this sample are not kept in the ledger; ask for the same sample, "
                "which is free."
            )
        return SampleRelease(receipt, unpacked(stored.payload), unit)
    if kind is ReleaseKind.QUANTILE:
        return QuantileRelease(receipt, stored.payload, USUAL_QUANTILES)
    if kind is ReleaseKind.HISTOGRAM:
        return HistogramRelease(receipt, stored.payload)
    if kind is ReleaseKind.DESCRIBE:
        return DescriptionRelease(receipt, stored.payload)
    return TableRelease(receipt, stored.payload)
