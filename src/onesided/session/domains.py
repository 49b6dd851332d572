"""Declared domains: which values a group key can have, and the dense histogram over them.

Which values occur is secret, so a dense histogram needs its values from elsewhere: from a
declaration, or from the key itself (an hour is one of 24). What lies outside is dropped, or put
into a catch-all bin where one is declared; both happen inside the engine's statement, before units
are counted, so that a unit is counted once in the catch-all bin too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
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
from onesided.language.tree import And, Case, In, Literal, Part, PartOf

#: In a declared domain: everything that is not listed, NULL included. Its label is None.
OTHER = "*"
MOST_BINS = 20_000_000


@dataclass(frozen=True)
class Domain:
    """The values of one key in order; with `catch_all` a last bin, labelled None, for the rest."""

    values: tuple[Any, ...]
    catch_all: bool = False

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
    """A domain as the command line gives it: `a,b,c`, or a file with one value a line."""
    path = Path(text)
    try:
        if path.is_file():
            return path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise RequestError(f"The domain file {text} cannot be read as text.") from None
    return text.split(",")


def restricted(key: BoundKey, domain: Domain | None) -> tuple[BoundKey, BoundPredicate | None]:
    """The key with all values outside the domain turned to NULL, or a filter that drops them."""
    if domain is None:
        return key, None
    choices = tuple(Literal(key.type, value) for value in domain.values)
    inside = In(key.typed, choices)
    if domain.catch_all:
        return replace(key, typed=Case(None, ((inside, key.typed),), None)), None
    return key, BoundPredicate(In(key.expression, choices), inside)


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
    dense = [np.zeros(int(np.prod(shape)), dtype=np.int64) for _ in range(2)]
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

    −1 for a value that is none of them: an engine that compares otherwise must not decide anything.
    """
    found = pc.index_in(column, value_set=pa.array(labels, column.type), skip_nulls=False)
    return pc.fill_null(found, -1).to_numpy().astype(np.int64)


def _declared(key: BoundKey, declared: Sequence[Any]) -> Domain:
    listed = list(declared)
    values = tuple(typed_value(key, each) for each in listed if each != OTHER)
    if not values or len(set(values)) != len(values):
        raise RequestError(f"The domain of {key.name} must list different values, at least one.")
    if OTHER in listed[:-1]:
        raise RequestError(f"The catch-all bin {OTHER} comes last in the domain of {key.name}.")
    return Domain(values, catch_all=listed[-1] == OTHER)


def typed_value(key: BoundKey, value: Any) -> Any:
    """A declared value in the type of its key; texts from the command line are read."""
    try:
        match key.type:
            case Type.INTEGER | Type.WIDE_INTEGER if not isinstance(value, bool):
                return int(str(value))
            case Type.BOOLEAN:
                return value if isinstance(value, bool) else _BOOLEANS[str(value).strip().lower()]
            case Type.TEXT if isinstance(value, str):
                return value
            case Type.DATE if not isinstance(value, datetime):
                return value if isinstance(value, date) else date.fromisoformat(str(value))
            case Type.TIMESTAMP:
                return value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
            case Type.DECIMAL:
                return Decimal(str(value))
    except (ValueError, KeyError, InvalidOperation):
        pass
    raise RequestError(f"The values of {key.name} must be of type {key.type.value}.")


_BOOLEANS = {"true": True, "false": False}
