"""Pairs of requests: what means the same is asked once, and what means another thing is not.

A second request of a session is another spelling of the first, whose answer is then free and the
very same; or it means something else, however much alike the two look, and is run for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from onesided.audit.session.requests import Request

_SPELLINGS = {
    "1": (1, "1.0", "1e0", Decimal("1.00")),
    "0.1": (0.1, "1/10", Decimal("0.1")),
    "4": (4, "4.000", 4.0),
    "20": (20, "2e1", 20.0),
}
_OTHERS, _TEXT = "*", "None"


@dataclass(frozen=True)
class Spelling:
    """Two requests, and whether they mean the same."""

    first: Request
    second: Request
    same: bool


def spellings(request: Request) -> list[Spelling]:
    """Pairs with this request."""
    kept = {name: value for name, value in request.arguments.items() if name != "fresh"}
    plain = replace(request, arguments=kept, outputs=(), again=False)
    return [*_same(plain), *_others(plain)]


def _same(request: Request) -> Iterator[Spelling]:
    given = request.arguments
    for epsilon in _SPELLINGS.get(str(given["epsilon"]), ()):
        yield _pair(request, {"epsilon": epsilon}, same=True)
    if "where" in given:
        yield _pair(request, {"where": f" ( {given['where']} ) "}, same=True)
    if given.get("by"):
        yield _pair(request, {"by": tuple(given["by"])}, same=True)
    for key, values in _domains(given).items():
        changed = tuple(str(each) if isinstance(each, int) else each for each in values)
        yield _pair(request, {"domain": {**given["domain"], key: changed}}, same=True)


def _others(request: Request) -> Iterator[Spelling]:
    given = request.arguments
    for key, values in _domains(given).items():
        if all(isinstance(each, str) for each in values) and values[-1] in (_OTHERS, _TEXT):
            last = _TEXT if values[-1] == _OTHERS else _OTHERS
            changed = {**given["domain"], key: [*values[:-1], last]}
            yield _pair(request, {"domain": changed}, same=False)
        if len(values) > 1:
            changed = {**given["domain"], key: values[:-1]}
            yield _pair(request, {"domain": changed}, same=False)
    if request.ask in ("sum", "mean"):
        yield _pair(request, {"bound": _other(given["bound"])}, same=False)
    if len(given.get("columns", ())) > 1:
        yield _pair(request, {"columns": given["columns"][::-1]}, same=False)


def _domains(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """By group key; n-grams have one list for all of their tokens."""
    domain = given.get("domain", {})
    return domain if isinstance(domain, Mapping) else {}


def _pair(request: Request, changed: Mapping[str, Any], *, same: bool) -> Spelling:
    return Spelling(request, replace(request, arguments={**request.arguments, **changed}), same)


def _other(bound: int | str) -> int | str:
    """Another bound than this one, which may be one that is to be found."""
    return bound + 1 if isinstance(bound, int) else 50
