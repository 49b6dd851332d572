"""A sample with a weight for each row, as a release like any other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from onesided.data.files import write_batches
from onesided.data.private import PrivateDirectory
from onesided.data.receipt import Receipt
from onesided.data.release import SAMPLE_FILE, SampleRelease, TableRelease
from onesided.data.units import Unit
from onesided.data.weighing.placing import SampledUnits
from onesided.data.weighing.weighing import WEIGHT, WeighedMargin, Weighing

if TYPE_CHECKING:
    from onesided.charts.picture import Picture


class WeightedSample(SampleRelease):
    """A sample whose rows have a weight, so that its units stand for others too.

    `weighing` says for whom, how exact the counts were, and what the weights changed.
    """

    def __init__(
        self, receipt: Receipt, directory: PrivateDirectory, unit: Unit, weighing: Weighing
    ) -> None:
        super().__init__(receipt, directory, unit)
        self.weighing = weighing

    @property
    def said(self) -> dict[str, str]:
        return {**super().said, **self.weighing.said}

    @property
    def margins(self) -> dict[str, pa.Table]:
        """For each count what the sample says of its groups, without weights and with them."""
        return {each.counted.name: each.table for each in self.weighing.margins}

    @property
    def compared(self) -> Sequence[WeighedMargin]:
        """The same with what can be said of it."""
        return self.weighing.margins

    def under(self, receipt: Receipt) -> WeightedSample:
        """The same rows under another receipt."""
        return WeightedSample(receipt, self._directory, self._unit, self.weighing)

    def plot(self, counts: TableRelease | None = None) -> Picture:
        """What the weights changed; with `counts` the make-up by one column, as of any sample."""
        if counts is not None:
            return super().plot(counts)
        from onesided.data.weighing.drawing import weighing_picture

        return weighing_picture(self.weighing)


def weighted(
    sample: SampleRelease, counts: Sequence[Any], *, noisy: bool = False, checked: bool = False
) -> WeightedSample:
    """The rows of a sample with a column of weights, from counts that were released."""
    weighing = Weighing.of(sample, list(counts), noisy=noisy, checked=checked)
    directory = PrivateDirectory()
    schema = sample.head(0).schema.append(pa.field(WEIGHT, pa.float64()))
    write_batches(_rows(sample, weighing, schema), schema, directory.path / SAMPLE_FILE)
    content = {
        **sample.receipt.content,
        "figure": f"{sample.receipt.figure}, with weights",
        "columns": [*sample.receipt["columns"], {"name": WEIGHT, "type": "double"}],
        "weights": weighing.to_json(),
        "figures": {
            **sample.receipt.content.get("figures", {}),
            **{
                f"count by {each.counted.name}": dict(each.counted.receipt.content)
                for each in weighing.margins
            },
        },
    }
    return WeightedSample(Receipt(content), directory, sample.unit, weighing)


def _rows(sample: SampleRelease, weighing: Weighing, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    weights = weighing.found.weights[SampledUnits(sample).of_row]
    start = 0
    for batch in sample.batches():
        own = pa.array(weights[start : start + len(batch)])
        start += len(batch)
        yield pa.RecordBatch.from_arrays([*batch.columns, own], schema=schema)
