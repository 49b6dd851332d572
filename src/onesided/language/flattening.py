"""WITH and subqueries that only filter and choose columns, written into the one SELECT.

`SELECT r, COUNT(*) FROM (SELECT room AS r FROM visits WHERE late) GROUP BY r` means what
`SELECT room AS r, COUNT(*) FROM visits WHERE late GROUP BY room` does. What an inner SELECT counts
or sorts out is no row of the data any more: that is asked on its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.parser import MAX_NODES
from onesided.language.refusals import shown

_PLAIN = {"expressions", "from_", "where", "order", "with_"}
_INSTEAD = "ask for it on its own, and go on with what is released, which is free"


@dataclass(frozen=True)
class _Projection:
    """What the columns of an inner SELECT are.

    - `everything`: all columns of its table are among them.
    """

    named: Mapping[str, exp.Expression]
    everything: bool


def merged(outer: exp.Select, inner: exp.Select, alias: str) -> exp.Select:
    """`outer` with what `inner` filters and chooses written into it; it is called `alias` there."""
    _check_plain(inner)
    projection = _projection(inner)
    joins = _joined(outer, inner, projection, alias)
    own = {item.alias.lower() for item in outer.expressions if type(item) is exp.Alias}
    items = [_kept_name(item) for item in outer.expressions]

    def replaced(part: exp.Expression, hidden: frozenset[str] = frozenset()) -> exp.Expression:
        return _replaced(part, projection, alias, hidden, joined=bool(joins))

    outer.set("expressions", [replaced(item) for item in items])
    for clause in ("where", "group", "having", "qualify", "order"):
        node = outer.args.get(clause)
        if node is not None:
            hidden = own if clause == "order" else own - set(projection.named)
            outer.set(clause, replaced(node, frozenset(hidden)))
    outer.set("from_", inner.args["from_"])
    outer.set("joins", [*(inner.args.get("joins") or ()), *joins])
    conditions = [each.args["where"].this for each in (inner, outer) if each.args.get("where")]
    if conditions:
        whole: exp.Expression = exp.Paren(this=conditions[0])
        for each in conditions[1:]:
            whole = exp.And(this=whole, expression=exp.Paren(this=each))
        outer.set("where", exp.Where(this=whole))
    if sum(1 for _ in outer.walk()) > MAX_NODES:
        raise RequestError("The statement is too long with its subqueries written out.")
    return outer


def _joined(
    outer: exp.Select, inner: exp.Select, projection: _Projection, alias: str
) -> list[exp.Join]:
    """The joins around an inner SELECT, by what its columns are."""
    joins: list[exp.Join] = outer.args.get("joins") or []
    if joins and (projection.everything or inner.args.get("joins")):
        raise RequestError("A subquery is not joined: join the public table within it.")
    if joins:
        _say_table(inner, projection)
    for join in joins:
        if join.args.get("method"):
            raise RequestError("NATURAL JOIN around a subquery is not allowed: write ON or USING.")
        for using in join.args.get("using") or ():
            other = exp.column(using.name, table=join.this.alias_or_name, quoted=True)
            own = exp.column(using.name, table=alias, quoted=True)
            whole = exp.EQ(this=own, expression=other)
            before = join.args.get("on")
            join.set("on", whole if before is None else exp.And(this=before, expression=whole))
        join.set("using", None)
        on = join.args.get("on")
        if on is not None:
            join.set("on", _replaced(on, projection, alias, frozenset(), joined=True))
    return joins


def _say_table(inner: exp.Select, projection: _Projection) -> None:
    """Name the table of each column, since others are joined that may have one of that name."""
    table = inner.args["from_"].this.alias_or_name
    where = inner.args.get("where")
    for part in [*projection.named.values(), *([] if where is None else [where])]:
        for column in list(part.find_all(exp.Column)):
            if column.args.get("table") is None:
                column.set("table", exp.to_identifier(table, quoted=True))


def _check_plain(inner: exp.Select) -> None:
    """An inner SELECT filters and chooses columns, and its order means nothing."""
    for name, value in inner.args.items():
        if value and name not in _PLAIN and name != "joins":
            clause = name.strip("_").upper()
            raise RequestError(f"{clause} in a subquery is not allowed: {_INSTEAD}.")
    for part in inner.walk():
        if isinstance(part, exp.Window):
            raise RequestError(
                f"{shown(part)} is not allowed: a window over the rows of the data would see "
                "single records. Over groups it is computed from what is released."
            )
        if isinstance(part, exp.AggFunc):
            raise RequestError(f"{shown(part)} in a subquery is not allowed: {_INSTEAD}.")


def _projection(inner: exp.Select) -> _Projection:
    named: dict[str, exp.Expression] = {}
    everything = False
    for item in inner.expressions:
        if _is_everything(item):
            everything = True
        elif type(item) is exp.Alias:
            named[item.alias.lower()] = item.this
        elif type(item) is exp.Column:
            named[item.name.lower()] = item
        else:
            raise RequestError(f"Give {shown(item)} in the subquery a name: {shown(item)} AS ….")
    return _Projection(named, everything)


def _is_everything(item: exp.Expression) -> bool:
    """Whether it is `*` or `t.*`, without exceptions."""
    star = item.this if type(item) is exp.Column else item
    return type(star) is exp.Star and not any(star.args.values())


def _kept_name(item: exp.Expression) -> exp.Expression:
    """A bare column keeps its name."""
    if type(item) is not exp.Column or type(item.this) is exp.Star:
        return item
    return exp.Alias(this=item, alias=exp.Identifier(this=item.name, quoted=True))


def _replaced(
    node: exp.Expression,
    projection: _Projection,
    alias: str,
    hidden: frozenset[str],
    *,
    joined: bool,
) -> exp.Expression:
    """`node` with the columns of the inner SELECT replaced by what they are.

    - `hidden`: names that mean something else here.
    - `joined`: other tables are joined, whose columns stay as they are.
    """

    def change(part: exp.Expression) -> exp.Expression:
        if type(part) is not exp.Column or type(part.this) is exp.Star:
            return part
        table = part.args.get("table")
        if table is not None and table.name.lower() != alias.lower():
            if joined:
                return part
            raise RequestError(f"There is no table {table.name} in this statement.")
        name = part.name.lower()
        if table is None and name in hidden:
            return part
        if name in projection.named:
            found = projection.named[name].copy()
            return found if type(found) is exp.Column else exp.Paren(this=found)
        if joined and table is None:
            return part
        if not projection.everything:
            raise RequestError(f"The subquery has no column {part.name}; name it there.")
        return exp.Column(this=part.this.copy())

    # Not `transform`, which would look into what has just been put in.
    if type(node) is exp.Column:
        return change(node)
    for part in [each for each in node.find_all(exp.Column) if each is not node]:
        changed = change(part)
        if changed is not part:
            part.replace(changed)
    return node
