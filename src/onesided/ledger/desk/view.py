"""The transactions of a desk, each at one moment of its clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from onesided.ledger.desk.base import JobState, QuestionJob
from onesided.ledger.desk.records import JobRow, JobRows
from onesided.ledger.rows import LedgerRows
from onesided.ledger.store import Store

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class DeskView:
    """A transaction at one moment."""

    rows: LedgerRows
    now: datetime

    @property
    def jobs(self) -> JobRows:
        return JobRows(self.rows)

    def seen(self, found: Sequence[JobRow]) -> tuple[QuestionJob, ...]:
        """These jobs as they may be seen, with the releases of those that are done."""
        done = [job for job in found if job.state(self.now) is JobState.DONE]
        charges = {charge for job in done for charge in job.charges or ()}
        releases = self.rows.releases_of(sorted(charges))
        return tuple(
            job.seen(self.now, [releases[each] for each in job.charges or () if each in releases])
            for job in found
        )


class DeskTransactions:
    """Reads and writes the tables of the desk of the ledger in `store`.

    - `clock`: a clock of its own, for tests.
    """

    def __init__(self, store: Store, clock: Clock | None = None) -> None:
        self._store = store
        self._clock = clock

    def __repr__(self) -> str:
        return f"Desk({self._store!r})"

    @contextmanager
    def _writing(self) -> Iterator[DeskView]:
        """One transaction that excludes all other writers; what is overdue has failed in it."""
        with self._store.writing() as rows:
            view = DeskView(rows, self._time(rows))
            view.jobs.close_overdue(view.now)
            yield view

    @contextmanager
    def _reading(self) -> Iterator[DeskView]:
        with self._store.reading() as rows:
            yield DeskView(rows, self._time(rows))

    def _time(self, rows: LedgerRows) -> datetime:
        return self._store.time(rows) if self._clock is None else self._clock()

    def now(self) -> datetime:
        """The time, by the clock of the ledger's database, in UTC."""
        with self._reading() as view:
            return view.now

    def close(self) -> None:
        """Let go of the file or connection."""
        self._store.close()
