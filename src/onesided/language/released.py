"""Expressions over released values: what the SELECT list, HAVING and ORDER BY compute for free.

They see group keys and figures alone, so that nothing in them costs anything. They are written in
DuckDB's SQL, over the columns that `key_column` and `figure_column` name. The allow-list below
keeps out what depends on anything but these values, such as the time or a file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.nodes import unwrapped
from onesided.language.parser import DIALECT, MAX_DEPTH
from onesided.language.refusals import shown
from onesided.language.windows import window

COMPUTED: frozenset[type[exp.Expression]] = frozenset(
    {
        *(exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Neg, exp.Not, exp.And, exp.Or),
        *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
        *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
        *(exp.Is, exp.In, exp.Between, exp.Like, exp.ILike, exp.Case, exp.If),
        *(exp.Coalesce, exp.Nullif, exp.Greatest, exp.Least),
        *(exp.Abs, exp.Ceil, exp.Floor, exp.Round, exp.Trunc, exp.Sign, exp.Sqrt, exp.Pow),
        *(exp.Exp, exp.Ln, exp.Log, exp.Cast, exp.TryCast),
        *(exp.Lower, exp.Upper, exp.Trim, exp.Length, exp.Left, exp.Right, exp.Substring),
        *(exp.Concat, exp.DPipe, exp.Year, exp.Quarter, exp.Month, exp.Day, exp.Hour, exp.Minute),
        *(exp.DayOfMonth, exp.DayOfWeek, exp.DayOfWeekIso, exp.TimestampTrunc, exp.DateTrunc),
        *(exp.Extract, exp.Date),
    }
)
"""The functions that depend on their values alone."""
_OF_A_SPAN = (exp.TimestampTrunc, exp.DateTrunc, exp.Extract)
_TYPES = frozenset(
    {
        *(exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT),
        *(exp.DType.FLOAT, exp.DType.DOUBLE, exp.DType.DECIMAL, exp.DType.BOOLEAN),
        *(exp.DType.VARCHAR, exp.DType.TEXT, exp.DType.CHAR, exp.DType.DATE),
        *(exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ),
    }
)

Known = Callable[[exp.Expression], exp.Expression | None]
"""What a part of a statement stands for in released values, or None."""


Noted = Callable[[exp.Expression], exp.Expression]
"""What a window over released values is called."""


def computed(node: object, known: Known, windows: Noted | None = None) -> exp.Expression:
    """An expression whose parts are `known`, literals, and what is computed from them.

    - `windows`: notes each window; None where there may be none.
    """
    return _Computing(known, windows).changed(node, 0)


def text_of(node: exp.Expression) -> str:
    """The SQL of an expression over released values."""
    return node.sql(dialect=DIALECT, comments=False)


def released_column(name: str) -> exp.Expression:
    """A column of the released values."""
    return exp.Column(this=exp.Identifier(this=name, quoted=True))


@dataclass(frozen=True)
class _Computing:
    known: Known
    windows: Noted | None

    def changed(self, node: object, depth: int) -> exp.Expression:
        if not isinstance(node, exp.Expression):
            raise RequestError("An expression has an empty part; complete it.")
        if depth > MAX_DEPTH:
            raise RequestError("An expression is nested too deeply; simplify it.")
        inner = unwrapped(node)
        assert isinstance(inner, exp.Expression)
        if type(inner) is exp.Window and self.windows is not None:
            return self.windows(window(inner, lambda part: self.changed(part, depth + 1)))
        released = self.known(inner)
        if released is not None:
            return released
        if type(node) is exp.Anonymous:
            own = self._own_function(node, depth)
            if own is not None:
                return own
        if type(node) not in COMPUTED:
            raise RequestError(
                f"{shown(node)} is not allowed: beside group keys and figures, what is selected is "
                "computed from them by arithmetic, comparisons, CASE and the usual functions."
            )
        if isinstance(node, exp.Cast | exp.TryCast):
            cast = checked_cast(node)
            return exp.TryCast(this=self.changed(node.this, depth + 1), to=cast.args["to"])
        parts = {
            name: self._part(value, depth + 1)
            for name, value in node.args.items()
            if value is not None
        }
        return type(node)(**parts)

    def _own_function(self, node: exp.Expression, depth: int) -> exp.Expression | None:
        """weekday() and bucket() as they are in the language of policies, in DuckDB's SQL."""
        name, given = str(node.name).lower(), node.expressions
        if name in ("weekday", "isodow") and len(given) == 1:
            return exp.Anonymous(this="isodow", expressions=[self.changed(given[0], depth + 1)])
        if name == "bucket" and len(given) == 2:
            value, width = (exp.Paren(this=self.changed(each, depth + 1)) for each in given)
            rest = exp.Paren(
                this=exp.Add(this=exp.Mod(this=value, expression=width), expression=width)
            )
            below = exp.Mod(this=rest, expression=width.copy())
            return exp.Paren(this=exp.Sub(this=value.copy(), expression=below))
        return None

    def _part(self, value: object, depth: int) -> object:
        if isinstance(value, list):
            return [self._part(each, depth) for each in value]
        if isinstance(value, exp.Var) and isinstance(value.parent, _OF_A_SPAN):
            return value.copy()  # the name of a span, such as MONTH
        return self.changed(value, depth) if isinstance(value, exp.Expression) else value


def checked_cast(node: exp.Cast | exp.TryCast) -> exp.TryCast:
    """A cast that gives NULL where it fails."""
    target = node.args["to"]
    sizes = [each.this for each in target.expressions]
    plain = all(
        isinstance(each, exp.DataTypeParam) and type(each.this) is exp.Literal
        for each in target.expressions
    )
    if target.this not in _TYPES or not plain or node.args.get("format"):
        raise RequestError(f"{shown(node)} is not allowed: cast to a number, text, date or time.")
    kind = exp.DataType(
        this=target.this, expressions=[exp.DataTypeParam(this=size.copy()) for size in sizes]
    )
    return exp.TryCast(this=node.this.copy(), to=kind)
