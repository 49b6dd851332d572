"""What a release lets out, put on a tape and played again, and noise that a seed repeats.

Questions are values, so they can be wrapped: the wrapped one says the same of itself, and what it
lets out, a look or the released values, is recorded, or comes from the tape. Nothing of the session
itself is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, cast

from onesided.engine.base import Engine
from onesided.ledger import Ledger
from onesided.randomness import seeded
from onesided.session.books import Books
from onesided.session.dataset import Dataset
from onesided.session.facts import DatasetFacts
from onesided.session.kernel import Answer, Kernel
from onesided.session.questions.base import Question, ReleaseTerms, Runnable, TwoStep
from onesided.session.table import Reading, SecretTable


@dataclass
class Tape:
    """What questions let out, in order; with `played` it comes from there.

    - `seed`: the noise and the coins. None leaves them to the session.
    """

    seed: int | None = None
    played: Sequence[bytes] | None = None
    values: list[bytes] = field(default_factory=list)

    def let_out(self, reading: Reading, make: Callable[[], bytes]) -> bytes:
        """A look or released values."""
        if self.played is not None:
            value = self.played[len(self.values)]
        else:
            if self.seed is not None:
                reading.table.rng = seeded(self.seed + len(self.values))
                reading.coin_key = f"{self.seed:032x}"
            value = make()
        self.values.append(value)
        return value


class TapedDataset(Dataset):
    """A data set with an account of its own, whose questions go over a tape.

    - `engine`: answers instead of the one that was opened.
    - `more`: is added to the number of units that everybody knows.
    """

    def __init__(
        self,
        opened: Dataset,
        ledger: Callable[[], Ledger],
        budget: Fraction,
        *,
        frozen: bool,
        engine: Engine | None = None,
        more: int = 0,
    ) -> None:
        facts, table = opened._facts, opened._table
        facts = replace(facts, units=facts.units + more)
        if engine is not None:
            table = SecretTable(engine, table.rng, table._version, facts.map)
        self.tape = Tape()
        format = None if frozen else opened.format
        self.books = _TapedBooks(self, facts, table, ledger, budget, format)
        super().__init__(facts, self.books)

    @property
    def ledger(self) -> Ledger:
        """Where it keeps its account."""
        return self.books._ledger

    def leave(self) -> None:
        """Close the account; whoever opened the table closes that."""
        self.books.close()


class _TapedBooks(Books):
    def __init__(
        self,
        owner: TapedDataset,
        facts: DatasetFacts,
        table: SecretTable,
        ledger: Callable[[], Ledger],
        budget: Fraction,
        format: Any,
    ) -> None:
        super().__init__(facts, table, ledger, budget=budget, format=format)
        self._owner = owner

    def kernel(self, epsilon: Fraction | None) -> Kernel:
        plain = super().kernel(epsilon)
        return _TapedKernel(**vars(plain), tape=self._owner.tape)


@dataclass(frozen=True, kw_only=True)
class _TapedKernel(Kernel):
    tape: Tape

    def ask(
        self,
        questions: Sequence[Question],
        *,
        fresh: bool = False,
        once: bool = False,
        purpose: str = "",
    ) -> list[Answer]:
        wrapped = [cast(Question, _wrapped(each, self.tape)) for each in questions]
        return super().ask(wrapped, fresh=fresh, once=once, purpose=purpose)


class _Wrapped:
    """Says of itself what the wrapped one says."""

    def __init__(self, plain: Any, tape: Tape) -> None:
        self.plain = plain
        self.tape = tape

    def __getattr__(self, name: str) -> Any:
        return getattr(self.plain, name)

    @property
    def terms(self) -> ReleaseTerms:
        said: ReleaseTerms = self.plain.terms
        return said


class _Run(_Wrapped, Runnable):
    def run(self, reading: Reading) -> bytes:
        return self.tape.let_out(reading, lambda: self.plain.run(reading))


class _Steps(_Wrapped, TwoStep):
    @property
    def seen(self) -> str:  # type: ignore[override]
        return str(self.plain.seen)

    def look(self, reading: Reading) -> bytes:
        return self.tape.let_out(reading, lambda: self.plain.look(reading))

    def decided(self, look: bytes) -> Runnable | TwoStep:
        return _wrapped(self.plain.decided(look), self.tape)


def _wrapped(question: Question | Runnable | TwoStep, tape: Tape) -> _Run | _Steps:
    return _Steps(question, tape) if isinstance(question, TwoStep) else _Run(question, tape)
