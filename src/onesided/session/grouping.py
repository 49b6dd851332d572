"""A GROUP BY, checked against the schema before anything is paid."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from onesided.data.units import Unit
from onesided.engine.base import Lookup, Ngrams, Total
from onesided.engine.flavour import NAMED_TYPES
from onesided.errors import RequestError
from onesided.language import BoundKey, BoundPredicate, Key, Predicate, Schema, Type
from onesided.language.tree import Column
from onesided.mechanisms.base import PublicShape
from onesided.session.domains import (
    MOST_BINS,
    MOST_LISTED,
    Domain,
    both,
    domain_of,
    restricted,
)
from onesided.session.supposed import NOTHING_KNOWN, Supposed
from onesided.spelling import meant

#: An array of counts has a dimension for each key, and NumPy has 64 of them.
MOST_KEYS = 32
#: DuckDB lists fewer than 1,000,000 least values, and noise in proportion to k says nothing then.
MOST_GROUPS = 100_000
_TRUTHS = ("True", "False")

#: The columns that an answer may have beside its keys.
ANSWER_COLUMNS = frozenset(
    {"count", "sum", "mean", "bucket"}
    | {
        f"{whose}{side}"
        for whose in ("", "nonsensitive_", "bucket_")
        for side in ("at_least", "at_most", "counted_at_most")
    }
)


@dataclass(frozen=True)
class Grouping:
    """What to group by and what follows from it, all of it public.

    - `keys`: the group keys, restricted to their domains.
    - `where`: the filter, with the domains that drop what lies outside.
    - `domains`: the domain of each key by name; None where its values are to be found.
    - `max_groups`: what the engine cuts each unit to; None where a unit has one group anyhow.
    - `k`: the most groups that one unit can touch; None where that has no bound.
    - `every_unit_once`: each unit is in exactly one group by construction, so that the number of
      units stands for the total.
    - `lookups`: the public tables whose columns the keys or the filter read.
    - `grams`: the keys are the tokens of these.
    """

    keys: tuple[BoundKey, ...]
    where: BoundPredicate | None
    domains: Mapping[str, Domain | None]
    max_groups: int | None
    k: int | None
    every_unit_once: bool
    details: Mapping[str, Any]
    lookups: tuple[Lookup, ...] = ()
    grams: Ngrams | None = None

    @property
    def single(self) -> bool:
        """Whether each unit is in one group at most, by construction."""
        return self.k == 1 and self.max_groups is None

    @property
    def bins(self) -> int | None:
        """The number of bins, where every key has a domain."""
        return None if self.shape is None else prod(self.shape)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The number of bins along each key, (1,) without keys; None for an open domain."""
        known = [domain for domain in self.domains.values() if domain is not None]
        if len(known) < len(self.domains):
            return None
        return tuple(len(domain.labels) for domain in known) or (1,)

    @property
    def bound(self) -> int:
        """The most bins that a unit may touch: never more than are declared.

        Where bins are not declared, how many there are is secret, and the bound is what was said.
        """
        k = self.k or 1
        return k if self.bins is None else min(k, self.bins)

    @property
    def cut(self) -> int | None:
        """The bound on groups where it may leave something out of a count; None where it cannot."""
        most = self.max_groups
        return None if most is None or (self.bins is not None and self.bins <= most) else most

    @property
    def counted(self) -> str:
        """What is added to the units in words, where each of them counts in some groups only."""
        if self.cut is None:
            return ""
        return f", each in at most {self.cut:,} group{'' if self.cut == 1 else 's'}"

    def wanted(self, *, kinds: bool = False) -> tuple[WantedCounts, ...]:
        """These as counts that may be read with others; none where they cannot."""
        plain = not self.lookups and self.grams is None and len(self.keys) <= 1
        whole_or_text = all(key.type in (Type.INTEGER, Type.TEXT) for key in self.keys)
        return (WantedCounts(self, kinds),) if plain and (kinds or whole_or_text) else ()

    @property
    def undeclared(self) -> list[str]:
        """The keys whose values are to be found."""
        return [name for name, domain in self.domains.items() if domain is None]

    def public(
        self, units: int, *, supposed: Supposed = NOTHING_KNOWN, by_policy: bool = False
    ) -> PublicShape:
        """What may be known of the histogram before paying, and what is supposed of it."""
        touched = supposed.touched
        return PublicShape(
            shape=self.shape,
            k=self.bound,
            n=units,
            total_public=self.every_unit_once,
            by_policy=by_policy,
            nonsensitive_share=supposed.nonsensitive_share,
            likely_bins=supposed.groups if self.shape is None else None,
            likely_touches=None if touched is None else touched.counted(self.bound),
        )


@dataclass(frozen=True)
class WantedCounts:
    """The counts of groups; with `kinds` how many groups there are."""

    groups: Grouping
    kinds: bool = False


@dataclass(frozen=True)
class CountsOfGroups:
    """The units of groups; with `totals` what these add up to."""

    groups: Grouping
    totals: tuple[Total, ...] = ()


