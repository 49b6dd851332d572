"""The ledger: whether its chain is whole, and what it holds, for stewards and auditors."""

from __future__ import annotations

from collections.abc import Mapping

from onesided.server.api.accounts import show_ledger, verify_ledger
from onesided.server.api.datasets import list_datasets
from onesided.server.api.publishing import report_ledger
from onesided.server.console.analyst.datasets import spending
from onesided.server.console.page import ConsolePage, PageCall, Seen, Shown
from onesided.server.routing import AUDITOR, STEWARD, Reply
from onesided.visible import json_text

MOST_LISTED = 100
READERS = (STEWARD, AUDITOR)


KINDS: Mapping[str, str] = {
    "ledger": "The ledger was begun",
    "account": "An account was opened",
    "snapshot": "A state of the data was opened",
    "charge": "A question was charged",
    "step": "A first step was stored",
    "settlement": "The final price was settled",
    "release": "An answer was stored",
    "budget": "The budget was raised",
    "look": "A steward looked at the data",
}


def show_chain(call: PageCall) -> Seen:
    exported = call.api(show_ledger)
    entries = exported["entries"]
    accounts = [
        {"name": each["name"], "account": spending(call, each["name"])}
        for each in call.api(list_datasets)["datasets"]
        if each["open"]
    ]
    return Shown(
        "ledger.html",
        {
            "verified": call.api(verify_ledger),
            "entries": list(reversed(entries[-MOST_LISTED:])),
            "kinds": KINDS,
            "more": max(len(entries) - MOST_LISTED, 0),
            "accounts": accounts,
        },
    )


def take_export(call: PageCall) -> Seen:
    text = json_text(call.api(show_ledger))
    name = 'attachment; filename="ledger.json"'
    return Reply(
        text.encode(), headers={"Content-Disposition": name}, media_type="application/octet-stream"
    )


def take_report(call: PageCall) -> Seen:
    name = 'attachment; filename="ledger-report.zip"'
    return call.reply(report_ledger).with_headers({"Content-Disposition": name})


PAGES = (
    ConsolePage(path="/ledger", handler=show_chain, roles=READERS),
    ConsolePage(path="/ledger/report.zip", handler=take_report, roles=READERS),
    ConsolePage(path="/ledger/ledger.json", handler=take_export, roles=READERS),
)
