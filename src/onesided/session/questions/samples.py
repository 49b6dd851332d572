"""True rows of non-sensitive units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from onesided.data.files import check_format
from onesided.data.release import SAMPLE_FILE, ReleaseKind
from onesided.engine.base import Engine, Placed, SampleQuery
from onesided.errors import RequestError
from onesided.language import BoundPredicate
from onesided.loss import Loss, show
from onesided.mechanisms.rr import keep_probability
from onesided.session.facts import DatasetFacts
from onesided.session.kept import kept, kept_elsewhere
from onesided.session.questions.base import COINS, Question, ReleaseTerms, Runnable
from onesided.session.requests import Request
from onesided.session.supposed import NOTHING_KNOWN, Supposed
from onesided.session.table import Reading


@dataclass(frozen=True, kw_only=True)
class Samples(Question, Runnable):
    """Each non-sensitive unit whole with probability 1 − e^−ε: what is shown of its rows.

    - `where`, `columns`: which rows and columns of kept units.
    - `leaving`: the columns with their types.
    - `shared`: the coins are the snapshot's, and samples are charged by maximum.
    - `place`: what writes the rows elsewhere, where they are not to come here.
    """

    columns: tuple[str, ...]
    where: BoundPredicate | None
    leaving: pa.Schema
    shared: bool = True
    place: Callable[[SampleQuery], Placed] | None = field(default=None, compare=False)

    @property
    def shares_coins(self) -> bool:  # type: ignore[override]
        return self.shared

    @property
    def request(self) -> Request:
        shown = None if self.where is None else self.where.sql
        details = {"columns": list(self.columns), "where": shown, **self.scope.details()}
        return Request(ReleaseKind.SAMPLE, self.scope.policy.id, self.epsilon, details)

    @property
    def terms(self) -> ReleaseTerms:
        kept = f"1 − e^−{show(self.epsilon)}"
        return ReleaseTerms(
            mechanism="rr",
            figure="rows of a sample of non-sensitive units",
            loss=Loss(0, self.epsilon),
            noise=f"every non-sensitive unit kept whole with probability {kept}",
            randomness=COINS,
            columns=self.leaving,
            error={"share_of_nonsensitive_units_kept": kept},
        )

    def expected_units(self, supposed: Supposed = NOTHING_KNOWN) -> float:
        """How many units to expect, before `where` and without a part; their number is binomial."""
        units = self.facts.units * self.facts.chosen_share
        nonsensitive = units * supposed.nonsensitive_share
        return nonsensitive * keep_probability(self.epsilon)

    def run(self, reading: Reading) -> bytes:
        query = reading.sample_query(self.epsilon, self.columns, self.where)
        if self.place is not None:
            return kept_elsewhere(self.place(query))
        return kept(*reading.draw(query, self.leaving), self.facts.unit)


def chosen_columns(
    facts: DatasetFacts, engine: Engine, columns: Sequence[str] | None
) -> tuple[tuple[str, ...], pa.Schema]:
    """The columns of a sample, and the types in which they leave; refused before the charge."""
    chosen = facts.shown if columns is None else tuple(map(facts.schema.resolve, columns))
    facts.withheld.refuse(chosen, "in a sample")
    if not chosen or len(set(chosen)) != len(chosen):
        raise RequestError("columns must name at least one column, and each of them once.")
    leaving = engine.output_schema(chosen)
    check_format(leaving, Path(SAMPLE_FILE))
    return chosen, leaving
