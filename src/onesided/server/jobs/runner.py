"""The queue of a data set: one question at a time, each within its slot.

A question runs from the start of its slot. What it finds is held in memory and written into the
ledger a fixed time before its deadline, however soon it was found. So the ledger, the budget and
the queue of all others follow the same course for every content of the data. What is not there
by then has failed: nobody can see whether it was late or went wrong.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic

from onesided.data.release import SAMPLE_FILE
from onesided.errors import Interrupted, OnesidedError, ReleaseFailed
from onesided.ledger import Charge
from onesided.ledger.desk import Desk, JobState, QuestionJob
from onesided.server.hosted import HostedDataset
from onesided.server.problems import Problem
from onesided.server.questions import Wanted
from onesided.session.frozen import FrozenDataset
from onesided.session.held import HeldBooks, publish_all
from onesided.session.kept import is_whole
from onesided.session.kernel import Answer
from onesided.session.several import AskedTogether

LEASE = timedelta(seconds=5)
"""How long after the end of a server another one waits before it takes a question over."""
_SECONDS_TO_LEAVE = 5.0
_SECONDS_BETWEEN_STOPS = 0.2
LONGEST_WAIT = 0.5
"""Seconds after which a runner looks for questions that another process has accepted."""
PUBLISHING_SHARE, PUBLISHING_SECONDS = 0.25, 2.0
"""The last part of a slot, in which what was found is written into the ledger."""


class QueueRunner:
    """Runs the questions to one data set, in a thread of its own."""

    def __init__(self, hosted: HostedDataset, desk: Desk) -> None:
        self._hosted = hosted
        self._desk = desk
        self._worker = secrets.token_hex(8)
        self._awake = threading.Event()
        self._ending = False
        self._left = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"queue of {hosted.name}")
        self._thread.daemon = True

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """Look at the queue now."""
        self._awake.set()

    def end(self) -> None:
        """Take no new question; the one that runs may come to its end."""
        self._ending = True
        self._awake.set()

    def wait(self, seconds: float) -> None:
        """Wait for the end; after so many seconds the question that runs is left to others."""
        self._thread.join(seconds)
        if self._thread.is_alive():
            self._left.set()
            with suppress(Problem):
                self._hosted.data.stop()
            self._thread.join(_SECONDS_TO_LEAVE)

    def _work(self) -> None:
        while not self._ending:
            self._awake.clear()
            job = None
            with suppress(OnesidedError):  # a ledger that is busy or away may be back soon
                job = self._desk.claim(self._dataset, self._worker, LEASE)
            if job is None:
                self._awake.wait(self._until_next())
            else:
                with suppress(OnesidedError):
                    self._answer(job)

    @property
    def _dataset(self) -> str:
        return self._hosted.account_name

    def _until_next(self) -> float:
        with suppress(OnesidedError):
            coming = self._desk.next_event(self._dataset)
            if coming is not None:
                return min(max((coming - self._desk.now()).total_seconds(), 0.001), LONGEST_WAIT)
        return LONGEST_WAIT

    def _answer(self, job: QuestionJob) -> None:
        """Run a question, and publish what it found when it is time."""
        publishing = self._publishing_at(job)
        beating = threading.Event()
        heart = threading.Thread(target=self._beat, args=(job, beating), daemon=True)
        heart.start()
        try:
            with self._stopped_at(publishing):
                found = self._found(job)
            if publishing is not None:
                if not self._waited_until(publishing) and found is not None:
                    self._hosted.note("A question was late; give its kind a longer deadline.")
                    found = None
                if found is None:
                    # What failed and what was late are written alike, and tell no time of a run.
                    self._waited_until(publishing + _publishing_seconds(job))
            if self._left.is_set():
                self._desk.give_back(job.id, self._worker)
            else:
                self._publish(job, found)
        finally:
            beating.set()
            heart.join()

    def _publishing_at(self, job: QuestionJob) -> float | None:
        """When to write into the ledger, by this machine's own clock; None for at once."""
        if job.deadline is None or job.starts is None:
            return None
        left = (job.deadline - self._desk.now()).total_seconds()
        return monotonic() + left - _publishing_seconds(job)

    def _waited_until(self, moment: float) -> bool:
        """Wait, or until the question is left to others; False where the moment has passed."""
        left = moment - monotonic()
        self._left.wait(max(left, 0.0))
        return left >= 0

    @contextmanager
    def _stopped_at(self, moment: float | None) -> Iterator[None]:
        """What runs longer is ended: it would be late, and would make the next one late as well."""
        if moment is None:
            yield
            return
        ended = threading.Event()

        def stop() -> None:
            wait = max(moment - monotonic(), 0.0)
            while not ended.wait(wait):  # of several statements each is ended
                with suppress(Problem, OnesidedError):
                    self._hosted.data.stop()
                wait = _SECONDS_BETWEEN_STOPS

        stopping = threading.Thread(target=stop, daemon=True)
        stopping.start()
        try:
            yield
        finally:
            ended.set()
            stopping.join()

    def _found(self, job: QuestionJob) -> FoundAnswer | None:
        """What the question's runs would write; None where one failed."""
        try:
            data = self._hosted.data
            if not data.unchanged:
                self._hosted.note(f"The data changed before {_second(job.starts)}; open them anew.")
                return None
            return run_question(data, job, self._hosted.checked.pop(job.id, None))
        except (Exception, Interrupted) as error:
            # A value could be in its text: a steward is told the kind of it alone.
            self._hosted.note(f"A question failed with {type(error).__name__}.")
            return None

    def _publish(self, job: QuestionJob, found: FoundAnswer | None) -> None:
        try:
            if found is not None:
                if not self._is_late(job):
                    for number, file in found.samples.items():
                        self._hosted.keep_sample(number, file)
                    publish_all(found.held)
                    self._desk.finish(job.id, self._worker)
                    return
                self._hosted.note("A question was late; give its kind a longer deadline.")
        except (OnesidedError, OSError):
            self._hosted.note("An answer could not be stored.")
        for charge in charges_of(self._hosted.data, job):
            if charge.release is None:
                self._hosted.data.kernel().account.failed(charge, ReleaseFailed)
        self._desk.fail(job.id, self._worker)

    def _is_late(self, job: QuestionJob) -> bool:
        return job.deadline is not None and self._desk.now() >= job.deadline

    def _beat(self, job: QuestionJob, beating: threading.Event) -> None:
        """Keep the lease while the question runs."""
        while not beating.wait(LEASE.total_seconds() / 3):
            with suppress(OnesidedError):
                self._desk.renew(job.id, self._worker, LEASE)


