"""The receipt of a release: what was promised for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from onesided.loss import Loss
from onesided.visible import json_text, visible


class ReleaseKind(Enum):
    """What was released."""

    SAMPLE = "sample"
    COUNT = "count"
    SUM = "sum"
    MEAN = "mean"
    DISTINCT = "distinct"
    QUANTILE = "quantile"
    HISTOGRAM = "histogram"
    DESCRIBE = "describe"
    SQL = "sql"


@dataclass(frozen=True)
class Receipt:
    """What was promised, under which policy, at what cost, with which noise; plain JSON."""

    content: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.content[name]

    def to_json(self) -> str:
        """The receipt as text, the same for the same receipt."""
        return json_text(self.content, sort_keys=True)

    @property
    def loss(self) -> Loss:
        """The pair that the release cost."""
        return Loss.from_json(self.content["loss"])

    @property
    def guarantee(self) -> str:
        """The promise in one sentence."""
        return str(self.content["guarantee"])

    @property
    def promise(self) -> str:
        """The promise in two short sentences; `guarantee` names its limits too."""
        epsilon, unit = self.content["epsilon"]["osdp"], self.content["unit"]
        record = "row" if unit == "row" else f"record ({unit})"
        policy = self.content["policy"]["sql"]
        return (
            f"(P, {epsilon})-OSDP: replacing one sensitive {record} by any other makes no outcome "
            f"more than e^{epsilon} times likelier. Sensitive is where {policy}, or NULL."
        )

    @property
    def figure(self) -> str:
        """What the released numbers are, in words; older receipts say only their kind."""
        return str(self.content.get("figure", self.content["kind"]))

    @property
    def price(self) -> str:
        """What it cost, and what is left, in words."""
        account = self.content["account"]
        if not account["charges"]:
            return "nothing: it asks nothing of the data"
        return f"ε = {account['cost']}; {account['left']} of {account['budget']} left"

    def __repr__(self) -> str:
        return f"<Receipt: {visible(self.figure)}; {self.price}>"

    def _repr_html_(self) -> str:
        from onesided.data.display import receipt_html

        return receipt_html(self)
