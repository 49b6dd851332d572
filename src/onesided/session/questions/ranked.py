"""Counts of units in public cells of a column: what quantiles and histograms are read from.

A look at two numbers, of non-sensitive and of sensitive units, chooses how the cells are counted.
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

from onesided.data.cells import COUNT_COLUMN, FROM, TO
from onesided.data.planned.option import Missing
from onesided.data.release import ReleaseKind, payload_of
from onesided.engine.base import key_type
from onesided.errors import RequestError
from onesided.language import Schema
from onesided.loss import Loss
from onesided.mechanisms.one_sided import one_sided_noise
from onesided.mechanisms.ranks import BOUNDS, Ranks
from onesided.mechanisms.ranks_of_all import RanksOfAll
from onesided.session.cells import CELL, Cells
from onesided.session.domains import Domain, both, dense_keys
from onesided.session.grouping import Grouping
from onesided.session.questions.base import (
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
        if self.groups.k is None:
            return Missing.MAX_GROUPS
        return Missing.DOMAIN if self.groups.undeclared else None

    def check(self) -> None:
        if self.missing is Missing.MAX_GROUPS:
            raise RequestError(
                "A unit can have several values here; say with max_groups in how many cells of "
                "all groups it may count."
            )
        if self.missing is Missing.DOMAIN:
            raise RequestError(
                f"Quantiles need the possible values of {self.groups.undeclared[0]}; declare its "
                "domain."
            )
        for each, _ in self._ways(1.0, 1.0):
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
        """What the look leaves of ε."""
        return self.epsilon * (1 - SENSITIVE_LOOK - NONSENSITIVE_LOOK)

    @property
    def terms(self) -> ReleaseTerms:
        return replace(
            self.terms_by(Ranks()),
            loss=self.loss,
            noise=f"{self._look_noise}; then that of what it suggests",
        )

    def terms_by(self, chosen: Ranks | RanksOfAll) -> ReleaseTerms:
        """Those of the whole release, the look included, where that is how cells are counted."""
        said = chosen.terms(self.groups.public(self.facts.units), self.rest)
        looked = Loss(self.epsilon * SENSITIVE_LOOK, self.epsilon * NONSENSITIVE_LOOK)
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
        return (
            f"for a look, {one_sided_noise(self.epsilon * NONSENSITIVE_LOOK / k)} in all, and "
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

    @property
    def lines(self) -> int:
        """The number of groups."""
        return prod(self.groups.shape or (1,)) // len(self.cells) or 1

    def expected_error(self, supposed: Supposed = NOTHING_KNOWN) -> float | None:
        """By how many units the rank of a quantile is off in a group."""
        if self.missing is not None:
            return None
        touches = 1.0 if supposed.touched is None else supposed.touched.counted(self.groups.bound)
        each = self.facts.units * touches
        seen = each * supposed.nonsensitive_share
        return min(error for _, error in self._ways(seen, each - seen))

    @property
    def assumes(self) -> str:
        return "units are spread evenly over the groups, and sensitive ones are like the others"

    expected_of: ClassVar[str] = "all units"

    def _ways(
        self, nonsensitive: float, sensitive: float
    ) -> Iterator[tuple[Ranks | RanksOfAll, float]]:
        """Each way to count cells, and how far off a rank would be with so many units in all."""
        return ways(
            len(self.cells),
            self.groups.bound,
            self.rest,
            nonsensitive / self.lines,
            sensitive / self.lines,
        )

    def look(self, reading: Reading) -> bytes:
        """The noisy numbers of both kinds of units, in all cells of all groups together."""
        _, data = reading.histogram(self.groups)
        k = self.groups.bound
        lost = int(reading.rng.geometric(self.epsilon * NONSENSITIVE_LOOK / k, 1)[0])
        noise = int(reading.rng.two_sided_geometric(self.epsilon * SENSITIVE_LOOK / k, 1)[0])
        found = {
            "nonsensitive": int(data.nonsensitive.sum()) - lost,
            "sensitive": int(data.sensitive.sum()) + noise,
        }
        return json.dumps(found, sort_keys=True).encode()

    def decided(self, look: bytes) -> Runnable:
        """The way that errs least on so many units."""
        said = json.loads(look)
        ways = self._ways(max(said["nonsensitive"], 0), max(said["sensitive"], 0))
        return _Chosen(self, min(ways, key=lambda way: way[1])[0])


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
class _Chosen(Runnable):
    """The rest of a release, after its look."""

    question: RankedCounts
    way: Ranks | RanksOfAll

    @property
    def terms(self) -> ReleaseTerms:
        return self.question.terms_by(self.way)

    def run(self, reading: Reading) -> bytes:
        question = self.question
        _, data = reading.histogram(question.groups)
        found = self.way.measure(data, question.rest, reading.rng)
        keys = dense_keys(data.axes or (), [key_type(key) for key in question.groups.keys])
        lines = data.bins // len(question.cells)
        edges = [float(each) for each in question.cells.edges]
        whole = pa.types.is_integer(question.schema.field(FROM).type)
        typed = [int(each) for each in question.cells.edges] if whole else edges
        columns = [
            *keys,
            pa.array(typed[:-1] * lines),
            pa.array(typed[1:] * lines),
            pa.array(np.ascontiguousarray(found.value).reshape(-1)),
            *(pa.array(found.parts[name].reshape(-1)) for name in BOUNDS),
        ]
        schema = question.schema
        cast = [column.cast(kind) for column, kind in zip(columns, schema.types, strict=True)]
        return payload_of(pa.table(cast, schema=schema))
