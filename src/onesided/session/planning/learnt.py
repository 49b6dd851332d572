"""What was released already, and what it says of the groups of a question.

A stored sample is read as a small data set of its own; the source is never opened. What the sample
shows of non-sensitive units is supposed of all units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from onesided.data.release import Receipt, ReleaseKind, TableRelease, table_of
from onesided.engine.base import CountQuery, Engine
from onesided.engine.columns_read import ColumnsRead
from onesided.language import Predicate
from onesided.ledger import ChargeRecord
from onesided.loss import show
from onesided.mechanisms.rr import keep_probability
from onesided.session.engines import open_engine
from onesided.session.facts import DatasetFacts
from onesided.session.grouping import Grouping
from onesided.session.kept import StoredSample, stored_sample
from onesided.session.planning.pricing import Pricing
from onesided.session.questions.base import BOUND_LOOK
from onesided.session.questions.bounded import AUTO, ranges_in
from onesided.session.questions.touches import (
    TOUCHING,
    likely_number,
    touched_from,
    touching,
)
from onesided.session.scope import Scope
from onesided.session.supposed import USUAL_SHARE, Basis, Supposed, Touched

STRATA = 12
"""Into so many sizes the groups of a sample are gathered: errors are smooth in the size."""
RANGES = "how many groups units are in, as was released"
_TABLES = frozenset({ReleaseKind.COUNT.value, ReleaseKind.SUM.value, ReleaseKind.MEAN.value})


@dataclass(frozen=True)
class SeenGroups:
    """The groups of a question as they are in a sample."""

    sizes: tuple[int, ...]
    touched: Touched


@dataclass(frozen=True)
class Learnt:
    """What the account has released about one policy and part of this state of the data."""

    facts: DatasetFacts
    pricing: Pricing
    scope: Scope

    def basis(
        self, groups: Grouping, *, share: float | None = None, number: int | None = None
    ) -> Basis:
        """What to suppose for a question about `groups`; what is stated comes first.

        - `share`: of non-sensitive units, as it is stated.
        - `number`: of groups, as it is stated.
        """
        sample, known = self.sample, self.share(share)
        supposed, sources = known.supposed, list(known.sources)
        seen = None
        if sample is not None:
            seen = self._seen(sample, groups, supposed.nonsensitive_share)
        if seen is not None and sample is not None:
            sizes = _strata(seen.sizes, groups.bins)
            supposed = replace(supposed, touched=seen.touched, sizes=sizes)
            sources.append(f"groups as in the sample at ε = {show(sample.epsilon)}")
        elif (counts := self._ranges(groups)) is not None:
            supposed = replace(supposed, touched=touched_from(counts, self.facts.units, groups))
            sources.append(RANGES)
        if groups.bins is None:
            found = max(self._listed(groups), len(seen.sizes) if seen is not None else 0)
            if number is not None:
                supposed = replace(supposed, groups=number)
                sources.append(f"{number:,} groups, as you say")
            elif found:
                supposed = replace(supposed, groups=found)
                sources.append(f"{found:,} groups, as were released about these keys")
        return Basis(supposed, tuple(sources))

    def counted(self, columns: Sequence[str]) -> list[TableRelease]:
        """The counts of all units by one of these columns, the latest first."""
        found = []
        for record in reversed(self.pricing.within(self.scope)):
            asked = record.charge.description
            plain = asked.get("kind") == ReleaseKind.COUNT.value and asked.get("where") is None
            by = asked.get("by", ())
            special = {TOUCHING, "ngrams", "join", "step"} & set(asked)
            if plain and len(by) == 1 and by[0] in columns and not special:
                stored = self.pricing.stored(record)
                if stored is not None:
                    found.append(TableRelease(Receipt(stored.receipt), stored.payload))
        return found

    def share(self, stated: float | None = None) -> Basis:
        """The share of non-sensitive units: as it is stated, as in a sample, or assumed."""
        if stated is not None:
            said = f"{stated:.0%} of units non-sensitive, as you say"
            return Basis(Supposed(nonsensitive_share=stated), (said,))
        sample = None if self.scope.part is not None else self.sample
        if sample is None or sample.units is None:
            said = f"{USUAL_SHARE:.0%} of units non-sensitive, which is assumed"
            return Basis(Supposed(), (said,))
        expected = keep_probability(sample.epsilon) * self.facts.units
        share = min(max(sample.units, 1) / max(expected, 1), 1.0)
        said = f"{share:.0%} of units non-sensitive, as in the sample at ε = {show(sample.epsilon)}"
        return Basis(Supposed(nonsensitive_share=share), (said,))

    @cached_property
    def sample(self) -> StoredSample | None:
        """The largest stored sample of all units."""
        best: StoredSample | None = None
        for record in self.pricing.within(self.scope):
            asked = record.charge.description
            if asked.get("kind") != ReleaseKind.SAMPLE.value or asked.get("where") is not None:
                continue
            epsilon = record.charge.spending.loss.nonsensitive
            if best is not None and best.epsilon >= epsilon:
                continue
            stored = self.pricing.stored(record)
            if stored is not None:
                best = stored_sample(stored.payload, epsilon, self.facts.unit)
        return best

    def _seen(self, sample: StoredSample, groups: Grouping, share: float) -> SeenGroups | None:
        """The groups in a sample that holds all that the question reads; None in any other."""
        if sample.content is None or not sample.units or groups.lookups:
            return None
        engine = open_engine(sample.content, self.facts.unit)
        try:
            if not self._reads_alike(engine, groups):
                return None
            expected = keep_probability(sample.epsilon) * share * self.facts.units
            return _counted(engine, groups, expected)
        finally:
            engine.close()

    def _reads_alike(self, engine: Engine, groups: Grouping) -> bool:
        """Whether the sample has all columns that the question reads, in types as in the source."""
        known, source = engine.schema, self.facts.schema
        read = ColumnsRead.by_count(_tally(engine, groups)).all & set(source)
        return all(name in known and known[name].type is source[name].type for name in read)

    def _ranges(self, groups: Grouping) -> dict[int, float] | None:
        """The latest release of how many units are in so many of these groups."""
        asked = touching(groups)
        for record in reversed(self.pricing.within(self.scope)):
            description = record.charge.description
            if description.get(TOUCHING) == asked:
                stored = self.pricing.stored(record)
                if stored is not None:
                    least, values, floors, *_ = table_of(stored.payload).columns
                    numbers = map(likely_number, values.to_pylist(), floors.to_pylist())
                    return dict(zip(least.to_pylist(), numbers, strict=True))
            elif description.get("max_groups") == AUTO and _same_groups(record, groups):
                look = self.pricing.look(record, BOUND_LOOK)
                if look is not None and (found := ranges_in(look)):
                    return found
        return None

    def _listed(self, groups: Grouping) -> int:
        """The most groups that were released about the same keys; 0 where none were."""
        return max((len(table_of(each)) for each in self._about(groups)), default=0)

    def _about(self, groups: Grouping) -> Iterator[bytes]:
        for record in self.pricing.within(self.scope):
            if _same_groups(record, groups):
                stored = self.pricing.stored(record)
                if stored is not None:
                    yield stored.payload


def _tally(engine: Engine, groups: Grouping) -> CountQuery:
    """Units by the number of their groups; in a sample nobody is sensitive."""
    nobody = Predicate.parse("FALSE").bind(engine.schema)
    return CountQuery(nobody, groups.keys, groups.where, grams=groups.grams, tally=True)


def _counted(engine: Engine, groups: Grouping, units: float) -> SeenGroups:
    """The groups in a sample of which `units` were to be expected if no question left any out."""
    query = _tally(engine, groups)
    sizes = engine.count(replace(query, tally=False)).all
    if groups.single:
        touched = Touched.of({1: float(sizes.sum())}, units)
    else:
        tally = engine.count(query)
        numbers = tally.keys.column(0).to_pylist()
        touched = Touched.of(dict(zip(numbers, tally.all.tolist(), strict=True)), units)
    return SeenGroups(tuple(map(int, sizes)), touched)


def _same_groups(record: ChargeRecord, groups: Grouping) -> bool:
    asked, details = record.charge.description, groups.details
    return asked.get("kind") in _TABLES and all(
        asked.get(name) == details.get(name) for name in ("by", "where", "domain", "ngrams", "join")
    )


def _strata(sizes: tuple[int, ...], bins: int | None) -> tuple[tuple[float, float], ...]:
    """Shares of the groups with their sizes beside the mean of all; declared bins may be empty."""
    if not any(sizes):
        return ((1.0, 1.0),)
    found = np.sort(np.asarray(sizes, dtype=np.float64))
    every = max(len(found), bins or 0)
    mean = found.sum() / every
    parts = np.array_split(found, min(STRATA, len(found)))
    strata = [(len(part) / every, float(part.mean() / mean)) for part in parts]
    empty = every - len(found)
    return tuple([(empty / every, 0.0), *strata] if empty else strata)
