"""A data set for many: one state of it, on which questions are charged now and run later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from onesided.engine.base import StopsStatements
from onesided.engine.sources import Files
from onesided.ledger import Charge, Order
from onesided.session.dataset import Dataset
from onesided.session.facts import DatasetFacts
from onesided.session.held import HeldBooks
from onesided.session.kernel import Answer, Kernel
from onesided.session.opening import open_dataset
from onesided.session.several import AskedTogether, asked_alone, asked_together, of_part


class FrozenDataset(Dataset):
    """One state of a data set that is shared: nothing but a paid question looks at the data.

    What is free (facts, plans, prices) reads the ledger alone, and waits for no run.
    """

    @classmethod
    def open(cls, arguments: Mapping[str, Any], *, opens: bool) -> Self:
        """Open a data set that a server is to share.

        - `arguments`: those of `onesided.open`.
        - `opens`: make a new snapshot where the data changed since the account's last; otherwise
          that is refused.
        """
        opened = open_dataset(**arguments)
        try:
            opened._books.freeze(opens=opens)
        except BaseException:
            opened.close()
            raise
        return cls(opened._facts, opened._books)

    @property
    def facts(self) -> DatasetFacts:
        """Everything that is public of it."""
        return self._facts

    @property
    def unchanged(self) -> bool:
        """Whether the data are still in this state; secret, and for a run that was paid."""
        return self._books.unchanged

    @property
    def is_current(self) -> bool:
        """Whether this is still the account's last state."""
        kernel = self._books.kernel(None)
        found = kernel.account.known_snapshot(self._books.fingerprint)
        return found is not None and found.number == kernel.snapshot.number

    def kernel(self, who: str = "") -> Kernel:
        """The account on this state, for somebody who asks."""
        return replace(self._books.kernel(None), asked_by=who)

    def asked(
        self, kind: str, epsilon: Any, given: Mapping[str, Any], *, yes: bool
    ) -> AskedTogether:
        """A question, checked and free."""
        return asked_alone(self.plan, kind, epsilon, given, yes=yes)

    def asked_together(
        self,
        wishes: Sequence[Mapping[str, Any]],
        epsilon: Any,
        part: Mapping[str, Any] | None,
        *,
        yes: bool,
    ) -> AskedTogether:
        """Several questions as `run` takes them, checked and free."""
        said = wishes if part is None else of_part(wishes, part)
        return asked_together(self.plan, said, epsilon, yes=yes)

    def orders(
        self, asked: AskedTogether, *, who: str, purpose: str, fresh: bool, once: bool = False
    ) -> list[Order]:
        """What the questions have charged."""
        kernel = self.kernel(who)
        return kernel.orders(asked.questions, fresh=fresh, once=once, purpose=purpose)

    def stop(self) -> None:
        """End the statement that runs, from another thread, where the engine knows how."""
        engine = self._table.engine
        if isinstance(engine, StopsStatements):
            engine.stop()

    def run_held(
        self, asked: AskedTogether, charges: Sequence[Charge]
    ) -> tuple[list[HeldBooks], list[Answer]]:
        """Run what was charged, and hold back all that it would write."""
        kernel = self.kernel()
        held, answers = [], []
        together = kernel.together(asked.questions, charges)
        for question, charge in zip(asked.questions, charges, strict=True):
            books = HeldBooks(kernel.account)
            answers.append(kernel.answer(question, charge, books, together=together))
            if charge.release is None:
                held.append(books)
        return held, answers


def copied_sources(arguments: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The arguments of `onesided.open`, with every file copied below `folder`.

    What lies in a database stays there. A copy has the same state as what it was copied from.
    """
    copied = dict(arguments)
    if "source" in copied:
        copied["source"] = _copied(copied["source"], folder / "data")
    if "public" in copied:
        copied["public"] = {
            name: _copied(each, folder / "public" / str(place))
            for place, (name, each) in enumerate(copied["public"].items())
        }
    if "lookups" in copied:
        copied["lookups"] = {
            name: each
            if "source" not in each
            else {**each, "source": _copied(each["source"], folder / "lookups" / str(place))}
            for place, (name, each) in enumerate(copied["lookups"].items())
        }
    return copied


def _copied(source: str, folder: Path) -> str:
    """Copy the files of a source; what the copies are opened by."""
    return Files.find(source).copied(source, folder)
