"""Public maps: which moves between two places give away that somebody was in a third.

edges.py      the ways between places, read from a table
walks.py      least times of walks over them
closing.py    which places and moves are sensitive (closing.md has the proof)
judging.py    units in Python, by the same tables as on every engine
meaning.py    the same from the definition, as slowly as it reads; audits and tests hold on to it
"""

from __future__ import annotations

from onesided.maps.closing import ClosedMap, Rule
from onesided.maps.edges import Edges, Place

__all__ = ["ClosedMap", "Edges", "Place", "Rule"]
