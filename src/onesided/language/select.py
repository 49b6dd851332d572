"""From the text of a SELECT to our own `Select`, by allow-list: the rest is refused by name.

sqlglot reads the statement. As with predicates, its tree is never rendered: every clause and every
node is taken over by its exact type, and columns, filters and keys go through the same parser as
everywhere else.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from onesided.errors import RequestError
from onesided.language.canonical import canonical_text
from onesided.language.names import Names, read_names
from onesided.language.parser import Conversion, only, read_statements, unwrapped
from onesided.language.predicate import Key, Predicate
from onesided.language.query import (
    Aggregate,
    Catalogue,
    Ordering,
    Output,
    Select,
    SelectFigure,
    Source,
)
from onesided.language.refusals import shown
from onesided.language.statement import prepared
from onesided.language.tree import And, Column, Expression, IsNull, Not, Value, rebuild
from onesided.language.types import Field, Type

_CLAUSES = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit"}
_AGGREGATES = (exp.Count, exp.Sum, exp.Avg)
_FREE = "compute it from the released columns, which is free"
#: Marks a column that stands for a figure; no column of a text has a type yet.
_MEASURED = Field(Type.FLOAT)

_REASONS = {
    "distinct": "SELECT DISTINCT is not allowed: group by the columns instead.",
    "offset": "OFFSET is not allowed: take the rows from the released result.",
    "qualify": "QUALIFY is not allowed: a window would see the data themselves.",
    "windows": "A WINDOW clause is not allowed: a window would see the data themselves.",
    "sample": "Sampling is not allowed here: ask for a sample, which has a promise of its own.",
    "into": "SELECT INTO is not allowed: write the released result where it is wanted.",
    "laterals": "A lateral join is not allowed: join public tables by a key.",
    "locks": "FOR UPDATE is not allowed: nothing is ever written.",
    "pivots": "PIVOT is not allowed: turn the released result around.",
}


def parse_select(text: str, catalogue: Catalogue, parameters: Sequence[Value] = ()) -> Select:
    """The statement that `text` means, with each of `parameters` for a `?` in it.

    InputError names the part that is not accepted.
    """
    statement = _statement(prepared(text, parameters))
    names = read_names(statement, catalogue)
    return _Reading(statement, names).select()


def _statement(text: str) -> exp.Select:
    statement = read_statements(text, "The statement")[0]
    if isinstance(statement, exp.SetOperation):
        raise RequestError(
            f"{statement.key.upper()} is not allowed: ask one SELECT after the other."
        )
    if type(statement) is not exp.Select:
        raise RequestError("Only a SELECT is answered; ask one.")
    for name, value in statement.args.items():
        if value and name not in _CLAUSES:
            clause = name.strip("_").upper()
            raise RequestError(_REASONS.get(name, f"The clause {clause} is not allowed here."))
    return statement


class _Rows(Conversion):
    """Expressions over the rows of the data and the joined public tables: WHERE and keys."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names

    def column(self, node: exp.Expression, depth: int) -> Expression:
        return self._names.column(node)


class _Released(_Rows):
    """Expressions over released values: HAVING and ORDER BY know aliases and figures too."""

    def __init__(self, reading: _Reading) -> None:
        super().__init__(reading.names)
        self._reading = reading

    def convert(self, node: object, depth: int) -> Expression:
        inner = unwrapped(node)
        if isinstance(inner, _AGGREGATES):
            return _standing_for(self._reading.figure(inner))
        return super().convert(inner, depth)

    def column(self, node: exp.Expression, depth: int) -> Expression:
        output = self._reading.aliased(node)
        if output is None:
            return super().column(node, depth)
        source = output.source
        return source.expression if isinstance(source, Key) else _standing_for(source)


