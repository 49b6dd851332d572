"""The weights of a sample, and what is said of them: whom they stand for, and when they help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from onesided.data.release import SampleRelease
from onesided.data.weighing.counted import CountedMargin
from onesided.data.weighing.covered import Covered, covered
from onesided.data.weighing.placing import SampledUnits
from onesided.errors import RequestError
from onesided.weights import Calibrated, Margin, calibrated
from onesided.weights.margins import Floats, Truths, noise_per_mean_cell

WEIGHT = "weight"
MUCH_NOISE, TOO_MUCH_NOISE = 0.04, 0.16
"""Shares of a mean cell: above the first weights help less, above the second they often harm."""
_LISTED = 8
_FIGURES = ("counted", "sampled_units", "unweighted", "weighted")
STAYS_BIASED = (
    "Figures that depend on what made units sensitive beyond these margins stay biased, "
    "coefficients of models hardly improve, and no intervals are given, as selection is not in "
    "them."
)


@dataclass(frozen=True)
class WeighedMargin:
    """A margin before and after: what the sample says of each group without and with weights.

    - `never`: the groups of which no unit can be in the sample.
    """

    counted: CountedMargin
    sampled: Floats
    before: Floats
    after: Floats
    never: Truths

    @property
    def table(self) -> pa.Table:
        """The groups with what was counted, and with both estimates."""
        keys = self.counted.labels
        return pa.table(
            [*keys.columns, *map(pa.array, self._figures)], names=[*keys.column_names, *_FIGURES]
        )

    def texts(self) -> list[tuple[str, ...]]:
        """The same as people read it."""
        return [
            (text, *(f"{each[place]:,.0f}" for each in self._figures))
            for place, text in enumerate(self.counted.texts)
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """The same as plain JSON."""
        columns = [each.tolist() for each in self._figures]
        rows = zip(self.counted.texts, *columns, strict=True)
        return [dict(zip(("group", *_FIGURES), row, strict=True)) for row in rows]

    @property
    def _figures(self) -> tuple[Any, ...]:
        sampled = self.sampled.astype(np.int64)
        return self.counted.counted, sampled, self.before, self.after

    @property
    def empty(self) -> list[str]:
        """The groups of which the sample has no unit by chance."""
        return self._texts((self.sampled == 0) & ~self.never)

    @property
    def impossible(self) -> list[str]:
        """The groups of which no unit can be in the sample."""
        return self._texts(self.never)

    def _texts(self, chosen: Truths) -> list[str]:
        texts = zip(self.counted.texts, chosen, strict=True)
        return [text for text, is_chosen in texts if is_chosen]


@dataclass(frozen=True)
class Weighing:
    """The weights of a sample by released counts."""

    found: Calibrated
    covers: Covered
    margins: tuple[WeighedMargin, ...]
    units: int
    policy: str

    @classmethod
    def of(
        cls, sample: SampleRelease, counts: Sequence[Any], *, noisy: bool, checked: bool = False
    ) -> Weighing:
        """The weights of the units of `sample`, with the units themselves.

        - `noisy`: counts are meant whose noise is above `TOO_MUCH_NOISE`.
        - `checked`: as in `covered`.
        """
        read = [CountedMargin.of(each) for each in counts]
        if not read:
            raise RequestError("Say by which counts the sample is to be weighted, at least one.")
        check_same(sample, read)
        units = SampledUnits(sample)
        placed = [units.margin(each) for each in read]
        whole = covered(sample.receipt, read, placed, checked=checked)
        if not noisy:
            check_noise([(len(each.counted), each.noise) for each in read], whole.total)
        possible = [_without(own, no) for own, no in zip(placed, whole.never, strict=True)]
        found = calibrated(possible, units.number, whole.total)
        flat = whole.total / max(units.number, 1)
        margins = tuple(
            WeighedMargin(
                margin,
                np.asarray(own.units, dtype=np.float64),
                own.units.astype(np.float64) * flat,
                found.sums(own),
                no,
            )
            for margin, own, no in zip(read, placed, whole.never, strict=True)
        )
        policy = str(sample.receipt["policy"]["sql"])
        return cls(found, whole, margins, units.number, policy)

    @property
    def noise(self) -> float:
        """The expected noise of a count as a share of a mean cell."""
        sizes = [(len(each.counted.counted), each.counted.noise) for each in self.margins]
        return noise_per_mean_cell(sizes, self.covers.total)

    @property
    def stands_for(self) -> str:
        """Whom the weights stand for, in words."""
        total, units = self.covers.total, self.covers.units
        if units is None:
            text = f"about {total:,.0f} units"
        elif self.covers.where is None and not any(each.any() for each in self.covers.never):
            text = f"all {units:,} units"
        else:
            text = f"{total / max(units, 1):.0%} of {units:,} units"
        if self.covers.where is not None:
            text += f", those where {self.covers.where}"
        impossible = _listed((each.counted.name, each.impossible) for each in self.margins)
        return f"{text}; no sampled unit in: {impossible}" if impossible else text

    @property
    def warnings(self) -> list[str]:
        """What whoever uses the weights has to know of these."""
        said = []
        if self.noise > MUCH_NOISE:
            said.append(
                f"The expected noise is {self.noise:.1%} of a mean cell; above {MUCH_NOISE:.0%} "
                "weights help less. Fewer cells or a larger ε make it smaller."
            )
        empty = _listed((each.counted.name, each.empty) for each in self.margins)
        if empty:
            said.append(f"Empty by chance, and not stood for by weights of their own: {empty}.")
        return said

    @property
    def said(self) -> dict[str, str]:
        """All that is said of the weights, by what it is about."""
        effective = self.found.effective_units
        return {
            "stands for": self.stands_for,
            "in place of": f"sensitive units ({self.policy}), by others of the same groups",
            "effective size": f"{effective:,.0f} of {self.units:,} units",
            "noise": f"{self.noise:.1%} of a mean cell expected",
            **({"mind": " ".join(self.warnings)} if self.warnings else {}),
            "stays biased": STAYS_BIASED,
        }

    def to_json(self) -> dict[str, Any]:
        """As it stands in a receipt."""
        return {
            "column": WEIGHT,
            "stands_for": self.stands_for,
            "total": f"{self.covers.total:.6g}",
            "units_in_sample": self.units,
            "effective_units": f"{self.found.effective_units:.6g}",
            "noise_per_mean_cell": f"{self.noise:.4g}",
            "kappa": f"{self.found.kappa:.6g}",
            "margins": [each.counted.name for each in self.margins],
            "no_sampled_unit": {each.counted.name: each.impossible for each in self.margins},
            "empty_by_chance": {each.counted.name: each.empty for each in self.margins},
            "limits": STAYS_BIASED,
        }


def check_noise(margins: Sequence[tuple[int, float]], total: float) -> None:
    """Refuse counts whose noise would harm more than they help.

    - `margins`: how many groups each has, and the mean size of the noise of one.
    """
    noise = noise_per_mean_cell(margins, total)
    if noise > TOO_MUCH_NOISE:
        raise RequestError(
            f"The expected noise is {noise:.0%} of a mean cell, and above {TOO_MUCH_NOISE:.0%} "
            "weights are often worse than none; use fewer cells or a larger ε, or say noisy."
        )


def check_same(sample: SampleRelease, margins: Sequence[CountedMargin]) -> None:
    """Refuse counts of other data, another state of it, another policy or another part."""
    own = sample.receipt
    for margin in margins:
        other = margin.receipt
        pairs = (
            ("data set", own["dataset"], other["dataset"]),
            ("unit", own["unit"], other["unit"]),
            ("policy", own["policy"]["id"], other["policy"]["id"]),
            ("state of the data", _snapshot(own.content), _snapshot(other.content)),
            ("part", own["request"].get("part"), other["request"].get("part")),
        )
        for what, first, second in pairs:
            if first != second:
                raise RequestError(
                    f"The count by {margin.name} is of another {what} than the sample; weights "
                    "need both on the same."
                )
    if any(name.lower() == WEIGHT for name in sample.head(0).column_names):
        raise RequestError(
            f"The sample has a column {WEIGHT} already; choose its columns without that one."
        )


def _snapshot(content: Any) -> Any:
    return content.get("answered_on_snapshot", content["snapshot"])


def _without(margin: Margin, never: Truths) -> Margin:
    """The margin without groups that nobody in the sample stands for."""
    kept = ~never
    return Margin(margin.counted[kept], margin.variance, margin.pattern, margin.cells[:, kept])


def _listed(groups: Any) -> str:
    """Groups by the name of their margin, the first of them."""
    parts = []
    for name, found in groups:
        if found:
            more = f" and {len(found) - _LISTED:,} more" if len(found) > _LISTED else ""
            parts.append(f"{name} {', '.join(found[:_LISTED])}{more}")
    return "; ".join(parts)
