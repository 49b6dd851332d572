"""The audit of whole releases looks at displays and charts too."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from onesided.audit.session.requests import Request
from onesided.audit.session.watching import seen_in_python
from onesided.session import open_dataset


def test_what_is_shown_and_drawn_is_seen(tmp_path: Path) -> None:
    rows = pa.table({"room": ["a", "b"] * 50, "age": [30] * 100})
    dataset = open_dataset(rows, unit="rows", policy="age < 18", budget=9)
    request = Request("count", {"by": ["room"], "epsilon": 1})
    outcomes, answered = seen_in_python(dataset, request, tmp_path)
    assert answered
    assert "<table" in outcomes["shown"]
    assert "<Release: count of units" in outcomes["shown"]
    assert "vega-lite" in outcomes["chart"]
    assert "Bar chart of count of units by room" in outcomes["chart"]
