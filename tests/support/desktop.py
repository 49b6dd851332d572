"""A window of a real browser in which somebody uses the console; what goes wrong is kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from onesided.ledger.desk import PersonRole, TokenPurpose
from support.axe import axe_faults
from support.serving import ServerAtWork


@dataclass
class Desktop:
    """A window of the browser, with all that it did that it should not.

    - `screens`: the headings of the pages that were looked at.
    """

    page: Any
    address: str
    by_keyboard: bool = False
    faults: list[str] = field(default_factory=list)
    screens: set[str] = field(default_factory=set)

    def check(self) -> None:
        """Look at the page as it is now."""
        found = axe_faults(self.page)
        self.screens.add(self.page.inner_text("h1"))
        if self.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append("wider than the window")
        self.faults += [f"{self.page.url}: {each}" for each in found]

    def go(self, path: str) -> None:
        """Open a page of the console."""
        self.page.goto(self.address + path)
        self.check()

    def press(self, name: str) -> None:
        """Follow a link or press a button, with the mouse or with the keyboard alone."""
        if not self.by_keyboard:
            found = self.page.locator("main :is(a, button)").filter(has_text=name).first
            with self.page.expect_navigation():
                found.click()
            self._arrived()
            return
        for _ in range(80):
            self.page.keyboard.press("Tab")
            said = self.page.evaluate(
                "(e => e.innerText || e.labels?.[0]?.innerText || '')(document.activeElement)"
            )
            if said.startswith(name):
                with self.page.expect_navigation():
                    self.page.keyboard.press("Enter")
                self._arrived()
                return
        raise AssertionError(f"{name} cannot be reached")

    def _arrived(self) -> None:
        if "/questions/" not in self.page.url:  # which goes on by itself
            self.check()


@contextmanager
def desktop(
    chromium: Any,
    server: ServerAtWork,
    name: str,
    role: PersonRole,
    *,
    by_keyboard: bool = False,
    **more: Any,
) -> Iterator[Desktop]:
    """A window in which somebody has opened their one-time address."""
    context = chromium.new_context(**more)
    context.set_default_timeout(120_000)
    page = context.new_page()
    found = Desktop(page, server.address, by_keyboard)
    page.on(
        "request",
        lambda each: each.url.startswith(server.address) or found.faults.append(each.url),
    )
    # A form that is refused says so by its status, which the browser notes as well.
    page.on(
        "console",
        lambda each: (
            each.type == "error"
            and "400 (Bad Request)" not in each.text
            and found.faults.append(each.text)
        ),
    )
    page.on("pageerror", lambda each: found.faults.append(str(each)))
    page.on("dialog", lambda each: (found.faults.append(each.message), each.dismiss()))
    once = server.desk.add_token(name, role, purpose=TokenPurpose.LOGIN)
    page.goto(f"{server.address}/login/{once}")
    yield found
    assert not found.faults, "\n".join(found.faults)
    context.close()
