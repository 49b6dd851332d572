"""An open data set that answers: what all questions share, and those about values themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from onesided.data.askable import FOUND, USUAL_CELLS
from onesided.data.cells import (
    USUAL_QUANTILES,
    HistogramRelease,
    QuantileRelease,
    checked_quantiles,
)
from onesided.data.described import DescriptionRelease
from onesided.data.release import TableRelease
from onesided.loss import Number, meant_loss
from onesided.policy import Policy
from onesided.session.asking import Asker
from onesided.session.books import Books
from onesided.session.facts import DatasetFacts
from onesided.session.kernel import Answer
from onesided.session.opened import OpenedData
from onesided.session.planning.planner import Planner
from onesided.session.questions.base import Question
from onesided.session.released_tables import ReleasedTables
from onesided.session.showing import (
    shown_description,
    shown_histogram,
    shown_quantiles,
    shown_table,
)
from onesided.spelling import arguments_named


class RankedData(OpenedData):
    """A data set that can be asked for quantiles, histograms and numbers of values."""

    def __init__(self, facts: DatasetFacts, books: Books) -> None:
        super().__init__(facts, books)
        self._asking = Asker(facts, books.table)

    @arguments_named
    def quantile(
        self,
        column: str,
        at: float | Sequence[float] = USUAL_QUANTILES,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bounds: Sequence[Any] | str = FOUND,
        epsilon: Number,
        cells: int = USUAL_CELLS,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> QuantileRelease:
        """Quantiles of `column` in each group, read from one release of counts of its cells.

        Any other quantile afterwards is free: by `release.at`, or by asking again.

        - `at`: the quantiles, from 0 to 1; 0.5 is the median.
        - `bounds`: the range of values that is cut into cells, chosen without looking at the data.
          Values outside count in the first or last cell, and NULL in none. Without them the cells
          are found, by a look at a sixteenth of ε.
        - `cells`: how many cells at most; whole numbers and decimals have no more than values.
        - `max_groups`: where a unit can have several values, in how many cells of all groups it
          may count.
        - all others: as in `count`; group keys need declared domains.
        """
        exact = meant_loss(epsilon, yes=yes)
        wanted = checked_quantiles(at)
        question = self._asking.quantile(
            exact,
            column,
            by,
            where,
            bounds=bounds,
            cells=cells,
            max_groups=max_groups,
            domain=domain,
            policy=policy,
            part=part,
        )
        (answer,) = self._stored([question], exact, fresh=fresh, purpose=purpose)
        return shown_quantiles(answer, wanted)

    @arguments_named
    def histogram(
        self,
        column: str,
        edges: Sequence[Any] | None = None,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> HistogramRelease:
        """How many units of each group have a value of `column` in each cell.

        Quantiles and sums over neighbouring cells are free afterwards, as of `quantile`.

        - `edges`: the cells are [e₀, e₁), [e₁, e₂), …; what lies outside counts in the first or
          last one, and NULL in none.
        - all others: as in `quantile`.
        """
        exact = meant_loss(epsilon, yes=yes)
        question = self._asking.histogram(
            exact,
            column,
            edges,
            by,
            where,
            max_groups=max_groups,
            domain=domain,
            policy=policy,
            part=part,
        )
        (answer,) = self._stored([question], exact, fresh=fresh, purpose=purpose)
        return shown_histogram(answer)

    @arguments_named
    def distinct(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        max_values: int | None = None,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> TableRelease:
        """How many different values of `column` non-sensitive units have in each group.

        - `column`: a column, or another value of a row.
        - `max_values`: where a unit can have several values, how many pairs of a group and a value
          count for it; the noise grows with it.
        - `max_groups`: where it has one value in several groups, how many of them count.
        - all others: as in `count`.
        """
        exact = meant_loss(epsilon, yes=yes)
        question = self._asking.distinct(
            exact,
            column,
            by,
            where,
            max_values=max_values,
            max_groups=max_groups,
            domain=domain,
            policy=policy,
            part=part,
        )
        return self._released([question], exact, fresh=fresh, purpose=purpose)[0]

    @arguments_named
    def describe(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        *,
        epsilon: Number,
        max_values: int = 1,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> DescriptionRelease:
        """What each column holds: missing and different values, and how the values are spread.

        All of it is one release, of which each column has an equal share of ε. Numbers and dates
        have quantiles, other values have the most frequent ones. More can be read from it for free.

        - `columns`: all that may be shown, where none are named.
        - `max_values`: of a column of which a unit can have several values, how many count for it.
        - all others: as in `count`.
        """
        exact = meant_loss(epsilon, yes=yes)
        question = self._asking.describe(
            exact, columns, where, max_values=max_values, policy=policy, part=part
        )
        (answer,) = self._stored([question], exact, fresh=fresh, purpose=purpose)
        return shown_description(answer)

    @property
    def plan(self) -> Planner:
        """What questions would cost, and how exact they would be; free, nothing is run.

        `ds.plan("room", epsilon=1)` plans a count; `ds.plan.sum`, `.mean`, `.ngrams`, `.quantile`,
        `.sample` and `.sql` plan the others, with the arguments of the question itself.
        """
        return Planner(self._asking, self._books, self._turn)

    @property
    def released(self) -> ReleasedTables:
        """The tables that were released about this state of the data.

        `ds.released.sql("SELECT … FROM r3")` computes from them, for free; r3 is charge number 3.
        `ds.released(3)` is that release as it was stored, of any state and kind.
        """
        return self.plan.released(self._release_numbered)

    def _released(
        self, questions: Sequence[Question], epsilon: Fraction, *, fresh: bool, purpose: str
    ) -> list[TableRelease]:
        """Check, ask and show."""
        answers = self._stored(questions, epsilon, fresh=fresh, purpose=purpose)
        return [shown_table(each) for each in answers]

    def _stored(
        self, questions: Sequence[Question], epsilon: Fraction, *, fresh: bool, purpose: str
    ) -> list[Answer]:
        """Check and ask."""
        for question in questions:
            question.check()
        with self._at_work():
            return self._books.kernel(epsilon).ask(questions, fresh=fresh, purpose=purpose)
