"""Counts of units in public cells of a column: what quantiles and histograms are read from.

A look at two numbers, of non-sensitive and of sensitive units, chooses how the cells are counted.
Where the groups are not declared, a one-sided count of their units finds them first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from onesided.data import Histogram
from onesided.data.cells import COUNT_COLUMN, FROM, TO
from onesided.data.planned.option import Missing
from onesided.data.release import ReleaseKind, payload_of, table_of
from onesided.engine.base import key_type
from onesided.errors import RequestError
from onesided.language import Schema
from onesided.loss import Loss
from onesided.mechanisms.one_sided import OneSided, one_sided_noise
from onesided.mechanisms.ranks import BOUNDS, Ranks
from onesided.mechanisms.ranks_of_all import RanksOfAll
from onesided.session.cells import CELL, Cells
from onesided.session.domains import Domain, both, dense_keys
from onesided.session.grouping import Grouping, WantedCounts
from onesided.session.places import first_places, places_of
from onesided.session.questions.base import (
    KEYS_LOOK,
    LOOK,
    Question,
    ReleaseTerms,
    Runnable,
    TwoStep,
)
from onesided.session.requests import Request
from onesided.session.supposed import NOTHING_KNOWN, Supposed
from onesided.session.table import Reading

QUANTILE, VALUE = "quantile", "value"
MOST_RANKED = 2_000_000
"""All cells of all groups; each takes a few hundred bytes."""
SPLITS = (Fraction(1, 8), Fraction(1, 4), Fraction(1, 2))
SENSITIVE_LOOK, NONSENSITIVE_LOOK = Fraction(1, 64), Fraction(1, 32)
"""The parts of ε for the noisy numbers of sensitive and of non-sensitive units."""
KEYS_SHARE = Fraction(1, 8)
"""The part of ε that finds groups which nobody has declared."""
_TAKEN = frozenset({QUANTILE, VALUE, CELL, FROM, TO, *BOUNDS})


def celled(groups: Grouping, cells: Cells, schema: Schema, *, single: bool) -> Grouping:
    """The groups, each of them cut into cells; `single` says that a unit has one value at most."""
    taken = next((key.name for key in groups.keys if key.name in _TAKEN), None)
    if taken is not None:
        raise RequestError(f"An answer has a column {taken} of its own; rename the group key.")
    one = groups.single and single
    answer = replace(
        groups,
        keys=(*groups.keys, cells.key(schema)),
        where=both(groups.where, cells.present(schema)),
        domains={**groups.domains, CELL: Domain(tuple(range(len(cells))))},
        max_groups=None if one else groups.max_groups,
        k=1 if one else groups.max_groups,
        every_unit_once=False,
        details={**groups.details, **cells.details},
    )
    if answer.bins is not None and answer.bins > MOST_RANKED:
        raise RequestError(
            f"There are more than {MOST_RANKED:,} cells in all groups; ask for fewer cells."
        )
    return answer


@dataclass(frozen=True, kw_only=True)
class RankedCounts(Question, TwoStep):
    """How many units are in each cell of each group.

    - `groups`: those of the cells.
    """

    mechanism: ClassVar[str] = Ranks.name

    kind: ReleaseKind
    groups: Grouping
    cells: Cells

    @property
    def by(self) -> str:
        """The name of its mechanism."""
        return self.mechanism

    @property
    def missing(self) -> Missing | None:
        return Missing.MAX_GROUPS if self.groups.k is None else None

    @property
    def finds_keys(self) -> bool:
        """Whether the groups are to be found."""
        return bool(self.groups.undeclared)

    def check(self) -> None:
        if self.missing is Missing.MAX_GROUPS:
            raise RequestError(
                "A unit can have several values here; say with max_groups in how many cells of "
                "all groups it may count."
            )
        for each, _ in self._ways(1.0, 1.0, 1):
            each.check_rate(self.groups.bound, self.rest)
        RanksOfAll().check_rate(self.groups.bound, self.epsilon * SENSITIVE_LOOK)

    @property
    def request(self) -> Request:
        details = {**self.groups.details, **self.scope.details()}
        read = (QUANTILE,) if self.kind is ReleaseKind.QUANTILE else (FROM, TO)
        details["by"] = [*self.groups.details["by"], *read]
        return Request(self.kind, self.scope.policy.id, self.epsilon, details)

    @property
    def loss(self) -> Loss:
        """Held until the look has chosen: a pair (s, ε − s) with s ≤ ε/2."""
        return Loss(self.epsilon / 2, self.epsilon / 2)

    @property
    def rest(self) -> Fraction:
        """What the looks leave of ε."""
        return self.epsilon * (1 - SENSITIVE_LOOK - self._seen_share)

    @property
    def _seen_share(self) -> Fraction:
        """The part of ε that looks at non-sensitive units take."""
        return NONSENSITIVE_LOOK + (KEYS_SHARE if self.finds_keys else 0)

    @property
    def terms(self) -> ReleaseTerms:
        return replace(
            self.terms_by(Ranks()),
            loss=self.loss,
            noise=f"{self._look_noise}; then that of what it suggests",
        )

    def terms_by(self, chosen: Ranks | RanksOfAll, lines: int | None = None) -> ReleaseTerms:
        """Those of the whole release, the looks included, where that is how cells are counted.

        - `lines`: how many groups were found.
        """
        public = self.groups.public(self.facts.units)
        if public.shape is None:
            bins = (lines or 1) * len(self.cells)
            public = replace(public, shape=(lines or 1, len(self.cells)), k=min(public.k, bins))
        said = chosen.terms(public, self.rest)
        looked = Loss(self.epsilon * SENSITIVE_LOOK, self.epsilon * self._seen_share)
        what = "quantiles" if self.kind is ReleaseKind.QUANTILE else "counts"
        return ReleaseTerms(
            mechanism=chosen.name,
            figure=f"{what} of {self.cells.column.name} in {len(self.cells):,} cells"
            f"{self.groups.counted}",
            loss=looked + said.loss,
            noise=f"{self._look_noise}; then {said.noise}",
            randomness=self.facts.randomness,
            columns=self.announced,
            error={**self._covered, **self._expected_json()},
        )

    @property
    def _look_noise(self) -> str:
        k = self.groups.bound
        keys = one_sided_noise(self.epsilon * KEYS_SHARE / k)
        return (
            (f"for the groups, {keys}; " if self.finds_keys else "")
            + f"for a look, {one_sided_noise(self.epsilon * NONSENSITIVE_LOOK / k)} in all, and "
            f"two-sided of rate {self.epsilon * SENSITIVE_LOOK / k} on sensitive units in all"
        )

    @property
    def _covered(self) -> dict[str, Any]:
        if self.kind is ReleaseKind.QUANTILE:
            columns, what = ("at_least", "at_most"), "quantile of all units"
        else:
            columns, what = ("at_least", "at_most"), "count of units"
        cut = self.groups.counted
        covers = {"columns": list(columns), "bound": f"{what}{cut}", "confidence": "0.95"}
        return {"intervals": [covers]}

    def _expected_json(self) -> dict[str, Any]:
        found = self.expected_error()
        return {} if found is None else {"expected_rank_error": f"{found:.4g}"}

    @property
    def schema(self) -> pa.Schema:
        """The columns of the released cells."""
        number = pa.int64() if self.cells.column.type.value == "integer" else pa.float64()
        fields = [(key.name, key_type(key)) for key in self.groups.keys]
        fields += [(FROM, number), (TO, number), (COUNT_COLUMN, pa.float64())]
        return pa.schema([*fields, *((name, pa.int64()) for name in BOUNDS)])

    @property
    def announced(self) -> pa.Schema:
        """The columns of what is read from the cells."""
        keys = [(key.name, key_type(key)) for key in self.groups.keys[:-1]]
        if self.kind is ReleaseKind.QUANTILE:
            read = [(name, pa.float64()) for name in (QUANTILE, VALUE)]
        else:
            read = [(name, self.schema.field(name).type) for name in (FROM, TO, COUNT_COLUMN)]
        ends = [(name, pa.float64()) for name in ("at_least", "at_most")]
        return pa.schema([*keys, *read, *ends])

    def expected_error(self, supposed: Supposed = NOTHING_KNOWN) -> float | None:
        """By how many units the rank of a quantile is off in a group."""
        shape = self.groups.shape
        lines = supposed.groups if shape is None else prod(shape) // len(self.cells)
        if self.missing is not None or lines is None:
            return None
        touches = 1.0 if supposed.touched is None else supposed.touched.counted(self.groups.bound)
        each = self.facts.units * touches
        seen = each * supposed.nonsensitive_share
        return min(error for _, error in self._ways(seen, each - seen, lines))

    @property
    def assumes(self) -> str:
        return "units are spread evenly over the groups, and sensitive ones are like the others"

    expected_of: ClassVar[str] = "all units"

    def _ways(
        self, nonsensitive: float, sensitive: float, lines: int
    ) -> Iterator[tuple[Ranks | RanksOfAll, float]]:
        """Each way to count cells, and how far off a rank would be with so many units in all."""
        return ways(
            len(self.cells),
            self.groups.bound,
            self.rest,
            nonsensitive / max(lines, 1),
            sensitive / max(lines, 1),
        )

    @property
    def seen(self) -> str:  # type: ignore[override]
        """What the first look is called."""
        return KEYS_LOOK if self.finds_keys else LOOK

    @property
    def wants(self) -> tuple[WantedCounts, ...]:
        return self.groups.wanted()

    def look(self, reading: Reading) -> bytes:
        """The groups, where nobody has declared them; else how many units there are."""
        if not self.finds_keys:
            return self.numbers(self.lines(reading, None), reading)
        keys, data = reading.histogram(self.groups)
        keys = keys.select(range(keys.num_columns - 1))
        first, places = first_places(keys)
        every, seen = (
            np.bincount(places, each, len(first)).astype(np.int64)
            for each in (data.all, data.nonsensitive)
        )
        k = self.groups.bound
        groups = Histogram(every, seen, k=k, total_public=False, open_domain=True)
        found = OneSided().measure(groups, self.epsilon * KEYS_SHARE, reading.rng)
        assert found.keys is not None
        return payload_of(keys.take(pa.array(first)).take(pa.array(found.keys)))

    def numbers(self, data: Histogram | None, reading: Reading) -> bytes:
        """The noisy numbers of both kinds of units, in all cells of all groups together."""
        k = self.groups.bound
        lost = int(reading.rng.geometric(self.epsilon * NONSENSITIVE_LOOK / k, 1)[0])
        noise = int(reading.rng.two_sided_geometric(self.epsilon * SENSITIVE_LOOK / k, 1)[0])
        nonsensitive, sensitive = (
            (0, 0) if data is None else (int(data.nonsensitive.sum()), int(data.sensitive.sum()))
        )
        found = {"nonsensitive": nonsensitive - lost, "sensitive": sensitive + noise}
        return json.dumps(found, sort_keys=True).encode()

    def lines(self, reading: Reading, listed: pa.Table | None) -> Histogram | None:
        """The units in each cell of each group: a line for each; None where none was found."""
        keys, data = reading.histogram(self.groups)
        if listed is None:
            return data
        if not len(listed):
            return None
        lines = places_of(keys.select(range(keys.num_columns - 1)), listed)
        cells = keys.column(keys.num_columns - 1).to_numpy().astype(np.int64)
        there = lines >= 0
        every, seen = (np.zeros((len(listed), len(self.cells)), dtype=np.int64) for _ in range(2))
        np.add.at(every, (lines[there], cells[there]), data.all[there])
        np.add.at(seen, (lines[there], cells[there]), data.nonsensitive[there])
        return Histogram(every, seen, k=self.groups.bound, total_public=False)

    def decided(self, look: bytes) -> Runnable | TwoStep:
        if self.finds_keys:
            return _Listed(self, table_of(look))
        return self.chosen(look, None)

    def chosen(self, look: bytes, listed: pa.Table | None) -> Runnable:
        """The way that errs least on so many units in so many groups."""
        said = json.loads(look)
        lines = prod(self.groups.shape or (1,)) // len(self.cells)
        ways = self._ways(
            max(said["nonsensitive"], 0),
            max(said["sensitive"], 0),
            lines if listed is None else len(listed),
        )
        return _Chosen(self, min(ways, key=lambda way: way[1])[0], listed)


def ways(
    cells: int, k: int, epsilon: Fraction, nonsensitive: float, sensitive: float
) -> Iterator[tuple[Ranks | RanksOfAll, float]]:
    """Each way to count a line of cells at `epsilon`, and how far off a rank would be.

    `nonsensitive` and `sensitive` are how many units the line is supposed to have of each kind.
    """
    for share in SPLITS:
        way = Ranks(sensitive_share=share)
        yield way, way.expected_rank_error(cells, k, epsilon, nonsensitive, sensitive)
    every = RanksOfAll()
    yield every, every.expected_rank_error(cells, k, epsilon)


@dataclass(frozen=True)
class _Listed(TwoStep):
    """The groups are found: how many units there are in them is looked at next."""

    question: RankedCounts
    listed: pa.Table

    def look(self, reading: Reading) -> bytes:
        question = self.question
        return question.numbers(question.lines(reading, self.listed), reading)

    def decided(self, look: bytes) -> Runnable:
        return self.question.chosen(look, self.listed)


@dataclass(frozen=True)
class _Chosen(Runnable):
    """The rest of a release, after its looks.

    - `listed`: the groups that were found, where they were not declared.
    """

    question: RankedCounts
    way: Ranks | RanksOfAll
    listed: pa.Table | None

    @property
    def wants(self) -> tuple[WantedCounts, ...]:
        return self.question.wants

    @property
    def terms(self) -> ReleaseTerms:
        return self.question.terms_by(self.way, None if self.listed is None else len(self.listed))

    def run(self, reading: Reading) -> bytes:
        question = self.question
        data, schema = question.lines(reading, self.listed), question.schema
        if data is None:
            return payload_of(schema.empty_table())
        found = self.way.measure(data, question.rest, reading.rng)
        lines = data.bins // len(question.cells)
        edges = [float(each) for each in question.cells.edges]
        whole = pa.types.is_integer(schema.field(FROM).type)
        typed = [int(each) for each in question.cells.edges] if whole else edges
        columns = [
            *self._keys(data),
            pa.array(typed[:-1] * lines),
            pa.array(typed[1:] * lines),
            pa.array(np.ascontiguousarray(found.value).reshape(-1)),
            *(pa.array(found.parts[name].reshape(-1)) for name in BOUNDS),
        ]
        cast = [column.cast(kind) for column, kind in zip(columns, schema.types, strict=True)]
        return payload_of(pa.table(cast, schema=schema))

    def _keys(self, data: Histogram) -> list[Any]:
        """The columns of the keys, that of the cells included."""
        question = self.question
        if self.listed is None:
            return dense_keys(data.axes or (), [key_type(key) for key in question.groups.keys])
        line, cell = np.indices(data.shape).reshape(2, -1)
        return [*self.listed.take(pa.array(line)).columns, pa.array(cell)]
