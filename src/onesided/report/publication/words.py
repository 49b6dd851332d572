"""What a receipt says, in words for those who get the data, and what each column is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import exp
from typing import Any

import pyarrow as pa

from onesided.data.release import Receipt, ReleaseKind

_DAY = len("2024-02-29")
_BOUND_NAMES = ("at_least", "at_most")


@dataclass(frozen=True)
class DescribedColumn:
    """A column of the data: its name, its type, and what it holds."""

    name: str
    type: pa.DataType
    text: str


def title(receipt: Receipt) -> str:
    """What was released, in a few words."""
    by = receipt["request"].get("by") or []
    keys = f" by {', '.join(map(str, by))}" if by else ""
    kind = ReleaseKind(receipt["kind"])
    what = "True sample" if kind is ReleaseKind.SAMPLE else kind.value.capitalize()
    return f"{what} of {receipt['dataset']}{keys}"


def datasets(receipts: Iterable[Receipt]) -> str:
    """The names of the data sets, each once."""
    return ", ".join(dict.fromkeys(str(each["dataset"]) for each in receipts))


def at_a_glance(receipt: Receipt, rows: int) -> dict[str, str]:
    """What somebody wants to know before they read on."""
    unit = receipt["unit"]
    return {
        "released": str(receipt["time"])[:_DAY],
        "rows": f"{rows:,}",
        "one record": "a row" if unit == "row" else str(unit),
        "promise": f"ε = {receipt['epsilon']['osdp']}",
    }


def protected(receipt: Receipt) -> str:
    """Who is protected, and what from."""
    unit = receipt["unit"]
    record = "row" if unit == "row" else f"({unit})"
    return (
        f"A record is one {record}. It is sensitive where {receipt['policy']['sql']} is true or "
        "unknown, for any of its rows. How much these data can tell of a sensitive record, and of "
        "whether it is sensitive at all, is bounded: see below."
    )


def cost(receipt: Receipt) -> str:
    """How strong the promise is, and what is left for others."""
    epsilon, account = receipt["epsilon"]["osdp"], receipt["account"]
    times = exp(float(_number(epsilon)))
    return (
        f"ε = {epsilon}: what is published here is at most {times:.3g} times likelier with a "
        f"sensitive record than with any other record in its place. It took {account['cost']} of a "
        f"budget of {account['budget']}, of which {account['left']} was left."
    )


def reading(receipt: Receipt) -> Iterator[str]:
    """How to read the figures and their intervals."""
    if ReleaseKind(receipt["kind"]) is ReleaseKind.SAMPLE:
        epsilon = receipt["epsilon"]["osdp"]
        share = 100 * (1 - exp(-float(_number(epsilon))))
        yield (
            "Each row is true. Each record that is not sensitive was kept whole with a probability "
            f"of 1 − e^−{epsilon}, which is {share:.0f} %. Sensitive records are never in it. So "
            "that a record is missing says little, and totals of these rows are not totals of all."
        )
        return
    yield (
        f"Each figure is a {receipt.figure}. Noise was added to it: {receipt['noise']}. "
        "So a figure need be no whole number, and parts need not add up."
    )
    for interval in receipt["error"].get("intervals", []):
        names = " and ".join(interval["columns"])
        yield f"{names}: bounds of the {interval['bound']}. They hold {_sure(interval)}."


def described(receipt: Receipt, table: pa.Table) -> list[DescribedColumn]:
    """The data dictionary."""
    keys = set(map(str, receipt["request"].get("by") or []))
    bounds = {
        name: f"a bound of the {interval['bound']}"
        for interval in receipt["error"].get("intervals", [])
        for name in interval["columns"]
    }
    sample = ReleaseKind(receipt["kind"]) is ReleaseKind.SAMPLE

    def text(name: str) -> str:
        if sample:
            return "a column of the data, as it is"
        if name in bounds:
            return bounds[name]
        if name in keys:
            return "the group"
        return "a bound" if name.endswith(_BOUND_NAMES) else receipt.figure

    return [DescribedColumn(each.name, each.type, text(each.name)) for each in table.schema]


def _sure(interval: Mapping[str, Any]) -> str:
    try:
        return f"with a probability of {100 * _number(interval['confidence']):.3g} %"
    except ValueError:  # a word: such bounds follow from what was released alone
        return "always"


def _number(text: Any) -> float:
    above, _, below = str(text).partition("/")
    return float(above) / float(below or 1)
