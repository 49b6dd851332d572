"""The secret side of a data set, and what a question may read of it once it is paid for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data import Histogram
from onesided.data.files import write_batches
from onesided.data.private import PrivateDirectory
from onesided.data.release import SAMPLE_FILE
from onesided.engine.base import (
    Coins,
    CountQuery,
    Engine,
    GroupCounts,
    Placed,
    PlacesSamples,
    SampleQuery,
    TellsProgress,
    Total,
)
from onesided.errors import RequestError, SourceError
from onesided.language import BoundPredicate
from onesided.policy import Policy
from onesided.randomness import Randomness, fresh_coin_key
from onesided.session.domains import both, histogram
from onesided.session.grouping import Grouping, WantedCounts
from onesided.session.maps import MapOfData
from onesided.session.scope import AnyPolicy, Scope
from onesided.session.together import CountsTogether


class SecretTable:
    """The table behind its engine. Nothing that it returns may be shown as it is."""

    def __init__(
        self, engine: Engine, rng: Randomness, version: str | None, map: MapOfData | None = None
    ) -> None:
        self.engine = engine
        self.rng = rng
        self._version = version
        self._map = map
        self._flags: BoundPredicate | None = None

    def units(self) -> int:
        """n, the number of units, for the steward at the opening; public from then on."""
        found = self.engine.inspect()
        if found.rows_without_key:
            raise SourceError(
                f"{found.rows_without_key:,} rows have NULL in the unit key {self.engine.unit}; "
                "remove them, or choose a key that is never NULL."
            )
        if found.units == 0:
            raise SourceError("The table is empty; there is nothing to protect or to release.")
        return found.units

    def fingerprint(self) -> str:
        """Names the state of the data; secret."""
        if self._version is not None:
            return f"declared version {self._version}"
        return self.engine.fingerprint()

    def progress(self) -> float | None:
        """How far the engine is with its statement; for the steward alone."""
        engine = self.engine
        return engine.progress() if isinstance(engine, TellsProgress) else None

    def sensitive(self, policy: AnyPolicy) -> BoundPredicate:
        """The policy for the engine, closed over the map where there is one."""
        bound = self.unclosed(policy)
        return bound if self._map is None else self._map.over(bound, self.engine.schema)

    def unclosed(self, policy: AnyPolicy) -> BoundPredicate:
        """The policy alone; one in Python is evaluated once, after the first charge."""
        if isinstance(policy, Policy):
            return policy.bind(self.engine.schema).predicate
        if self._flags is None:
            self._flags = self.engine.evaluate_policy(policy.is_sensitive)
        return self._flags

    def placing(self, place: str) -> Callable[[SampleQuery], Placed]:
        """What writes a sample to `place`, which is checked before anything is paid."""
        engine = self.engine
        if not isinstance(engine, PlacesSamples):
            raise RequestError("Only PostgreSQL and Spark write by themselves; write the release.")
        engine.check_place(place)
        return lambda query: engine.place(query, place)


@dataclass
class Reading:
    """What one question may read after its charge: counts and samples within its scope.

    - `coin_key`: that of the snapshot, or None for coins of its own.
    - `together`: what it may find in one pass with other questions.
    - `drawn`: where the rows of a sample lie once it is drawn.
    """

    table: SecretTable
    scope: Scope
    units: int
    coin_key: str | None
    together: CountsTogether | None = None
    drawn: PrivateDirectory | None = field(default=None, init=False)
    _counted: tuple[CountQuery, GroupCounts] | None = field(default=None, init=False)
    _ready: list[tuple[CountQuery, GroupCounts]] = field(default_factory=list, init=False)

    @property
    def rng(self) -> Randomness:
        """The noise."""
        return self.table.rng

    def coins(self, epsilon: Fraction) -> Coins:
        """The coins of a sample at ε."""
        if self.coin_key is None:
            self.coin_key = fresh_coin_key()
        return Coins(self.coin_key, epsilon)

    def counts(
        self,
        groups: Grouping,
        *,
        coins: Coins | None = None,
        totals: tuple[Total, ...] = (),
    ) -> GroupCounts:
        """The groups with their figures; the same question is put to the engine once."""
        policy = self.table.sensitive(self.scope.policy)
        query = count_query(policy, groups, coins=coins, totals=totals)
        for known, found in self._ready:
            if known == query:
                return found
        if self._counted is None or self._counted[0] != query:
            shared = None if self.together is None else self.together.found(query)
            self._counted = (query, self.table.engine.count(query) if shared is None else shared)
        return self._counted[1]

    def prepare(self, wanted: Sequence[WantedCounts]) -> None:
        """Read all of these in one pass over the data; they are at hand from then on."""
        queries = [self._query(each.groups, kinds=each.kinds) for each in wanted]
        known = [query for query, _ in self._ready]
        new = [each for each in queries if each not in known]
        if new:
            self._ready += zip(new, self.table.engine.count_each(new), strict=True)

    def kinds(self, groups: Grouping) -> tuple[int, int]:
        """How many of these groups some unit is in, and how many some non-sensitive one."""
        query = self._query(groups, kinds=True)
        found = next((counts for known, counts in self._ready if known == query), None)
        if found is None:
            (found,) = self.table.engine.count_each([query])
        return int(found.all[0]), int(found.nonsensitive[0])

    def _query(self, groups: Grouping, *, kinds: bool) -> CountQuery:
        policy = self.table.sensitive(self.scope.policy)
        return CountQuery(
            policy, groups.keys, groups.where, max_groups=groups.max_groups, kinds=kinds
        )

    def histogram(
        self, groups: Grouping, *, only_sensitive: NDArray[np.bool_] | None = None
    ) -> tuple[pa.Table, Histogram]:
        """The keys that occur, and the units of each group as a mechanism sees them."""
        counts = self.counts(groups)
        n = self.units if groups.every_unit_once else None
        k = groups.bound
        return counts.keys, histogram(
            counts.keys, counts.figures[0], groups.domains, k, n, only_sensitive
        )

    def sampled(self, groups: Grouping, coins: Coins) -> tuple[pa.Table, Histogram]:
        """The same of the units of a sample, of which nothing needs to be hidden any more."""
        counts = self.counts(groups, coins=coins)
        return counts.keys, histogram(counts.keys, counts.figures[0], groups.domains, 1, None)

    def tally(self, groups: Grouping, *, coins: Coins | None = None) -> GroupCounts:
        """The units by the number of the groups that they are in, without a bound on it."""
        query = CountQuery(
            self.table.sensitive(self.scope.policy),
            groups.keys,
            groups.where,
            coins=coins,
            lookups=groups.lookups,
            grams=groups.grams,
            tally=True,
        )
        return self.table.engine.count(query)

    def totals(
        self, groups: Grouping, totals: tuple[Total, ...]
    ) -> tuple[pa.Table, list[Histogram]]:
        """The keys that occur, and for each of `totals` its sums by group, found in one pass."""
        counts = self.counts(groups, totals=totals)
        return counts.keys, [
            histogram(counts.keys, figure, groups.domains, groups.bound, None)
            for figure in counts.figures
        ]

    def draw(self, query: SampleQuery, schema: pa.Schema) -> tuple[Path, int]:
        """The rows of the kept units as a private file, which stays in `drawn`; and how many."""
        directory = PrivateDirectory()
        file = directory.path / SAMPLE_FILE
        try:
            rows = write_batches(self.table.engine.sample(query), schema, file)
        except BaseException:
            directory.remove()
            raise
        self.drawn = directory
        return file, rows

    def sample_query(
        self, epsilon: Fraction, columns: tuple[str, ...], where: BoundPredicate | None
    ) -> SampleQuery:
        """What a sample asks of the engine."""
        policy = self.table.sensitive(self.scope.policy)
        return SampleQuery(policy, self.coins(epsilon), columns, both(where, self.scope.inside))


def count_query(
    policy: BoundPredicate,
    groups: Grouping,
    *,
    coins: Coins | None = None,
    totals: tuple[Total, ...] = (),
) -> CountQuery:
    """What groups ask of the engine; a sample is never cut."""
    return CountQuery(
        policy,
        groups.keys,
        groups.where,
        max_groups=None if coins is not None else groups.max_groups,
        coins=coins,
        totals=totals,
        lookups=groups.lookups,
        grams=groups.grams,
    )
