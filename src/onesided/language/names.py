"""FROM and JOIN: which tables a statement reads, and which column a name in it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.nodes import only, unwrapped
from onesided.language.query import Catalogue, Join, public_column
from onesided.language.refusals import shown
from onesided.language.tree import Column
from onesided.language.types import Schema

_INNER = ("", "INNER")
_OUTER = ("LEFT", "LEFT OUTER")
_CROSS = "CROSS"
_NATURAL = "NATURAL"


@dataclass(frozen=True)
class Names:
    """The tables of one statement under the names that it gives them, in lower case.

    A column that a table is joined by has the same value on both sides and means the data's. Where
    rows stay that find nothing, it is NULL on the other side, and means that one's.

    - `beside`: the secret tables that the statement joins.
    - `found`: the columns that rows must have a value in, since an inner join drops all others.
    """

    data: str
    schema: Schema
    public: Mapping[str, tuple[Join, Schema]]
    beside: Mapping[str, tuple[Join, Schema]] = field(default_factory=dict)
    found: tuple[str, ...] = ()

    @property
    def joins(self) -> tuple[Join, ...]:
        """The public tables, in the order of the statement."""
        return tuple(join for join, _ in self.public.values())

    def column(self, node: exp.Expression) -> Column:
        """The column that a name stands for."""
        only(node, "this", "table")
        if type(node.this) is not exp.Identifier or not node.name:
            raise RequestError(f"{shown(node)} is not allowed there: name a column.")
        only(node.this, "this", "quoted")
        table = node.args.get("table")
        if table is None:
            return self._anywhere(node.name)
        if table.name.lower() == self.data:
            return Column(self.schema.resolve(node.name))
        if table.name.lower() in self.beside:
            join, schema = self.beside[table.name.lower()]
            return Column(public_column(join.table, schema.resolve(node.name)))
        if table.name.lower() not in self.public:
            return self._looked_up(table.name, node.name)
        join, schema = self.public[table.name.lower()]
        return _of_public(join, schema.resolve(node.name))

    def _looked_up(self, table: str, name: str) -> Column:
        """A column of a secret table, which every row has without any join."""
        start = public_column(table, "").lower()
        if not any(known.lower().startswith(start) for known in self.schema):
            raise RequestError(f"There is no table {table} in this statement.")
        return Column(self.schema.resolve(public_column(table, name)))

    def _anywhere(self, name: str) -> Column:
        found = {column for table in self._tables() if (column := _found(table, name))}
        if len(found) > 1:
            raise RequestError(f"The column {name} is in several tables; write table.{name}.")
        return found.pop() if found else Column(self.schema.resolve(name))

    def _tables(self) -> list[tuple[Join | None, Schema]]:
        return [(None, self.schema), *self.public.values(), *self.beside.values()]


def read_names(statement: exp.Select, catalogue: Catalogue) -> tuple[Names, exp.Expression | None]:
    """FROM and JOIN, checked: the data set, and public tables joined by columns of it.

    What is left of WHERE comes with them: tables in a list, or in a CROSS JOIN, are joined by the
    comparisons there.
    """
    source = statement.args.get("from_")
    if source is None:
        raise RequestError(f"Name the table: FROM {catalogue.names[0]}.")
    known = [each.lower() for each in catalogue.names]
    _data_first(statement, known)
    name, alias = _table(source.this)
    if name.lower() not in known:
        raise RequestError(f"The table is called {catalogue.names[0]} here, not {name}.")
    names = Names(alias.lower(), catalogue.schema, {})
    where = statement.args.get("where")
    conditions = [] if where is None else _conjuncts(where.this)
    for node in statement.args.get("joins") or ():
        names, conditions = _with_join(names, node, catalogue, conditions)
    return names, _conjunction(conditions)


def _data_first(statement: exp.Select, known: Sequence[str]) -> None:
    """`FROM rooms JOIN visits` is written the other way round, since rows are those of the data."""
    source = statement.args["from_"]
    for join in statement.args.get("joins") or ():
        if type(source.this) is not exp.Table or source.this.name.lower() in known:
            return
        if type(join.this) is exp.Table and join.this.name.lower() in known:
            side = str(join.args.get("side") or "").upper()
            if side == "LEFT":
                raise RequestError(
                    f"LEFT JOIN {join.this.name} is not allowed: it would list rows of a public "
                    "table without any of the data; write the data set first."
                )
            join.set("side", "LEFT" if side == "RIGHT" else None)
            first, second = source.this.copy(), join.this.copy()
            source.set("this", second)
            join.set("this", first)


def _conjuncts(node: object) -> list[exp.Expression]:
    inner = unwrapped(node)
    if type(inner) is exp.And:
        return [*_conjuncts(inner.this), *_conjuncts(inner.args["expression"])]
    return [inner] if isinstance(inner, exp.Expression) else []


def _conjunction(parts: list[exp.Expression]) -> exp.Expression | None:
    """As a chain that leans to the left, like one that is written out."""
    whole: exp.Expression | None = None
    for part in parts:
        operand = exp.Paren(this=part) if type(part) is exp.Or else part
        whole = operand if whole is None else exp.And(this=whole, expression=operand)
    return whole


def _with_join(
    names: Names, node: exp.Join, catalogue: Catalogue, conditions: list[exp.Expression]
) -> tuple[Names, list[exp.Expression]]:
    """The names with one table more, and the conditions of WHERE that do not join it."""
    words = (node.args.get(part) for part in ("method", "side", "kind"))
    kind = " ".join(str(word) for word in words if word).upper()
    natural = kind.startswith(_NATURAL)
    kind = kind.removeprefix(_NATURAL).strip()
    if kind not in (*_INNER, *_OUTER, _CROSS):
        raise RequestError(
            f"{kind} JOIN is not allowed: public tables are joined by [LEFT] JOIN … USING or ON."
        )
    only(node, "this", "kind", "side", "using", "on", "method")
    name, alias = _table(node.this)
    beside = {each.lower(): each for each in catalogue.beside}
    declared = {each.lower(): each for each in catalogue.public}
    secret = beside.get(name.lower())
    table = declared.get(name.lower()) if secret is None else secret
    if name.lower() in [each.lower() for each in catalogue.names]:
        raise RequestError(
            f"{name} is joined with itself: that would put records of units side by side. Count "
            "units by conditions on their rows, or add a column to the data that says it."
        )
    if table is None:
        raise RequestError(f"{name} is not declared as a public table; only those can be joined.")
    schema = catalogue.public[table] if secret is None else catalogue.beside_schema(table)
    joined = (join.table for join, _ in (*names.public.values(), *names.beside.values()))
    again = table in joined
    if alias.lower() in (names.data, *names.public, *names.beside) or (
        again and (secret is not None or alias in catalogue.public)
    ):
        raise RequestError(f"The table {alias} is named twice; each can be joined once.")
    pairs = _shared(names, schema) if natural else _using(node, names, schema)
    pairs = pairs or _on(node, names, alias.lower(), schema)
    if not pairs and kind in ("", _CROSS):
        joining = [part for part in conditions if _joins(part, names, alias.lower())]
        conditions = [part for part in conditions if not any(part is each for each in joining)]
        pairs = [
            _pair(part, names, alias.lower(), schema)
            for part in joining
            if isinstance(part, exp.EQ)
        ]
    if not pairs:
        raise RequestError(f"Say by which columns {table} is joined: USING (…) or ON ….")
    join = Join(table, tuple(pairs), outer=kind in _OUTER)
    if again:
        join = replace(join, table=alias, of=table)
    if secret is None:
        return replace(names, public={**names.public, alias.lower(): (join, schema)}), conditions
    return _with_lookup(names, join, alias, catalogue.beside[table], schema), conditions


def _with_lookup(
    names: Names, join: Join, alias: str, declared: Sequence[tuple[str, str]], schema: Schema
) -> Names:
    """A secret table is joined as it was declared; where the join is inner, rows have to find."""
    if set(join.on) != set(declared):
        pairs = " AND ".join(
            f"{names.data}.{own} = {join.table}.{other}" for own, other in declared
        )
        raise RequestError(f"The lookup table {join.table} is joined by its key alone: ON {pairs}.")
    found = names.found
    if not join.outer:
        found = (*found, public_column(join.table, declared[0][1]))
    return replace(names, beside={**names.beside, alias.lower(): (join, schema)}, found=found)


def _joins(node: exp.Expression, names: Names, alias: str) -> bool:
    """Whether a condition compares a column of the data with one of the table `alias`."""
    if type(node) is not exp.EQ:
        return False
    sides = [unwrapped(side) for side in (node.this, node.args["expression"])]
    tables = {
        side.args["table"].name.lower()
        for side in sides
        if type(side) is exp.Column and side.args.get("table") is not None
    }
    return tables == {names.data, alias}


def _using(node: exp.Join, names: Names, schema: Schema) -> list[tuple[str, str]]:
    listed = [each.name for each in node.args.get("using") or ()]
    return [(names.schema.resolve(name), schema.resolve(name)) for name in listed]


def _shared(names: Names, schema: Schema) -> list[tuple[str, str]]:
    """NATURAL JOIN: by all columns of one name."""
    own = {name.lower(): name for name in names.schema}
    return [(own[name.lower()], name) for name in schema if name.lower() in own]


def _on(node: exp.Join, names: Names, alias: str, schema: Schema) -> list[tuple[str, str]]:
    """The pairs of `a.x = b.y AND …`, one side of each from the data, the other from `alias`."""
    pairs: list[tuple[str, str]] = []
    pending = [node.args["on"]] if node.args.get("on") is not None else []
    while pending:
        part = unwrapped(pending.pop())
        if type(part) is exp.And:
            pending += [part.args["expression"], part.this]
            continue
        if type(part) is not exp.EQ:
            raise RequestError(f"{shown(part)} is not allowed in ON: compare columns by = and AND.")
        pairs.append(_pair(part, names, alias, schema))
    return pairs


def _pair(node: exp.EQ, names: Names, alias: str, schema: Schema) -> tuple[str, str]:
    sides: dict[bool, str] = {}
    for side in (unwrapped(node.this), unwrapped(node.args["expression"])):
        if type(side) is not exp.Column:
            raise RequestError(f"{shown(side)} is not allowed in ON: compare columns by = and AND.")
        public = _is_public(side, names, alias, schema)
        sides[public] = (schema if public else names.schema).resolve(side.name)
    if len(sides) != 2:
        raise RequestError(f"{shown(node)} must compare the data with the public table.")
    return sides[False], sides[True]


def _is_public(side: exp.Column, names: Names, alias: str, schema: Schema) -> bool:
    """Whether a column in ON is of the public table; of the data else."""
    table = side.args.get("table")
    if table is None:
        sides = [
            any(side.name.lower() == known.lower() for known in each)
            for each in (names.schema, schema)
        ]
        if all(sides):
            raise RequestError(f"Write {side.name} in ON with its table, as table.{side.name}.")
        return sides[1]
    if table.name.lower() not in (alias, names.data):
        raise RequestError("A public table is joined by columns of the data, not of another.")
    return bool(table.name.lower() == alias)


def _table(node: object) -> tuple[str, str]:
    """The name of a table and what the statement calls it."""
    if isinstance(node, exp.Subquery | exp.Select):
        raise RequestError("A subquery is not allowed: FROM names the data set itself.")
    if type(node) is not exp.Table or type(node.this) is not exp.Identifier:
        raise RequestError(f"{shown(node)} is not allowed in FROM: name the data set itself.")
    for part, value in node.args.items():
        # A schema before the name says where the table lies, and there is one of that name here.
        if value and part not in ("this", "alias", "db"):
            raise RequestError(f"FROM {shown(node)} is not allowed: name the data set alone.")
    alias = node.args.get("alias")
    if alias is None:
        return node.name, node.name
    only(alias, "this")
    return node.name, alias.name


def _found(table: tuple[Join | None, Schema], name: str) -> Column | None:
    """The column of that name in a table, up to case where that leaves one."""
    join, schema = table
    alike = [known for known in schema if known.lower() == name.lower()]
    if name not in schema and len(alike) != 1:
        return None
    column = name if name in schema else alike[0]
    return Column(column) if join is None else _of_public(join, column)


def _of_public(join: Join, column: str) -> Column:
    for own, other in join.on:
        if other == column and not join.outer:
            return Column(own)
    return Column(public_column(join.table, column))
