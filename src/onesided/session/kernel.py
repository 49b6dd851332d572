"""The trusted kernel: terms, charge, run, store, show; the same for every question.

Everything that can be refused is refused before the charge, and everything that is said of a
release but its values is written with it. After the charge nothing that leaves depends on a secret
except through a mechanism: all that fails then fails with one sentence, and the charge stands. What
is shown is always what the ledger has stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from onesided.data.private import PrivateDirectory
from onesided.engine.base import CountQuery
from onesided.errors import Interrupted, LedgerError, MechanismRefused, ReleaseFailed
from onesided.ledger import Account, Charge, Order, RunBooks, Snapshot, StoredRelease
from onesided.loss import show
from onesided.session.facts import DatasetFacts
from onesided.session.kept import agree
from onesided.session.questions.base import Question, Runnable, TwoStep
from onesided.session.receipts import receipt, terms_json
from onesided.session.table import Reading, SecretTable, count_query
from onesided.session.together import CountsTogether

Result = TypeVar("Result")


@dataclass(frozen=True)
class Answer:
    """A stored release.

    - `repeated`: it was stored before, and nothing was run now.
    - `drawn`: where the rows of a sample lie that was drawn just now.
    """

    stored: StoredRelease
    repeated: bool
    drawn: PrivateDirectory | None


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """One account on one snapshot of the data.

    - `asked_by`: a short id of who asks, which goes into the ledger with every charge.
    """

    account: Account
    snapshot: Snapshot
    facts: DatasetFacts
    table: SecretTable
    asked_by: str = ""

    def ask(
        self,
        questions: Sequence[Question],
        *,
        fresh: bool = False,
        once: bool = False,
        purpose: str = "",
    ) -> list[Answer]:
        """The releases of `questions`: charged once, all or none; each run, stored and returned.

        An equal request on this snapshot is not charged again and returns the stored bytes, unless
        `fresh`; what shared coins draw stays the same even then. A request whose earlier run never
        got as far as storing is free too: nothing of it was ever shown.

        - `once`: what an earlier state of the data was asked of a part is not asked again.
        """
        orders = self.orders(questions, fresh=fresh, once=once, purpose=purpose)
        charges = self.account.charge(orders, self.snapshot)
        together = self.together(questions, charges)
        return [
            self.answer(question, charge, together=together)
            for question, charge in zip(questions, charges, strict=True)
        ]

    def together(self, questions: Sequence[Question], charges: Sequence[Charge]) -> CountsTogether:
        """What those that are run may find in one pass; nothing is read yet."""
        wanted = [
            (question.scope, each)
            for question, charge in zip(questions, charges, strict=True)
            if charge.release is None and isinstance(question, Runnable)
            for each in question.counts
        ]

        def queries() -> list[CountQuery]:
            policy = self.table.sensitive
            return [
                count_query(policy(scope.policy), each.groups, totals=each.totals)
                for scope, each in wanted
            ]

        return CountsTogether(self.table.engine, queries)

    def orders(
        self,
        questions: Sequence[Question],
        *,
        fresh: bool = False,
        once: bool = False,
        purpose: str = "",
    ) -> list[Order]:
        """What `ask` has charged."""
        return [
            Order(
                request=each.request.fingerprint,
                spending=each.spending,
                description=each.request.to_json(),
                terms=terms_json(each, each.terms),
                paid_once=each.shares_coins or not fresh,
                once=once and each.scope.part is not None,
                reserves=isinstance(each, TwoStep),
                who=self.asked_by,
                purpose=purpose,
            )
            for each in questions
        ]

    def again(self, question: Question, stored: StoredRelease) -> Answer:
        """Run a question anew whose values were not stored: by the same coins, the same values."""
        assert isinstance(question, Runnable)
        reading = self.reading(question)
        drawn = _total(None, None, lambda: question.run(reading))
        if not agree(stored.payload, drawn):
            raise ReleaseFailed(
                "The sample that was drawn again is not the one that was released; open the state "
                "of the data that it was drawn from, with the same versions of the libraries."
            )
        return Answer(stored, False, reading.drawn)

    def answer(
        self,
        question: Question,
        charge: Charge,
        books: RunBooks | None = None,
        *,
        together: CountsTogether | None = None,
    ) -> Answer:
        """What is stored for a charge of `question`, run now where nothing is.

        - `books`: where the run writes what it finds; by default at once into the account.
        - `together`: what it may find in one pass with other questions.
        """
        if charge.release is not None:
            return Answer(charge.release, True, None)
        reading = replace(self.reading(question), together=together)
        return _Run(self, books or self.account).answer(question, charge, reading)

    def reading(self, question: Question) -> Reading:
        """Shared coins are the snapshot's; a question that pays in full has coins of its own."""
        key = self.snapshot.coin_key.reveal() if question.shares_coins else None
        return Reading(self.table, question.scope, self.facts.units, key)


