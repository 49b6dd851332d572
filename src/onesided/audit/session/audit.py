"""The audit of whole releases: pair after pair, until the time is over or one pair differs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from onesided.audit.runs import Deadline
from onesided.audit.session.dice import Dice
from onesided.audit.session.engines import SURFACES, Opener
from onesided.audit.session.judging import judged
from onesided.audit.session.pairs import paired
from onesided.audit.session.reference import reference_engine
from onesided.audit.session.report import Effort, SessionFinding, SessionReport
from onesided.audit.session.requests import Asking, Request
from onesided.audit.session.shrinking import Case, shrunk
from onesided.audit.session.sources import Unwritable
from onesided.audit.session.surfaces import NotOpened, SecondEngine, SecondStage, Stage, Surface
from onesided.audit.session.worlds import World, world
from onesided.errors import InputError

MOST_REQUESTS = 6
TWICE_IN = 6
PAIRED_IN = 3
FITTING_IN = 4


@dataclass(frozen=True, kw_only=True)
class SessionAudit:
    """Looks for something that is seen of a release and follows from nothing public or released.

    - `engine`: which engine is asked, or `command` for the command line.
    - `connection`: the database or Spark session that it needs.
    - `seconds`, `pairs`: when to stop; a pair is one request over two neighbouring tables.
    - `seed`: determines tables, requests and noise.
    - `findings`: how many pairs that differ are enough.
    - `shrinking`: the most seconds for making each of them smaller, as far as the time goes.
    - `surfaces`: all engines by name, where there are more than those of this package.
    - `second`: an engine to hold released values against, at the same noise; None for none.
    """

    engine: str = "duckdb"
    connection: Any = None
    seconds: float | None = 60.0
    pairs: int | None = None
    seed: int = 0
    findings: int = 1
    shrinking: float = 30.0
    second: SecondEngine | None = reference_engine
    surfaces: Mapping[str, Opener] = field(default_factory=lambda: SURFACES)
    progress: Callable[[int, float], None] = field(default=lambda pairs, seconds: None)

    def run(self) -> SessionReport:
        """Audit."""
        opener = self.surfaces.get(self.engine)
        if opener is None:
            raise InputError(
                f"There is no engine {self.engine}; name one of {', '.join(self.surfaces)}."
            )
        deadline = Deadline(self.seconds)
        effort, found = Effort(), list[SessionFinding]()
        with opener(self.connection) as surface:
            number = 0
            while len(found) < self.findings and not self._done(effort, deadline):
                found += self._session(surface, number, effort, deadline)
                number += 1
                self.progress(effort.pairs, deadline.elapsed)
        return SessionReport(
            engine=self.engine,
            seed=self.seed,
            effort=effort,
            findings=tuple(found),
            seconds=deadline.elapsed,
        )

    def _done(self, effort: Effort, deadline: Deadline) -> bool:
        enough = self.pairs is not None and effort.pairs >= self.pairs
        return enough or deadline.passed(1.0)

    def _session(
        self, surface: Surface, number: int, effort: Effort, deadline: Deadline
    ) -> list[SessionFinding]:
        """One world and a few requests."""
        dice = Dice("session", self.seed, number)
        form = dice.pick(surface.forms)
        made = world(form, dice, lookups=surface.lookups, declared=surface.declares)
        sources = surface.sources(form)
        source = dice.pick([each for each in sources if not each.needs])
        names = {column.name for column in made.columns}
        fitting = [each for each in sources if each.needs and each.needs <= names]
        # Dice of their own: worlds that are handed over otherwise are the same as ever.
        more = Dice("sources", self.seed, number)
        if fitting and more.one_in(FITTING_IN):
            source = more.pick(fitting)
        try:
            with surface.staged(made, source, dice) as stage:
                requests = _requests(stage, made, dice, surface.without)
                first, differences = judged(
                    stage,
                    made,
                    requests,
                    number,
                    second=self.second,
                    twice=dice.one_in(TWICE_IN),
                )
                if dice.one_in(PAIRED_IN) and isinstance(stage, SecondStage):
                    differences += paired(stage, requests, first, number, dice)
        except Unwritable:
            effort.unwritable += 1
            return []
        except NotOpened:
            effort.not_opened += 1
            return []
        effort.count(source.name, requests, [seen.answered for seen in first.seen])
        if not differences:
            return []
        case = Case(made, source, tuple(requests), number, differences[0])
        left = self.shrinking if self.seconds is None else self.seconds - deadline.elapsed
        small = shrunk(case, surface, self.second, Deadline(min(left, self.shrinking)))
        return [SessionFinding(self.engine, self.seed, number, small, len(differences))]


def _requests(stage: Stage, made: World, dice: Dice, without: frozenset[str]) -> list[Request]:
    comparison = made.columns[-1].comparison
    asking = Asking(stage.schema, made.unit, made.spelled_policy, comparison, dice, without)
    return [asking.request() for _ in range(1 + dice.below(MOST_REQUESTS))]
