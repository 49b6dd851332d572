"""From the text of a SELECT to our own `Select`, by allow-list: the rest is refused by name.

sqlglot reads the statement. As with predicates, what is asked of the data is never rendered from
its tree: every clause and every node is taken over by its exact type, and columns, filters and keys
go through the same parser as everywhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from types import MappingProxyType

from sqlglot import exp

from onesided.errors import InputError, RequestError
from onesided.language.aggregates import AGGREGATES, FigureReader, RowExpressions, refuse_aggregate
from onesided.language.canonical import canonical_text
from onesided.language.composing import composition
from onesided.language.items import SelectItem, flat, is_bare, measures
from onesided.language.limits import rows_shown
from onesided.language.names import read_names
from onesided.language.nodes import only, unwrapped
from onesided.language.parser import read_statements
from onesided.language.predicate import Key, Predicate
from onesided.language.public_parts import PublicTables, with_public_parts
from onesided.language.quantiles import is_quantile, quantiles
from onesided.language.query import (
    Aggregate,
    Catalogue,
    ComposedSelect,
    Ordering,
    Output,
    Select,
    SelectFigure,
    figure_column,
    key_column,
    quantile_column,
    window_column,
)
from onesided.language.ranges import Range
from onesided.language.refusals import shown
from onesided.language.released import computed, released_column, text_of
from onesided.language.signed import signed
from onesided.language.spread import SPREADS, spread
from onesided.language.statement import prepared
from onesided.language.tree import And, Column, Expression, IsNull, Not, Value

_CLAUSES = {
    *("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset"),
    *("distinct", "with_", "qualify"),
}
#: Each is a question of its own, and the budget is shared by all of them.
_MOST_SETS = 64

_REASONS = {
    "windows": "A WINDOW clause is not allowed: write each window out, as OVER (…).",
    "sample": "Sampling is not allowed here: ask for a sample, which has a promise of its own.",
    "into": "SELECT INTO is not allowed: write the released result where it is wanted.",
    "laterals": "A lateral join is not allowed: join public tables by a key.",
    "locks": "FOR UPDATE is not allowed: nothing is ever written.",
    "pivots": "PIVOT is not allowed: turn the released result around.",
}


def parse_select(
    text: str,
    catalogue: Catalogue,
    parameters: Sequence[Value] = (),
    ranges: Mapping[str, Range] = MappingProxyType({}),
) -> Select:
    """The one SELECT that `text` means; see `parse_statement`."""
    found = parse_statement(text, catalogue, parameters, ranges)
    if found.outer is not None:
        raise RequestError("This is made of several SELECTs; ask one.")
    return found.selects[0]


def parse_statement(
    text: str,
    catalogue: Catalogue,
    parameters: Sequence[Value] = (),
    ranges: Mapping[str, Range] = MappingProxyType({}),
    tables: PublicTables | None = None,
) -> ComposedSelect:
    """The statement that `text` means, with each of `parameters` for a `?` in it.

    InputError names the part that is not accepted.

    - `ranges`: between which numbers columns are declared to lie; variances are taken around them.
    - `tables`: computes what a statement makes of public tables alone.
    """
    statement = read_statements(prepared(text, parameters), "The statement")[0]
    if tables is not None and catalogue.public and isinstance(statement, exp.Expression):
        catalogue = with_public_parts(statement, catalogue, tables)
    found = composition(statement, check_clauses)
    selects = tuple(_Reading(each, catalogue, ranges).select() for each in found.asked)
    return ComposedSelect(selects, found.outer)


def check_clauses(statement: object) -> exp.Select:
    """Refuse what is no SELECT of the clauses that are understood."""
    if type(statement) is not exp.Select:
        raise RequestError("Only a SELECT is answered; ask one.")
    for name, value in statement.args.items():
        if value and name not in _CLAUSES:
            clause = name.strip("_").upper()
            raise RequestError(_REASONS.get(name, f"The clause {clause} is not allowed here."))
    return statement


class _Reading:
    """One pass over the clauses of a statement, in the order in which they depend on each other."""

    def __init__(
        self, statement: exp.Select, catalogue: Catalogue, ranges: Mapping[str, Range]
    ) -> None:
        self._statement = statement
        self._catalogue, self._ranges = catalogue, ranges
        self._names, self._condition = read_names(statement, catalogue)
        self._figures: dict[SelectFigure, int] = {}
        self._windows: list[str] = []
        self._quantiles: dict[SelectFigure, list[float]] = {}
        self._items = [SelectItem.of(node) for node in statement.expressions]
        self._aliases = {item.alias.lower(): item for item in self._items if item.alias}
        self._keys: list[Key] = []

    def select(self) -> Select:
        sets = self._grouped()
        outputs = self._outputs()
        having, order, qualify = self._having(), self._order(), self._qualify()
        self._check_windows()
        if not self._figures:
            # Which groups there are is a question too.
            self._figures[SelectFigure(Aggregate.GROUPS)] = 0
        limit, offset = rows_shown(self._statement)
        return Select(
            outputs=outputs,
            keys=tuple(self._keys),
            figures=tuple(self._figures),
            sets=sets,
            joins=self._names.joins,
            quantiles={figure: tuple(each) for figure, each in self._quantiles.items()},
            where=self._where(),
            having=having,
            windows=tuple(self._windows),
            qualify=qualify,
            order=order,
            limit=limit,
            offset=offset,
        )

    def _outputs(self) -> tuple[Output, ...]:
        """The columns of the answer. Names that nobody gave and that are alike get a number."""
        outputs = tuple(map(self._output, self._items))
        given = [item.alias.lower() for item in self._items if item.alias]
        if len(set(given)) != len(given):
            raise RequestError("Two columns of the result have one name; give one an alias.")
        taken = set(given)
        found = []
        for item, output in zip(self._items, outputs, strict=True):
            name, number = output.name, 0
            while not item.alias and name.lower() in taken:
                number += 1
                name = f"{output.name}_{number}"
            taken.add(name.lower())
            found.append(replace(output, name=name))
        return tuple(found)

    def _output(self, item: SelectItem) -> Output:
        text = self._released(item.node, aliases_first=False)
        key = self._key_of(item.node)
        return Output(item.alias or self._usual_name(item.node, key), text, key)

    def _usual_name(self, node: exp.Expression, key: Key | None) -> str:
        """A column keeps its own name, whichever table it is from."""
        if type(node) is exp.Column:
            return str(node.name)
        if isinstance(node, AGGREGATES) and not is_quantile(node):
            return FigureReader(self._names).figure(node).name
        return shown(node) if key is None else key.name

    def _released(self, node: object, *, aliases_first: bool, windows: bool = True) -> str:
        """An expression over keys and figures. Where a name is both, what comes first counts."""
        noted = self._noted_window if windows else None

        def known(part: exp.Expression) -> exp.Expression | None:
            item = self._aliased(part)
            if item is not None and (aliases_first or self._key_of(part) is None):
                return exp.Paren(this=computed(item.node, self._stands_for, noted))
            return self._stands_for(part)

        return text_of(computed(node, known, noted))

    def _stands_for(self, part: exp.Expression) -> exp.Expression | None:
        """The released column of a figure or a key."""
        if is_quantile(part):
            return quantiles(part, FigureReader(self._names)).released(self._noted_quantile)
        if isinstance(part, AGGREGATES):
            figure = FigureReader(self._names).figure(part)
            schema = self._catalogue.joined(self._names.joins)
            apart = signed(figure, schema, self._ranges, self._noted)
            return released_column(self._noted(figure)) if apart is None else apart
        if isinstance(part, SPREADS):
            schema = self._catalogue.joined(self._names.joins)
            reader = FigureReader(self._names)
            return spread(part, reader, schema, self._ranges, self._noted)
        if isinstance(part, exp.AggFunc | exp.Window | exp.Subquery | exp.Select):
            refuse_aggregate(part)
        key = self._key_of(part)
        if key is not None:
            return released_column(key_column(self._keys.index(key)))
        if type(part) is exp.Column:
            name = self._names.column(part).name
            raise RequestError(
                f"{name} is selected but not in GROUP BY; add it there, or count or sum it."
            )
        return None

    def _noted(self, figure: SelectFigure) -> str:
        """The released column of a figure, which is to be measured."""
        return figure_column(self._figures.setdefault(figure, len(self._figures)))

    def _noted_window(self, window: exp.Expression) -> exp.Expression:
        """The column of a window over released values."""
        text = text_of(window)
        if text not in self._windows:
            self._windows.append(text)
        return released_column(window_column(self._windows.index(text)))

    def _check_windows(self) -> None:
        """A window is over groups: without any it would be over the rows of the data."""
        statement = self._statement
        if statement.args.get("qualify") and not self._windows:
            raise RequestError("QUALIFY is about a window; use HAVING.")
        grouped = self._figures or statement.args.get("group")
        if self._windows and (not grouped or statement.args.get("distinct")):
            raise RequestError(
                "A window over the rows of the data is not allowed: it would see single records. "
                "Over groups it is computed from what is released; add GROUP BY."
            )

    def _noted_quantile(self, figure: SelectFigure, quantile: float) -> str:
        """The released column of a quantile, which is read from a figure."""
        column, known = self._noted(figure), self._quantiles.setdefault(figure, [])
        if quantile not in known:
            known.append(quantile)
        return quantile_column(column, known.index(quantile))

    def _key_of(self, node: exp.Expression) -> Key | None:
        """The group key that a part of the statement spells."""
        if isinstance(node, exp.Literal | exp.Boolean | exp.Null | exp.AggFunc):
            return None
        try:
            key = self._key(node)
        except InputError:
            return None
        return key if key in self._keys else None

    def _key(self, node: object) -> Key:
        refuse_aggregate(node)
        return Key.parse(canonical_text(RowExpressions(self._names).convert(node, 0)))

    def _grouped(self) -> tuple[tuple[int, ...], ...]:
        """The keys are noted, and by which of them is grouped at a time."""
        group = self._statement.args.get("group")
        if self._statement.args.get("distinct"):
            return self._distinct(group)
        if group is None:
            return ((),)
        if group.args.get("all"):
            only(group, "all")
            return (tuple(self._place(item.node) for item in self._items if not measures(item)),)
        only(group, "expressions")
        parts = [self._sets_of(item) for item in group.expressions]
        sets = [
            tuple(sorted({place for part in each for place in part})) for each in product(*parts)
        ]
        if len(sets) > _MOST_SETS:
            raise RequestError(f"More than {_MOST_SETS} groupings at a time; ask for fewer.")
        return tuple(dict.fromkeys(sets))

    def _distinct(self, group: object) -> tuple[tuple[int, ...], ...]:
        """SELECT DISTINCT lists the groups that there are."""
        only(self._statement.args["distinct"])
        if group is not None:
            raise RequestError("SELECT DISTINCT is not allowed with GROUP BY; leave it out.")
        if any(map(measures, self._items)):
            raise RequestError("SELECT DISTINCT with a figure is not allowed: use GROUP BY.")
        return (tuple(self._place(item.node) for item in self._items),)

    def _sets_of(self, node: object) -> list[tuple[int, ...]]:
        """The groupings of one item of GROUP BY: one for a key, several for ROLLUP and the like."""
        inner = unwrapped(node)
        match inner:
            case exp.Rollup():
                keys = [self._joint(each) for each in inner.expressions]
                return [flat(keys[:most]) for most in range(len(keys), -1, -1)]
            case exp.Cube():
                keys = [self._joint(each) for each in inner.expressions]
                sizes = range(len(keys), -1, -1)
                return [flat(chosen) for size in sizes for chosen in combinations(keys, size)]
            case exp.GroupingSets():
                return [found for each in inner.expressions for found in self._sets_of(each)]
            case _:
                return [self._joint(inner)]

    def _joint(self, node: object) -> tuple[int, ...]:
        """The places of one key, or of several in parentheses."""
        inner = unwrapped(node)
        if type(inner) is exp.Tuple:
            return tuple(self._place(each) for each in inner.expressions)
        return (self._place(inner),)

    def _place(self, node: object) -> int:
        """The place of a key, which is noted where it is new."""
        inner = unwrapped(node)
        item = self._referred(inner, "GROUP BY")
        try:
            key = self._key(inner if item is None else item.node)
        except InputError:
            aliased = self._aliased(inner)
            if aliased is None:
                raise
            key = self._key(aliased.node)
        if key not in self._keys:
            self._keys.append(key)
        return self._keys.index(key)

    def _referred(self, node: object, clause: str) -> SelectItem | None:
        """The item that a position stands for."""
        if type(node) is not exp.Literal or node.is_string:
            return None
        position = int(node.name) if node.name.isdigit() else 0
        if not 1 <= position <= len(self._items):
            raise RequestError(f"{clause} {node.name} is no position in the list of columns.")
        return self._items[position - 1]

    def _aliased(self, node: object) -> SelectItem | None:
        if not isinstance(node, exp.Expression) or not is_bare(node):
            return None
        return self._aliases.get(node.name.lower())

    def _where(self) -> Predicate | None:
        # A secret table is joined to every row anyhow: an inner join leaves out what is not found.
        parts: list[Expression] = [Not(IsNull(Column(name))) for name in self._names.found]
        if self._condition is not None:
            refuse_aggregate(self._condition)
            parts.insert(0, RowExpressions(self._names).convert(self._condition, 0))
        if not parts:
            return None
        return Predicate.parse(canonical_text(parts[0] if len(parts) == 1 else And(tuple(parts))))

    def _having(self) -> str | None:
        having = self._statement.args.get("having")
        return (
            None
            if having is None
            else self._released(having.this, aliases_first=False, windows=False)
        )

    def _qualify(self) -> str | None:
        qualify = self._statement.args.get("qualify")
        return None if qualify is None else self._released(qualify.this, aliases_first=True)

    def _order(self) -> tuple[Ordering, ...]:
        order = self._statement.args.get("order")
        if order is None:
            return ()
        only(order, "expressions")
        terms = order.expressions
        if len(terms) == 1 and self._is_every(terms[0].this):
            listed = range(1, len(self._items) + 1)
            places = (exp.Literal.number(place) for place in listed)
            ways = {name: terms[0].args.get(name) for name in ("desc", "nulls_first")}
            terms = [exp.Ordered(this=place, **ways) for place in places]
        return tuple(self._ordering(term) for term in terms)

    def _is_every(self, node: object) -> bool:
        """ORDER BY ALL"""
        named = isinstance(node, exp.Column | exp.Var | exp.All)
        return named and shown(node).upper() == "ALL" and "all" not in self._aliases

    def _ordering(self, term: exp.Expression) -> Ordering:
        only(term, "this", "desc", "nulls_first")
        node = unwrapped(term.this)
        item = self._referred(node, "ORDER BY")
        text = (
            self._released(node, aliases_first=True)
            if item is None
            else self._released(item.node, aliases_first=False)
        )
        return Ordering(text, bool(term.args.get("desc")), bool(term.args.get("nulls_first")))
