"""What two requests say together: their spelling, and what is claimed about the number of units."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from onesided.audit.session.dice import Dice
from onesided.audit.session.judging import Difference, shown
from onesided.audit.session.requests import Request
from onesided.audit.session.spelling import spellings
from onesided.audit.session.surfaces import Run, SecondStage, Stage
from onesided.audit.session.watching import Seen
from onesided.audit.session.worlds import Side

MOST_SPELLINGS = 2
NAMES = "one name for two requests"
SPELLINGS = "another answer to another spelling"
EXTENDED = "a promise about adding and removing units"


def paired(
    stage: SecondStage, requests: Sequence[Request], first: Run, seed: int, dice: Dice
) -> list[Difference]:
    """The differences that the requests show beside others; `first` is what they show alone."""
    return [*_spelt(stage, requests, seed, dice), *_claimed(stage, requests, first, seed)]


def _spelt(
    stage: Stage, requests: Sequence[Request], seed: int, dice: Dice
) -> Iterator[Difference]:
    """What means the same is answered from what is stored; anything else is run for itself."""
    pairs = [(place, each) for place, one in enumerate(requests) for each in spellings(one)]
    for place, pair in dice.some(pairs, MOST_SPELLINGS) if pairs else ():
        one, two = stage.ask(Side.FIRST, (pair.first, pair.second), seed).seen
        if not one.answered or not two.answered:
            continue
        if pair.same and (two.released or one.outcomes["values"] != two.outcomes["values"]):
            yield _difference(place, SPELLINGS, one, two)
        if not pair.same and not two.released:
            yield _difference(place, NAMES, one, two)


def _claimed(
    stage: SecondStage, requests: Sequence[Request], first: Run, seed: int
) -> Iterator[Difference]:
    """What read the number of units promises nothing about adding or removing one."""
    more = stage.ask_of_more(Side.FIRST, requests, seed)
    for place, (one, two) in enumerate(zip(more.seen, first.seen, strict=True)):
        if not two.answered or one.released == two.released:
            continue
        if json.loads(two.outcomes["receipt"])["epsilon"]["extended_osdp"] is not None:
            yield _difference(place, EXTENDED, one, two)


def _difference(place: int, outcome: str, one: Seen, two: Seen) -> Difference:
    return Difference(place, outcome, Side.FIRST, shown(one), shown(two))
