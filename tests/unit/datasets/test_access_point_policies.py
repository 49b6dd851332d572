"""Policies by the k least busy access points and by kind of room."""

from __future__ import annotations

import pyarrow as pa
import pytest

from onesided.datasets.floorplan import RoomKind
from onesided.datasets.policies import LeastBusy, by_room_kind
from onesided.errors import RequestError
from onesided.policy import Policy

# Units (1,1) passes a b; (1,2) passes a; (2,1) passes a c c; (2,2) passes c; nobody else exists.
TABLE = pa.table(
    {
        "device": [1, 1, 1, 2, 2, 2, 2],
        "day": [1, 1, 2, 1, 1, 1, 2],
        "ap": ["a", "b", "a", "a", "c", "c", "c"],
    }
)


def test_busy_is_the_number_of_units_that_pass() -> None:
    policies = LeastBusy.of(TABLE)
    assert policies.access_points == ("b", "c", "a")
    assert policies.shares.tolist() == [1.0, 0.75, 0.25, 0.0]


def test_names_break_ties() -> None:
    table = pa.table({"device": [1, 2], "day": [1, 1], "ap": ["z", "y"]})
    assert LeastBusy.of(table).access_points == ("y", "z")


def test_the_nearest_share_is_chosen() -> None:
    policies = LeastBusy.of(TABLE)
    assert [policies.nearest(share).k for share in (1.0, 0.7, 0.3, 0.01)] == [0, 1, 2, 3]


def test_the_text_is_a_policy() -> None:
    policies = LeastBusy.of(TABLE)
    assert policies.first(2).sql == "ap IN ('b', 'c')"
    assert policies.first(0).sql == "FALSE"
    assert Policy(policies.first(1).sql).relaxes(Policy(policies.first(2).sql))
    assert Policy(policies.first(0).sql).relaxes(Policy(policies.first(1).sql))


def test_quotes_in_a_name_stay_in_the_name() -> None:
    table = pa.table({"device": [1], "day": [1], "ap": ["o'hara"]})
    assert LeastBusy.of(table).first(1).sql == "ap IN ('o''hara')"


def test_another_unit_and_column() -> None:
    table = TABLE.rename_columns(["device", "day", "room"])
    policies = LeastBusy.of(table, unit=("device",), ap="room")
    assert policies.access_points == ("b", "c", "a")
    assert policies.first(1).sql == "room IN ('b')"


def test_rooms_of_a_kind() -> None:
    kinds = [RoomKind.SMOKERS_YARD, RoomKind.CLINIC]
    text = by_room_kind(kinds)
    assert text == "kind IN ('clinic', 'smokers yard')"
    assert Policy(text).relaxes(Policy(f"{text} OR opted_out"))


@pytest.mark.parametrize("k", [-1, 4])
def test_k_must_be_possible(k: int) -> None:
    with pytest.raises(RequestError, match="3 access points"):
        LeastBusy.of(TABLE).first(k)


def test_no_rows_are_refused() -> None:
    with pytest.raises(RequestError, match="at least one row"):
        LeastBusy.of(TABLE.slice(0, 0))


def test_empty_cells_are_refused() -> None:
    table = pa.table({"device": [1, None], "day": [1, 1], "ap": ["a", "b"]})
    with pytest.raises(RequestError, match="empty cells"):
        LeastBusy.of(table)
