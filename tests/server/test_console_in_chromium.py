"""The console in a real browser: an analyst and a steward at work, and what a page must be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import onesided as osd
from onesided.data.display import release_cells
from onesided.datasets.building import Building
from onesided.ledger.desk import PersonRole, Rights
from onesided.server.console.kinds import KINDS
from support.chromium import browser
from support.desktop import Desktop, desktop
from support.pages import ask, csrf, in_browser
from support.serving import ServerAtWork, describe, serving
from support.visits import write_visits


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


HANDS = [False, pytest.param(True, marks=pytest.mark.soak)]


@pytest.mark.parametrize("by_keyboard", HANDS)
def test_an_analyst_asks_three_times_within_a_share(
    chromium: Any, tmp_path: Path, by_keyboard: bool
) -> None:
    from playwright.sync_api import expect

    with serving(describe(tmp_path, seconds=None)) as server:
        server.token("ann", rights=Rights(most_in_all=1))
        server.token("ben")
        with desktop(chromium, server, "ann", PersonRole.ANALYST, by_keyboard=by_keyboard) as ann:
            page = ann.page
            ann.go("/data/visits")
            ann.press("Ask a question")
            ann.press("Count")
            page.select_option("#by-0", "room")
            page.fill("#max_groups", "2")
            page.get_by_text("as exact as possible: laplace").wait_for()
            ann.check()
            before = page.inner_text(".big")
            page.locator("input[type=range]").focus()
            page.keyboard.press("End")
            expect(page.locator(".big")).not_to_have_text(before)
            assert page.input_value("#epsilon") == "10"
            page.fill("#purpose", "over the share")
            ann.press("Ask, and pay")
            assert "share" in page.inner_text("[role=alert]")
            page.fill("#epsilon", "0.5")
            page.get_by_text("ε 0.5", exact=True).wait_for()
            ann.press("Ask, and pay")
            page.wait_for_url("**/releases/*")
            ann.check()
            assert page.locator("figure svg").count() == 1
            assert shown_figures(page) == released_figures(server, page.url)
            assert len(shown_figures(page)) == 6
            phone = {"width": 375, "height": 700}
            with desktop(
                chromium, server, "ben", PersonRole.ANALYST, viewport=phone, color_scheme="dark"
            ) as ben:
                window = ben.page
                ben.go("/data/visits/ask/count")
                window.select_option("#by-0", "room")
                window.fill("#max_groups", "2")
                window.get_by_text("as exact as possible: laplace").wait_for()
                window.get_by_text("free", exact=True).wait_for()
                ben.press("Ask, and pay")
                window.get_by_text("This was free:").wait_for()
                ben.check()
                assert server.desk.spent("visits", "ben") == 0
            ann.go("/data/visits/ask/sample")
            page.fill("#epsilon", "0.25")
            ann.press("Ask, and pay")
            page.wait_for_url("**/releases/*")
            ann.check()
            ann.go("/account")
            assert "ε 0.75 spent by me" in page.inner_text("main")


def shown_figures(page: Any) -> list[list[str]]:
    """The texts of the answer's table; bars have none."""
    rows = page.locator("table.answer tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.cells].map(cell => cell.innerText.trim()))"
    )
    return [[text for text in row if text] for row in rows]


def released_figures(server: ServerAtWork, address: str) -> list[list[str]]:
    """The same figures by the API, as its client shows them."""
    number = int(address.rpartition("/")[2])
    with osd.connect(f"{server.address}/visits", token=server.token("eve")) as data:
        _, rows = release_cells(data.released(number))
    return [[cell.text for cell in row if cell.text] for row in rows]


HOSTILE = "<img src=x onerror=alert(1)>"
ODD = [HOSTILE, "x" * 10_000, "مرحبا بالعالم", "😀", "", "</svg><script>alert(1)</script>"]
EMPTY = """
[server]
port = 0
ledger = "all.ledger"
sources = ["files"]
deadlines = "off"
"""


