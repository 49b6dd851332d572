"""True rows of non-sensitive units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa

from onesided.data.release import ReleaseKind
from onesided.engine.base import Placed, SampleQuery
from onesided.language import BoundPredicate
from onesided.loss import Loss, show
from onesided.session.kept import kept, kept_elsewhere
from onesided.session.questions.base import COINS, Question, ReleaseTerms, Runnable
from onesided.session.requests import Request
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

    def run(self, reading: Reading) -> bytes:
        query = reading.sample_query(self.epsilon, self.columns, self.where)
        if self.place is not None:
            return kept_elsewhere(self.place(query))
        return kept(*reading.draw(query, self.leaving))
