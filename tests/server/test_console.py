"""Pages of the console: each answers, says what the API says, and nothing typed acts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from onesided.ledger.desk import PersonRole, Rights
from support.pages import ask, csrf, in_browser, well_labelled
from support.serving import ServerAtWork, describe, serving

COUNT = {"epsilon": "0.5", "by": ["room", "", ""], "values": ["", "", ""], "max_groups": "2"}
HOSTILE = "<img src=x onerror=alert(1)>\u202e'\"&{{7*7}}"
SQL = "SELECT room, COUNT(DISTINCT device, day) AS n FROM data GROUP BY room"
FORMS: dict[str, dict[str, object]] = {
    "sample": {"columns": ["room", "day"]},
    "sum": {"column": "device", "bound": "9", "max_groups": "2"},
    "quantile": {"column": "device", "low": "0", "high": "60", "max_groups": "1"},
    "histogram": {"column": "device", "edges": "0, 10, 60", "max_groups": "1"},
    "distinct": {"value": "room", "max_values": "3"},
    "ngrams": {"n": "2", "path": "room", "order": "ts", "max_groups": "3"},
    "touches": {"by": ["room", "", ""], "values": ["", "", ""]},
    "sql": {"statement": SQL, "max_groups": "2"},
}
STANDING = {"stands": ["room", "", ""], "stands_values": ["", "", ""], "noisy": "1"}
ANALYST_PAGES = (
    "/data",
    "/data/visits",
    "/data/visits/ask",
    "/data/visits/ask/count",
    "/data/visits/ask/sample",
    "/data/visits/ask/sum",
    "/data/visits/ask/mean",
    "/data/visits/ask/quantile",
    "/data/visits/ask/histogram",
    "/data/visits/ask/distinct",
    "/data/visits/ask/ngrams",
    "/data/visits/ask/touches",
    "/data/visits/ask/sql",
    "/account",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    with serving(describe(tmp_path_factory.mktemp("console"), seconds=None)) as found:
        yield found


@pytest.mark.parametrize("page", ANALYST_PAGES)
def test_each_page_stands_alone(server: ServerAtWork, page: str) -> None:
    with server.client(server.token("ann")) as ann:
        seen = ann.get(page)
    assert seen.status_code == 200
    assert seen.headers["content-type"] == "text/html; charset=utf-8"
    rules = seen.headers["content-security-policy"]
    assert "default-src 'none'" in rules
    assert "unsafe" not in rules
    assert not re.search(r'(src|href|action)="(https?:)?//', seen.text)
    assert not re.search(r"<script>|\son\w+=|\sstyle=", seen.text)
    assert well_labelled(seen.text) == []


def test_who_has_not_signed_in_signs_in_first(server: ServerAtWork) -> None:
    with server.client() as nobody:
        for page in ("/", *ANALYST_PAGES):
            seen = nobody.get(page)
            assert (seen.status_code, seen.headers["location"]) == (303, "/sign-in")
        assert well_labelled(nobody.get("/sign-in").text) == []
        wrong = nobody.post("/sign-in", data={"token": HOSTILE})
        assert wrong.status_code == 401
        assert "set-cookie" not in wrong.headers


def test_a_browser_signs_in_and_out(server: ServerAtWork) -> None:
    with in_browser(server, server.token("bea")) as bea:
        assert bea.get("/data").status_code == 200
        assert bea.get("/sign-in").headers["location"] == "/data"
        assert bea.post("/sign-out", data={"csrf": csrf(bea)}).status_code == 303
        assert bea.get("/data").headers["location"] == "/sign-in"


def test_nobody_is_signed_in_from_another_site(server: ServerAtWork) -> None:
    token = server.token("cat")
    with server.client() as client:
        for header in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.test"}):
            entered = client.post("/sign-in", data={"token": token}, headers=header)
            assert entered.status_code == 403
            assert "set-cookie" not in entered.headers


def test_a_form_of_another_site_does_nothing(server: ServerAtWork) -> None:
    with in_browser(server, server.token("dan")) as dan:
        for value in ({}, {"csrf": ""}, {"csrf": "0" * 64}):
            sent = dan.post("/data/visits/ask/count", data={**COUNT, **value, "do": "ask"})
            assert sent.status_code == 403
        assert dan.get("/api/v1/jobs").json() == {"jobs": []}


def test_the_price_and_the_error_are_those_of_the_api(server: ServerAtWork) -> None:
    with in_browser(server, server.token("eva")) as eva:
        mark = csrf(eva)
        shown = eva.post("/data/visits/ask/count/plan", data={**COUNT, "csrf": mark}).text
        body = {"kind": "count", "by": ["room"], "epsilon": "0.5", "max_groups": 2}
        planned = eva.post(
            "/api/v1/datasets/visits/plan", json=body, headers={"X-CSRF-Token": mark}
        ).json()
        best = planned["options"][0]
        assert f"off by about {best['expected_absolute_error_per_group']:.3g}" in shown
        assert f"ε {best['cost']}<" in shown
        for each in planned["options"][:3]:
            assert f"> {each['mechanism']} <" in shown
        assert eva.get("/api/v1/jobs").json() == {"jobs": []}


def test_values_are_those_of_their_columns(server: ServerAtWork) -> None:
    with in_browser(server, server.token("eli")) as eli:
        form = {**COUNT, "csrf": csrf(eli), "epsilon": "0.5"}
        typed = {"device": "1, 2", "day": "2024-01-01, *", "consent": "true", "hour(ts)": "8,9"}
        expected = ("[1, 2]", "[datetime.date.fromisoformat(", "[True]", "[8, 9]")
        for (key, values), said in zip(typed.items(), expected, strict=True):
            fields = {**form, "by": [key, "", ""], "values": [values, "", ""]}
            shown = eli.post("/data/visits/ask/count/plan", data=fields).text
            assert "off by about" in shown, key
            assert said in shown.replace("&#39;", "'"), key


def test_a_bound_that_is_to_be_found_is_not_missing(server: ServerAtWork) -> None:
    with in_browser(server, server.token("eve")) as eve:
        form = {**COUNT, "max_groups": "auto", "csrf": csrf(eve)}
        shown = eve.post("/data/visits/ask/count/plan", data=form).text
        assert re.search(r"> auto <span class=.quiet.>off by [\d.]+</span>", shown)
        assert "Say this first" not in shown


def test_a_question_its_answer_and_the_same_again_for_free(server: ServerAtWork) -> None:
    with in_browser(server, server.token("fay")) as fay:
        form = {**COUNT, "csrf": csrf(fay), "purpose": "plan the rooms"}
        place = ask(server, fay, "count", form)
        seen = fay.get(place, follow_redirects=True)
        page = str(seen.url.path)
        assert re.fullmatch(r"/data/visits/releases/\d+", page)
        rows = fay.get(f"{page}/rows.json").json()["rows"]
        for row in rows:
            assert f"<bdi>{row['count']:,}</bdi>" in seen.text
        assert fay.get(f"{page}/rows.csv").headers["content-disposition"].startswith("attachment")
        assert fay.get(f"{page}/rows.exe").status_code == 404
        for said in ("plan the rooms", "<svg", "What is promised", "ds.released("):
            assert said in seen.text
        with in_browser(server, server.token("au", PersonRole.AUDITOR)) as auditor:
            receipt = auditor.get(page).text
            assert "What is promised" in receipt
            assert "<table" not in receipt
            assert '<svg class="marks' not in receipt
            assert auditor.get(f"{page}/rows.csv").status_code == 403
        with in_browser(server, server.token("gus")) as gus:
            again = ask(server, gus, "count", {**form, "csrf": csrf(gus)})
            assert again == f"{page}?free=1"
            assert "This was free" in gus.get(again).text
            assert server.desk.spent("visits", "gus") == 0


def test_other_kinds_of_questions(server: ServerAtWork) -> None:
    with in_browser(server, server.token("hal")) as hal:
        mark = csrf(hal)
        for kind, form in FORMS.items():
            place = ask(server, hal, kind, {"epsilon": "0.5", **form, "csrf": mark})
            seen = hal.get(place, follow_redirects=True)
            assert seen.status_code == 200, kind
            assert "What is promised" in seen.text
            files = f"{seen.url.path}/rows.csv"
            assert hal.get(files).status_code == 200, kind
        free = ask(server, hal, "sql", {"epsilon": "0.5", **FORMS["sql"], "csrf": mark})
        assert free.startswith("/data/visits/answers/")
        with in_browser(server, server.token("aud", PersonRole.AUDITOR)) as auditor:
            assert auditor.get(place).status_code == 403
            assert auditor.get(free).status_code == 403
        assert "This was free" in hal.get(free).text


def test_a_refusal_stands_beside_the_form_and_costs_nothing(server: ServerAtWork) -> None:
    with in_browser(server, server.token("ida", rights=Rights(most_in_all=1))) as ida:
        form = {**COUNT, "csrf": csrf(ida), "epsilon": "3", "where": HOSTILE, "do": "ask"}
        sent = ida.post("/data/visits/ask/count", data=form)
        assert sent.status_code == 400
        assert 'role="alert"' in sent.text
        assert "<img" not in sent.text
        assert "\u202e&#39;&#34;&amp;{{7*7}}" in sent.text  # as it was typed
        over = ida.post("/data/visits/ask/count", data={**form, "where": ""})
        assert over.status_code == 400
        assert "share" in over.text
        assert server.desk.spent("visits", "ida") == 0


def test_what_is_not_theirs_does_not_exist(server: ServerAtWork) -> None:
    with server.client(server.token("out", rights=None)) as out:
        for page in ("/data/visits", "/data/visits/ask/count", "/data/visits/releases/1"):
            assert out.get(page).status_code == 404
        assert "visits" not in out.get("/data").text
    with server.client(server.token("aud", PersonRole.AUDITOR)) as auditor:
        assert auditor.get("/data/visits").status_code == 200
        assert auditor.get("/data/visits/ask/count").status_code == 403


def test_an_address_that_is_none_is_a_page_for_a_browser(server: ServerAtWork) -> None:
    with server.client() as nobody:
        seen = nobody.get("/nowhere", headers={"Accept": "text/html"})
        assert seen.status_code == 404
        assert "<h1>There is nothing here</h1>" in seen.text


def test_a_question_that_waits_can_be_taken_back(server: ServerAtWork) -> None:
    rights = Rights(needs_approval=True)
    with in_browser(server, server.token("jan", rights=rights)) as jan:
        mark = csrf(jan)
        form = {**COUNT, "csrf": mark, "epsilon": "0.75", "purpose": "<img src=x>", "do": "ask"}
        place = jan.post("/data/visits/ask/count", data=form).headers["location"]
        waiting = jan.get(place).text
        assert "Waits for a steward" in waiting
        assert "<img" not in waiting
        assert "Waits for a steward" in jan.get("/account").text
        back = jan.post(f"{place}/back", data={"csrf": mark})
        assert "Taken back" in jan.get(back.headers["location"]).text


def test_pages_do_not_tell_neighbours_apart(tmp_path: Path) -> None:
    """Before anything is released, all that an analyst sees is the same over both tables."""
    seen = []
    for name, room in (("one", "clinic"), ("other", "cafe")):
        folder = tmp_path / name
        folder.mkdir()
        file = describe(folder, seconds=None, devices=20)
        table = pq.read_table(folder / "visits.parquet")
        rooms = table.column("room").to_pylist()
        first = [table.column(key)[0].as_py() for key in ("device", "day")]
        keys = zip(*(table.column(key).to_pylist() for key in ("device", "day")), strict=True)
        # All rows of one record are in the clinic, which is sensitive; or all are in the cafe.
        mine = [list(key) == first for key in keys]
        changed = [room if own else each for own, each in zip(mine, rooms, strict=True)]
        place = table.column_names.index("room")
        pq.write_table(table.set_column(place, "room", [changed]), folder / "visits.parquet")
        with serving(file) as server, in_browser(server, server.token("ann")) as ann:
            mark = csrf(ann)
            pages = [ann.get(page).text for page in ANALYST_PAGES]
            for kind, fields in (*FORMS.items(), ("sample", STANDING)):
                form = {"epsilon": "0.5", **fields, "csrf": mark}
                pages.append(ann.post(f"/data/visits/ask/{kind}/plan", data=form).text)
                pages.append(ann.post(f"/data/visits/ask/{kind}", data=form).text)
            own = (mark, server.address)
            seen.append([reduce(lambda text, each: text.replace(each, "-"), own, p) for p in pages])
    assert seen[0] == seen[1]
