"""Names that are nearly right, and those that are not like any."""

from __future__ import annotations

import inspect

import pytest

from onesided.errors import RequestError
from onesided.mechanisms.registry import MECHANISMS
from onesided.session.dataset import Dataset
from onesided.spelling import VERY_MUCH, arguments_named, closest, meant


@arguments_named
def asked(what: str, *, how: int = 1, **others: int) -> str:
    return f"{what} {how} {others}"


def test_the_nearest_name_is_meant() -> None:
    assert meant("Lapalce", ["laplace", "residual"]) == " (did you mean laplace?)"
    assert closest("max-groups", ["max_groups"]) == "max_groups"
    assert closest("RAUCHERHOF", ["cafe", "raucherhof"]) == "raucherhof"


def test_nothing_is_meant_by_a_name_like_no_other() -> None:
    assert meant("zzz", ["laplace", "residual"]) == ""
    assert meant("anything", []) == ""


def test_arguments_are_taken_as_before() -> None:
    assert asked("count", how=2, scale=3) == "count 2 {'scale': 3}"


@pytest.mark.parametrize(
    ("args", "given", "sentence"),
    [
        (("count",), {"hoow": 2}, "asked has no hoow (did you mean how?)."),
        ((), {}, "asked needs what, such as asked(…, what=…)."),
        (("count", 2), {}, "asked takes these arguments, each once and by name: what, how."),
    ],
)
def test_a_mistake_is_one_sentence(
    args: tuple[object, ...], given: dict[str, int], sentence: str
) -> None:
    with pytest.raises(RequestError) as caught:
        asked(*args, **given)  # type: ignore[arg-type]
    assert str(caught.value) == sentence


def test_no_parameter_of_a_mechanism_is_taken_for_a_misspelt_argument() -> None:
    takes = [name for name in inspect.signature(Dataset.count).parameters if name != "self"]
    for chosen in MECHANISMS.values():
        for name in chosen.__dataclass_fields__:
            assert closest(name, takes, VERY_MUCH) is None
