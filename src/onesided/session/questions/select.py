"""SQL: one SELECT is answered by its figures, and by what can be done with them for free.

Arithmetic on figures, HAVING, ORDER BY and LIMIT look at released values alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from onesided.data.cells import QuantileRelease
from onesided.data.computed import NONE, ComputedFrom
from onesided.data.release import QueryRelease, Receipt, TableRelease, payload_of
from onesided.language.query import Aggregate, Select, figure_column
from onesided.session.kernel import Answer
from onesided.session.questions.figures import GroupQuestion
from onesided.session.questions.joint_receipt import JointReceipt
from onesided.session.receipts import column_statement
from onesided.session.results import AskedFigure, result
from onesided.session.showing import shown_quantiles, shown_table

_NO_INTERVAL: dict[str, Any] = {"interval": NONE}
_PLAIN = figure_column(0).removesuffix("0")
_ALONE = re.compile(r'"[^"]*"')
_OF_TWO = re.compile(
    rf'((?P<times>\d+(\.\d+)?) \* )?"{_PLAIN}(?P<left>\d+)" (?P<by>[/-]) '
    rf'("{_PLAIN}(?P<right>\d+)"|NULLIF\("{_PLAIN}(?P<filled>\d+)", 0\))'
)
"""A ratio or difference of figures, as an `Output` has it."""


@dataclass(frozen=True)
class AskedSelect:
    """An accepted SELECT with a question for each of its figures, which share an ε.

    - `example`: an answer of one made row, of which the types are those of the answer.
    """

    select: Select
    questions: Mapping[AskedFigure, GroupQuestion]
    together: JointReceipt
    example: pa.Table

    @property
    def figures(self) -> dict[str, GroupQuestion]:
        """The questions by the names of its figures."""
        return {asked.name: question for asked, question in self.questions.items()}

    def release(self, answers: Sequence[Answer]) -> QueryRelease:
        """The rest of the statement, from the answers to its figures in their order."""
        named = self.shown(answers)
        answer = self.table(named)
        receipts = {name: each.receipt for name, each in named.items()}
        by = [each.name for each in self.select.outputs if each.key is not None]
        content = {
            **self.together.receipt(by, receipts),
            "columns": column_statement(answer.schema),
            "computed": self._computed(receipts),
        }
        return QueryRelease(Receipt(content), payload_of(answer), named, self._sources)

    def _computed(self, receipts: Mapping[str, Receipt]) -> dict[str, Any]:
        """Which columns are computed from figures, and the intervals of those that have one."""
        errors = {name: each["error"] for name, each in receipts.items()}
        return {
            each.name: _NO_INTERVAL if found is None else found.to_json(errors)
            for each in self.select.outputs
            if each.key is None and not _ALONE.fullmatch(each.text)
            for found in [self._of_two(each.text)]
        }

    def _of_two(self, text: str) -> ComputedFrom | None:
        """The two figures of a ratio or difference; None of what is computed otherwise."""
        found = _OF_TWO.fullmatch(text)
        if found is None or len(self.select.sets) > 1:
            return None
        places = found["left"], found["right"] or found["filled"]
        left, right = (self.select.figures[int(place)].name for place in places)
        return ComputedFrom(left, right, found["by"], float(found["times"] or 1))

    def shown(self, answers: Sequence[Answer]) -> dict[str, TableRelease]:
        """The releases of the figures, by their names."""
        return {
            asked.name: self._shown(asked, answer)
            for asked, answer in zip(self.questions, answers, strict=True)
        }

    def table(self, released: Mapping[str, TableRelease]) -> pa.Table:
        """What the statement lists."""
        tables = {asked: self._table(asked, released[asked.name]) for asked in self.questions}
        return result(self.select, tables)

    def _shown(self, asked: AskedFigure, answer: Answer) -> TableRelease:
        if asked.figure.aggregate is Aggregate.QUANTILES:
            return shown_quantiles(answer, self.select.quantiles[asked.figure])
        return shown_table(answer)

    def _table(self, asked: AskedFigure, released: TableRelease) -> pa.Table:
        """The keys, and the figures that are computed with."""
        if isinstance(released, QuantileRelease):
            return released.side_by_side(self.select.quantiles[asked.figure])
        return released.table

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
