"""The chart of a weighing: what the weights changed, group by group."""

from __future__ import annotations

from collections.abc import Iterator

from onesided.charts.findings import ComparedRow, compared_picture
from onesided.charts.picture import Picture
from onesided.data.weighing.weighing import WeighedMargin, Weighing


def weighing_picture(weighing: Weighing) -> Picture:
    """Each group's estimate without weights and with them, as a share of what was counted."""
    rows = [row for each in weighing.margins for row in _compared(each)]
    return compared_picture(
        "Estimates from the sample, as a share of what was counted",
        rows,
        names=("without weights", "with weights"),
        axis="% of the released count",
        from_zero=False,
        what=", ".join(each.counted.name for each in weighing.margins),
        notes=[f"It stands for {weighing.stands_for}."],
    )


def _compared(margin: WeighedMargin) -> Iterator[ComparedRow]:
    """Both estimates as a share of what was counted, where that is more than its noise."""
    for place, text in enumerate(margin.counted.texts):
        said = margin.counted.counted[place]
        if margin.sampled[place] and said > margin.counted.noise:
            before, after = (100 * each[place] / said for each in (margin.before, margin.after))
            yield ComparedRow(text, before, after, f"{before:.0f} % → {after:.0f} %")
