"""What somebody may have meant who misspelt a name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from onesided.errors import RequestError

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
VERY_MUCH = 0.8
_LETTERS = 100
_SHOWN = 12


def closest(name: str, known: Iterable[str], alike: float = 0.7) -> str | None:
    """The known name that looks most like `name`; None where none does."""
    from difflib import get_close_matches

    folded = {_folded(each): each for each in reversed(list(known))}
    found = get_close_matches(_folded(name[:_LETTERS]), folded, n=1, cutoff=alike)
    return folded[found[0]] if found else None


def meant(name: str, known: Iterable[str]) -> str:
    """` (did you mean …?)`, or nothing."""
    found = closest(name, known)
    return "" if found is None else f" (did you mean {found}?)"


def _folded(name: str) -> str:
    return name.casefold().replace("-", "_").strip()


def arguments_named(method: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Answers arguments that `method` does not take, and those it lacks, with one sentence."""
    # Users know `open_dataset` as `onesided.open`.
    called = method.__name__.removesuffix("_dataset")
    signature = inspect.signature(method)
    found = [each for each in signature.parameters.values() if each.name != "self"]
    takes = [each.name for each in found if each.kind is not each.VAR_KEYWORD]
    open_ended = len(takes) < len(found)

    @wraps(method)
    def asked(*args: Given.args, **given: Given.kwargs) -> Answer:
        try:
            signature.bind(*args, **given)
        except TypeError:
            missing = _missing(signature, args, given)
            raise RequestError(_refusal(called, given, takes, missing)) from None
        for name in given if open_ended else ():
            # A mechanism has parameters of its own, of names that are not so much like these.
            if name not in takes and closest(name, takes, VERY_MUCH) is not None:
                raise RequestError(f"{called} has no {name}{meant(name, takes)}.")
        return method(*args, **given)

    return asked


def _missing(
    signature: inspect.Signature, args: tuple[Any, ...], given: dict[str, Any]
) -> list[str]:
    """What has no default and was not given; nothing where too much was given."""
    try:
        bound = signature.bind_partial(*args, **given).arguments
    except TypeError:
        return []
    parameters = signature.parameters.values()
    needed = (each.name for each in parameters if each.default is each.empty)
    variable = {each.name for each in parameters if each.kind is each.VAR_KEYWORD}
    return [name for name in needed if name not in bound and name not in variable]


def _refusal(called: str, given: Iterable[str], takes: list[str], missing: list[str]) -> str:
    known = ", ".join(takes[:_SHOWN]) + (", …" if len(takes) > _SHOWN else "")
    for name in given:
        if name not in takes:
            return f"{called} has no {name}{meant(name, takes)}; there are: {known}."
    if missing:
        return f"{called} needs {' and '.join(missing)}, such as {called}(…, {missing[0]}=…)."
    return f"{called} takes these arguments, each once and by name: {known}."
