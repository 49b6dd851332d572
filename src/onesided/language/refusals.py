"""Why a part of a text is not accepted, in words."""

from __future__ import annotations

import re

from sqlglot import exp

_SHOWN = 60
_ROW_ALONE = "a predicate may depend on nothing but its row"
_CALL = re.compile(r"(\w+)(?:\(|$)")
_ENGINES = "engines do not agree on what it gives"

_REASONS: tuple[tuple[tuple[type[exp.Expression], ...], str], ...] = (
    (
        (exp.Subquery, exp.Select, exp.Exists, exp.SetOperation),
        f"A subquery is not allowed: {_ROW_ALONE}.",
    ),
    ((exp.Window,), f"A window function is not allowed: {_ROW_ALONE}."),
    ((exp.Star, exp.Columns), "A star is not allowed: name each column."),
    ((exp.Cast, exp.TryCast), f"A cast is not allowed: {_ENGINES}; compare with a typed literal."),
    ((exp.IntDiv, exp.Mod), f"Division is not allowed: {_ENGINES}; use bucket(x, width)."),
    ((exp.Escape,), "ESCAPE is not allowed in LIKE: engines do not agree on what it gives."),
    (
        (exp.Placeholder, exp.Parameter, exp.SessionParameter),
        "A parameter is not allowed: write the value itself.",
    ),
    ((exp.Alias,), "An alias is not allowed: a predicate is one expression, check its operators."),
    ((exp.Tuple,), "A row of several values is not allowed: compare one column at a time."),
    ((exp.Lambda,), "A lambda is not allowed."),
    ((exp.Concat,), "Joining texts needs || between them."),
    (
        (exp.RegexpLike, exp.SimilarTo, exp.Glob),
        f"A regular expression is not allowed: {_ENGINES}; use LIKE.",
    ),
)


def explanation(node: object) -> str:
    """One sentence that names the offending part."""
    for kinds, sentence in _REASONS:
        if isinstance(node, kinds):
            return sentence
    if isinstance(node, exp.AggFunc):
        return f"The aggregate {_name(node)}() is not allowed: {_ROW_ALONE}."
    if isinstance(node, exp.Func):
        return (
            f"The function {_name(node)}() is not allowed: it may depend on more than the row, or "
            "engines may not agree on it; the page on policies lists those there are."
        )
    if isinstance(node, exp.Expression):
        return f"The part {shown(node)} is not allowed here."
    return "The predicate has an empty part; complete it."


def shown(node: object) -> str:
    """A part of the text for a message: on one line, shortened."""
    if not isinstance(node, exp.Expression):
        return "an empty part"
    return " ".join(_sql(node).split())[:_SHOWN]


def _name(function: exp.Func) -> str:
    """The function as DuckDB spells it, which is what the user is most likely to have written."""
    spelled = _CALL.match(_sql(function))
    return (spelled[1] if spelled else function.sql_name()).lower()


def _sql(node: exp.Expression | exp.Func) -> str:
    try:
        return str(node.sql(dialect="duckdb", comments=False))
    except Exception:  # a tree that no dialect can write still needs a name
        return str(node.key)
