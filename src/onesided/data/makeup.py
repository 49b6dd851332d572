"""The make-up of a sample: how many of its units are in each group, beside what was counted."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from onesided.charts.answers import DrawnAnswer, answer_picture
from onesided.charts.findings import ComparedRow, compared_picture
from onesided.charts.parts import DrawnFigure, DrawnKey
from onesided.charts.picture import Picture
from onesided.data.release import SampleRelease, TableRelease
from onesided.data.values import python_values
from onesided.digits import NO_VALUE
from onesided.errors import RequestError
from onesided.visible import visible

FEW = 40


def sample_picture(sample: SampleRelease, counts: TableRelease | None) -> Picture:
    """The chart of a sample."""
    try:
        if counts is None:
            return _alone(sample, _telling_column(sample))
        return _beside(sample, counts)
    except pa.ArrowException:
        raise RequestError("The columns of this sample cannot be grouped to be drawn.") from None


def _alone(sample: SampleRelease, column: str) -> Picture:
    units = _units_by(sample, column)
    texts = [_text(value) for value in units]
    numbers = [float(number) for number in units.values()]
    nothing: list[float | None] = [None] * len(numbers)
    figure = DrawnFigure("units", numbers, nothing, nothing, [f"{each:,.0f}" for each in numbers])
    key = DrawnKey.of(column, list(units), texts, ordered=_is_ordered(list(units)))
    title = f"Units in the sample by {column}"
    rows = [[text, f"{number:,.0f}"] for text, number in zip(texts, numbers, strict=True)]
    return answer_picture(DrawnAnswer(title, [key], [figure], [column, "units"], rows))


def _beside(sample: SampleRelease, counts: TableRelease) -> Picture:
    """The share of each group in the sample and in what was counted."""
    answer = counts.shown()
    if len(answer.keys) != 1 or answer.keys[0].name not in sample.head(0).column_names:
        raise RequestError("The make-up of a sample is held against a count by one of its columns.")
    key, figure = answer.keys[0], answer.figures[0]
    found = _units_by(sample, key.name)
    others = sum(number for value, number in found.items() if value not in set(key.values))
    counted = [max(figure.number(row) or 0.0, 0.0) for row in range(answer.rows)]
    held = [float(found.get(value, 0) + (others if value is None else 0)) for value in key.values]
    all_held, all_counted = sum(held) or 1.0, sum(counted) or 1.0
    rows = [
        ComparedRow(
            key.text(row),
            100 * counted[row] / all_counted,
            100 * held[row] / all_held,
            f"{held[row] / all_held:.1%}",
        )
        for row in range(answer.rows)
    ]
    if not key.ordered:
        rows.sort(key=lambda each: -(each.before or 0.0))
    return compared_picture(
        f"Make-up of the sample by {key.name}",
        rows,
        names=("share of what was counted", "share of the sample"),
        axis="share in %",
        from_zero=False,
        what=key.name,
        notes=["A sample lacks sensitive units, so where many are sensitive its share is lower."],
    )


def _telling_column(sample: SampleRelease) -> str:
    """The first column of some but few values; else the first one that can be grouped."""
    names: list[str] = [each.name for each in sample.head(0).schema if _is_plain(each.type)]
    names = [name for name in names if name not in sample.unit.columns] or names
    if not names:
        raise RequestError("No column of this sample can be grouped to be drawn.")
    for name in names:
        values = sample.columns([name]).column(0)
        if 2 <= pc.count_distinct(values, mode="all").as_py() <= FEW:
            return name
    return names[0]


def _units_by(sample: SampleRelease, column: str) -> dict[Any, int]:
    """How many units of the sample have each value; rows where its columns do not tell units."""
    unit = [name for name in sample.unit.columns if name in sample.head(0).column_names]
    whole = not sample.unit.is_row and len(unit) == len(sample.unit.columns)
    names = dict.fromkeys([column, *(unit if whole else [])])
    rows = sample.columns(list(names))
    if whole:
        rows = rows.group_by(list(names)).aggregate([])
    found = rows.group_by([column]).aggregate([([], "count_all")])
    pairs = zip(
        python_values(found.column(column)), found.column("count_all").to_pylist(), strict=True
    )
    return dict(sorted(pairs, key=lambda pair: (pair[0] is None, _order(pair[0]))))


def _order(value: Any) -> tuple[int, Any]:
    """Numbers by size, all else by its text."""
    if isinstance(value, int | float) and value == value:
        return 0, value
    return 1, str(value)


def _is_plain(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date(kind)
    )


def _is_ordered(values: list[Any]) -> bool:
    return not any(isinstance(each, bool | str) for each in values)


def _text(value: Any) -> str:
    return NO_VALUE if value is None else visible(str(value))