class _Reading:
    """One pass over the clauses of a statement, in the order in which they depend on each other."""

    def __init__(self, statement: exp.Select, names: Names) -> None:
        self.names = names
        self._statement = statement
        self._outputs: list[Output] = []
        self._aliases: dict[str, Output] = {}
        self._figures: dict[SelectFigure, None] = {}
        self._keys: tuple[Key, ...] = ()

    def select(self) -> Select:
        for item in self._statement.expressions:
            self._add_output(item)
        self._check_outputs()
        self._keys = self._grouped()
        for output in self._outputs:
            if isinstance(output.source, Key) and output.source not in self._keys:
                raise RequestError(f"{output.source} is selected but not in GROUP BY; add it.")
        having = self._having()
        order = self._order()
        return Select(
            outputs=tuple(self._outputs),
            keys=self._keys,
            figures=tuple(self._figures),
            joins=self.names.joins,
            where=self._where(),
            having=having,
            order=order,
            limit=self._limit(order),
        )

    def figure(self, node: exp.Expression) -> SelectFigure:
        """The figure that an aggregate stands for, noted as one to be measured."""
        figure = self._read_figure(node)
        self._figures.setdefault(figure)
        return figure

    def aliased(self, node: exp.Expression) -> Output | None:
        """The output that a bare name stands for."""
        if type(node) is not exp.Column or node.args.get("table") is not None:
            return None
        return self._aliases.get(node.name.lower())

    def _add_output(self, item: object) -> None:
        alias = None
        if type(item) is exp.Alias:
            only(item, "this", "alias")
            alias, item = item.alias, item.this
        node = unwrapped(item)
        source: Source = self._figure_or_key(node)
        output = Output(alias or self._usual_name(node, source), source)
        self._outputs.append(output)
        if alias is None:
            return
        if alias.lower() in self._aliases or not self.names.is_free(alias, source):
            raise RequestError(f"The alias {alias} names something else already; choose another.")
        self._aliases[alias.lower()] = output

    def _figure_or_key(self, node: object) -> Source:
        return self.figure(node) if isinstance(node, _AGGREGATES) else self._key(node)

    def _usual_name(self, node: object, source: Source) -> str:
        """A column keeps its own name, whichever table it is from."""
        return node.name if type(node) is exp.Column else source.name

    def _check_outputs(self) -> None:
        if not self._figures:
            raise RequestError("Select at least one figure: COUNT, SUM or AVG.")
        listed = [output.name.lower() for output in self._outputs]
        if len(set(listed)) != len(listed):
            raise RequestError("Two columns of the result have one name; give one an alias.")

    def _key(self, node: object) -> Key:
        _refuse_aggregate(node)
        tree = _Rows(self.names).convert(node, 0)
        return Key.parse(canonical_text(tree))

    def _grouped(self) -> tuple[Key, ...]:
        group = self._statement.args.get("group")
        if group is None:
            return ()
        if set(_present(group)) != {"expressions"}:
            raise RequestError("GROUP BY takes a list of keys; ALL, ROLLUP and the like are not.")
        keys = [self._group_key(unwrapped(item)) for item in group.expressions]
        if len({key.name for key in keys}) != len(keys):
            raise RequestError("Each group key may be named once.")
        return tuple(keys)

    def _group_key(self, node: object) -> Key:
        output = self._referred(node, "GROUP BY")
        source: Source = output.source if output is not None else self._key(node)
        if isinstance(source, SelectFigure):
            raise RequestError(f"{source.name} is measured for each group; it cannot be a key.")
        return source

    def _referred(self, node: object, clause: str) -> Output | None:
        """The output that a position or an alias stands for."""
        if type(node) is exp.Literal and not node.is_string:
            position = int(node.name) if node.name.isdigit() else 0
            if not 1 <= position <= len(self._outputs):
                raise RequestError(f"{clause} {node.name} is no position in the list of columns.")
            return self._outputs[position - 1]
        return self.aliased(node) if isinstance(node, exp.Expression) else None

    def _where(self) -> Predicate | None:
        where = self._statement.args.get("where")
        found: list[Expression] = [Not(IsNull(Column(name))) for name in self.names.found]
        if where is not None:
            found.insert(0, _Rows(self.names).convert(where.this, 0))
        if not found:
            return None
        return Predicate.parse(canonical_text(found[0] if len(found) == 1 else And(tuple(found))))

    def _having(self) -> Expression | None:
        having = self._statement.args.get("having")
        if having is None:
            return None
        return self._of_released(_Released(self).convert(having.this, 0))

    def _of_released(self, node: Expression) -> Expression:
        """The tree with every key as a column of the result; other columns are not released."""
        for key in self._keys:
            if node == key.expression:
                return Column(key.name)
        if isinstance(node, Column) and node.field is None:
            raise RequestError(f"{node.name} is not in GROUP BY, so HAVING cannot look at it.")
        return rebuild(node, self._of_released)

    def _order(self) -> tuple[Ordering, ...]:
        order = self._statement.args.get("order")
        if order is None:
            return ()
        only(order, "expressions")
        return tuple(self._ordering(term) for term in order.expressions)

    def _ordering(self, term: exp.Expression) -> Ordering:
        only(term, "this", "desc", "nulls_first")
        node = unwrapped(term.this)
        output = self._referred(node, "ORDER BY")
        source = output.source if output is not None else self._figure_or_key(node)
        if isinstance(source, Key) and source not in self._keys:
            raise RequestError(f"{source} is not in GROUP BY, so ORDER BY cannot look at it.")
        return Ordering(source, bool(term.args.get("desc")), bool(term.args.get("nulls_first")))

    def _limit(self, order: tuple[Ordering, ...]) -> int | None:
        limit = self._statement.args.get("limit")
        if limit is None:
            return None
        number = limit.args.get("expression")
        if set(_present(limit)) != {"expression"} or not _is_whole(number):
            raise RequestError("LIMIT takes a whole number of rows.")
        if not order:
            raise RequestError("LIMIT needs an ORDER BY: without one any rows could be meant.")
        return int(number.name)

    def _read_figure(self, node: exp.Expression) -> SelectFigure:
        allowed = ("this", "big_int") if type(node) is exp.Count else ("this",)
        if not set(_present(node)) <= set(allowed):
            raise RequestError(f"{shown(node)} is not allowed: an aggregate has one argument.")
        if type(node) is exp.Count:
            return self._count(node)
        return SelectFigure(_BY_COLUMN[type(node)], (self._summed(node),))

    def _count(self, node: exp.Count) -> SelectFigure:
        what = node.this
        if type(what) is exp.Star and not _present(what):
            return SelectFigure(Aggregate.ROWS)
        if type(what) is exp.Distinct and set(_present(what)) == {"expressions"}:
            parts = [part for each in what.expressions for part in _members(each)]
            return SelectFigure(Aggregate.UNITS, tuple(map(self._unit_part, parts)))
        raise RequestError(
            f"{shown(node)} is not allowed: count rows by COUNT(*), and units by "
            "COUNT(DISTINCT …) of their key."
        )

    def _unit_part(self, node: object) -> str:
        """A column, or how a part of the unit's key is computed, such as date(ts)."""
        inner = unwrapped(node)
        return self._plain_column(inner) if type(inner) is exp.Column else self._key(inner).name

    def _summed(self, node: exp.Expression) -> str:
        inner = unwrapped(node.this)
        if type(inner) is not exp.Column:
            raise RequestError(f"{shown(node)} is not allowed: sum or average a single column.")
        return self._plain_column(inner)

    def _plain_column(self, node: object) -> str:
        inner = unwrapped(node)
        if type(inner) is not exp.Column:
            raise RequestError(f"{shown(inner)} is not allowed there: name a column.")
        return self.names.column(inner).name


