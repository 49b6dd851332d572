"""A list of questions shares a budget: each gets its error, or it is said which one cannot."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

import onesided as osd
from onesided.data.planned.allocation import even_share, wishes
from onesided.errors import RequestError
from onesided.session import Wish
from support.visits import POLICY, ROOMS, UNIT, visits

BY_ROOM = "SELECT room, COUNT(DISTINCT device, day) FROM data GROUP BY room"
BY_DAY = "SELECT day, COUNT(DISTINCT device, day), SUM(device) FROM data GROUP BY day"
LIMITS: dict[str, Any] = {
    "max_groups": 1,
    "bounds": {"device": 10},
    "mechanism": "laplace",
    "domain": {"room": list(ROOMS)},
}


@pytest.fixture(scope="module")
def data() -> Iterator[osd.Dataset]:
    with osd.open(visits(devices=100), unit=UNIT, policy=POLICY, budget=4) as opened:
        yield opened


def by_room(error: float | None) -> Wish:
    return Wish(BY_ROOM, error)


def test_each_question_gets_its_error_and_can_then_be_paid(data: osd.Dataset) -> None:
    found = data.plan.questions([by_room(3), Wish(BY_ROOM + " ORDER BY room", 8)], **LIMITS)
    assert found.ok
    for each in found.allotted:
        assert each.plan is not None
        assert all(row.error is not None and row.error <= each.wish.error for row in each.plan.rows)
    assert found.budget == 4
    assert 0 < found.cost <= found.budget
    with osd.open(visits(devices=100), unit=UNIT, policy=POLICY, budget=found.cost) as paid:
        for each in found.allotted:
            paid.sql(each.wish.sql, epsilon=each.epsilon, **LIMITS)
        assert paid.budget.left == 0


def test_what_cannot_be_had_is_named_and_the_next_still_served(data: osd.Dataset) -> None:
    found = data.plan.questions([by_room(3), by_room(0.5), by_room(20)], budget=2, **LIMITS)
    assert [each.epsilon is not None for each in found.allotted] == [True, False, True]
    assert not found.ok
    assert "is left" in found.allotted[1].reason
    never = data.plan.questions([by_room(0.001)], **LIMITS)
    assert "up to ε = 10" in never.allotted[0].reason


def test_questions_without_an_error_share_what_is_left(data: osd.Dataset) -> None:
    found = data.plan.questions([by_room(None), by_room(3), by_room(None)], budget=2, **LIMITS)
    first, wanted, last = (each.epsilon for each in found.allotted)
    assert first == last
    assert wanted is not None
    assert first == even_share(2 - wanted, 2)
    assert 0 <= found.left < Fraction(1, 50)


def test_a_text_of_questions_says_its_errors() -> None:
    text = f"""
    -- the first one; error: none of this counts
    -- error: 20
    {BY_ROOM};
    {BY_DAY} -- error: 7
    ;
    SELECT COUNT(*) FROM data WHERE room = 'a;b -- error: 1';
    """
    first, second, third = wishes(text, 3)
    assert (first.error, second.error, third.error) == (20, 7, 3)
    assert third.sql.endswith("'a;b -- error: 1'")
    with pytest.raises(RequestError, match="no question here"):
        wishes(" ;; -- nothing\n")


def test_a_budget_is_needed(data: osd.Dataset) -> None:
    with (
        osd.open(visits(devices=5), unit=UNIT, policy=POLICY) as without,
        pytest.raises(RequestError, match="Say with budget"),
    ):
        without.plan.questions(BY_ROOM, **LIMITS)


@pytest.mark.parametrize(
    ("left", "number", "share"),
    [(2, 3, "0.666"), (1, 1, "1"), ("0.001", 7, "0.000142"), (0, 2, None)],
)
def test_shares_are_rounded_down(left: Any, number: int, share: str | None) -> None:
    assert even_share(Fraction(left), number) == (None if share is None else Fraction(share))
