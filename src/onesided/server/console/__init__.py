"""The console: pages of the server for people who do not write Python.

page.py       a page: who may see it, what they send, what they are shown
rendering.py  templates, and the files that pages need
entrance.py   signing in and out
forms.py      what is typed into a question's form, as the API takes it
same.py       the same in Python, on the command line and over HTTP
wording.py    questions and states in plain words
odds.py       what an attacker learns from somebody's absence
analyst/      data sets, asking, answers, accounts
steward/      data, units, policies, people, the ledger

A page calls the functions of the API, with the same checks. It knows no session and no engine, so
that nobody sees more in a browser than by the API.
"""

from __future__ import annotations

from starlette.routing import Route

from onesided.server.console import entrance, rendering
from onesided.server.console.analyst import accounts, answers, asking, datasets, weights
from onesided.server.console.page import ConsolePage, PageEndpoint
from onesided.server.console.steward import attackers, data, ledgers, maps, people, setting_up
from onesided.server.limiting import RequestRate
from onesided.server.served import Served

PAGES: tuple[ConsolePage, ...] = (
    *entrance.PAGES,
    *datasets.PAGES,
    *asking.PAGES,
    *answers.PAGES,
    *weights.PAGES,
    *accounts.PAGES,
    *setting_up.PAGES,
    *data.PAGES,
    *attackers.PAGES,
    *maps.PAGES,
    *people.PAGES,
    *ledgers.PAGES,
)


def console_routes(served: Served, rate: RequestRate) -> list[Route]:
    """The pages, as the framework calls them."""
    pages = [
        Route(each.path, PageEndpoint(each, served, rate).__call__, methods=[each.method])
        for each in PAGES
    ]
    return [*pages, rendering.FILES]
