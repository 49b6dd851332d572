"""The smallest tables and requests that can be found and still differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from onesided.audit.runs import Deadline
from onesided.audit.session.cells import SECRET
from onesided.audit.session.dice import Dice
from onesided.audit.session.judging import KEYS, Difference, judged
from onesided.audit.session.requests import Request
from onesided.audit.session.sources import Source, Unwritable
from onesided.audit.session.surfaces import NotOpened, SecondEngine, Surface
from onesided.audit.session.worlds import World


@dataclass(frozen=True)
class Case:
    """Two neighbouring tables, how they are handed over, what is asked, and what differs."""

    world: World
    source: Source
    requests: tuple[Request, ...]
    seed: int
    difference: Difference


def shrunk(case: Case, surface: Surface, second: SecondEngine | None, deadline: Deadline) -> Case:
    """A smaller case that differs in the same outcome, as far as the time goes."""
    progress = True
    while progress and not deadline.passed(1.0):
        progress = False
        for smaller in _smaller(case):
            if deadline.passed(1.0):
                break
            found = _difference(smaller, surface, second)
            if found is not None:
                case, progress = replace(smaller, difference=found), True
                break
    return case


def _difference(case: Case, surface: Surface, second: SecondEngine | None) -> Difference | None:
    """The same difference in this case, if it is still there."""
    try:
        with surface.staged(case.world, case.source, Dice("shrinking", case.seed)) as stage:
            twice = case.difference.outcome == KEYS
            _, found = judged(
                stage, case.world, case.requests, case.seed, second=second, twice=twice
            )
    except (Unwritable, NotOpened):
        return None
    except (KeyError, pa.ArrowException):  # a column is gone that something needs
        return None
    return next((each for each in found if each.outcome == case.difference.outcome), None)


def _smaller(case: Case) -> Iterator[Case]:
    """What to try, the large steps first."""
    requests, world = case.requests, case.world
    if len(requests) > 1:
        for request in requests:
            yield replace(case, requests=(request,))
        for place in range(len(requests)):
            yield replace(case, requests=requests[:place] + requests[place + 1 :])
    for place in range(len(world.first)):
        if place != world.place and len(world.first) > 1:
            yield replace(case, world=world.without_unit(place))
    for place, column in enumerate(world.columns):
        if column.name not in (SECRET, *world.unit):
            yield replace(case, world=world.without_column(place))
    for place, request in enumerate(requests):
        for simpler in request.simpler():
            changed = (*requests[:place], simpler, *requests[place + 1 :])
            yield replace(case, requests=changed)
    if world.policy != SECRET:
        yield replace(case, world=replace(world, policy=SECRET))
    yield from (replace(case, world=each) for each in _plainer(world))


def _plainer(world: World) -> Iterator[World]:
    """Single rows in the place of several, and plain cells in the place of hostile ones."""
    if len(world.replacement) > 1:
        yield replace(world, replacement=world.replacement[:1])
    for number, unit in enumerate(world.first):
        if number != world.place and len(unit) > 1:
            yield replace(world, first=_with(world.first, number, unit[:1]))
        if number == world.place:
            for row in unit if len(unit) > 1 else ():
                yield replace(world, first=_with(world.first, number, (row,)))
    for number, unit in enumerate(world.first):
        for place, column in enumerate(world.columns):
            for at, row in enumerate(unit):
                usual = world.plain[number][0][place]
                if column.name in (SECRET, *world.unit) or row[place].equals(usual):
                    continue
                cut = _with(unit, at, _with(row, place, usual))
                yield replace(world, first=_with(world.first, number, cut))


def _with(items: tuple, place: int, item: object) -> tuple:  # type: ignore[type-arg]
    return (*items[:place], item, *items[place + 1 :])
