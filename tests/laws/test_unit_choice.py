"""The public rule that bounds how many units a row of a lookup table decides over."""

from __future__ import annotations

from itertools import product
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from onesided.engine.beside import UnitChoice
from onesided.language import Type


@given(st.lists(st.integers(1, 9), min_size=1, max_size=3), st.integers(1, 5))
def test_each_combination_has_a_place_of_its_own(sizes: list[int], most: int) -> None:
    """So that whatever a hash adds, exactly so many of them are among the first."""
    among = tuple((f"c{at}", Type.INTEGER, tuple(range(size))) for at, size in enumerate(sizes))
    choice = UnitChoice(most, (("person", Type.TEXT),), among)
    places = [sum(steps) % choice.combinations for steps in product(*choice.places)]
    assert sorted(places) == list(range(prod(sizes)))
    assert all(step >= 0 for steps in choice.places for step in steps)