def grouping(
    schema: Schema,
    unit: Unit,
    *,
    by: Sequence[str] | str,
    where: BoundPredicate | None,
    max_groups: int | None,
    domain: Mapping[str, Sequence[Any]],
    usual: Mapping[str, Sequence[Any]],
    part: BoundPredicate | None = None,
    determined: Collection[str] = (),
) -> Grouping:
    """Check the keys, their domains and the bound on groups.

    `domain` is declared for this question, and must be about its keys; `usual` comes from the
    description of the data set and is used where it applies. `part` restricts to some units.
    `determined` are columns beside the unit's key that are constant within each unit.
    """
    keys = _keys(schema, by)
    domains = _domains(keys, domain, usual)
    check_bound(max_groups)
    constant = {*unit.columns, *determined}
    single = unit.is_row or all(
        key.name in constant or constant.issuperset(key.columns) for key in keys
    )
    cut = None if single else max_groups
    if cut is not None:
        check_choice(keys)
    filtered = both(where, part)
    mapped = []
    for key in keys:
        inside, condition = restricted(key, domains[key.name])
        mapped.append(inside)
        filtered = both(filtered, condition)
    answer = Grouping(
        keys=tuple(mapped),
        where=filtered,
        domains=domains,
        max_groups=cut,
        k=1 if single else max_groups,
        every_unit_once=(single or max_groups == 1) and filtered is None,
        details={
            "by": [key.name for key in keys],
            "where": None if where is None else where.sql,
            "max_groups": cut,
            "domain": {
                key.name: spelled_domain(key, known)
                for key in keys
                if (known := domains[key.name]) is not None
            },
        },
    )
    if answer.bins is not None and answer.bins > MOST_BINS:
        raise RequestError(f"The domains make more than {MOST_BINS:,} bins; declare smaller ones.")
    return answer


def spelled_domain(key: BoundKey, domain: Domain) -> Any:
    """A domain as it stands in a request: different domains of a key are spelt differently.

    The labels of a key have one type, and `str` is injective on each of them. Decimals that
    differ in their scale alone are the same numbers in the same bins. So a list of such texts is
    ambiguous in one case: the catch-all used to be spelt None, which a text can be too. Of texts
    the last label None therefore is null where it stands for the rest, and an object where it is
    the text. Older ledgers have neither, and never answer one with the other. All other lists are
    spelt as ever, so that what is stored for them is found. Only a long range is an object.
    """
    if domain.is_range and len(domain.values) > MOST_LISTED:
        ends = {"from": str(domain.values[0]), "to": str(domain.values[-1])}
        return {**ends, "others": domain.catch_all}
    texts: list[Any] = [str(label) for label in domain.labels]
    if key.type is Type.TEXT and texts[-1] == "None":
        texts[-1] = None if domain.catch_all else {"text": "None"}
    return texts


def spelled_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a mechanism as they stand in a request.

    Numbers, truth values and texts that mean the same number may be spelt alike, since the
    mechanism reads them alike. A text that looks like a truth value is one that it reads as true.
    """
    return {
        name: {"text": value} if isinstance(value, str) and value in _TRUTHS else str(value)
        for name, value in sorted(parameters.items())
    }


def bound_where(schema: Schema, text: str | None) -> BoundPredicate | None:
    """A filter in the language of policies; NULL does not select."""
    return None if text is None else Predicate.parse(text).bind(schema)


def _keys(schema: Schema, by: Sequence[str] | str) -> tuple[BoundKey, ...]:
    texts = [by] if isinstance(by, str) else list(by)
    keys = tuple(Key.parse(text).bind(schema) for text in texts)
    if len(keys) > MOST_KEYS:
        raise RequestError(f"There are more than {MOST_KEYS} group keys; group by fewer.")
    if len({key.name for key in keys}) != len(keys):
        raise RequestError("Each group key may be named once.")
    for key in keys:
        # A request names keys by these names: they must not stand for two things.
        if key.name in schema and not isinstance(key.expression, Column):
            raise RequestError(f"A column is called {key.name} itself; rename it.")
    taken = [key.name for key in keys if key.name in ANSWER_COLUMNS]
    if taken:
        raise RequestError(f"An answer has a column {taken[0]} of its own; rename the group key.")
    return keys


def _domains(
    keys: tuple[BoundKey, ...],
    declared: Mapping[str, Sequence[Any]],
    usual: Mapping[str, Sequence[Any]],
) -> dict[str, Domain | None]:
    canonical = {key.name: key for key in keys}
    named = {_canonical_name(name): values for name, values in declared.items()}
    unknown = [name for name in named if name not in canonical]
    if unknown:
        raise RequestError(
            f"A domain is declared for {unknown[0]}, which is no group key here"
            f"{meant(unknown[0], canonical)}."
        )
    known = {_canonical_name(name): values for name, values in usual.items()} | named
    return {name: domain_of(key, known.get(name)) for name, key in canonical.items()}


def _canonical_name(text: str) -> str:
    return Key.parse(text).name


def check_choice(keys: tuple[BoundKey, ...]) -> None:
    """Which groups a unit is counted in follows their keys, which all engines must spell alike."""
    for key in keys:
        if key.type not in NAMED_TYPES:
            raise RequestError(
                f"max_groups needs keys that are spelt in one way, and {key.name} is a "
                f"{key.type.value}; group by CAST({key.name} AS DOUBLE) or by another column."
            )


def check_bound(max_groups: int | None) -> None:
    """Refuse what is no bound on groups."""
    whole = isinstance(max_groups, int) and not isinstance(max_groups, bool)
    if max_groups is not None and (not whole or not 1 <= max_groups <= MOST_GROUPS):
        raise RequestError(
            "max_groups, the most groups that count for a unit, must be a whole number from 1 to "
            f"{MOST_GROUPS:,}; a count takes auto too, and finds it."
        )
