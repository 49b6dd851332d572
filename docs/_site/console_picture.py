"""The pictures of docs/serving/console.md: `python docs/_site/console_picture.py docs/serving`.

It needs onesided[server,charts], playwright, and Chromium at /usr/bin/chromium.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from onesided.datasets.building import VISITS, Building

CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1180, "height": 820}
POLICY = "kind = 'smokers yard' OR opted_out"


def pictures(out: Path) -> None:
    """Publish the building in a real browser, and keep what it looks like."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        Building.simulate(scale=0.005, seed=7).write(Path(folder))
        command = [
            sys.executable,
            "-m",
            "onesided",
            "ui",
            "--no-browser",
            str(Path(folder, VISITS)),
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as console:
            assert console.stdout is not None
            address = console.stdout.readline().strip()
            chromium = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            page = chromium.new_page(viewport=SIZE)
            page.set_default_timeout(120_000)
            try:
                page.goto(address)
                _tour(page, out)
            finally:
                chromium.close()
                console.terminate()


def _tour(page: Any, out: Path) -> None:
    def take(name: str) -> None:
        page.screenshot(path=out / f"console-{name}.png", full_page=True)

    page.get_by_label(VISITS).check()
    page.click("main button:not(.plain)")
    page.check("input[value=device]")
    page.check("input[value=day]")
    page.click("main button:not(.plain)")
    page.fill("#policy", POLICY)
    page.get_by_text("It is understood as").wait_for()
    page.click("main button:not(.plain)")
    take("open")
    page.fill("#name", "building")
    page.click("main button:not(.plain)")
    page.get_by_text("The data set is open.").wait_for()
    building = page.url.partition("?")[0]
    page.goto(f"{building}/ask/sample")
    page.click("button[value=ask]")
    page.wait_for_url("**/releases/*")
    page.goto(f"{building}/ask/count")
    page.select_option("#by-0", "kind")
    page.fill("#max_groups", "auto")
    page.click("button[value=plan]")
    page.get_by_text("off by about").first.wait_for()
    take("ask")
    page.click("button[value=ask]")
    page.wait_for_url("**/releases/*")
    page.locator("figure svg").wait_for()
    take("release")
    page.goto(f"{building}/policy")
    take("attacker")


if __name__ == "__main__":
    pictures(Path(sys.argv[1]))
