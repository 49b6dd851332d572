"""Everything that a server holds while it runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from onesided.data.owner import locked
from onesided.errors import OnesidedError, SourceError
from onesided.ledger import Ledger, open_ledger
from onesided.ledger.desk import Desk, JobState, QuestionJob, Slot, open_desk
from onesided.server.config import ServerConfig
from onesided.server.hosted import HostedDataset
from onesided.server.jobs.kept import KeptQuestions
from onesided.server.jobs.runner import QueueRunner
from onesided.server.operate.logs import RequestLog
from onesided.server.people import Caller
from onesided.server.problems import Problem
from onesided.server.sources import described
from onesided.session.description import descriptions
from onesided.session.several import AskedTogether


@dataclass
class Served:
    """The data sets, the ledger with its desk, and what runs questions.

    - `runners`: one for each data set, by its name.
    """

    config: ServerConfig
    ledger: Ledger
    desk: Desk
    hosted: Mapping[str, HostedDataset]
    log: RequestLog
    questions: KeptQuestions
    runners: dict[str, QueueRunner] = field(default_factory=dict)
    ready: bool = False
    _adding: threading.Lock = field(default_factory=threading.Lock)
    _read: tuple[int, int, int] | None = None
    """Which version of the file of descriptions is known."""

    @classmethod
    def of(cls, config: ServerConfig, log: RequestLog) -> Served:
        """What a configuration describes; nothing is opened yet but the ledger."""
        hosted = {name: HostedDataset(config, name, each) for name, each in config.datasets.items()}
        return cls(
            config,
            open_ledger(config.ledger),
            open_desk(config.ledger),
            hosted,
            log,
            KeptQuestions(config.storage / "questions"),
        )

    @property
    def datasets(self) -> Mapping[str, HostedDataset]:
        """By name, with those that another process of the server has added."""
        if self.ready and self._read != _version(self.config.file):
            with self._adding:
                self._take_over()
        return self.hosted

    def start(self) -> None:
        """Open the data sets and begin to run questions; those of before a crash go on."""
        for each in self.hosted.values():
            each.start()
            self._run(each)
        self.ready = True

    def add(self, name: str, table: Mapping[str, Any]) -> HostedDataset:
        """Serve one more data set, and describe it in the server's file; all of it or nothing."""
        with self._adding, self._alone():
            self._take_over()
            if name in self.hosted:
                raise Problem(409, f"There is a data set {name} already.")
            found, draft = described(self.config.file, name, table)
            hosted = HostedDataset(self.config, name, found)
            try:
                hosted.open_state()
                draft.replace(self.config.file)
            except BaseException:
                hosted.close()
                draft.unlink(missing_ok=True)
                raise
            self._serve(name, hosted)
            return hosted

    def _take_over(self) -> None:
        """Serve what another process has opened and then described in the file."""
        with suppress(OnesidedError):  # somebody may be writing it
            self._read = _version(self.config.file)
            for name, each in descriptions(self.config.file).items():
                hosted = HostedDataset(self.config, name, each)
                if name not in self.hosted and hosted.was_opened:
                    hosted.reopen()
                    self._serve(name, hosted)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process of the server adds a data set in the block."""
        try:
            self.config.storage.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(self.config.storage / "adding.lock"):
                yield
        except OSError:
            raise SourceError(f"The folder {self.config.storage} cannot be written.") from None

    def _serve(self, name: str, hosted: HostedDataset) -> None:
        # Others may be going through the data sets now.
        self.hosted = {**self.hosted, name: hosted}
        self._run(hosted)

    def _run(self, hosted: HostedDataset) -> None:
        runner = QueueRunner(hosted, self.desk)
        self.runners[hosted.name] = runner
        runner.start()

    def stop(self) -> str:
        """Finish what runs, up to a limit; one sentence on what is left behind."""
        self.ready = False
        for runner in self.runners.values():
            runner.end()
        for runner in self.runners.values():
            runner.wait(self.config.stop_seconds)
        unanswered = sum(map(self._is_unanswered, self.desk.jobs(states=[JobState.ACCEPTED])))
        for each in self.hosted.values():
            each.close()
        self.desk.close()
        self.ledger.close()
        return _left_behind(unanswered)

    def _is_unanswered(self, job: QuestionJob) -> bool:
        """Whether an open job has yet to be run; what is stored waits for its deadline alone."""
        for account in self.ledger.accounts():
            if account.terms.dataset == job.dataset:
                charges = map(account.charged, job.charges)
                return any(charge is None or charge.release is None for charge in charges)
        return True

    def dataset(self, name: str, caller: Caller) -> HostedDataset:
        """A data set that the caller may see; what they may not see does not exist for them."""
        found = self.datasets.get(name)
        if found is None or caller.rights(self.desk, found.account_name) is None:
            raise Problem(404, "There is no such data set, or it is not yours to see.")
        return found

    def slot(self, hosted: HostedDataset, asked: AskedTogether) -> Slot:
        """The place in the queue that a question gets: the times of all its parts together."""
        limits, units = self.config.limits, hosted.data.units
        lengths = [self.config.deadlines.length(kind, units) for kind in _timed(asked)]
        known = [each for each in lengths if each is not None]
        return Slot(
            length=sum(known, start=timedelta(0)) if known else None,
            most_open=limits.open_jobs,
            most_open_of_one=limits.open_jobs_of_one,
        )

    def wake(self, hosted: HostedDataset) -> None:
        """Have the data set's queue looked at now."""
        self.runners[hosted.name].wake()


def _version(file: Path) -> tuple[int, int, int] | None:
    """What changes with each new content of a file; None where there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _timed(asked: AskedTogether) -> Iterator[str]:
    """The kinds of question by which the time of a slot is measured."""
    for part in asked.parts:
        kind = str(part.wish["ask"])
        yield kind
        if kind == "sample":  # a sample may be counted for as well
            yield from ("count" for _ in part.questions[1:])


def _left_behind(number: int) -> str:
    if not number:
        return "The server has ended; every question that was charged has its answer."
    questions = "1 question was" if number == 1 else f"{number:,} questions were"
    return (
        f"The server has ended; {questions} charged and not yet answered, and will be by a server "
        "that is started before the deadline, or fail at it."
    )
