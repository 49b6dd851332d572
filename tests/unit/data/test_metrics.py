"""Error measures on numbers that can be checked by hand."""

from __future__ import annotations

from math import inf

import pytest

from onesided.data.metrics import l1, mre, rel, relative_errors
from onesided.errors import RequestError
from onesided.experiments.regrets import regret

TRUE = [0, 1, 4, 10]
RELEASED = [2, 1, 2, 15]


def test_ratios_divide_by_the_count_or_by_one() -> None:
    assert list(relative_errors(TRUE, RELEASED)) == [2.0, 0.0, 0.5, 0.5]
    assert list(relative_errors(TRUE, RELEASED, floor=4.0)) == [0.5, 0.0, 0.5, 0.5]


def test_mean_quantile_and_sum() -> None:
    assert mre(TRUE, RELEASED) == 0.75
    assert rel(TRUE, RELEASED, 0.5) == 0.5
    assert rel(TRUE, RELEASED, 1.0) == 2.0
    assert l1(TRUE, RELEASED) == 9.0


def test_regret_is_against_the_best_mean_of_the_named_algorithms() -> None:
    errors = {"ours": [1.0, 1.0], "best": [1.0, 3.0], "other": [6.0, 6.0]}
    found = regret(errors, ["best", "other"])
    assert {name: list(runs) for name, runs in found.items()} == {
        "ours": [0.5, 0.5],
        "best": [0.5, 1.5],
        "other": [3.0, 3.0],
    }


def test_regret_against_no_error_at_all() -> None:
    found = regret({"exact": [0.0], "other": [1.0]}, ["exact"])
    assert (list(found["exact"]), list(found["other"])) == ([1.0], [inf])


def test_histograms_of_different_shapes_are_not_compared() -> None:
    with pytest.raises(RequestError, match="same bins"):
        mre([1, 2], [1, 2, 3])