def _publishing_seconds(job: QuestionJob) -> float:
    """The last part of a slot; nothing where there is none."""
    if job.deadline is None or job.starts is None:
        return 0.0
    length = (job.deadline - job.starts).total_seconds()
    return min(length * PUBLISHING_SHARE, PUBLISHING_SECONDS)


def charges_of(data: FrozenDataset, job: QuestionJob) -> list[Charge]:
    """What a job has paid for, with its releases where they are stored."""
    account = data.kernel().account
    found = [account.charged(number) for number in job.charges]
    return [each for each in found if each is not None]


@dataclass(frozen=True)
class FoundAnswer:
    """What a question has found: what it would write, and where large samples lie by charge."""

    held: list[HeldBooks]
    answers: list[Answer]

    @property
    def samples(self) -> dict[int, Path]:
        """The samples of which the ledger keeps no more than a digest."""
        return {
            each.stored.charge: each.drawn.path / SAMPLE_FILE
            for each in self.answers
            if each.drawn is not None and not is_whole(each.stored.payload)
        }


def run_question(
    data: FrozenDataset, job: QuestionJob, asked: AskedTogether | None = None
) -> FoundAnswer:
    """Run what a job has paid for; nothing is written.

    - `asked`: the question as it was checked before its charge, where that is still known.
    """
    if asked is None:
        asked = Wanted.of(job.question).checked(data)
    charges = charges_of(data, job)
    requests = tuple(each.request.fingerprint for each in asked.questions)
    if requests != tuple(each.request for each in charges):
        raise ReleaseFailed("The question is not the one that was charged.")
    return FoundAnswer(*data.run_held(asked, charges))


def is_open(job: QuestionJob) -> bool:
    """Whether its answer is still to come."""
    return job.state in (JobState.AWAITING, JobState.ACCEPTED)


def _second(time: datetime | None) -> str:
    return "now" if time is None else time.isoformat(timespec="seconds")
