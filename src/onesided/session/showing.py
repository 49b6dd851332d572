"""From what the ledger has stored to what is shown."""

from __future__ import annotations

from collections.abc import Sequence

from onesided.data.cells import HistogramRelease, QuantileRelease
from onesided.data.described import DescriptionRelease
from onesided.data.release import (
    PlacedRelease,
    Receipt,
    Release,
    SampleRelease,
    TableRelease,
)
from onesided.session.kept import held_elsewhere, is_whole, unpacked
from onesided.session.kernel import Answer, Kernel
from onesided.session.questions.samples import Samples


def shown_table(answer: Answer) -> TableRelease:
    """Figures by group."""
    return TableRelease(Receipt(answer.stored.receipt), answer.stored.payload)


def shown_quantiles(answer: Answer, quantiles: Sequence[float]) -> QuantileRelease:
    """Quantiles that are read from released counts of cells."""
    return QuantileRelease(Receipt(answer.stored.receipt), answer.stored.payload, quantiles)


def shown_histogram(answer: Answer) -> HistogramRelease:
    """Released counts of cells as they are."""
    return HistogramRelease(Receipt(answer.stored.receipt), answer.stored.payload)


def shown_description(answer: Answer) -> DescriptionRelease:
    """What columns hold, read from released counts."""
    return DescriptionRelease(Receipt(answer.stored.receipt), answer.stored.payload)


def shown_sample(kernel: Kernel, question: Samples, answer: Answer, into: str | None) -> Release:
    """A sample as it is stored, or drawn again where only its digest is."""
    stored = answer.stored
    receipt, unit = Receipt(stored.receipt), question.facts.unit
    if into is not None:
        if answer.repeated:
            kernel.again(question, stored)
        return PlacedRelease(receipt, into, held_elsewhere(stored.payload))
    if answer.drawn is not None:
        return SampleRelease(receipt, answer.drawn, unit)
    if is_whole(stored.payload):
        return SampleRelease(receipt, unpacked(stored.payload), unit)
    drawn = kernel.again(question, stored).drawn
    assert drawn is not None  # it was not written elsewhere
    return SampleRelease(receipt, drawn, unit)
