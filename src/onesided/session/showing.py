"""From what the ledger has stored to what is shown."""

from __future__ import annotations

from onesided.data.release import (
    PlacedRelease,
    Receipt,
    Release,
    SampleRelease,
    TableRelease,
)
from onesided.session.kept import is_whole, unpacked
from onesided.session.kernel import Answer, Kernel
from onesided.session.questions.samples import Samples


def shown_table(answer: Answer) -> TableRelease:
    """Figures by group."""
    return TableRelease(Receipt(answer.stored.receipt), answer.stored.payload)


def shown_sample(kernel: Kernel, question: Samples, answer: Answer, into: str | None) -> Release:
    """A sample as it is stored, or drawn again where only its digest is."""
    stored = answer.stored
    receipt = Receipt(stored.receipt)
    if into is not None:
        if answer.repeated:
            kernel.again(question, stored)
        return PlacedRelease(receipt, into)
    if answer.drawn is not None:
        return SampleRelease(receipt, answer.drawn)
    if is_whole(stored.payload):
        return SampleRelease(receipt, unpacked(stored.payload))
    drawn = kernel.again(question, stored).drawn
    assert drawn is not None  # it was not written elsewhere
    return SampleRelease(receipt, drawn)
