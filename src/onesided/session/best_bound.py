"""The bound on groups that costs least: what noise adds with it, and what a cut leaves out.

More groups of a unit that count make noise larger; fewer leave more of its groups out. Both are
estimated from what is known of how many groups units are in, which was released before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import exp

from onesided.data.planned.curve import Bound, Curve
from onesided.errors import MechanismRefused
from onesided.session.grouping import MOST_GROUPS, Grouping
from onesided.session.questions.counts import CountingQuestion
from onesided.session.supposed import NOTHING_KNOWN, Supposed

_EACH, _GROWTH = 16, 1.1
"""Every bound up to 16 is looked at, and from there on each that is a tenth larger."""
USUAL_GROUPS = 100
"""How many groups are supposed where nothing is known of their number."""
UNEVEN = tuple((1 / 8, size) for size in (0.03, 0.09, 0.16, 0.26, 0.42, 0.7, 1.29, 5.05))
"""The sizes of groups where nothing is known of them: eighths of a log-normal distribution with
σ = 1.5. Were all of one size, any bound would seem as good as others once noise drowns them all."""


def bound_curve(
    asked: Callable[[Grouping], CountingQuestion], groups: Grouping, supposed: Supposed
) -> Curve | None:
    """The curve of a count of `groups`; None where it is not known how many groups units are in.

    - `asked`: the count of such groups with a bound.
    """
    if groups.single or supposed.touched is None:
        return None
    number = groups.bins or supposed.groups or USUAL_GROUPS
    sizes = UNEVEN if supposed.sizes == NOTHING_KNOWN.sizes else supposed.sizes
    known = replace(supposed, groups=number, sizes=sizes)
    most = max(1, min(supposed.touched.most, number, MOST_GROUPS))
    questions = [asked(with_bound(groups, k)) for k in _range(most)]
    found = (_bound(each, known) for each in questions)
    bounds = tuple(each for each in found if each is not None)
    return Curve(questions[0].by, bounds) if bounds else None


def left_out(groups: Grouping, supposed: Supposed, units: int) -> float | None:
    """How many units a group lacks on average by its bound; None where nobody knows."""
    number = groups.bins or supposed.groups
    if groups.k is None or groups.single or supposed.touched is None or number is None:
        return None
    return units * supposed.touched.left_out(groups.bound) / number


def with_bound(groups: Grouping, k: int) -> Grouping:
    """The groups of which `k` count for one unit."""
    details = {**groups.details, "max_groups": k}
    once = k == 1 and groups.where is None
    return replace(groups, max_groups=k, k=k, every_unit_once=once, details=details)


def without_bound(groups: Grouping) -> Grouping:
    """The groups without a bound, where they need one."""
    if groups.single:
        return groups
    details = {**groups.details, "max_groups": None}
    return replace(groups, max_groups=None, k=None, every_unit_once=False, details=details)


def _range(most: int) -> Iterator[int]:
    k = 1
    while k < most:
        yield k
        k = k + 1 if k < _EACH else max(k + 1, round(k * _GROWTH))
    yield most


def _bound(question: CountingQuestion, supposed: Supposed) -> Bound | None:
    """The errors of groups of each size, and their mean; None where noise would be too wide."""
    try:
        question.check()
    except MechanismRefused:
        return None
    k = question.groups.bound
    cut = left_out(question.groups, supposed, question.facts.units)
    assert cut is not None
    found = question.errors_by_size(supposed)
    density = sum(share * size for share, size, _ in found)
    if not density:
        return None
    noise, total = 0.0, 0.0
    for share, size, error in found:
        # A mechanism that does not look at sensitive units leaves them out.
        unseen = 0.0 if question.loss.sensitive else size * (1 - supposed.nonsensitive_share)
        noise += share * error
        total += share * _together(error, cut * size / density, unseen)
    return Bound(k, noise, cut, total)


def _together(error: float, cut: float, unseen: float) -> float:
    """The mean size of c + Z, where c lacks for certain and Z is two-sided with mean size b.

    It is c + b·e^(−c/b) for two-sided exponential Z.
    """
    lacks, noise = cut + unseen, max(error - unseen, 0.0)
    return lacks + (noise * exp(-lacks / noise) if noise else 0.0)
