"""The data sets that somebody may see, and one of them with all that was released."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from onesided.server.api.accounts import show_account
from onesided.server.api.datasets import list_datasets, show_dataset
from onesided.server.api.releases import list_releases
from onesided.server.console.page import ConsolePage, PageCall, Seen, Shown
from onesided.server.console.steward.tour import told
from onesided.server.console.wording import asked_in_words

MOST_LISTED = 200


def show_all(call: PageCall) -> Seen:
    found = []
    for each in call.api(list_datasets)["datasets"]:
        account = spending(call, each["name"]) if each["open"] else None
        found.append({**each, "account": account})
    return Shown("datasets.html", {"datasets": found})


def show_one(call: PageCall) -> Seen:
    facts = call.api(show_dataset)
    releases = call.api(list_releases)["releases"]
    shown = [
        {**each, "asked": asked_in_words(each["question"])}
        for each in reversed(releases[-MOST_LISTED:])
    ]
    return Shown(
        "dataset.html",
        {
            "data": facts,
            "account": spending(call, facts["name"]),
            "releases": shown,
            "more": len(releases) - len(shown),
            "new": "new" in call.query,
            **(told(call, "open") if call.who.is_steward else {"tour": None}),
        },
    )


def spending(call: PageCall, dataset: str) -> dict[str, Any]:
    """What of the budget is spent, with its share for the bar."""
    found = call.api(show_account, dataset=dataset)
    budget, spent = Fraction(found["budget"]), Fraction(found["spent"])
    return {**found, "share": float(min(spent / budget, Fraction(1))) if budget else 1.0}


PAGES = (
    ConsolePage(path="/data", handler=show_all),
    ConsolePage(path="/data/{dataset}", handler=show_one),
)
