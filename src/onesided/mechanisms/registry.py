"""Every mechanism by name. Being listed here enrols it in the contract and audit suites."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from onesided.errors import RequestError
from onesided.mechanisms.base import Mechanism
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.one_sided import OneSided
from onesided.mechanisms.rr import RandomizedResponse

MECHANISMS: MappingProxyType[str, type[Mechanism]] = MappingProxyType(
    {each.name: each for each in (OneSided, RandomizedResponse, Laplace)}
)


def mechanism(name: str, **parameters: Any) -> Mechanism:
    """The mechanism called `name`, with its own `parameters`."""
    chosen = MECHANISMS.get(name)
    if chosen is None:
        raise RequestError(f"There is no such mechanism; choose one of {', '.join(MECHANISMS)}.")
    try:
        return chosen(**parameters)
    except TypeError:
        known = ", ".join(chosen.__dataclass_fields__) or "none at all"
        raise RequestError(f"The parameters of {name} are: {known}.") from None


def mechanism_names() -> tuple[str, ...]:
    """The names that `mechanism` knows, in the order of the documentation."""
    return tuple(MECHANISMS)
