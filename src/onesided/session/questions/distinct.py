"""How many different values the units of each group have, one-sided."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from onesided.data import Histogram, Measured
from onesided.data.planned.option import Missing
from onesided.data.release import ReleaseKind, payload_of
from onesided.engine.base import Figure
from onesided.errors import RequestError
from onesided.language import BoundKey, Predicate, Schema
from onesided.language.tree import IsNull, Not
from onesided.loss import Loss
from onesided.mechanisms.distinct import (
    DISTINCT,
    distinct_terms,
    expected_distinct_error,
    release_distinct,
)
from onesided.randomness import MINIMUM_RATE
from onesided.session.answers import Layout
from onesided.session.domains import both, histogram
from onesided.session.facts import DatasetFacts
from onesided.session.grouping import Grouping, WantedCounts, check_bound, check_choice
from onesided.session.places import first_places
from onesided.session.questions.base import Question, ReleaseTerms, Runnable
from onesided.session.questions.counts import COUNT
from onesided.session.questions.expected import expected_json
from onesided.session.requests import Request
from onesided.session.supposed import NOTHING_KNOWN, Supposed
from onesided.session.table import Reading

VALUE_KEY = "osd_value"


@dataclass(frozen=True)
class ValueKey(BoundKey):
    """A value as a last group key, with a name that no column has."""

    @property
    def name(self) -> str:
        return VALUE_KEY


def valued(
    facts: DatasetFacts,
    schema: Schema,
    groups: Grouping,
    value: BoundKey,
    max_values: int | None,
    determined: frozenset[str] = frozenset(),
) -> Grouping:
    """The groups, each of them by its values.

    A unit has one value at most where that follows from its key; else `max_values` pairs of a group
    and a value count.

    - `determined`: joined columns that are constant within each unit.
    """
    facts.withheld.refuse(value.columns, "counted by its values")
    one = facts.unit.is_row or facts.rows_are_units
    single = one or facts.constant(determined).issuperset(value.columns)
    keys = (*groups.keys, ValueKey(value.expression, value.typed))
    answer = replace(
        groups,
        keys=keys,
        where=both(groups.where, Predicate(Not(IsNull(value.expression))).bind(schema)),
        domains={**groups.domains, VALUE_KEY: None},
        every_unit_once=False,
    )
    if single:
        return answer
    check_bound(max_values)
    if max_values is not None:
        check_choice((*groups.keys, value))
    return replace(answer, max_groups=max_values, k=max_values)


@dataclass(frozen=True, kw_only=True)
class DistinctCounts(Question, Runnable):
    """How many values of non-sensitive units are in each group.

    - `groups`: without the values.
    - `pairs`: groups and values, of which a unit has at most so many.
    """

    mechanism: ClassVar[str] = DISTINCT
    expected_of: ClassVar[str] = "values of non-sensitive units"

    groups: Grouping
    pairs: Grouping
    value: BoundKey

    @property
    def by(self) -> str:
        """The name of its mechanism."""
        return self.mechanism

    @property
    def missing(self) -> Missing | None:
        """What a bound on groups is for is said with `max_values`."""
        return None

    @property
    def most(self) -> int:
        """How many pairs of a group and a value one unit may have."""
        return self.pairs.k or 1

    def check(self) -> None:
        """Refuse what has no bound; all of it is public."""
        if self.pairs.k is None:
            raise RequestError(
                f"A unit ({self.facts.unit}) may have any number of values of {self.value.name}; "
                "say with max_values how many count."
            )
        if self.epsilon / self.most < MINIMUM_RATE:
            raise RequestError("max_values is too large for so small an epsilon; choose a smaller.")

    @property
    def request(self) -> Request:
        details = {
            **self.groups.details,
            **self.scope.details(),
            "column": self.value.name,
            "max_values": self.pairs.max_groups,
        }
        return Request(ReleaseKind.DISTINCT, self.scope.policy.id, self.epsilon, details)

    @property
    def loss(self) -> Loss:
        return Loss(0, self.epsilon)

    @property
    def terms(self) -> ReleaseTerms:
        layout = self.layout
        return ReleaseTerms(
            mechanism=self.mechanism,
            figure=f"{self._what} of units{self._cut}",
            loss=layout.said.loss,
            noise=layout.said.noise,
            randomness=self.facts.randomness,
            columns=layout.schema,
            error={**layout.covered, **expected_json(self)},
        )

    @property
    def _what(self) -> str:
        return f"number of different values of {self.value.name}"

    @property
    def _cut(self) -> str:
        most = self.pairs.max_groups
        return "" if most is None else f", of each unit at most {most:,} in all groups"

    @property
    def layout(self) -> Layout:
        """The columns of the answer."""
        words = {
            Measured.NONSENSITIVE: f"{self._what} of non-sensitive units{self._cut}",
            Measured.ALL: f"{self._what} of all units",
        }
        said = distinct_terms(self.epsilon, most=self.most)
        return Layout(self.groups.keys, COUNT, said, words=words)

    def expected_error(self, supposed: Supposed = NOTHING_KNOWN) -> float | None:
        """Of the numbers of values of non-sensitive units."""
        if self.pairs.k is None:
            return None
        return expected_distinct_error(self.epsilon, most=self.most)

    @property
    def assumes(self) -> str:
        return "groups have many values"

    @property
    def wants(self) -> tuple[WantedCounts, ...]:
        return () if self.groups.keys else self.pairs.wanted(kinds=True)

    def run(self, reading: Reading) -> bytes:
        keys, data = self.numbers(reading)
        released = release_distinct(
            data.nonsensitive,
            self.epsilon,
            reading.rng,
            most=self.most,
            open_domain=data.open_domain,
        )
        return payload_of(self.layout.table(keys, data, released))

    def numbers(self, reading: Reading) -> tuple[pa.Table, Histogram]:
        """The groups that occur, and how many values all units and the others have in each."""
        if self.wants:
            numbers = Figure(*(np.array([each]) for each in reading.kinds(self.pairs)))
            whole = pa.table({})
            return whole, histogram(whole, numbers, {}, 1, None)
        pairs, units = reading.histogram(self.pairs)
        keys = pairs.select(range(pairs.num_columns - 1))
        first, places = first_places(keys)
        if not keys.num_columns:  # of a joined table
            first, places = np.zeros(1, np.int64), np.zeros(len(pairs), np.int64)
        every, seen = (_held(places, each, len(first)) for each in (units.all, units.nonsensitive))
        whole = keys.take(pa.array(first)) if keys.num_columns else keys
        return whole, histogram(whole, Figure(every, seen), self.groups.domains, 1, None)


def _held(places: NDArray[np.int64], units: NDArray[np.int64], bins: int) -> NDArray[np.int64]:
    """How many pairs of each group some unit has."""
    return np.bincount(places[units > 0], minlength=bins).astype(np.int64)
