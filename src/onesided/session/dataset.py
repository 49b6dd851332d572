"""A data set with its policy and budget: what stewards open and analysts ask."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onesided.data.answers import Answers
from onesided.data.askable import Askable
from onesided.data.files import check_format
from onesided.data.release import QueryRelease, Release, TableRelease
from onesided.dbapi import Cursor, connect
from onesided.language.tree import Value
from onesided.loss import Number, meant_loss
from onesided.policy import Policy
from onesided.session.asking import MaxGroups
from onesided.session.count_maker import CountMaker
from onesided.session.questions.figures import Bound
from onesided.session.questions.samples import chosen_columns
from onesided.session.ranked_data import RankedData
from onesided.session.several import asked_together, of_part
from onesided.session.standing import sampled, sampling
from onesided.spelling import arguments_named


class Dataset(RankedData):
    """A table, its unit, its policy and its account; made by `onesided.open`.

    Opening has validated the table once, for the steward and free of charge. From then on every
    question goes the same way: its terms, its charge, its run, its storing.
    """

    @arguments_named
    def sample(
        self,
        epsilon: Number,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        *,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        into: str | None = None,
        stands_for: Sequence[str | Sequence[str]] | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        noisy: bool = False,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> Release:
        """True rows of the non-sensitive units, each unit kept whole with probability 1 − e^−ε.

        - `where`, `columns`: what to show of the rows of the kept units.
        - `policy`: a stricter policy than the account's, which is proven to relax it.
        - `part`: only the units with this value of a column named in `partition_by`.
        - `into`: where the engine itself writes the rows, so that they do not pass through here: a
          new table in PostgreSQL, a folder of Parquet files for Spark.
        - `stands_for`: columns or keys by which all units are counted as well, so that each row
          gets a weight and the sample stands for everybody. The sample has 0.7 of ε then.
        - `domain`: the values of those keys, as in `count`; weights are best where they are known.
        - `noisy`: such counts are meant whose noise is above 16 % of a mean group.
        - `purpose`: what the release is for; public, and kept in the ledger.
        - `yes`: an ε above 10 is meant.

        The coins belong to the snapshot: repeating a sample is free and gives the same one, and a
        larger ε contains it and pays the difference. With `fresh` it has coins of its own and pays
        in full.
        """
        exact = meant_loss(epsilon, yes=yes)
        question = sampling(
            self._asking,
            exact,
            where,
            columns,
            policy=policy,
            part=part,
            into=into,
            stands_for=stands_for,
            domain=domain,
            noisy=noisy,
            fresh=fresh,
        )
        with self._at_work():
            kernel = self._books.kernel(exact)
            return sampled(kernel, question, into=into, fresh=fresh, purpose=purpose)

    def check_writable(self, columns: Sequence[str] | None, path: str | Path) -> None:
        """Refuse a sample of `columns` that a file of this name could not hold; free."""
        _, leaving = chosen_columns(self._facts, self._table.engine, columns)
        check_format(leaving, Path(path))

    @arguments_named
    def count(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        mechanism: str = "auto",
        max_groups: MaxGroups = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
        **parameters: Any,
    ) -> Release:
        """How many units are in each group.

        - `by`: columns, or other values of a row, such as hour(ts) or bucket(age, 10).
        - `max_groups`: the most groups that count for one unit; needed where a unit can be in
          several, since the noise grows with it. "auto" finds the one that promises the least
          error, from what was released already or by a look at 2 to 10 % of ε.
        - `domain`: the values of a key, where they are known beforehand; `"*"` as the last one
          stands for all others.
        - `mechanism`, `parameters`: see `onesided.mechanism_names()`.
        - `policy`, `part`, `fresh`, `purpose`, `yes`: as in `sample`.
        """
        exact = meant_loss(epsilon, yes=yes)
        question = CountMaker(self.plan).count(
            exact,
            by,
            where,
            max_groups=max_groups,
            domain=domain,
            policy=policy,
            part=part,
            mechanism=mechanism,
            **parameters,
        )
        return self._released([question], exact, fresh=fresh, purpose=purpose)[0]

    @arguments_named
    def ngrams(
        self,
        n: int,
        *,
        by: str,
        order: str,
        epsilon: Number,
        max_groups: MaxGroups = None,
        mechanism: str = "auto",
        domain: Sequence[Any] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
        **parameters: Any,
    ) -> Release:
        """How many units have each n-gram: n values of `by` in rows that follow one another.

        - `order`: a date or time, or whole numbers, of which a gap ends what is consecutive.
        - `max_groups`: the most n-grams that count for one unit; needed by all but `rr`.
        - `domain`: the values of `by`, where they are known beforehand.
        - all others: as in `count`. Sensitivity is taken over all rows of a unit.
        """
        exact = meant_loss(epsilon, yes=yes)
        question = CountMaker(self.plan).ngrams(
            exact,
            n,
            by=by,
            order=order,
            max_groups=max_groups,
            domain=domain,
            policy=policy,
            part=part,
            mechanism=mechanism,
            **parameters,
        )
        return self._released([question], exact, fresh=fresh, purpose=purpose)[0]

    @arguments_named
    def touches(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        sampled: bool = False,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> Release:
        """How many non-sensitive units are in so many groups: what a plan finds `max_groups` by.

        - `sampled`: count the units of the sample at ε, which is free where that is paid for.
        - all others: as in `count`. A small ε is enough, since a unit counts once.
        """
        exact = meant_loss(epsilon, yes=yes)
        question = CountMaker(self.plan).touches(
            exact, by, where, sampled=sampled, domain=domain, policy=policy, part=part
        )
        return self._released([question], exact, fresh=fresh, purpose=purpose)[0]

    @arguments_named
    def sum(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bound: Number,
        epsilon: Number,
        grid: Number | None = None,
        nonnegative: bool = False,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> Release:
        """The sum of `column` in each group, with one-sided noise of scale k·B/ε.

        - `bound`: B; a unit's total in a group is clipped to [0, B].
        - `grid`: values are rounded down to whole steps of it; 1 for integers, the last digit of
          decimals, a millionth of the bound otherwise.
        - `nonnegative`: the steward says that no value is below 0; the sum of all units then has a
          certain lower bound.
        - `by`, `where`, `max_groups`, `domain`, `policy`, `part`, `fresh`: as in `count`.
        """
        exact = meant_loss(epsilon, yes=yes)
        question = self._asking.sum(
            exact,
            column,
            by,
            where,
            bound=bound,
            grid=grid,
            nonnegative=nonnegative,
            max_groups=max_groups,
            domain=domain,
            policy=policy,
            part=part,
        )
        return self._released([question], exact, fresh=fresh, purpose=purpose)[0]

    @arguments_named
    def mean(
        self,
        column: str,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        bound: Number,
        epsilon: Number,
        grid: Number | None = None,
        max_rows: int | None = None,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> Release:
        """The mean of the units' totals of `column` in each group: a sum and a count at ε/2 each.

        - `max_rows`: take the mean over rows instead, of which at most this many count for one unit
          in a group.
        - all others: as in `sum`. Units and rows without a value are left out.
        """
        exact = meant_loss(epsilon, yes=yes)
        question = self._asking.mean(
            exact,
            column,
            by,
            where,
            bound=bound,
            grid=grid,
            max_rows=max_rows,
            max_groups=max_groups,
            domain=domain,
            policy=policy,
            part=part,
        )
        return self._released([question], exact, fresh=fresh, purpose=purpose)[0]

    @arguments_named
    def sql(
        self,
        query: str,
        parameters: Sequence[Value] = (),
        *,
        epsilon: Number,
        mechanism: str = "auto",
        max_groups: int | None = None,
        max_rows: int | None = None,
        max_values: int | None = None,
        bounds: Mapping[str, Bound] | None = None,
        grid: Mapping[str, Number] | None = None,
        nonnegative: Collection[str] = (),
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        purpose: str = "",
        yes: bool = False,
    ) -> QueryRelease:
        """Answer one SELECT: COUNT(*), COUNT(DISTINCT unit), SUM and AVG by group.

        - `query`: FROM names the data set or `data`; public tables of the data set can be joined.
        - `parameters`: the values of `?` in it.
        - `epsilon`: what all figures cost together, each an equal share.
        - `mechanism`: what counts units; as in `count`.
        - `max_rows`: the most rows that count for one unit in a group.
        - `max_values`: the most values of one unit that COUNT(DISTINCT …) counts, in all groups.
        - `bounds`: by column or expression, B as in `sum`, or a pair between which a value lies.
        - `grid`, `nonnegative`: as in `sum`, by column or expression.
        - all others: as in `count`; `domain` also by alias.
        """
        exact = meant_loss(epsilon, yes=yes)
        asked = self._asking.sql(
            exact,
            query,
            parameters,
            mechanism=mechanism,
            max_groups=max_groups,
            max_rows=max_rows,
            max_values=max_values,
            bounds=bounds,
            grid=grid,
            nonnegative=nonnegative,
            domain=domain,
            policy=policy,
            part=part,
        )
        questions = list(asked.figures.values())
        return asked.release(self._stored(questions, exact, fresh=fresh, purpose=purpose))

    @arguments_named
    def counted(
        self,
        columns: Sequence[str] | None = None,
        *,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
    ) -> list[TableRelease]:
        """Counts of all units by one of `columns`, released before: `sample.plot` takes them."""
        names = self.columns if columns is None else tuple(columns)
        return self.plan.counted(names, policy=policy, part=part)

    @arguments_named
    def cursor(self, *, epsilon: Number, **options: Any) -> Cursor:
        """A cursor whose `execute` asks `sql` at `epsilon` each time, with the same options.

        It is that of `onesided.dbapi`, and its errors are those of PEP 249.
        """
        return connect(self, epsilon=epsilon, **options).cursor()

    @arguments_named
    def run(
        self,
        questions: Sequence[Mapping[str, Any]],
        *,
        epsilon: Number | None = None,
        purpose: str = "",
        yes: bool = False,
        part: Mapping[str, Any] | None = None,
    ) -> Answers:
        """The answers to several questions, charged all or none.

        - `questions`: for each what it asks (`ask`: the name of the method, such as count, describe
          or sql), the arguments of that, its `epsilon`, and a `name` for its answer.
        - `epsilon`: shared evenly by the questions that say none.
        - `part`: ask all of them of this part alone, and once for all: where the data have grown
          since, what was answered for the part is returned, and nothing is charged.

        After a crash the same call goes on: what was charged is never charged again.
        """
        wishes = questions if part is None else of_part(questions, part)
        asked = asked_together(self.plan, wishes, epsilon, yes=yes)
        with self._at_work():
            kernel = self._books.kernel(asked.epsilon)
            once = part is not None
            return asked.answers(kernel, kernel.ask(asked.questions, purpose=purpose, once=once))


if TYPE_CHECKING:

    def _may_be_asked(dataset: Dataset) -> Askable:
        """An analyst may do all of this with it; the same holds of a data set elsewhere."""
        return dataset
