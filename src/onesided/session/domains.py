"""Declared domains: which values a group key can have, and the dense histogram over them.

Which values occur is secret, so a dense histogram needs its values from elsewhere: from a
declaration, or from the key itself (an hour is one of 24). What lies outside is dropped, or put
into a catch-all bin where one is declared; both happen inside the engine's statement, before units
are counted, so that a unit is counted once in the catch-all bin too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from math import prod
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from onesided.data import Axis, Histogram
from onesided.engine.base import Figure
from onesided.errors import RequestError
from onesided.language import BoundKey, BoundPredicate, Type
from onesided.language.tree import And, Between, Case, Expression, In, Literal, Part, PartOf
from onesided.session.values import typed_values

#: In a declared domain: everything that is not listed, NULL included. Its label is None.
OTHER = "*"
MOST_BINS = 20_000_000
#: Values that are written one by one into a statement: so many take seconds and half a gigabyte.
MOST_LISTED = 100_000
MOST_CHARACTERS_LISTED = 10_000_000


@dataclass(frozen=True)
class Domain:
    """The values of one key in order; with `catch_all` a last bin, labelled None, for the rest."""

    values: tuple[Any, ...]
    catch_all: bool = False

    @cached_property
    def is_range(self) -> bool:
        """Whether the values are consecutive whole numbers, which two comparisons tell."""
        if len(self.values) < 2 or type(self.values[0]) is not int:
            return False
        first, last = self.values[0], self.values[-1]
        return last - first + 1 == len(self.values) and self.values == tuple(range(first, last + 1))

    @property
    def labels(self) -> tuple[Any, ...]:
        """One label a bin."""
        return (*self.values, None) if self.catch_all else self.values


def domain_of(key: BoundKey, declared: Sequence[Any] | None) -> Domain | None:
    """The declared domain, or the one that the key has by itself, or None where there is none."""
    if declared is not None:
        return _declared(key, declared)
    match key.typed:
        case PartOf(Part.HOUR):
            return Domain(tuple(range(24)))
        case PartOf(Part.WEEKDAY):
            return Domain(tuple(range(1, 8)))
        case _ if key.type is Type.BOOLEAN:
            return Domain((False, True))
        case _:
            return None


def read_domain(text: str) -> list[str]:
    """A domain as the command line gives it: `a,b,c`, or a file with one value per line."""
    if not isfile(text):  # neither is a list that is too long for a name
        return text.split(",")
    try:
        # Lines end where an editor ends them: splitlines() has eight more ends, all of them texts.
        lines = Path(text).read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError):
        raise RequestError(f"The domain file {text} cannot be read as text.") from None
    return lines if lines[-1] else lines[:-1]


def restricted(key: BoundKey, domain: Domain | None) -> tuple[BoundKey, BoundPredicate | None]:
    """The key with all values outside the domain turned to NULL, or a filter that drops them."""
    if domain is None:
        return key, None
    inside = _inside(key, key.typed, domain)
    if domain.catch_all:
        return replace(key, typed=Case(None, ((inside, key.typed),), None)), None
    return key, BoundPredicate(_inside(key, key.expression, domain), inside)


def _inside(key: BoundKey, operand: Expression, domain: Domain) -> Expression:
    """The condition that `operand` is one of the values."""
    if domain.is_range:
        least, most = (Literal(key.type, domain.values[place]) for place in (0, -1))
        return Between(operand, least, most)
    return In(operand, tuple(Literal(key.type, value) for value in domain.values))


def both(first: BoundPredicate | None, second: BoundPredicate | None) -> BoundPredicate | None:
    """The conjunction of two filters, either of which may be missing."""
    if first is None or second is None:
        return first or second
    return BoundPredicate(
        And((first.expression, second.expression)), And((first.typed, second.typed))
    )


def histogram(
    keys: pa.Table,
    figure: Figure,
    domains: Mapping[str, Domain | None],
    k: int,
    n: int | None,
    only_sensitive: NDArray[np.bool_] | None = None,
) -> Histogram:
    """The counts as a mechanism sees them: dense where every key has a domain, else open.

    `n` is the public number of units where it stands for the total, None otherwise.
    """
    known = [domain for domain in domains.values() if domain is not None]
    if len(known) < len(domains):
        return Histogram(
            figure.all, figure.nonsensitive, k=k, total_public=n is not None, n=n, open_domain=True
        )
    axes = tuple(Axis(name, domain.labels) for name, domain in zip(domains, known, strict=True))
    shape = tuple(len(axis) for axis in axes) or (1,)
    position = np.zeros(len(figure.all), dtype=np.int64)
    declared = np.ones(len(figure.all), dtype=np.bool_)
    for axis, column in zip(axes, keys.columns, strict=True):
        place = _index(column, axis.labels)
        declared &= place >= 0
        position = position * len(axis) + place
    dense = [np.zeros(prod(shape), dtype=np.int64) for _ in range(2)]
    for target, values in zip(dense, (figure.all, figure.nonsensitive), strict=True):
        np.add.at(target, position[declared], values[declared])
    all_units, nonsensitive = (each.reshape(shape) for each in dense)
    return Histogram(
        all_units,
        nonsensitive,
        axes or None,
        k=k,
        total_public=n is not None,
        n=n,
        only_sensitive=only_sensitive,
    )


def dense_keys(axes: Iterable[Axis], types: Sequence[pa.DataType]) -> list[pa.Array]:
    """The key columns of a dense histogram in row-major order."""
    listed = list(axes)
    if not listed:
        return []  # a single bin, which needs no key
    grids = np.indices([len(axis) for axis in listed]).reshape(len(listed), -1)
    return [
        pa.array(axis.labels, kind).take(pa.array(grid))
        for axis, grid, kind in zip(listed, grids, types, strict=True)
    ]


def _index(column: pa.ChunkedArray, labels: tuple[Any, ...]) -> Any:
    """The position of each value among the labels, where None stands for the catch-all bin.

    The engine has left out what is not listed. Where it should not have, the place is -1: after the
    charge no value may raise.
    """
    found = pc.index_in(column, value_set=pa.array(labels, column.type), skip_nulls=False)
    return pc.fill_null(found, -1).to_numpy().astype(np.int64)


def _declared(key: BoundKey, declared: Sequence[Any]) -> Domain:
    listed = _listed(key, declared)
    others = [place for place, each in enumerate(listed) if _is_other(each)]
    if others and others != [len(listed) - 1]:
        raise RequestError(f"The catch-all bin {OTHER} comes last in the domain of {key.name}.")
    values = typed_values(key, listed[: len(listed) - len(others)])
    domain = Domain(values, catch_all=bool(others))
    if not domain.is_range:
        _check_listed(key, values)
    return domain


def _listed(key: BoundKey, declared: Sequence[Any]) -> list[Any]:
    """The declared values in order, which a set does not have and a text has of its letters."""
    if isinstance(declared, str | bytes | Mapping | set | frozenset) or not isinstance(
        declared, Iterable
    ):
        raise RequestError(f"The domain of {key.name} is a list of values in their order.")
    listed = list(islice(declared, MOST_BINS + 1))
    if len(listed) > MOST_BINS:
        raise RequestError(f"The domain of {key.name} lists more than {MOST_BINS:,} values.")
    return listed


def _is_other(value: Any) -> bool:
    return isinstance(value, str) and value == OTHER


def _check_listed(key: BoundKey, values: tuple[Any, ...]) -> None:
    """Refuse a statement too long for the engines: each of these values is written into it."""
    if not values or len(set(values)) != len(values):
        raise RequestError(f"The domain of {key.name} must list different values, at least one.")
    if len(values) > MOST_LISTED:
        raise RequestError(
            f"The domain of {key.name} lists more than {MOST_LISTED:,} values; only consecutive "
            "whole numbers, from the least on, can be more."
        )
    if key.type is Type.TEXT and sum(map(len, values)) > MOST_CHARACTERS_LISTED:
        raise RequestError(
            f"The texts in the domain of {key.name} are longer than {MOST_CHARACTERS_LISTED:,} "
            "characters together; declare fewer or shorter ones."
        )
