"""SQL: one SELECT is answered by counts, sums and means, and by what can be done with them.

Every figure of the statement is a question of its own and gets an equal share of ε. HAVING, ORDER
BY and LIMIT look at released values alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from onesided.data.release import QueryRelease, Receipt, ReleaseKind, TableRelease, payload_of
from onesided.data.units import Unit
from onesided.engine.base import Engine, PublicTable
from onesided.engine.lookups import found
from onesided.errors import RequestError
from onesided.language import BoundPredicate, Key, Schema
from onesided.language.query import Aggregate, Catalogue, Figure, Select, key_text
from onesided.language.tree import Expression, Value
from onesided.ledger import StoredRelease
from onesided.loss import Loss, Number, show
from onesided.session.amounts import Amount, column_amount, rows_amount
from onesided.session.counting import Counting, checked_mechanism, whole_loss
from onesided.session.domains import both
from onesided.session.grouping import Grouping, grouping
from onesided.session.public import determined, lookups
from onesided.session.receipts import guarantee, loss_statement
from onesided.session.requests import Request
from onesided.session.results import result
from onesided.session.scope import Scope, policy_text
from onesided.session.summing import Averaging, Summing, present_groups
from onesided.session.workbench import Workbench


class Question(Protocol):
    """One figure by group: a count, a sum or a mean."""

    def request(self, scope: Scope, epsilon: Fraction) -> Request: ...

    def release(self, bench: Workbench, epsilon: Fraction, *, fresh: bool) -> StoredRelease: ...


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a SELECT does not say and a promise needs.

    - `max_groups`: the most groups that count for one unit.
    - `max_rows`: the most rows that count for one unit in a group, for COUNT(*) and AVG.
    - `bounds`, `grid`: for each column that is summed, B and the width of a step.
    - `nonnegative`: the columns in which no value is below 0.
    - `domain`: the values of a key, by its name or alias.
    - `mechanism`: what counts units.
    """

    max_groups: int | None = None
    max_rows: int | None = None
    bounds: Mapping[str, Number]
    grid: Mapping[str, Number]
    nonnegative: Collection[str]
    domain: Mapping[str, Sequence[Any]]
    mechanism: str = "auto"


@dataclass(frozen=True)
class Surroundings:
    """What a SELECT is asked of: the data set as it was opened."""

    engine: Engine
    names: tuple[str, ...]
    public: Mapping[str, PublicTable]
    domains: Mapping[str, Sequence[Any]]
    units: int

    @property
    def catalogue(self) -> Catalogue:
        """The tables that a statement may name."""
        schemas = {name: table.schema for name, table in self.public.items()}
        return Catalogue(self.names, self.engine.schema, schemas)


@dataclass(frozen=True)
class Asked:
    """An accepted SELECT with a question for each of its figures."""

    text: str
    select: Select
    having: Expression | None
    questions: Mapping[Figure, Question]

    def release(self, bench: Workbench, epsilon: Fraction, *, fresh: bool) -> QueryRelease:
        """Charge and answer each figure in turn, then do the rest of the statement for free."""
        share = epsilon / len(self.questions)
        self._check_affordable(bench, share, fresh=fresh)
        released = {
            figure: question.release(bench, share, fresh=fresh)
            for figure, question in self.questions.items()
        }
        tables = {
            figure: TableRelease(Receipt(stored.receipt), stored.payload)
            for figure, stored in released.items()
        }
        answer = result(
            self.select, self.having, {figure: each.table for figure, each in tables.items()}
        )
        named = {figure.name: table for figure, table in tables.items()}
        receipt = self._receipt(bench, epsilon, [each.receipt for each in tables.values()])
        return QueryRelease(Receipt(receipt), payload_of(answer), named)

    def _check_affordable(self, bench: Workbench, share: Fraction, *, fresh: bool) -> None:
        """All figures or none: a statement must not run out of budget halfway."""
        unpaid = [
            question
            for question in self.questions.values()
            if fresh or bench.kernel.stored(question.request(bench.scope, share)) is None
        ]
        if len(unpaid) > 1:
            loss = Loss.sequential(_planned_loss(question, share) for question in unpaid)
            bench.kernel.check_affordable(bench.scope.spending(loss))

    def _receipt(
        self, bench: Workbench, epsilon: Fraction, receipts: list[Receipt]
    ) -> dict[str, Any]:
        """One receipt for the whole: the sums of what the figures' receipts say, and these."""
        loss = Loss.sequential(receipt.loss for receipt in receipts)
        policy, last = policy_text(bench.scope.policy), receipts[-1]
        accounts = [receipt["account"] for receipt in receipts]
        costs = [Fraction(account["cost"]) for account in accounts]
        names = [figure.name for figure in self.questions]
        return {
            **last.content,
            "kind": ReleaseKind.SQL.value,
            "request": {
                "kind": ReleaseKind.SQL.value,
                "sql": self.text,
                "by": [each.name for each in self.select.outputs if isinstance(each.source, Key)],
                "epsilon": show(epsilon),
            },
            "mechanism": ", ".join(dict.fromkeys(str(each["mechanism"]) for each in receipts)),
            **loss_statement(loss),
            "guarantee": guarantee(loss, policy, bench.circumstances.unit),
            "noise": "; ".join(dict.fromkeys(str(each["noise"]) for each in receipts)),
            "error": {name: each["error"] for name, each in zip(names, receipts, strict=True)},
            "account": {
                **last["account"],
                "charges": [number for account in accounts for number in account["charges"]],
                "cost": show(sum(costs, start=Fraction(0))),
            },
            "figures": {
                name: dict(each.content) for name, each in zip(names, receipts, strict=True)
            },
        }


