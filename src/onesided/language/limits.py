"""LIMIT, OFFSET and FETCH FIRST: how many rows of an answer are shown."""

from __future__ import annotations

from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.nodes import only


def rows_shown(statement: exp.Expression) -> tuple[int | None, int]:
    """How many rows are shown, and after how many; by default in the order of the keys."""
    limit, offset = (statement.args.get(name) for name in ("limit", "offset"))
    most = None
    if type(limit) is exp.Fetch:
        options = limit.args.get("limit_options")
        extra = options is not None and (
            options.args.get("percent") or options.args.get("with_ties")
        )
        if extra or limit.args.get("direction") not in (None, "FIRST", "NEXT"):
            raise RequestError("FETCH FIRST takes a whole number of rows.")
        most = _whole(limit.args.get("count") or exp.Literal.number(1), "FETCH FIRST")
    elif limit is not None:
        only(limit, "expression")
        most = _whole(limit.args.get("expression"), "LIMIT")
    if offset is not None:
        only(offset, "expression")
    return most, 0 if offset is None else _whole(offset.args.get("expression"), "OFFSET")


def _whole(node: object, clause: str) -> int:
    if type(node) is not exp.Literal or node.is_string or not node.name.isdigit():
        raise RequestError(f"{clause} takes a whole number of rows.")
    return int(node.name)
