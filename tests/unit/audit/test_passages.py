"""What an attacker who knows the map gains, and what closed policies leave of it."""

from __future__ import annotations

import pytest

from onesided.audit.passages import BEFORE, attack_passage
from onesided.datasets.passage import STREET, YARD, Habits, PassageBuilding
from onesided.maps import Rule
from onesided.maps.judging import MapJudge
from onesided.randomness import seeded

PEOPLE = 800
PASSAGE, DEAD_END = PassageBuilding(), PassageBuilding(dead_end=True)


def test_a_passage_betrays_who_was_not_seen_and_closing_it_ends_that() -> None:
    found = attack_passage("passage", PASSAGE, Habits(), PEOPLE, seeded(0))
    assert 0.25 < found.went < 0.36
    assert found.caught["certain"] >= 0.6
    assert found.caught["quickest"] >= 0.85
    assert found.betrayed[BEFORE] > 0.25
    assert found.betrayed["certain"] <= 0.35 * found.betrayed[BEFORE]
    assert found.betrayed["quickest"] <= 0.05 * found.betrayed[BEFORE]
    assert found.true["certain"] >= 0.95


def test_stray_sightings_close_units_that_were_never_there() -> None:
    found = attack_passage("stray", PASSAGE, Habits(stray=0.05), PEOPLE, seeded(1))
    assert found.caught["certain"] >= 0.6
    assert found.true["certain"] < 0.95


def test_a_dead_end_adds_exactly_nothing() -> None:
    days = DEAD_END.walked(PEOPLE, Habits(stray=0.05), seeded(2))
    for rule in Rule:
        closed = DEAD_END.closed(rule)
        judge = MapJudge(closed)
        assert closed.is_dead_end
        for day in days:
            assert judge.is_sensitive(day.rows) == (YARD in dict(day.sightings))


@pytest.mark.parametrize("building", [PASSAGE, DEAD_END])
def test_nobody_walks_faster_than_the_map_says(building: PassageBuilding) -> None:
    """Without stray sightings, so that only who was in the yard can break the promise."""
    judge = MapJudge(building.closed(Rule.CERTAIN))
    days = building.walked(300, Habits(), seeded(3))
    assert all(day.was_in_yard for day in days if judge.is_sensitive(day.rows))
    assert any(not day.was_in_yard for day in days)
    places = {place for day in days for place, _ in day.sightings}
    assert STREET not in places
    assert places <= {room.name for room in building.rooms}
