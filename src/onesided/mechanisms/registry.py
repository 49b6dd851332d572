"""Every mechanism by name. Being listed here enrols it in the contract and audit suites."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from onesided.errors import RequestError
from onesided.mechanisms.agrid import AGrid
from onesided.mechanisms.ahp import AHP
from onesided.mechanisms.auto import Auto
from onesided.mechanisms.base import Mechanism
from onesided.mechanisms.dawa import Dawa
from onesided.mechanisms.hybrid import Hybrid
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.one_sided import OneSided
from onesided.mechanisms.privbayes import PrivBayes
from onesided.mechanisms.privtree import PrivTree
from onesided.mechanisms.published.baselines import AllNonsensitive, NonTruman, Suppress, Truman
from onesided.mechanisms.published.dawa_reference import DawaReference
from onesided.mechanisms.published.dawaz_reference import DawazReference
from onesided.mechanisms.published.hybrid_paper import HybridPaper
from onesided.mechanisms.published.osdp_laplace import OsdpLaplace, OsdpLaplaceL1
from onesided.mechanisms.ranks import Ranks
from onesided.mechanisms.ranks_of_all import RanksOfAll
from onesided.mechanisms.recipe import Dawaz, NaiveRecipe, Recipe
from onesided.mechanisms.residual import Residual
from onesided.mechanisms.rr import RandomizedResponse
from onesided.spelling import meant

_SOUND = (
    Auto,
    Residual,
    OneSided,
    Hybrid,
    Laplace,
    Dawa,
    Dawaz,
    Recipe,
    NaiveRecipe,
    PrivTree,
    AHP,
    AGrid,
    PrivBayes,
    Ranks,
    RanksOfAll,
)
_IDEALISED = (RandomizedResponse, OsdpLaplace, OsdpLaplaceL1)
_BROKEN = (
    DawaReference,
    DawazReference,
    HybridPaper,
    Suppress,
    AllNonsensitive,
    Truman,
    NonTruman,
)

MECHANISMS: MappingProxyType[str, type[Mechanism]] = MappingProxyType(
    {each.name: each for each in (*_SOUND, *_IDEALISED, *_BROKEN)}
)


def mechanism(name: str, **parameters: Any) -> Mechanism:
    """The mechanism called `name`, with its own `parameters`."""
    chosen = MECHANISMS.get(name)
    if chosen is None:
        raise RequestError(
            f"There is no such mechanism{meant(name, MECHANISMS)}; choose one of "
            f"{', '.join(MECHANISMS)}."
        )
    try:
        return chosen(**parameters)
    except TypeError:
        known = list(chosen.__dataclass_fields__)
        wrong = next((each for each in parameters if each not in known), "")
        there_are = f"its parameters are: {', '.join(known)}" if known else "it has no parameters"
        raise RequestError(
            f"{name} has no parameter {wrong}{meant(wrong, known)}; {there_are}."
        ) from None


def mechanism_names() -> tuple[str, ...]:
    """The names that `mechanism` knows, in the order of the documentation."""
    return tuple(MECHANISMS)
