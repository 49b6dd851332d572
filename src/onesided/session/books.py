"""The account of a data set: opened when it is first needed, on the state of the data as it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from onesided.errors import SourceError
from onesided.ledger import Account, Ledger, Snapshot, StewardLook, Terms
from onesided.session.facts import DatasetFacts
from onesided.session.kernel import Kernel
from onesided.session.scope import policy_text
from onesided.session.table import SecretTable


class Books:
    """Where the releases of a data set are charged.

    - `budget`: the most that all of them may cost; without it and a ledger that outlives this
      process, the first request is all that is agreed to.
    - `format`: how the source is read, where the account is yet to freeze it.
    - `asked_by`: a short id of who asks.
    """

    def __init__(
        self,
        facts: DatasetFacts,
        table: SecretTable,
        ledger: Callable[[], Ledger],
        *,
        budget: Fraction | None,
        format: Mapping[str, Any] | None,
        asked_by: str = "",
    ) -> None:
        self.table = table
        self._facts = facts
        self._open_ledger = ledger
        self._budget = budget
        self._format = None if format is None else dict(format)
        self._asked_by = asked_by
        self.fingerprint = table.fingerprint()
        self._frozen: Kernel | None = None

    @cached_property
    def _ledger(self) -> Ledger:
        """Opened when the account is first needed: what is refused before leaves no file behind."""
        return self._open_ledger()

    @property
    def opened(self) -> bool:
        """Whether a request got as far as the account; before that nothing can be charged."""
        return "_ledger" in vars(self)

    @property
    def agreed(self) -> bool:
        """Whether there is a budget yet."""
        return self._facts.durable or self._budget is not None

    def kernel(self, epsilon: Fraction | None) -> Kernel:
        """The account on the data as it is now; refused where it changed since the opening."""
        if self._frozen is not None:
            return self._frozen
        if self.table.fingerprint() != self.fingerprint:
            raise SourceError("The data changed since it was opened; open it again.")
        if not self.agreed:
            self._budget = epsilon
        account = self._account()
        return self._on(account, account.snapshot(self.fingerprint))

    def freeze(self, *, opens: bool) -> None:
        """Stay on the state that was opened: nothing looks at the data any more but paid questions.

        - `opens`: make a new snapshot where the data are in another state than the account's last;
          otherwise that is refused. The first state of a new account is always opened.
        """
        account = self._account()
        snapshot = account.known_snapshot(self.fingerprint)
        if snapshot is None and not opens and account.balance().charges:
            raise SourceError("The data changed; a steward opens their new state.")
        self._frozen = self._on(account, snapshot or account.snapshot(self.fingerprint))

    @property
    def unchanged(self) -> bool:
        """Whether the data are in the state that was opened; secret."""
        return self.table.fingerprint() == self.fingerprint

    def _account(self) -> Account:
        facts = self._facts
        return self._ledger.account(
            Terms(
                dataset=facts.name,
                unit=facts.unit.columns,
                policy_id=facts.policy.id,
                policy_sql=policy_text(facts.policy),
                budget=self._budget,
                partition_columns=facts.partition_by,
                format=self._format,
                extra=facts.extra,
            )
        )

    def _on(self, account: Account, snapshot: Snapshot) -> Kernel:
        return Kernel(
            account=account,
            snapshot=snapshot,
            facts=self._facts,
            table=self.table,
            asked_by=self._asked_by,
        )

    def note_look(self, *, secret: bool) -> None:
        """Keep that the data themselves were looked at, where a ledger outlives this process."""
        if self._facts.durable:
            self._ledger.note(
                StewardLook(
                    dataset=self._facts.name,
                    unit=self._facts.unit.columns,
                    policy_id=self._facts.policy.id,
                    policy_sql=policy_text(self._facts.policy),
                    secret=secret,
                    who=self._asked_by,
                )
            )

    def close(self) -> None:
        """Let go of the ledger."""
        if self.opened:
            self._ledger.close()
