"""The attacker's view: what somebody's absence tells, by Bayes' rule and on simulated people."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from onesided.errors import OnesidedError
from onesided.loss import privacy_loss
from onesided.server.api.attacks import attack_absence
from onesided.server.api.datasets import plan, show_dataset
from onesided.server.console.odds import attacker_views
from onesided.server.console.page import ConsolePage, PageCall, Seen, Shown
from onesided.server.console.same import attack_ways
from onesided.server.routing import STEWARD

USUAL_BEFORE, USUAL_EPSILON = "10", "1"
WAYS: Mapping[str, str] = {
    "filtering": "Plain filtering",
    "improvised": "Filtering, and removing some at random",
    "one-sided": "One-sided privacy",
}


def show_attacker(call: PageCall) -> Seen:
    """The view of an attacker without any data of one's own."""
    return Shown("attacker.html", {**odds_of(call), "ways": attack_ways(call.served, "1")})


def live_odds(call: PageCall) -> Seen:
    return Shown("odds.html", odds_of(call))


def odds_of(call: PageCall, dataset: str = "") -> dict[str, Any]:
    """What an attacker learns, under what the form says.

    - `dataset`: a paid sample of it says how likely somebody is sensitive, if there is one.
    """
    share_known = _share_by_sample(call, dataset) if dataset else ""
    before = call.text("before", share_known or USUAL_BEFORE)
    epsilon = call.text("epsilon", USUAL_EPSILON)
    found: dict[str, Any] = {
        "before": before,
        "epsilon": epsilon,
        "share_known": share_known,
        "views": (),
        "odds_said": "",
        "odds_fault": "",
        "simulated": None,
        "names": WAYS,
    }
    try:
        share = float(before) / 100
        if not math.isfinite(share):
            raise ValueError
    except ValueError:
        said = "How likely it is must be a number of per cent."
        return {**found, "odds_said": said, "odds_fault": "before"}
    try:
        views = attacker_views(share, float(privacy_loss(epsilon)))
        simulated = call.api(attack_absence, {"epsilon": epsilon})
    except OnesidedError as error:
        at = "before" if "likely" in str(error) else "epsilon"
        return {**found, "odds_said": str(error), "odds_fault": at}
    return {**found, "views": views, "share": share, "simulated": simulated}


def _share_by_sample(call: PageCall, dataset: str) -> str:
    """How many of a hundred are sensitive, as far as a sample that was paid tells it."""
    planned = call.api(plan, {"kind": "sample", "epsilon": "1"}, dataset=dataset)
    if not any("sample" in each for each in planned["supposed_from"]):
        return ""
    # At ε = 1 a sample keeps 1 − 1/e of those who are not sensitive.
    units = call.api(show_dataset, dataset=dataset)["units"]
    sensitive = 100 * (1 - planned["units"] / (units * -math.expm1(-1))) if units else 0.0
    return f"{min(max(sensitive, 0.1), 99.9):.2g}"


PAGES = (
    ConsolePage(path="/attacker", handler=show_attacker, roles=(STEWARD,)),
    ConsolePage(path="/attacker", handler=show_attacker, method="POST", roles=(STEWARD,)),
    ConsolePage(path="/odds", handler=live_odds, method="POST", roles=(STEWARD,)),
)
