"""Whether one predicate makes a row sensitive only where another does too.

The question is decided, not guessed: both predicates are evaluated on one representative of every
region that the literals of both cut out of each column, NULL included. What lies outside that
fragment becomes an unknown that may be anything, so a yes stays a proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product
from math import prod

from onesided.language import Schema, evaluate
from onesided.language.canonical import literal_text
from onesided.language.fragment import Abstraction, Meetings
from onesided.language.regions import NoRepresentative, Representative, representatives
from onesided.language.tree import (
    Expression,
    Value,
)
from onesided.language.walking import column_names

MAX_REGIONS = 100_000
_NULL = Representative(None)


class Verdict(Enum):
    """The three possible answers; only YES counts as one."""

    YES = "yes"
    NO = "no"
    NOT_PROVEN = "not proven"


@dataclass(frozen=True)
class Relaxation:
    """An answer: true in a condition exactly where it is proven.

    `counterexample` is, for NO, a row that the first policy makes sensitive and the second does
    not.
    """

    verdict: Verdict
    reason: str
    counterexample: Mapping[str, Value] | None = None

    def __bool__(self) -> bool:
        return self.verdict is Verdict.YES


def proven(reason: str) -> Relaxation:
    return Relaxation(Verdict.YES, reason)


def not_proven(reason: str) -> Relaxation:
    return Relaxation(Verdict.NOT_PROVEN, reason)


def implies(first: Expression, second: Expression, schema: Schema | None) -> Relaxation:
    """Whether `first IS NOT FALSE` implies `second IS NOT FALSE` for every row.

    With a schema both trees are bound to it. Without one, a numeric column may be integer or not
    and a date may have a time of day: YES then holds for all these types, NO has a counterexample
    for all of them, and anything between is NOT_PROVEN.
    """
    if first == second:
        return proven("Both policies are the same.")
    names = {*column_names(first), *column_names(second)}
    if len({name.lower() for name in names}) < len(names):
        return not_proven("Two column names differ in capitals only; spell them as in the data.")
    meetings = Meetings((first, second))
    abstraction = Abstraction(meetings)
    trees = abstraction.condition(first), abstraction.condition(second)
    unknowns = abstraction.unknowns
    read = dict.fromkeys([*column_names(trees[0]), *column_names(trees[1])])
    columns = [name for name in read if name not in unknowns]
    try:
        regions = [_regions(name, meetings, schema) for name in columns]
    except NoRepresentative as missing:
        return not_proven(str(missing))
    count = prod(map(len, regions)) * 3 ** len(unknowns)
    if count > MAX_REGIONS:
        return not_proven(f"There are more than {MAX_REGIONS:,} cases to compare.")
    row = dict.fromkeys([*column_names(first), *column_names(second)])
    return _search(trees, row, dict(zip(columns, regions, strict=True)), unknowns)


def _regions(name: str, meetings: Meetings, schema: Schema | None) -> list[Representative]:
    """The representatives of a column, NULL among them unless the schema rules it out."""
    field = None if schema is None else schema[name]
    regions = representatives(field, meetings.cuts(name), meets_columns=meetings.joins(name))
    return regions if field is not None and not field.nullable else [_NULL, *regions]


def _search(
    trees: tuple[Expression, Expression],
    row: Mapping[str, Value],
    regions: Mapping[str, Sequence[Representative]],
    unknowns: Sequence[str],
) -> Relaxation:
    """Looks for a row, made from `row` and one value of each region, that is a counterexample.

    A case refutes only where it does for every value of the unknowns, and where its values are
    certain; otherwise it leaves the question open.
    """
    doubtful: dict[str, Value] | None = None
    for case in product(*regions.values()):
        values = dict(zip(regions, (chosen.value for chosen in case), strict=True))
        refuting = [
            _refutes(trees, values | dict(zip(unknowns, truths, strict=True)))
            for truths in product((False, True, None), repeat=len(unknowns))
        ]
        if all(refuting) and all(chosen.certain for chosen in case):
            return Relaxation(
                Verdict.NO,
                "A row is sensitive under the first policy and not under the second.",
                {**row, **values},
            )
        if any(refuting):
            doubtful = values
    if doubtful is None:
        return proven("Every case that the literals can tell apart was compared.")
    if unknowns:
        return not_proven(
            "It depends on LIKE, functions, arithmetic or a comparison of columns, "
            "which are not analysed."
        )
    named = ", ".join(f"{name} = {literal_text(value)}" for name, value in doubtful.items())
    return not_proven(f"The policies differ for {named}; give a schema to tell if that can occur.")


def _refutes(trees: tuple[Expression, Expression], row: Mapping[str, Value]) -> bool:
    first, second = trees
    return evaluate(second, row) is False and evaluate(first, row) is not False