_BY_COLUMN: dict[type[exp.Expression], Aggregate] = {
    exp.Sum: Aggregate.SUM,
    exp.Avg: Aggregate.MEAN,
}


def _standing_for(figure: SelectFigure) -> Column:
    return Column(figure.name, _MEASURED)


def _members(node: object) -> Sequence[object]:
    """COUNT(DISTINCT (a, b)) and COUNT(DISTINCT a, b) say the same."""
    inner = unwrapped(node)
    if type(inner) is exp.Tuple:
        only(inner, "expressions")
        members: Sequence[object] = inner.expressions
        return members
    return [inner]


def _refuse_aggregate(node: object) -> None:
    """Refuse what is neither a key nor one of the figures, and say why."""
    if isinstance(node, exp.Window):
        raise RequestError(
            f"The window {shown(node)} is not allowed: it would see the data themselves."
        )
    if isinstance(node, exp.Filter):
        raise RequestError("FILTER is not allowed: put the condition into WHERE.")
    if isinstance(node, exp.AggFunc):
        raise RequestError(
            f"{shown(node)} is not allowed: the figures are COUNT(*), COUNT(DISTINCT …) of the "
            "units' key, SUM and AVG."
        )
    if isinstance(node, exp.Subquery | exp.Select | exp.Exists):
        raise RequestError("A subquery is not allowed: ask one SELECT after the other.")
    if isinstance(node, exp.Expression) and any(node.find_all(exp.AggFunc)):
        raise RequestError(f"{shown(node)} is not allowed: {_FREE}.")


def _present(node: exp.Expression) -> list[str]:
    return [name for name, value in node.args.items() if value]


def _is_whole(node: object) -> bool:
    return type(node) is exp.Literal and not node.is_string and node.name.isdigit()
