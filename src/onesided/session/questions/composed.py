"""SQL: a statement that is made of several SELECTs, each of which is asked of the data.

All that stands around them is computed from their answers, for free. The same figure in two of
them is asked for once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import pyarrow as pa

from onesided.data.release import QueryRelease, Receipt, payload_of
from onesided.engine.duckdb.released import OuterComputation
from onesided.errors import RequestError
from onesided.language.query import ComposedSelect, Select
from onesided.language.tree import Column, Value
from onesided.session.facts import DatasetFacts
from onesided.session.kernel import Answer
from onesided.session.public_queries import PublicQueries
from onesided.session.questions.figures import Figures, GroupQuestion, Limits
from onesided.session.questions.joint_receipt import JointReceipt
from onesided.session.questions.select import AskedSelect
from onesided.session.receipts import column_statement
from onesided.session.results import check_result, computable
from onesided.session.scope import Scope


@dataclass(frozen=True)
class AskedComposition:
    """What is asked of the data, and the query over the answers."""

    parts: tuple[AskedSelect, ...]
    outer: OuterComputation
    together: JointReceipt

    @property
    def figures(self) -> dict[str, GroupQuestion]:
        """The different questions of all parts, by the names of their figures."""
        found: dict[str, GroupQuestion] = {}
        known = set()
        for number, part in enumerate(self.parts, start=1):
            for name, question in part.figures.items():
                if question.request.fingerprint not in known:
                    known.add(question.request.fingerprint)
                    found[f"{name} of SELECT {number}"] = question
        return found

    def release(self, answers: Sequence[Answer]) -> QueryRelease:
        """What the statement makes of the answers to its figures."""
        figures = self.figures
        asked = zip(figures.values(), answers, strict=True)
        known = {question.request.fingerprint: answer for question, answer in asked}
        shown = [
            part.shown([known[each.request.fingerprint] for each in part.questions.values()])
            for part in self.parts
        ]
        tables = [part.table(each) for part, each in zip(self.parts, shown, strict=True)]
        answer = self.outer.run(_named([computable(each) for each in tables]))
        named = {
            f"{name} of SELECT {number}": release
            for number, releases in enumerate(shown, start=1)
            for name, release in releases.items()
            if f"{name} of SELECT {number}" in figures
        }
        receipts = {name: each.receipt for name, each in named.items()}
        content = {
            **self.together.receipt([], receipts),
            "columns": column_statement(answer.schema),
        }
        return QueryRelease(Receipt(content), payload_of(answer), named, {})


AskedStatement: TypeAlias = AskedSelect | AskedComposition


def statement(
    text: str,
    parameters: Sequence[Value],
    facts: DatasetFacts,
    limits: Limits,
    scope: Scope,
    epsilon: Fraction,
) -> AskedStatement:
    """Read a statement and check every figure, before anything is paid."""
    # The parser takes a while to load: nothing pays for it before the first text is read.
    from onesided.language.select import parse_statement

    public = PublicQueries(facts.public)
    ranges = {**facts.public_ranges, **limits.ranges(facts.schema)}
    found = parse_statement(text, facts.catalogue, parameters, ranges, public)
    facts = replace(facts, public=public.tables)
    together = JointReceipt(text, facts, scope, epsilon)
    if found.outer is None:
        (select,) = found.selects
        share = epsilon / len(select.figures) / len(select.sets)
        return _asked(select, limits, share, together)
    return _composed(found, limits, together)


def _composed(found: ComposedSelect, limits: Limits, together: JointReceipt) -> AskedComposition:
    """Every different figure of all SELECTs gets an equal share."""
    assert found.outer is not None
    for select in found.selects:
        _check_groups(select, together.facts)

    def asked(share: Fraction) -> AskedComposition:
        parts = tuple(_asked(each, limits, share, together) for each in found.selects)
        return AskedComposition(parts, OuterComputation(found.outer or ""), together)

    first = asked(together.epsilon)
    first.outer.check(_named([part.example for part in first.parts]))
    return asked(together.epsilon / max(1, len(first.figures)))


def _named(tables: Sequence[pa.Table]) -> Mapping[str, pa.Table]:
    from onesided.language.composing import answer_table

    return {answer_table(place): table for place, table in enumerate(tables)}


def _check_groups(select: Select, facts: DatasetFacts) -> None:
    """Refuse to go on with groups that are single records: noise leaves nothing of them."""
    keys = {key.expression.name for key in select.keys if isinstance(key.expression, Column)}
    if facts.unit.columns and keys.issuperset(facts.unit.columns):
        raise RequestError(
            f"GROUP BY {facts.unit} in a subquery is not allowed: each group is a single unit. "
            "Divide sums by the number of units, such as COUNT(*) / COUNT(DISTINCT …), or count "
            "units by a column of theirs."
        )


def _asked(select: Select, limits: Limits, share: Fraction, together: JointReceipt) -> AskedSelect:
    facts = together.facts
    schema = facts.catalogue.joined(select.joins)
    figures = Figures(
        facts=facts,
        scope=together.scope,
        limits=limits,
        share=share,
        select=select,
        schema=schema,
    )
    questions = figures.questions()
    return AskedSelect(select, questions, together, check_result(select, schema))
