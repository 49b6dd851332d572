"""Where attacks take place: a building that a person can follow, and the re:publica trace."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pyarrow.parquet as pq

from onesided.audit.exclusion import Beliefs
from onesided.data.histogram import Floats
from onesided.data.private import PrivateDirectory
from onesided.datasets.wifi import republica_trajectories
from onesided.errors import RequestError

ROOMS = ("office", "kitchen", "library", "smokers' yard")
HABITS = (0.4, 0.25, 0.25, 0.1)
PEOPLE = ("Bob", "Alice", "Carol", "Dan")
TARGET = 0
SMOKERS_YARD = "raucherhof"


def small_building() -> Beliefs:
    """Bob, Alice, Carol and Dan, each in one of four rooms, independently of each other.

    The smokers' yard is the only sensitive room; the attacker is after Bob.
    """
    states = np.array(list(product(range(len(ROOMS)), repeat=len(PEOPLE))))
    return _beliefs(states, np.array(HABITS)[states].prod(axis=1))


def informed_attacker() -> Beliefs:
    """The same building, and the attacker knows where everybody but Bob is: in the office."""
    states = np.zeros((len(ROOMS), len(PEOPLE)), dtype=np.int64)
    states[:, TARGET] = np.arange(len(ROOMS))
    return _beliefs(states, np.array(HABITS))


def inseparable_friends() -> Beliefs:
    """A prior that is no product: the four are always together, so all tell on each other.

    OSDP promises nothing here: what is learnt about four records adds up.
    """
    states = np.repeat(np.arange(len(ROOMS))[:, np.newaxis], len(PEOPLE), axis=1)
    return _beliefs(states, np.array(HABITS))


def republica() -> Beliefs:
    """Who was in the smokers' yard? Device-days of the conference re:publica 2013.

    A device-day that saw the yard is "there"; any other is where it was seen most often. The
    attacker knows all device-days but one, and of that one only how rooms are visited in general.
    """
    with PrivateDirectory() as private:
        path = private / "trajectories.parquet"
        republica_trajectories(path)
        table = pq.read_table(path, columns=["device", "day", "room"])
    seen: dict[tuple[object, object], Counter[str]] = {}
    columns = (table[name].to_pylist() for name in ("device", "day", "room"))
    for device, day, room in zip(*columns, strict=True):
        seen.setdefault((device, day), Counter())[room] += 1
    places = [
        SMOKERS_YARD if SMOKERS_YARD in rooms else max(sorted(rooms), key=rooms.__getitem__)
        for rooms in seen.values()
    ]
    rooms = tuple(sorted(set(places)))
    if SMOKERS_YARD not in rooms:
        raise RequestError("The trace has no smokers' yard: use the trace of re:publica 2013.")
    return known_but_one(np.array([rooms.index(place) for place in places]), rooms, SMOKERS_YARD)


def known_but_one(state: np.ndarray, rooms: tuple[str, ...], sensitive: str) -> Beliefs:
    """The attacker knows `state` but for one person, in a sensitive room, of whom only the
    general habits are known."""
    target = int(np.flatnonzero(state == rooms.index(sensitive))[0])
    habits = np.bincount(state, minlength=len(rooms)) / state.size
    states = np.repeat(state[np.newaxis], len(rooms), axis=0)
    states[:, target] = np.arange(len(rooms))
    return Beliefs(states, habits, target, rooms, np.array([room == sensitive for room in rooms]))


def _beliefs(states: np.ndarray, weights: Floats) -> Beliefs:
    sensitive = np.array([room == ROOMS[-1] for room in ROOMS])
    return Beliefs(states, weights / weights.sum(), TARGET, ROOMS, sensitive)