@dataclass(frozen=True)
class _Run:
    """One run of a question for its charge, which writes into `books`."""

    kernel: Kernel
    books: RunBooks

    def answer(self, question: Question, charge: Charge, reading: Reading) -> Answer:
        said = charge.terms or terms_json(question, question.terms)
        if isinstance(question, TwoStep):
            runnable = self._decided(question, charge, reading)
            terms = terms_json(question, runnable.terms)
            charge = _kept(lambda: self.books.settle(charge, runnable.terms.loss, terms))
            said = charge.terms or terms
        else:
            assert isinstance(question, Runnable)
            runnable = question
        payload = self._total(charge, lambda: runnable.run(reading))
        written = receipt(said, charge)
        if charge.snapshot != self.kernel.snapshot.number:
            written["answered_on_snapshot"] = self.kernel.snapshot.number
        stored = _kept(lambda: self.books.store(charge, payload, written))
        return Answer(stored, False, reading.drawn if stored.payload == payload else None)

    def _decided(self, first: TwoStep, charge: Charge, reading: Reading) -> Runnable:
        """What follows from stored looks; each is stored before it decides about the next."""
        step: TwoStep | Runnable = first
        while isinstance(step, TwoStep):
            decide, look = step.decided, self._looked(step, charge, reading)
            step = self._total(charge, lambda: decide(look))  # noqa: B023
        return step

    def _looked(self, question: TwoStep, charge: Charge, reading: Reading) -> bytes:
        """The stored look, taken now where there is none yet."""
        before = self.books.step(charge, question.seen)
        if before is not None:
            return before
        look = self._total(charge, lambda: question.look(reading))
        return _kept(lambda: self.books.keep_step(charge, question.seen, look))

    def _total(self, charge: Charge, run: Callable[[], Result]) -> Result:
        return _total(self.books, charge, run)


def _kept(store: Callable[[], Result]) -> Result:
    """What cannot be stored is not shown."""
    try:
        return store()
    except LedgerError as error:
        raise ReleaseFailed(f"{error} The charge stands.") from None


def _total(books: RunBooks | None, charge: Charge | None, run: Callable[[], Result]) -> Result:
    """Do `run`; what fails is noted beside the charge, and says nothing of the data."""
    try:
        return run()
    except BaseException as error:
        if books is not None and charge is not None:
            with suppress(LedgerError):  # a ledger that cannot note it still holds the charge
                books.failed(charge, type(error))
        if isinstance(error, KeyboardInterrupt):
            raise _interrupted(error, charge) from None
        if isinstance(error, ReleaseFailed) or not isinstance(error, Exception):
            raise
        raise ReleaseFailed(_sentence(error)) from None


def _interrupted(error: KeyboardInterrupt, charge: Charge | None) -> Interrupted:
    kind = type(error) if isinstance(error, Interrupted) else Interrupted
    paid = "" if charge is None else f" after the charge of ε = {show(charge.cost)}, which stands"
    return kind(f"Interrupted{paid}; the same request is free from now on.")


def _sentence(error: Exception) -> str:
    """One sentence that does not depend on the data; a mechanism refuses for public reasons."""
    if isinstance(error, MechanismRefused):
        return f"{error} The charge stands."
    return (
        "The release failed after its charge, which stands; asking again is free. "
        "Check memory and disk."
    )
