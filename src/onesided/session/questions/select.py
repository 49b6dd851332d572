"""SQL: one SELECT is answered by its figures, and by what can be done with them for free.

Arithmetic on figures, HAVING, ORDER BY and LIMIT look at released values alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from onesided.data.release import QueryRelease, Receipt, ReleaseKind, TableRelease, payload_of
from onesided.language.query import Select, figure_column
from onesided.language.tree import Value
from onesided.loss import Loss, show
from onesided.session.facts import DatasetFacts
from onesided.session.lookups import lookup_statement
from onesided.session.maps import map_terms
from onesided.session.questions.figures import Figures, GroupQuestion, Limits
from onesided.session.receipts import column_statement, guarantee, loss_statement
from onesided.session.results import AskedFigure, check_result, result
from onesided.session.scope import Scope, policy_text


@dataclass(frozen=True)
class AskedSelect:
    """An accepted SELECT with a question for each of its figures, which share `epsilon`."""

    text: str
    select: Select
    questions: Mapping[AskedFigure, GroupQuestion]
    facts: DatasetFacts
    scope: Scope
    epsilon: Fraction

    def release(self, released: Sequence[TableRelease]) -> QueryRelease:
        """The rest of the statement, from the releases of its figures in their order."""
        tables = dict(zip(self.questions, released, strict=True))
        answer = result(self.select, {asked: each.table for asked, each in tables.items()})
        receipts = [each.receipt for each in released]
        content = {
            **self._receipt(receipts),
            "columns": column_statement(answer.schema),
        }
        named = {asked.name: table for asked, table in tables.items()}
        return QueryRelease(Receipt(content), payload_of(answer), named, self._sources)

    @property
    def _sources(self) -> dict[str, str]:
        """From which key or figure a column comes, where it is one as it stands."""
        found = {each.name: each.key.name for each in self.select.outputs if each.key is not None}
        if len(self.select.sets) > 1:
            return found
        figures = {
            f'"{figure_column(place)}"': each.name for place, each in enumerate(self.select.figures)
        }
        plain = {
            each.name: figures[each.text] for each in self.select.outputs if each.text in figures
        }
        return {**found, **plain}

    def _receipt(self, receipts: Sequence[Receipt]) -> dict[str, Any]:
        """One receipt for the whole: the sums of what the figures' receipts say, and these."""
        loss = Loss.sequential(receipt.loss for receipt in receipts)
        last = receipts[-1]
        accounts = [receipt["account"] for receipt in receipts]
        costs = [Fraction(account["cost"]) for account in accounts]
        names = [asked.name for asked in self.questions]
        return {
            **last.content,
            "kind": ReleaseKind.SQL.value,
            "request": {
                "kind": ReleaseKind.SQL.value,
                "sql": self.text,
                "by": [each.name for each in self.select.outputs if each.key is not None],
                "epsilon": show(self.epsilon),
            },
            "figure": "; ".join(
                f"{name}: {each.figure}" for name, each in zip(names, receipts, strict=True)
            ),
            "mechanism": ", ".join(dict.fromkeys(str(each["mechanism"]) for each in receipts)),
            **loss_statement(loss),
            **lookup_statement(self.facts.lookups, loss),
            **map_terms(self.facts.map),
            "guarantee": guarantee(
                loss,
                policy_text(self.scope.policy),
                self.facts.unit,
                self.facts.promised,
                self.facts.extra,
            ),
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


def statement(
    text: str,
    parameters: Sequence[Value],
    facts: DatasetFacts,
    limits: Limits,
    scope: Scope,
    epsilon: Fraction,
) -> AskedSelect:
    """Read a statement and check every figure, before anything is paid."""
    # The parser takes a while to load: nothing pays for it before the first text is read.
    from onesided.language.select import parse_select

    catalogue = facts.catalogue
    select = parse_select(text, catalogue, parameters, limits.ranges(facts.schema))
    schema = catalogue.joined(select.joins)
    figures = Figures(
        facts=facts,
        scope=scope,
        limits=limits,
        share=epsilon / len(select.figures) / len(select.sets),
        select=select,
        schema=schema,
    )
    questions = figures.questions()
    check_result(select, schema)
    return AskedSelect(text, select, questions, facts, scope, epsilon)
