"""Several questions at once: charged all or none, and answered one by one.

After a crash the same questions are asked again: what was stored is returned, and what was charged
and not stored is run without another charge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any, TypeAlias, TypeVar

from onesided.data.answers import Answers
from onesided.data.cells import USUAL_QUANTILES, checked_quantiles
from onesided.data.release import Release
from onesided.errors import RequestError
from onesided.loss import Number, meant_loss, privacy_loss, show
from onesided.session.count_maker import CountMaker
from onesided.session.kernel import Answer, Kernel
from onesided.session.planning.planner import Planner
from onesided.session.questions.base import Question
from onesided.session.questions.bounded import AUTO
from onesided.session.showing import (
    shown_description,
    shown_histogram,
    shown_quantiles,
    shown_sample,
    shown_table,
)
from onesided.session.standing import AskedStanding, sampling
from onesided.spelling import meant

Show: TypeAlias = Callable[[Kernel, Sequence[Answer]], Release]
Made: TypeAlias = tuple[tuple[Question, ...], Show]
Found = TypeVar("Found")
_NAME = re.compile(r"[\w-]{1,100}")
KINDS = (
    *("count", "ngrams", "touches", "sum", "mean", "quantile", "histogram", "distinct"),
    *("describe", "sample", "sql"),
)
_GROUPS = ("by", "where", "max_groups", "domain", "policy", "part")
_PER_RUN = ("fresh", "into", "purpose", "yes")


@dataclass(frozen=True)
class Asked:
    """One of several questions: what is charged for it, and what its answers become.

    - `wish`: its kind and arguments as they were said, with its ε.
    """

    name: str
    wish: Mapping[str, Any]
    questions: tuple[Question, ...]
    show: Show

    @property
    def epsilon(self) -> Fraction:
        """What it was asked at."""
        return Fraction(self.wish["epsilon"])


@dataclass(frozen=True)
class AskedTogether:
    """Questions that are charged all or none."""

    parts: tuple[Asked, ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        """All that is charged, in the order of the parts."""
        return tuple(question for each in self.parts for question in each.questions)

    @property
    def epsilon(self) -> Fraction:
        """What they were asked at, as a plain sum."""
        return sum((each.epsilon for each in self.parts), start=Fraction(0))

    def divided(self, found: Iterable[Found]) -> list[tuple[Asked, list[Found]]]:
        """Each part with what was found for its questions, of what was found for all."""
        rest = iter(found)
        return [(each, list(islice(rest, len(each.questions)))) for each in self.parts]

    def answers(self, kernel: Kernel, answers: Sequence[Answer]) -> Answers:
        """What is shown, by the names of the parts."""
        return Answers({each.name: each.show(kernel, own) for each, own in self.divided(answers)})


def asked_together(
    planner: Planner, wishes: Sequence[Mapping[str, Any]], epsilon: Number | None, *, yes: bool
) -> AskedTogether:
    """The questions, checked and free; `epsilon` is shared evenly by those that say none."""
    plain_total(wishes, epsilon)  # refuses what is no list of questions with their prices
    silent = sum("epsilon" not in wish for wish in wishes)
    share = privacy_loss(epsilon) / silent if silent and epsilon is not None else None
    named = [{**wish, "name": name} for wish, name in zip(wishes, names_of(wishes), strict=True)]
    found = AskedTogether(tuple(_asked(planner, wish, share, yes=yes) for wish in named))
    for question in found.questions:
        question.check()
    return found


def asked_alone(
    planner: Planner, kind: str, epsilon: Number, given: Mapping[str, Any], *, yes: bool
) -> AskedTogether:
    """One question, checked and free."""
    exact = meant_loss(epsilon, yes=yes)
    questions, shown = getattr(_Maker(planner), kind)(exact, **given)
    for question in questions:
        question.check()
    wish = {**given, "ask": kind, "epsilon": show(exact)}
    return AskedTogether((Asked(kind, wish, questions, shown),))


def of_part(
    wishes: Sequence[Mapping[str, Any]], part: Mapping[str, Any]
) -> list[Mapping[str, Any]]:
    """The questions, each about this part alone."""
    names_of(wishes)
    if any("part" in wish for wish in wishes):
        raise RequestError("A part is said for all of the questions, or for single ones.")
    return [{**wish, "part": part} for wish in wishes]


def expected(planner: Planner, asked: Asked) -> str:
    """What a plan says of one of the questions: how far off its figures would be."""
    kind, given = _kind(asked.wish), _arguments(asked.wish)
    if kind == "sample":
        plan = planner.sample(asked.epsilon, **given)
        return "; ".join([plan.said, *plan.stands_for])
    if kind in ("touches", "histogram", "describe"):
        return ""
    if kind == "quantile":
        given.pop("at", None)
    wanted = given.pop("mechanism", AUTO) if kind in ("count", "ngrams") else None
    if wanted is not None:
        given = {name: each for name, each in given.items() if name in (*_GROUPS, "n", "order")}
    plan = getattr(planner, kind)(epsilon=asked.epsilon, **given)
    rows = [row for row in plan.rows if wanted is None or row.mechanism == wanted]
    return "; ".join(f"{row.figure} {row.said}" for row in rows)


def names_of(wishes: Sequence[Mapping[str, Any]]) -> list[str]:
    """What each answer is called: a word that can name a file, for each question another one."""
    names: list[str] = []
    for number, wish in enumerate(wishes, start=1):
        if not isinstance(wish, Mapping):
            raise RequestError('Each question says what it asks, such as {"ask": "count"}.')
        name = wish.get("name", f"{wish.get('ask')}-{number}")
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in names:
            raise RequestError(
                f"Question {number} needs a name of its own, of letters, digits, - and _."
            )
        names.append(name)
    return names


def plain_total(wishes: Sequence[Mapping[str, Any]], epsilon: Number | None) -> Fraction:
    """What all questions may cost together, as a plain sum; `epsilon` is for those without."""
    if isinstance(wishes, Mapping | str) or not wishes:
        raise RequestError('Questions are a list, such as [{"ask": "count", "by": "room"}].')
    names_of(wishes)
    own = [privacy_loss(wish["epsilon"]) for wish in wishes if "epsilon" in wish]
    if len(own) == len(wishes):
        return sum(own, start=Fraction(0))
    if epsilon is None:
        raise RequestError("Say an epsilon for each question, or one for those that say none.")
    return sum(own, start=privacy_loss(epsilon))


def _asked(
    planner: Planner, wish: Mapping[str, Any], share: Fraction | None, *, yes: bool
) -> Asked:
    kind, given = _kind(wish), _arguments(wish)
    exact = meant_loss(wish.get("epsilon", share), yes=yes)
    said = {**wish, "epsilon": show(exact)}
    wrong = next((name for name in _PER_RUN if name in given), None)
    if wrong is not None:
        raise RequestError(f"{wish['name']}: {wrong} cannot be said for one of several questions.")
    try:
        questions, shown = getattr(_Maker(planner), kind)(exact, **given)
    except RequestError as error:
        raise RequestError(f"{wish['name']}: {error}") from None
    return Asked(wish["name"], said, questions, shown)


def _kind(wish: Mapping[str, Any]) -> str:
    kind = wish.get("ask")
    if not isinstance(kind, str) or kind not in KINDS:
        known = ", ".join(KINDS)
        hint = meant(kind, KINDS) if isinstance(kind, str) else ""
        raise RequestError(f"Nothing is called {kind!r}{hint}; a question asks one of {known}.")
    return kind


def _arguments(wish: Mapping[str, Any]) -> dict[str, Any]:
    return {name: said for name, said in wish.items() if name not in ("ask", "name", "epsilon")}


def _table(kernel: Kernel, answers: Sequence[Answer]) -> Release:
    (answer,) = answers
    return shown_table(answer)


@dataclass(frozen=True)
class _Maker:
    """What each kind of question charges, and what its answers become."""

    planner: Planner

    def count(self, epsilon: Fraction, **given: Any) -> Made:
        return (CountMaker(self.planner).count(epsilon, **given),), _table

    def ngrams(self, epsilon: Fraction, **given: Any) -> Made:
        return (CountMaker(self.planner).ngrams(epsilon, **given),), _table

    def touches(self, epsilon: Fraction, **given: Any) -> Made:
        return (CountMaker(self.planner).touches(epsilon, **given),), _table

    def sum(self, epsilon: Fraction, **given: Any) -> Made:
        return (self.planner.asking.sum(epsilon, **given),), _table

    def mean(self, epsilon: Fraction, **given: Any) -> Made:
        return (self.planner.asking.mean(epsilon, **given),), _table

    def quantile(self, epsilon: Fraction, at: Any = USUAL_QUANTILES, **given: Any) -> Made:
        asked, wanted = self.planner.asking.quantile(epsilon, **given), checked_quantiles(at)
        return (asked,), lambda kernel, answers: shown_quantiles(answers[0], wanted)

    def histogram(self, epsilon: Fraction, **given: Any) -> Made:
        asked = self.planner.asking.histogram(epsilon, **given)
        return (asked,), lambda kernel, answers: shown_histogram(answers[0])

    def distinct(self, epsilon: Fraction, **given: Any) -> Made:
        return (self.planner.asking.distinct(epsilon, **given),), _table

    def describe(self, epsilon: Fraction, **given: Any) -> Made:
        asked = self.planner.asking.describe(epsilon, **given)
        return (asked,), lambda kernel, answers: shown_description(answers[0])

    def sample(self, epsilon: Fraction, **given: Any) -> Made:
        asked = sampling(self.planner.asking, epsilon, **given)
        if isinstance(asked, AskedStanding):
            return asked.questions, asked.release
        return (asked,), lambda kernel, answers: shown_sample(kernel, asked, answers[0], None)

    def sql(self, epsilon: Fraction, **given: Any) -> Made:
        asked = self.planner.asking.sql(epsilon, **given)
        return tuple(asked.figures.values()), lambda kernel, answers: asked.release(answers)
