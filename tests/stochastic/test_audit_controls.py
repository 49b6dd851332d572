"""The auditor's own controls: too little noise is caught, and enough of it is not.

For each mechanism that should keep its promise an event is searched for and learnt once, on data
of its own, and tested again and again on fresh runs. Seeds are fixed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from scipy import stats

from onesided.audit import StatisticalReport
from onesided.audit.statistical import CONFIDENCE
from onesided.mechanisms.auto.candidates import AllBins, Continued, Ordinary
from onesided.mechanisms.base import Kind
from onesided.mechanisms.registry import mechanism, mechanism_names
from onesided.mechanisms.residual import Residual
from support.controls import CONTROLS, Control, Second

QUICK_TESTS, CONTROL_TESTS, SOUND_TESTS = 10, 100, 1_000
LEAST_CAUGHT = 0.95
LEAST_P_VALUE = 1e-3
"""How surprising the number of false rejections may be, if each had probability 1 − CONFIDENCE."""

#: The others take longer, and dawaz, recipe and naive-recipe share the code of dawa.
QUICK = ("one-sided", "rr", "osdp-laplace", "osdp-laplace-l1", "laplace", "hybrid", "dawa")
QUICK_SHARE = 2
"""The quick version has this part of the runs."""


def rejections(reports: list[StatisticalReport]) -> int:
    return sum(report.rejected for report in reports)


def as_rare_as_allowed(rejected: int, tests: int) -> bool:
    return bool(stats.binom.sf(rejected - 1, tests, 1 - CONFIDENCE) >= LEAST_P_VALUE)


def test_every_mechanism_that_promises_something_has_a_control():
    promising = {name for name in mechanism_names() if mechanism(name).kind is not Kind.BROKEN}
    assert promising == set(CONTROLS)


def test_what_is_allowed_can_be_exceeded():
    assert as_rare_as_allowed(20, SOUND_TESTS)
    assert not as_rare_as_allowed(22, SOUND_TESTS)
    assert not as_rare_as_allowed(3, QUICK_TESTS)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", QUICK)
def test_too_little_noise_is_caught_and_enough_is_not(name: str):
    whole = CONTROLS[name]
    control = replace(whole, learn=whole.learn // QUICK_SHARE, test=whole.test // QUICK_SHARE)
    weak = control.reports(QUICK_TESTS, weak=True, searched=False)
    sound = control.reports(QUICK_TESTS, weak=False, searched=False)
    assert rejections(weak) >= QUICK_TESTS - 1
    assert as_rare_as_allowed(rejections(sound), QUICK_TESTS)


@pytest.mark.soak
@pytest.mark.parametrize("control", CONTROLS.values(), ids=lambda each: each.name)
def test_too_little_noise_is_caught_by_a_search_too(control: Control):
    caught = rejections(control.reports(CONTROL_TESTS, weak=True, searched=True))
    assert caught >= LEAST_CAUGHT * CONTROL_TESTS, caught


@pytest.mark.soak
@pytest.mark.parametrize("control", CONTROLS.values(), ids=lambda each: each.name)
def test_enough_noise_is_rejected_as_rarely_as_the_confidence_allows(control: Control):
    wronged = rejections(control.reports(SOUND_TESTS, weak=False, searched=False))
    assert as_rare_as_allowed(wronged, SOUND_TESTS), wronged


@pytest.mark.soak
def test_all_bins_after_the_probe_is_judged_too():
    control = replace(after_the_probe(AllBins), sound_test=2_000)
    assert rejections(control.reports(QUICK_TESTS, weak=True, searched=False)) >= QUICK_TESTS - 1
    wronged = rejections(control.reports(QUICK_TESTS, weak=False, searched=False))
    assert as_rare_as_allowed(wronged, QUICK_TESTS)


@pytest.mark.soak
@pytest.mark.parametrize(
    "second",
    [
        Ordinary,
        partial(
            Continued,
            mechanism=Residual(sensitive_share=Fraction(1, 2)),
            unseen_in_buckets=True,
        ),
    ],
    ids=["ordinary", "unseen bins in buckets"],
)
def test_buckets_after_the_probe_keep_the_promise_too(second: Second):
    reports = after_the_probe(second).reports(QUICK_TESTS, weak=False, searched=False)
    assert as_rare_as_allowed(rejections(reports), QUICK_TESTS)


def after_the_probe(second: Second) -> Control:
    return replace(CONTROLS["auto"], second=second, known=CONTROLS["laplace"].known)
