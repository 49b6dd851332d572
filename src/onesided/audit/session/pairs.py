"""What two requests say together: their spelling, and what is claimed about the number of units."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from onesided.audit.session.dice import Dice
from onesided.audit.session.judging import Difference, shown
from onesided.audit.session.requests import Request
from onesided.audit.session.spelling import spelling
from onesided.audit.session.surfaces import SecondStage, Stage
from onesided.audit.session.watching import Seen
from onesided.audit.session.worlds import Side

_Parts: TypeAlias = tuple[str, Side, str, str]
NAMES = "one name for two requests"
SPELLINGS = "another answer to another spelling"
EXTENDED = "a promise about adding and removing units"


def paired(
    stage: SecondStage, requests: Sequence[Request], seed: int, dice: Dice
) -> list[Difference]:
    """The differences that one of the requests shows beside another one."""
    place = dice.below(len(requests))
    found = [*_spelt(stage, requests[place], seed, dice), *_claimed(stage, requests[place], seed)]
    return [Difference(place, *each) for each in found]


def _spelt(stage: Stage, request: Request, seed: int, dice: Dice) -> Iterator[_Parts]:
    """What means the same is answered from what is stored; anything else is run for itself."""
    pair = spelling(request, dice)
    if pair is None:
        return
    one, two = stage.ask(Side.FIRST, (pair.first, pair.second), seed).seen
    if not one.answered or not two.answered:
        return
    if pair.same and (two.released or one.outcomes["values"] != two.outcomes["values"]):
        yield _difference(SPELLINGS, one, two)
    if not pair.same and not two.released:
        yield _difference(NAMES, one, two)


def _claimed(stage: SecondStage, request: Request, seed: int) -> Iterator[_Parts]:
    """What read the number of units promises nothing about adding or removing one."""
    (one,) = stage.ask_of_more(Side.PLAIN, (request,), seed).seen
    (two,) = stage.ask(Side.PLAIN, (request,), seed).seen
    if not two.answered or one.released == two.released:
        return
    if json.loads(two.outcomes["receipt"])["epsilon"]["extended_osdp"] is not None:
        yield _difference(EXTENDED, one, two)


def _difference(outcome: str, one: Seen, two: Seen) -> _Parts:
    return outcome, Side.FIRST, shown(one), shown(two)
