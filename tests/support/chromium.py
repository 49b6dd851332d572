"""A real browser, where there is one; what it shows, asks the network for and complains about."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class Seen:
    """What a page did.

    - `requests`: addresses beyond the page itself.
    - `complaints`: messages in the console, errors and dialogs.
    - `texts`: what can be read in it.
    """

    picture: bytes = b""
    text: str = ""
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium; without it tests are skipped, where they may be."""
    if not PROGRAM.exists():
        if os.environ.get("ONESIDED_TEST_ALL"):
            pytest.fail("Chromium is missing; .ci/run installs it.")
        pytest.skip("HTML charts are looked at in Chromium, which is not installed here.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=str(PROGRAM), args=list(FLAGS))
        try:
            yield chromium
        finally:
            chromium.close()


def look(chromium: Any, file: Path, theme: str) -> Seen:
    """Open a file as somebody with this theme would."""
    seen = Seen()
    context = chromium.new_context(color_scheme=theme, viewport={"width": 1_000, "height": 800})
    page = context.new_page()
    address = file.resolve().as_uri()
    watch(page, address, seen)
    page.goto(address)
    seen.text = page.inner_text("body")
    seen.picture = page.screenshot(full_page=True)
    context.close()
    return seen


def watch(page: Any, address: str, seen: Seen) -> None:
    """Keep from now on what the page asks for beyond its address, and what it complains about."""
    page.on("request", lambda each: each.url == address or seen.requests.append(each.url))
    page.on("console", lambda each: seen.complaints.append(each.text))
    page.on("pageerror", lambda each: seen.complaints.append(str(each)))
    page.on("dialog", lambda each: (seen.complaints.append(each.message), each.dismiss()))