def asked(
    text: str,
    parameters: Sequence[Value],
    where: Surroundings,
    limits: Limits,
    scope: Scope,
    epsilon: Fraction,
) -> Asked:
    """Read a statement and check every figure, before anything is paid."""
    catalogue = where.catalogue
    select = Select.parse(text, catalogue, parameters)
    if {key.name for key in select.keys} & {figure.name for figure in select.figures}:
        raise RequestError("A group key has the name of a figure; rename the column.")
    schema = catalogue.joined(select.joins)
    groups = _grouping(select, schema, where, limits, scope)
    questions = {
        figure: _question(
            figure, groups, schema, where, limits, scope, epsilon / len(select.figures)
        )
        for figure in select.figures
    }
    return Asked(text, select, select.bound_having(schema), questions)


def _grouping(
    select: Select, schema: Schema, where: Surroundings, limits: Limits, scope: Scope
) -> Grouping:
    joined = lookups(where.engine.schema, where.public, select.joins)
    inside: BoundPredicate | None = scope.inside
    for lookup in joined:
        inside = both(inside, found(lookup, schema))
    unit = where.engine.unit
    constant: Collection[str] = determined(joined, unit.columns)
    if where.engine.rows_are_units:
        constant = schema
    groups = grouping(
        schema,
        unit,
        by=[key_text(key) for key in select.keys],
        where=None if select.where is None else select.where.bind(schema),
        max_groups=limits.max_groups,
        domain=_domains(select, limits.domain),
        usual=where.domains,
        part=inside,
        determined=constant,
    )
    if not joined:
        return groups
    described = [
        {"table": each.table.name, "on": [list(pair) for pair in each.on], "is": each.table.digest}
        for each in joined
    ]
    return replace(groups, lookups=joined, details={**groups.details, "join": described})


def _domains(select: Select, declared: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Domains by key; an alias, or a public column without its table, names a key too."""
    keys = {each.name: each.source for each in select.outputs if isinstance(each.source, Key)}
    return {
        key_text(keys[name]) if name in keys else name: values for name, values in declared.items()
    }


def _question(
    figure: Figure,
    groups: Grouping,
    schema: Schema,
    where: Surroundings,
    limits: Limits,
    scope: Scope,
    epsilon: Fraction,
) -> Question:
    unit, single = where.engine.unit, where.engine.rows_are_units
    if figure.aggregate is Aggregate.UNITS:
        _check_unit(figure, unit)
    if figure.aggregate is Aggregate.UNITS or (figure.aggregate is Aggregate.ROWS and single):
        counting = Counting(checked_mechanism(limits.mechanism, {}), groups, {})
        counting.check(scope.policy, where.units)
        return counting
    if figure.aggregate is Aggregate.ROWS:
        summing = Summing(groups, _rows(unit, limits, where.units, figure))
        summing.check(epsilon)
        return summing
    amount = _amount(figure, schema, where, limits)
    present = present_groups(groups, amount, schema)
    answer: Summing | Averaging
    if figure.aggregate is Aggregate.SUM:
        answer = Summing(present, amount)
    else:
        rows = None if single else _rows(unit, limits, where.units, figure)
        answer = Averaging(present, amount, rows)
    answer.check(epsilon)
    return answer


def _planned_loss(question: Question, epsilon: Fraction) -> Loss:
    if isinstance(question, Counting):
        fixed_n = question.groups.every_unit_once
        return whole_loss(question.mechanism, epsilon, fixed_n=fixed_n)
    assert isinstance(question, Summing | Averaging)
    return question.planned_loss(epsilon)


def _check_unit(figure: Figure, unit: Unit) -> None:
    if unit.is_row:
        raise RequestError("Every row is a unit here: count them by COUNT(*).")
    if sorted(figure.columns) != sorted(unit.columns):
        raise RequestError(
            f"{figure.name} is not allowed: only units can be counted so, and their key is {unit}."
        )


def _rows(unit: Unit, limits: Limits, units: int, figure: Figure) -> Amount:
    if limits.max_rows is None:
        raise RequestError(
            f"A unit ({unit}) may have any number of rows in a group; say with max_rows how many "
            f"count for {figure.name}, or count units by COUNT(DISTINCT …)."
        )
    return rows_amount(limits.max_rows, units)


def _amount(figure: Figure, schema: Schema, where: Surroundings, limits: Limits) -> Amount:
    (column,) = figure.columns
    bounds, grids = (_by_column(schema, each) for each in (limits.bounds, limits.grid))
    if column not in bounds:
        raise RequestError(
            f"{figure.name} needs a bound on what one unit may add; say it with bounds, such as "
            f"{{'{column}': 100}}."
        )
    return column_amount(
        schema,
        column,
        bound=bounds[column],
        grid=grids.get(column),
        nonnegative=column in {schema.resolve(each) for each in limits.nonnegative},
        units=where.units,
    )


def _by_column(schema: Schema, values: Mapping[str, Number]) -> dict[str, Number]:
    return {schema.resolve(name): value for name, value in values.items()}