@pytest.mark.parametrize("by_keyboard", HANDS)
def test_a_steward_publishes_a_file_with_odd_values(
    chromium: Any, tmp_path: Path, by_keyboard: bool
) -> None:
    (tmp_path / "files").mkdir()
    table = pa.table(
        {
            "who": list(range(600)),
            HOSTILE: [ODD[place % len(ODD)] for place in range(600)],
            "open": [place < 500 for place in range(600)],
        }
    )
    pq.write_table(table, tmp_path / "files" / "odd.parquet")
    (tmp_path / "onesided.toml").write_text(EMPTY)
    with (
        serving(tmp_path / "onesided.toml") as server,
        desktop(chromium, server, "sue", PersonRole.STEWARD, by_keyboard=by_keyboard) as sue,
    ):
        page = sue.page
        assert page.url.endswith("/new")
        sue.check()
        sue.press("Continue")
        page.check("input[value=who]")
        sue.press("Continue")
        page.fill("#policy", "NOT opn")
        page.get_by_text("did you mean open?").wait_for()
        page.fill("#policy", "NOT open")
        page.get_by_text("It is understood as").wait_for()
        sue.press("Continue")
        page.fill("#budget", "20")
        sue.press("Open the data set")
        page.get_by_text("The data set is open.").wait_for()
        assert HOSTILE in page.inner_text("main")
        sue.press("sample of true records")
        # So large that each of the values is certainly among the first rows.
        page.fill("#epsilon", "9")
        sue.press("Ask, and pay")
        page.wait_for_url("**/releases/*")
        sue.check()
        for value in ODD:
            assert value in page.inner_text("table.answer")
        if by_keyboard:  # the longer way
            sue.go("/data/odd/ask/count")
            page.select_option("#by-0", f'"{HOSTILE}"')
            page.fill("#max_groups", "1")
            page.get_by_text("as exact as possible").wait_for()
            sue.press("Ask, and pay")
            page.wait_for_url("**/releases/*")
            sue.check()
            for kind in KINDS:
                sue.go(f"/data/odd/ask/{kind}")
            _weigh_odd_groups(sue)
        sue.go("/people")
        page.fill("#name", "ann")
        sue.press("Make a token")
        assert re.fullmatch(r"osd_[\w-]+", page.inner_text("#made"))
        if not by_keyboard:
            assert len(sue.screens) <= 8, sue.screens
        for path in ("check", "unit", "policy", "budget"):
            sue.go(f"/data/odd/{path}")
        page.fill("#budget", "1")
        sue.go("/ledger")


def _weigh_odd_groups(sue: Desktop) -> None:
    """A sample with weights by a column whose name and values would act if they could."""
    page = sue.page
    sue.go("/data/odd/budget")
    page.fill("#budget", "40")
    page.fill("#why", HOSTILE)
    sue.press("Raise the budget")
    sue.go("/data/odd/ask/sample")
    page.get_by_text("Let the sample stand for everybody").click()
    page.select_option("#stands-0", f'"{HOSTILE}"')
    page.fill("#epsilon", "2")
    sue.press("Ask, and pay")
    assert page.locator("[role=alert]").all_inner_texts() == []
    page.get_by_text("Effective size").wait_for()
    sue.check()
    for value in ODD:
        assert value in page.inner_text("main")


ANALYST_SCREENS = (
    *("/data", "/account", "/data/visits", "/data/visits/map", "/data/visits/ask"),
    *(f"/data/visits/ask/{kind}" for kind in KINDS),
)
STEWARD_SCREENS = (
    *("/data", "/people", "/ledger", "/attacker", "/new", "/new?tour=1"),
    *(f"/data/visits/{each}" for each in ("check", "unit", "policy", "budget")),
)
EDGES = f"""from,to,seconds
cafe,clinic,60
clinic,lab,60
clinic,{HOSTILE},60
lab,مرحبا بالعالم 😀,60
"""
MAP = """
[datasets.visits.map]
edges = "edges.csv"
place = "room"
time = "ts"
sensitive = ["clinic"]
"""


@pytest.mark.soak
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 768, 1440, 3840])
def test_every_page_in_both_themes_at_every_width(
    chromium: Any, tmp_path: Path, theme: str, width: int
) -> None:
    file = describe(tmp_path, seconds=None, server='sources = ["."]')
    (tmp_path / "edges.csv").write_text(EDGES)
    Building.simulate(scale=0.0005, seed=7).write(tmp_path, overwrite=True)
    write_visits(tmp_path)
    file.write_text(file.read_text() + MAP)
    more = {"viewport": {"width": width, "height": 900}, "color_scheme": theme}
    with serving(file) as server:
        answers = asked_before(server)
        with desktop(chromium, server, "ann", PersonRole.ANALYST, **more) as ann:
            for path in (*ANALYST_SCREENS, *answers):
                ann.go(path)
            ann.go("/data/visits/map")
            for place in (HOSTILE, "مرحبا بالعالم 😀"):
                assert place in ann.page.text_content("main")
        with desktop(chromium, server, "sue", PersonRole.STEWARD, **more) as sue:
            for path in (*STEWARD_SCREENS, *answers):
                sue.go(path)
            sue.go("/new")
            page = sue.page
            page.get_by_label("visits.parquet").check()
            sue.press("Continue")
            page.check("input[value=device]")
            sue.press("Continue")
            page.fill("#policy", "room = 'clinic'")
            page.click("details.fold summary")
            for name, value in {"edges": "edges.csv", "place": "room", "time": "ts"}.items():
                page.select_option(f"#map_{name}", value)
            page.get_by_text("From the map alone").wait_for()
            sue.check()
            sue.press("Continue")


def asked_before(server: ServerAtWork) -> list[str]:
    """The pages of a count, a sample, one with weights, and a SELECT."""
    counted = {"by": ["room", "", ""], "max_groups": "1", "mechanism": "laplace"}
    asked = {
        "count": counted,
        "histogram": {"column": "device", "edges": "0, 10, 60", "max_groups": "1"},
        "sample": {"stands": ["room", "", ""], "noisy": "1"},
        "sql": {"statement": "SELECT COUNT(DISTINCT device, day) AS n FROM data"},
    }
    with in_browser(server, server.token("ann")) as ann:
        mark = csrf(ann)
        return [
            ask(server, ann, kind, {"epsilon": "1", **form, "csrf": mark})
            for kind, form in asked.items()
        ]
