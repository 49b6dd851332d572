"""What one has asked, what is on its way, and one's share of each account."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from onesided.server.api.datasets import me
from onesided.server.api.jobs import list_jobs
from onesided.server.console.analyst.datasets import spending
from onesided.server.console.page import ConsolePage, PageCall, Seen, Shown
from onesided.server.console.wording import STATES, asked_in_words
from onesided.server.problems import Problem

MOST_LISTED = 100
_WAITING = ("awaiting", "accepted")


def show_own(call: PageCall) -> Seen:
    rights = call.api(me)["rights"]
    jobs = [
        {**each, "asked": asked_in_words(each["question"]), "shown": STATES[each["state"]]}
        for each in reversed(call.api(list_jobs)["jobs"][-MOST_LISTED:])
    ]
    waiting = [each for each in jobs if each["state"] in _WAITING]
    return Shown(
        "account.html",
        {
            "shares": [_share(call, name, own) for name, own in rights.items()],
            "waiting": waiting,
            "others": [each for each in jobs if each["state"] not in _WAITING],
            "refresh": _refresh(waiting),
        },
    )


def _refresh(waiting: list[dict[str, Any]]) -> int | None:
    """Seconds until the next answer is there."""
    left = [each["retry_after"] for each in waiting if each["state"] == "accepted"]
    return int(min(left)) + 1 if left else None


def _share(call: PageCall, name: str, rights: dict[str, Any]) -> dict[str, Any]:
    try:
        account = spending(call, name)
    except Problem as problem:
        return {"name": name, "rights": rights, "account": None, "said": problem.detail}
    most = account["own"]["most_in_all"] or account["budget"]
    own = Fraction(account["own"]["spent"]) / Fraction(most) if Fraction(most) else Fraction(1)
    return {"name": name, "rights": rights, "account": account, "share": min(float(own), 1.0)}


PAGES = (ConsolePage(path="/account", handler=show_own),)
