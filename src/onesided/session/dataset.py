"""A data set with its policy and budget: what stewards open and analysts ask."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from types import TracebackType
from typing import Any

from onesided.data.files import write_batches
from onesided.data.private import PrivateDirectory
from onesided.data.release import (
    SAMPLE_FILE,
    PlacedRelease,
    Receipt,
    Release,
    ReleaseKind,
    SampleRelease,
    TableRelease,
)
from onesided.data.units import Unit
from onesided.engine.base import (
    Coins,
    Engine,
    PlacesSamples,
    PublicTable,
    SampleQuery,
    TellsProgress,
)
from onesided.errors import RequestError, SourceError
from onesided.language import BoundPredicate
from onesided.ledger import Balance, Ledger, Terms
from onesided.loss import Loss, Number, privacy_loss, show
from onesided.policy import Policy
from onesided.randomness import Randomness, fresh_coin_key
from onesided.session.counting import Counting, checked_mechanism
from onesided.session.domains import both
from onesided.session.figures import Figures, Result
from onesided.session.grouping import Grouping, bound_where, grouping
from onesided.session.kernel import Kernel
from onesided.session.plan import Plan, Planning, assumed_share
from onesided.session.public import ANY_NAME
from onesided.session.receipts import COINS, Circumstances, Outcome
from onesided.session.requests import Request
from onesided.session.scope import AnyPolicy, Scope, policy_text, scope
from onesided.session.sql import Surroundings
from onesided.session.workbench import Workbench


class Dataset(Figures):
    """A table, its unit, its policy and its account; made by `onesided.open`.

    Opening has validated the table once, for the steward and free of charge. From then on every
    request is checked, charged, run and stored, in this order.
    """

    def __init__(
        self,
        engine: Engine,
        policy: AnyPolicy,
        ledger: Callable[[], Ledger],
        *,
        name: str,
        budget: Fraction | None,
        durable: bool,
        rng: Randomness,
        version: str | None = None,
        partition_by: tuple[str, ...] = (),
        domains: Mapping[str, Sequence[Any]] | None = None,
        public: Mapping[str, PublicTable] | None = None,
    ) -> None:
        self._engine = engine
        self._policy = policy
        self._open_ledger = ledger
        self._name = name
        self._budget = budget
        self._durable = durable
        self._rng = rng
        self._version = version
        self._partition_by = partition_by
        self._domains = dict(domains or {})
        self._public = dict(public or {})
        self._turn = threading.RLock()
        self._flags: BoundPredicate | None = None
        self._units = self._inspected()
        self._fingerprint = self._current_fingerprint()

    @cached_property
    def _ledger(self) -> Ledger:
        """Opened when the account is first needed: what is refused before leaves no file behind."""
        return self._open_ledger()

    @property
    def name(self) -> str:
        """The name that the account is kept under."""
        return self._name

    @property
    def units(self) -> int:
        """n, the number of units; public."""
        return self._units

    @property
    def unit(self) -> Unit:
        """What one record is."""
        return self._engine.unit

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table; public."""
        return tuple(self._engine.schema)

    @property
    def policy(self) -> AnyPolicy:
        """The policy that the account was opened under."""
        return self._policy

    @property
    def budget(self) -> Balance:
        """Everything charged so far, and what is left."""
        with self._turn:
            return self._kernel(None).account.balance()

    @property
    def account_opened(self) -> bool:
        """Whether a request got as far as the account; before that nothing can be charged."""
        return "_ledger" in vars(self)

    def progress(self) -> float | None:
        """How far the engine is with its statement, from 0 to 1; None where nobody knows.

        To be asked from another thread, and for the steward alone: times depend on the data.
        """
        engine = self._engine
        return engine.progress() if isinstance(engine, TellsProgress) else None

    def sample(
        self,
        epsilon: Number,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        *,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        into: str | None = None,
        fresh: bool = False,
    ) -> Release:
        """True rows of the non-sensitive units, each unit kept whole with probability 1 − e^−ε.

        - `where`, `columns`: what to show of the rows of the kept units.
        - `policy`: a stricter policy than the account's, which is proven to relax it.
        - `part`: only the units with this value of a column named in `partition_by`.
        - `into`: where the engine itself writes the rows, so that they do not pass through here: a
          new table in PostgreSQL, a folder of Parquet files for Spark.

        The coins belong to the snapshot: repeating a sample is free and gives the same one, and a
        larger ε contains it and pays the difference. With `fresh` it has coins of its own and pays
        in full.
        """
        exact = privacy_loss(epsilon)
        chosen = self._chosen_columns(columns)
        place = None if into is None else self._place(into)
        within = self._scope(policy, part)
        condition = bound_where(self._engine.schema, where)
        shown = None if condition is None else condition.sql
        details = {"columns": list(chosen), "where": shown, **within.details()}
        request = Request(ReleaseKind.SAMPLE, within.policy.id, exact, details)
        loss = Loss(0, exact)
        with self._turn:
            kernel = self._kernel(exact)
            coins = Coins(fresh_coin_key() if fresh else kernel.snapshot.coin_key.reveal(), exact)
            charge = kernel.charge(
                request, within.spending(loss, shared_coins=not fresh), fresh=fresh
            )

            def draw() -> tuple[PrivateDirectory | None, int]:
                inside = both(condition, within.inside)
                query = SampleQuery(self._bound(within), coins, chosen, inside)
                return self._drawn(query) if place is None else (None, place(query))

            directory, rows = kernel.noting_failure(charge, draw)
            stored = charge.release
            if stored is None:
                kept = f"1 − e^−{show(exact)}"
                outcome = Outcome(
                    mechanism="rr",
                    loss=loss,
                    noise=f"every non-sensitive unit kept whole with probability {kept}",
                    randomness=COINS,
                    error={"share_of_nonsensitive_units_kept": kept},
                )
                stored = kernel.store(
                    charge,
                    json.dumps({"rows": rows}).encode(),
                    self._workbench(kernel, within).receipt(request, outcome, [charge]),
                )
        if directory is None:
            return PlacedRelease(Receipt(stored.receipt), str(into))
        return SampleRelease(Receipt(stored.receipt), directory)

    def count(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        mechanism: str = "auto",
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        fresh: bool = False,
        **parameters: Any,
    ) -> Release:
        """How many units are in each group.

        - `by`: columns, or hour, weekday, date or bucket of a column.
        - `max_groups`: the most groups that count for one unit; needed where a unit can be in
          several, since the noise grows with it.
        - `domain`: the values of a key, where they are known beforehand; `"*"` as the last one
          stands for all others.
        - `mechanism`, `parameters`: see `onesided.mechanism_names()`.
        - `policy`, `part`, `fresh`: as in `sample`.
        """
        exact = privacy_loss(epsilon)
        chosen = checked_mechanism(mechanism, parameters)
        within = self._scope(policy, part)
        groups = self._grouping(by, where, max_groups, domain, within)
        counting = Counting(chosen, groups, parameters)
        counting.check(within.policy, self._units)
        stored = self._paid(
            lambda bench: counting.release(bench, exact, fresh=fresh), exact, within
        )
        return TableRelease(Receipt(stored.receipt), stored.payload)

    def plan(
        self,
        by: Sequence[str] | str = (),
        where: str | None = None,
        *,
        epsilon: Number,
        max_groups: int | None = None,
        domain: Mapping[str, Sequence[Any]] | None = None,
        policy: str | Policy | None = None,
        part: Mapping[str, Any] | None = None,
        nonsensitive_share: float = 0.5,
    ) -> Plan:
        """What `count` would cost by each mechanism, and its expected error; free, nothing is run.

        - `nonsensitive_share`: which share of the units to assume non-sensitive; the true one is
          secret.
        - all others: as in `count`.
        """
        exact = privacy_loss(epsilon)
        within = self._scope(policy, part)
        groups = self._grouping(by, where, max_groups, domain, within)
        facts = groups.facts(self._units, assumed_share(nonsensitive_share))
        with self._turn:
            # Without a ledger and a budget nothing is agreed to before the first release.
            agreed = self._durable or self._budget is not None
            kernel = self._kernel(None) if agreed else None
            return Planning(groups, within, exact, facts, kernel).plan()

    def close(self) -> None:
        """Let go of the source and the ledger."""
        self._engine.close()
        if self.account_opened:
            self._ledger.close()

    def __enter__(self) -> Dataset:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _scope(self, policy: str | Policy | None, part: Mapping[str, Any] | None) -> Scope:
        schema = self._engine.schema
        return scope(self._policy, schema, self._partition_by, policy=policy, part=part)

    def _grouping(
        self,
        by: Sequence[str] | str,
        where: str | None,
        max_groups: int | None,
        domain: Mapping[str, Sequence[Any]] | None,
        within: Scope,
    ) -> Grouping:
        schema = self._engine.schema
        return grouping(
            schema,
            self.unit,
            by=by,
            where=bound_where(schema, where),
            max_groups=max_groups,
            domain=domain or {},
            usual=self._domains,
            part=within.inside,
            determined=schema if self._engine.rows_are_units else (),
        )

    def _surroundings(self) -> Surroundings:
        names = (self._name, ANY_NAME)
        return Surroundings(self._engine, names, self._public, self._domains, self._units)

    def _paid(self, run: Callable[[Workbench], Result], epsilon: Fraction, within: Scope) -> Result:
        with self._turn:
            return run(self._workbench(self._kernel(epsilon), within))

    def _chosen_columns(self, columns: Sequence[str] | None) -> tuple[str, ...]:
        schema = self._engine.schema
        chosen = tuple(schema) if columns is None else tuple(map(schema.resolve, columns))
        if not chosen or len(set(chosen)) != len(chosen):
            raise RequestError("columns must name at least one column, and each of them once.")
        self._engine.output_schema(chosen)  # refuses what the engine cannot hand out
        return chosen

    def _place(self, into: str) -> Callable[[SampleQuery], int]:
        """What writes a sample to `into`, which is checked."""
        engine = self._engine
        if not isinstance(engine, PlacesSamples):
            raise RequestError("Only PostgreSQL and Spark write by themselves; write the release.")
        engine.check_place(into)
        return lambda query: engine.place(query, into)

    def _drawn(self, query: SampleQuery) -> tuple[PrivateDirectory, int]:
        """The sample as a private file, and its number of rows."""
        directory = PrivateDirectory()
        schema = self._engine.output_schema(query.columns)
        try:
            rows = write_batches(self._engine.sample(query), schema, directory.path / SAMPLE_FILE)
        except BaseException:
            directory.remove()
            raise
        return directory, rows

    def _kernel(self, epsilon: Fraction | None) -> Kernel:
        """The account on the data as it is now; refused where it changed since the opening."""
        if self._current_fingerprint() != self._fingerprint:
            raise SourceError("The data changed since it was opened; open it again.")
        if self._budget is None and not self._durable:
            # Without a ledger and a budget the first request is all that was agreed to.
            self._budget = epsilon
        account = self._ledger.account(
            Terms(
                dataset=self._name,
                unit=self.unit.columns,
                policy_id=self._policy.id,
                policy_sql=policy_text(self._policy),
                budget=self._budget,
                partition_columns=self._partition_by,
            )
        )
        return Kernel(account, account.snapshot(self._fingerprint))

    def _workbench(self, kernel: Kernel, within: Scope) -> Workbench:
        return Workbench(
            engine=self._engine,
            rng=self._rng,
            kernel=kernel,
            scope=within,
            units=self._units,
            policy=lambda: self._bound(within),
            circumstances=Circumstances(self._name, self.unit, self._durable, kernel.snapshot),
        )

    def _bound(self, within: Scope) -> BoundPredicate:
        """The policy for the engine; one in Python is evaluated now, once, after the charge."""
        if isinstance(within.policy, Policy):
            return within.policy.bind(self._engine.schema).predicate
        if self._flags is None:
            self._flags = self._engine.evaluate_policy(within.policy.is_sensitive)
        return self._flags

    def _inspected(self) -> int:
        found = self._engine.inspect()
        if found.rows_without_key:
            raise SourceError(
                f"{found.rows_without_key:,} rows have NULL in the unit key {self.unit}; "
                "remove them, or choose a key that is never NULL."
            )
        if found.units == 0:
            raise SourceError("The table is empty; there is nothing to protect or to release.")
        return found.units

    def _current_fingerprint(self) -> str:
        if self._version is not None:
            return f"declared version {self._version}"
        return self._engine.fingerprint()
