"""A browser without a window: it signs in, sends forms, and reads pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from support.serving import ServerAtWork


@contextmanager
def in_browser(server: ServerAtWork, token: str) -> Iterator[httpx.Client]:
    """A browser that has signed in."""
    with server.client() as client:
        entered = client.post("/sign-in", data={"token": token})
        assert (entered.status_code, entered.headers["location"]) == (303, "/data")
        yield client


def csrf(client: httpx.Client) -> str:
    """What a page's form sends along."""
    found = re.search(r'name="csrf" value="(\w+)"', client.get("/data").text)
    assert found
    return found[1]


def ask(server: ServerAtWork, client: httpx.Client, kind: str, form: Any) -> str:
    """Ask by the form, and wait; the address of the answer's page."""
    sent = client.post(f"/data/visits/ask/{kind}", data={**form, "do": "ask"})
    assert sent.status_code == 303, sent.text
    place = sent.headers["location"]
    if place.startswith("/questions/"):
        server.answered(client, {"retry_after": 0, "url": f"/api/v1/jobs{place[10:]}"})
    return str(place)


def well_labelled(page: str) -> list[str]:
    """What a reader of the screen would miss."""
    wrong = [] if '<html lang="en">' in page and "<title>" in page else ["language or title"]
    wrong += [] if page.count("<h1>") == 1 and page.count("<main ") == 1 else ["one main heading"]
    identities = re.findall(r'\bid="([^"]*)"', page)
    wrong += [each for each in identities if identities.count(each) > 1]
    labels = set(re.findall(r'<label for="([^"]*)"', page))
    for field in re.findall(r"<(?:input|select|textarea)\b[^>]*>", page):
        named = re.search(r'\bid="([^"]*)"', field)
        within = "hidden" in field or 'type="checkbox"' in field or 'type="radio"' in field
        if not within and (named is None or named[1] not in labels):
            wrong.append(field)
    return wrong
