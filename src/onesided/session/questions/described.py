"""A description of the columns of a table: small questions that share one price and two passes.

Of each column the units without a value are counted, and its different values; then numbers, dates
and moments are counted in cells that are found, and other values one by one. Each of these is a
question with its own terms. Their looks and their runs are taken together, so that the data are
read once for all looks and for all that needs none, and once more for the cells.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, TypeAlias

import pyarrow as pa

from onesided.data.cells import COUNT_COLUMN, FROM, TO
from onesided.data.described import (
    AT_LEAST,
    AT_MOST,
    CELLS,
    COLUMN,
    DISTINCT,
    MOST_VALUES,
    PART,
    SUMMARY,
    VALUE,
    VALUES,
)
from onesided.data.release import ReleaseKind, payload_of, table_of
from onesided.errors import RequestError
from onesided.language import Type
from onesided.loss import Loss, show
from onesided.mechanisms.ranks import BOUNDS
from onesided.session.cells import step_of
from onesided.session.questions.base import Question, ReleaseTerms, Runnable, TwoStep
from onesided.session.questions.counts import CountingQuestion
from onesided.session.questions.distinct import DistinctCounts
from onesided.session.questions.found_cells import FoundCells
from onesided.session.requests import Request
from onesided.session.table import Reading

PartQuestion: TypeAlias = CountingQuestion | DistinctCounts | FoundCells
Step: TypeAlias = Runnable | TwoStep
MISSING_SHARE, DISTINCT_SHARE = Fraction(1, 8), Fraction(1, 16)
"""The parts of a column's share of ε for the units without a value, and for different values."""
DESCRIBED_CELLS = 256
"""So many cells place a quantile within half of a percent of the units."""
ROUND = "round"
_BOOLEANS = {0: "false", 1: "true"}
_CONTENT = pa.schema(
    [
        (COLUMN, pa.string()),
        (PART, pa.string()),
        (FROM, pa.float64()),
        (TO, pa.float64()),
        (VALUE, pa.string()),
        *((name, pa.float64()) for name in (COUNT_COLUMN, AT_LEAST, AT_MOST)),
        *((name, pa.int64()) for name in BOUNDS),
    ]
)


@dataclass(frozen=True)
class ColumnQuestions:
    """What is asked about one column, by part."""

    name: str
    type: Type
    parts: Mapping[str, PartQuestion]

    @property
    def details(self) -> dict[str, str]:
        """What of it belongs to the request."""
        cells = self.parts.get(CELLS)
        step = step_of(cells.rungs.column) if isinstance(cells, FoundCells) else None
        said = {"name": self.name, "type": self.type.value}
        return said if step is None else {**said, "step": show(step)}


@dataclass(frozen=True, kw_only=True)
class DescribedColumns(Question, TwoStep):
    """The columns, each at an equal share of ε.

    - `where`: which rows count, as it was said.
    - `max_values`: how many values of a column count for one unit, where it may have several.
    """

    mechanism: ClassVar[str] = "description"
    seen: ClassVar[str] = f"{ROUND} 1"

    columns: tuple[ColumnQuestions, ...]
    where: str | None
    max_values: int | None

    def check(self) -> None:
        for name, each in self.questions.items():
            try:
                each.check()
            except RequestError as error:
                raise RequestError(f"{name}: {error}") from None

    @cached_property
    def questions(self) -> dict[str, PartQuestion]:
        """All questions, by names."""
        return {
            f"{column.name}, {part}": question
            for column in self.columns
            for part, question in column.parts.items()
        }

    @property
    def request(self) -> Request:
        details = {
            "columns": [each.details for each in self.columns],
            "where": self.where,
            "max_values": self.max_values,
            **self.scope.details(),
            "by": [COLUMN],
        }
        return Request(ReleaseKind.DESCRIBE, self.scope.policy.id, self.epsilon, details)

    @property
    def loss(self) -> Loss:
        """Held until all looks have chosen: the sum of pairs (s, t) with s ≤ t, s + t ≤ ε."""
        return Loss(self.epsilon / 2, self.epsilon / 2)

    @property
    def terms(self) -> ReleaseTerms:
        terms = {name: each.terms for name, each in self.questions.items()}
        return self.terms_of(list(terms.values()), self.loss)

    def terms_of(self, terms: Sequence[ReleaseTerms], loss: Loss) -> ReleaseTerms:
        """Those of the whole, from those of all its questions."""
        noises: dict[str, list[str]] = {}
        for name, each in zip(self.questions, terms, strict=True):
            noises.setdefault(each.noise, []).append(name)
        return ReleaseTerms(
            mechanism=", ".join(dict.fromkeys(each.mechanism for each in terms)),
            figure=f"description of {len(self.columns)} columns",
            loss=loss,
            noise="; ".join(f"{', '.join(names)}: {noise}" for noise, names in noises.items()),
            randomness=self.facts.randomness,
            columns=SUMMARY,
            error={},
        )

    @property
    def _steps(self) -> tuple[Step, ...]:
        return tuple(map(_step, self.questions.values()))

    def look(self, reading: Reading) -> bytes:
        return _looked(self._steps, reading)

    def decided(self, look: bytes) -> Step:
        return _next(self, _decided(self._steps, look), 2)


