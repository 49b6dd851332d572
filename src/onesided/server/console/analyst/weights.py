"""Weights for a released sample from released counts: what was chosen, and what they changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onesided.data.release import Release
from onesided.data.weighing.weighted import WeightedSample
from onesided.server.api.releases import list_releases, show_release, weigh
from onesided.server.console.page import (
    ASKING,
    ConsolePage,
    MovedOn,
    PageCall,
    Seen,
    address,
    refusal,
)
from onesided.server.console.wording import asked_in_words

HEADINGS = ("Group", "Counted", "In the sample", "Without weights", "With weights")


def countable(call: PageCall, entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The counts that were released beside a sample, for it to be weighted by."""
    if entry["question"].get("kind") != "sample":
        return []
    return [
        {**each, "asked": asked_in_words(each["question"])}
        for each in call.api(list_releases)["releases"]
        if each["question"].get("kind") == "count" and each["question"].get("by")
    ]


def take_counts(call: PageCall) -> Seen:
    """Weigh the sample of the page by the counts that were chosen."""
    from onesided.server.console.analyst.answers import stored_page

    call.api(show_release)  # which says who may see it
    numbers = [int(each) for each in call.texts("counts") if each.isdecimal()]
    said: dict[str, Any] = {"sample": int(call.path["number"]), "counts": numbers}
    if call.text("noisy"):
        said["noisy"] = True
    if not numbers:
        return stored_page(call, refused="Choose at least one count.")
    try:
        found = call.api(weigh, said)["release"]
    except Exception as error:
        return stored_page(call, refused=refusal(error, steward=call.who.is_steward))
    place = found["url"].rpartition("/")[2]
    return MovedOn(address("data", call.path["dataset"], "answers", place))


def weighed(release: Release | None) -> dict[str, Any]:
    """What weights did: for whom the sample stands, and each margin before and after."""
    if not isinstance(release, WeightedSample):
        return {"weights": {}, "margins": []}
    return {
        "weights": release.weighing.said,
        "margins": [(each.counted.name, each.texts()) for each in release.compared],
    }


PAGES = (
    ConsolePage(
        path="/data/{dataset}/releases/{number}/weigh",
        handler=take_counts,
        method="POST",
        roles=ASKING,
    ),
)
