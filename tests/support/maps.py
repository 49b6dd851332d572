"""Random maps, and a closed policy evaluated by its tables in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st

from onesided.maps import ClosedMap, Edges, Rule

SECOND = 1_000_000
PLACES = "abcdef"


@st.composite
def drawn_maps(draw: st.DrawFn) -> ClosedMap:
    """Few places and short ways, so that ties and ends that nothing joins are frequent."""
    place = st.sampled_from(PLACES)
    ways = draw(st.lists(st.tuples(place, place, st.integers(0, 4)), min_size=1, max_size=9))
    edges = Edges.between(ways, directed=draw(st.booleans()))
    sensitive = draw(st.sets(st.sampled_from(edges.places), max_size=2))
    open_places = [each for each in edges.places if each not in sensitive]
    return ClosedMap(
        edges=edges,
        sensitive=frozenset(sensitive),
        rule=draw(st.sampled_from(Rule)),
        slack=draw(st.sampled_from([Fraction(1), Fraction(1, 2), Fraction("1.5"), Fraction(3)])),
        gap=draw(st.none() | st.integers(1, 9)),
        outside=draw(st.sampled_from([None, *open_places])),
    )


def sensitive_by_table(closed: ClosedMap, rows: Sequence[tuple[object, int | None]]) -> bool:
    """By the numbers of open places and the table of moves: what every engine does."""
    opened = dict(zip(*(column.to_pylist() for column in closed.open_places.columns), strict=True))
    moves = closed.moves
    below = dict(
        zip(
            zip(moves.start.tolist(), moves.end.tolist(), strict=True),
            moves.below.tolist(),
            strict=True,
        )
    )
    if any(place not in opened or time is None for place, time in rows):
        return True
    moments = sorted({time for _, time in rows if time is not None})
    return any(
        late - early < below.get((opened[a], opened[b]), 0)
        for early, late in pairwise(moments)
        for a, at in rows
        for b, then in rows
        if at == early and then == late
    )
