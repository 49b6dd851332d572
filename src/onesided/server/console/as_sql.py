"""A question of a form as a SELECT, for those who would rather go on in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onesided.server.console.forms import quoted

_TABLE = "data"


def as_sql(body: Mapping[str, Any], unit: Sequence[str]) -> str:
    """The SELECT of a count; empty where SQL says it in another way than the form."""
    if body["kind"] != "count":
        return ""
    keys = list(body.get("by", []))
    counted = f"COUNT(DISTINCT {', '.join(map(quoted, unit))})" if unit else "COUNT(*)"
    lines = [f"SELECT {', '.join([*keys, f'{counted} AS n'])}", f"FROM {_TABLE}"]
    if body.get("where"):
        lines.append(f"WHERE {body['where']}")
    if keys:
        lines.append(f"GROUP BY {', '.join(keys)}")
    return "\n".join(lines)