@dataclass(frozen=True)
class _Round(TwoStep):
    """The next looks of all questions that have one more."""

    question: DescribedColumns
    steps: tuple[Step, ...]
    number: int

    @property
    def seen(self) -> str:  # type: ignore[override]
        return f"{ROUND} {self.number}"

    def look(self, reading: Reading) -> bytes:
        return _looked(self.steps, reading)

    def decided(self, look: bytes) -> Step:
        return _next(self.question, _decided(self.steps, look), self.number + 1)


@dataclass(frozen=True)
class _All(Runnable):
    """The runs of all questions, once there is no more to look at."""

    question: DescribedColumns
    steps: tuple[Runnable, ...]

    @property
    def terms(self) -> ReleaseTerms:
        terms = [each.terms for each in self.steps]
        return self.question.terms_of(terms, Loss.sequential(each.loss for each in terms))

    def run(self, reading: Reading) -> bytes:
        reading.prepare([each for step in self.steps for each in step.wants])
        tables = []
        answers = iter(self.steps)
        for column in self.question.columns:
            for part in column.parts:
                found = table_of(next(answers).run(reading))
                tables.append(_content(column, part, found))
        return payload_of(pa.concat_tables(tables))


def _step(question: PartQuestion) -> Step:
    assert isinstance(question, Runnable | TwoStep)
    return question


def _next(question: DescribedColumns, steps: tuple[Step, ...], number: int) -> Step:
    runs = tuple(each for each in steps if isinstance(each, Runnable))
    return _All(question, runs) if len(runs) == len(steps) else _Round(question, steps, number)


def _looked(steps: Sequence[Step], reading: Reading) -> bytes:
    """The looks of those that have one; what the others will read is read with them."""
    reading.prepare([each for step in steps for each in step.wants])
    looks = [step.look(reading) if isinstance(step, TwoStep) else b"" for step in steps]
    return json.dumps([b64encode(each).decode() for each in looks]).encode()


def _decided(steps: Sequence[Step], look: bytes) -> tuple[Step, ...]:
    looks = [b64decode(each) for each in json.loads(look)]
    return tuple(
        step.decided(each) if isinstance(step, TwoStep) else step
        for step, each in zip(steps, looks, strict=True)
    )


def _content(column: ColumnQuestions, part: str, found: pa.Table) -> pa.Table:
    """The released counts of one part, in the columns that all of them share."""
    if part == VALUES:
        found = _frequent(column, found)
    ends = dict(_ends(part, found))
    rows = len(found)
    arrays = []
    for name, kind in zip(_CONTENT.names, _CONTENT.types, strict=True):
        if name in (COLUMN, PART):
            arrays.append(pa.array([column.name if name == COLUMN else part] * rows, kind))
        elif name in ends or name in found.column_names:
            # Ends of the widest cells of whole numbers have no floating point of their own.
            arrays.append(found[ends.get(name, name)].combine_chunks().cast(kind, safe=False))
        else:
            arrays.append(pa.nulls(rows, kind))
    return pa.table(arrays, schema=_CONTENT)


def _ends(part: str, found: pa.Table) -> Iterator[tuple[str, str]]:
    """Where the ends of the intervals stand; a number of values has those of what was seen."""
    prefix = "nonsensitive_" if part == DISTINCT else ""
    for name in (AT_LEAST, AT_MOST):
        if f"{prefix}{name}" in found.column_names:
            yield name, f"{prefix}{name}"


def _frequent(column: ColumnQuestions, found: pa.Table) -> pa.Table:
    """The rows of the most frequent values, with these as texts."""
    order = found.append_column("place", pa.array(range(len(found)), pa.int64())).sort_by(
        [(COUNT_COLUMN, "descending"), ("place", "ascending")]
    )
    kept = order.slice(0, MOST_VALUES)
    texts = kept.column(0)
    if column.type is Type.BOOLEAN:
        texts = pa.chunked_array([pa.array([_BOOLEANS[each] for each in texts.to_pylist()])])
    return kept.set_column(0, VALUE, texts)
