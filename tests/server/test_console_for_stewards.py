"""What stewards see and do in the console, from a file to an analyst with a token."""

from __future__ import annotations

import html
import io
import math
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from onesided.datasets.building import Building
from onesided.ledger.desk import PersonRole, Rights
from onesided.report.publication.verification import problems
from support.pages import ask, csrf, in_browser, well_labelled
from support.serving import ServerAtWork, describe, serving
from support.visits import write_visits

POLICY = "room = 'clinic' OR NOT consent"
PAGES = (
    "/new",
    "/data/visits",
    "/data/visits/check",
    "/data/visits/unit",
    "/data/visits/policy",
    "/data/visits/budget",
    "/people",
    "/attacker",
)
FOR_AUDITORS = ("/ledger", "/ledger/ledger.json")
EMPTY = """
[server]
port = 0
ledger = "all.ledger"
sources = ["files"]
deadlines = "off"
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    folder = tmp_path_factory.mktemp("stewards")
    with serving(describe(folder, seconds=None, server='sources = ["."]')) as found:
        yield found


@pytest.fixture
def sue(server: ServerAtWork) -> Iterator[httpx.Client]:
    with in_browser(server, server.token("sue", PersonRole.STEWARD)) as found:
        yield found


def form(client: httpx.Client, **fields: object) -> dict[str, object]:
    return {**fields, "csrf": csrf(client)}


@pytest.mark.parametrize("page", [*PAGES, "/ledger"])
def test_each_page_stands_alone(sue: httpx.Client, page: str) -> None:
    seen = sue.get(page)
    assert seen.status_code == 200
    assert not re.search(r'(src|href|action)="(https?:)?//', seen.text)
    assert not re.search(r"<script>|\son\w+=|\sstyle=", seen.text)
    assert well_labelled(seen.text) == []


def test_pages_of_stewards_are_nobody_elses(server: ServerAtWork) -> None:
    roles = {"ann": PersonRole.ANALYST, "aud": PersonRole.AUDITOR}
    for name, role in roles.items():
        with in_browser(server, server.token(name, role)) as other:
            mark = csrf(other)
            for page in PAGES:
                if page != "/data/visits":
                    assert other.get(page).status_code == 403, page
            readers = 200 if role is PersonRole.AUDITOR else 403
            assert [other.get(page).status_code for page in FOR_AUDITORS] == [readers, readers]
            for page in ("/new", "/new/policy", "/odds", "/people", "/people/decide"):
                assert other.post(page, data={"csrf": mark}).status_code == 403, page


def test_from_a_file_to_a_token(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    write_visits(tmp_path / "files", devices=40)
    file = tmp_path / "onesided.toml"
    file.write_text(EMPTY)
    with serving(file) as server, in_browser(server, server.token("s", PersonRole.STEWARD)) as sue:
        assert sue.get("/").headers["location"] == "/new"
        said = form(sue, source="visits.parquet", unit=["device", "day"], policy=POLICY)
        for step, expected in (("file", "Who is one record?"), ("unit", "Who is to be protected?")):
            assert expected in sue.post("/new", data={**said, "step": step}).text
        wrong = sue.post("/new", data={**said, "step": "policy", "policy": "roo = 'x'"})
        assert wrong.status_code == 400
        assert "did you mean room?" in wrong.text
        checked = sue.post("/new", data={**said, "step": "policy"}).text
        assert "How much may be told in all?" in checked
        assert "199" in checked
        last = {**said, "step": "publish", "budget": "3", "name": "first"}
        assert sue.post("/new", data=last).headers["location"] == "/data/first?new=1"
        assert "There is a data set first already" in sue.post("/new", data=last).text
        made = sue.post("/people", data=form(sue, name="ann", role="analyst", dataset="first"))
        token = re.search(r'id="made">(osd_[\w-]+)<', made.text)
        assert token
        with in_browser(server, token[1]) as ann:
            assert "ε 3 left" in ann.get("/data/first").text
    with serving(file) as again, again.client(again.token("s", PersonRole.STEWARD)) as sue:
        assert sue.get("/data/first").status_code == 200


def test_what_lies_elsewhere_cannot_be_chosen(sue: httpx.Client, tmp_path: Path) -> None:
    write_visits(tmp_path)
    for source in (str(tmp_path / "visits.parquet"), "../x.csv", "/etc/passwd", ""):
        said = form(sue, step="file", source=source)
        assert sue.post("/new", data=said).status_code == 400


def test_a_policy_while_it_is_typed(sue: httpx.Client) -> None:
    typed = {"NOT consent": "consent", "consent = ": "", "1 = 1 OR <b>": ""}
    for policy, column in typed.items():
        said = sue.post("/new/policy", data=form(sue, source="visits.parquet", policy=policy))
        assert said.status_code == 200
        assert ("It looks at <bdi>consent</bdi>" in said.text) == bool(column)
        assert ("refused-text" in said.text) != bool(column)
        assert "<b>" not in said.text


def test_whether_another_policy_relaxes(sue: httpx.Client) -> None:
    for policy, verdict in {
        "room = 'clinic'": "It relaxes this policy.",
        "room = 'lab'": "It does not relax this policy.",
    }.items():
        assert verdict in sue.post("/data/visits/policy", data=form(sue, policy=policy)).text


def test_the_attackers_view(sue: httpx.Client) -> None:
    shown = sue.post("/odds", data=form(sue, before="10", epsilon="1")).text
    # 0.1 / 0.9 · e = 0.302, of which 0.302 / 1.302 = 23.2 %; with 5 % removed 0.1 / 0.9 · 20.
    for said in ("certain", "23.2 %", "× 2.72", "69 %", "× 20"):
        assert said in shown
    assert shown.count('class="dot-sensitive"') == 3 * 10
    assert "Of 43 who are missing, 10 are sensitive." in shown  # 10 + 90 / e
    for before in ("0", "100", "x", "nan", "inf", "-3"):
        assert "refused-text" in sue.post("/odds", data=form(sue, before=before, epsilon="1")).text


def test_the_attacker_on_simulated_people(sue: httpx.Client) -> None:
    shown = sue.get("/attacker").text
    assert well_labelled(shown) == []
    mark = csrf(sue)
    said = {"epsilon": "1"}
    tried = sue.post("/api/v1/attacks", json=said, headers={"X-CSRF-Token": mark}).json()
    filtering, improvised, one_sided = tried["ways"]
    assert filtering["share_right"] == 1
    assert filtering["missing"] == filtering["sensitive"] == tried["sensitive"]
    # Of the others a twentieth is left out, or e^-1 of them; within four standard deviations.
    others = tried["people"] - tried["sensitive"]
    for way, share in ((improvised, 0.05), (one_sided, math.exp(-1))):
        missing = way["missing"] - tried["sensitive"]
        assert abs(missing - others * share) < 4 * math.sqrt(others * share)
        assert f"{100 * way['share_right']:.3g} %" in shown


def test_a_paid_sample_says_how_likely_somebody_is_sensitive(
    server: ServerAtWork, sue: httpx.Client
) -> None:
    ask(server, sue, "sample", {"epsilon": "1", "csrf": csrf(sue)})
    assert "By the sample that was paid, about" in sue.get("/data/visits/policy").text


def test_a_release_and_the_ledger_are_published(
    server: ServerAtWork, sue: httpx.Client, tmp_path: Path
) -> None:
    place = ask(server, sue, "count", {"epsilon": "1", "max_groups": "1", "csrf": csrf(sue)})
    page = sue.get(place, follow_redirects=True)
    links = re.findall(r'href="([^"]+\.zip)"', page.text)
    for link, names in (
        (links[0], {"index.html", "manifest.json", "datapackage.json"}),
        ("/ledger/report.zip", {"index.html", "manifest.json", "accounts.json"}),
    ):
        seen = sue.get(link)
        assert seen.headers["content-disposition"].startswith("attachment")
        with zipfile.ZipFile(io.BytesIO(seen.content)) as archive:
            assert names <= {*archive.namelist()}
            assert b"sue" not in archive.read("index.html")
            folder = tmp_path / str(len(names & {"accounts.json"}))
            archive.extractall(folder)
        assert problems(folder, [], None) == []


def test_the_budget_is_raised_with_a_reason(sue: httpx.Client) -> None:
    lower = sue.post("/data/visits/budget", data=form(sue, budget="1", why="less"))
    assert lower.status_code == 400
    raised = sue.post("/data/visits/budget", data=form(sue, budget="21", why="a <b>new</b> year"))
    assert raised.status_code == 303
    shown = sue.get("/data/visits/budget").text
    assert "of 21 is spent" in shown
    assert "a &lt;b&gt;new&lt;/b&gt; year" in shown


def test_a_question_is_decided(server: ServerAtWork, sue: httpx.Client) -> None:
    token = server.token("kim", rights=Rights(needs_approval=True))
    with server.client(token) as kim:
        jobs = [
            kim.post("/api/v1/datasets/visits/sample", json={"epsilon": each}).json()["job"]["id"]
            for each in ("0.25", "0.75")
        ]
        page = sue.get("/people").text
        assert all(job in page for job in jobs)
        assert well_labelled(page) == []
        for job, decision in zip(jobs, ("approve", "refuse"), strict=True):
            said = form(sue, job=job, decision=decision, why="because")
            assert sue.post("/people/decide", data=said).status_code == 303
        states = [kim.get(f"/api/v1/jobs/{job}").json()["state"] for job in jobs]
        assert states[0] in ("accepted", "done")
        assert states[1] == "refused"
        assert "because" in kim.get(f"/questions/{jobs[1]}").text


def test_rights_and_tokens_are_taken_back(server: ServerAtWork, sue: httpx.Client) -> None:
    token = server.token("lea")
    with server.client(token) as lea:
        rights = form(sue, name="lea", dataset="visits", kinds=["count"], most_in_all="1")
        assert sue.post("/people/rights", data=rights).status_code == 303
        own = lea.get("/api/v1/me").json()["rights"]["visits"]
        assert (own["kinds"], own["most_in_all"]) == (["count"], "1")
        assert "ask/sum" not in lea.get("/data/visits/ask").text
        sue.post("/people/rights", data={**rights, "do": "take"})
        assert lea.get("/data/visits").status_code == 404
        found = sue.get("/api/v1/tokens").json()["tokens"]
        identity = next(each["id"] for each in found if each["name"] == "lea")
        assert sue.post("/people/end", data=form(sue, id=identity)).status_code == 303
        assert lea.get("/data").status_code == 303


def test_the_chain_is_verified_and_exported(sue: httpx.Client) -> None:
    page = sue.get("/ledger").text
    assert "The chain is whole." in page
    exported = sue.get("/ledger/ledger.json")
    assert exported.headers["content-disposition"].startswith("attachment")
    assert exported.json()["head"]["hash"] in page


def test_the_tour_ends_with_an_open_building_in_five_steps(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    Building.simulate(scale=0.0005, seed=7).write(tmp_path / "files")
    (tmp_path / "onesided.toml").write_text(EMPTY)
    with (
        serving(tmp_path / "onesided.toml") as server,
        in_browser(server, server.token("s", PersonRole.STEWARD)) as sue,
    ):
        page = sue.get("/new?tour=1").text
        for step in range(1, 5):
            assert f"Tour, {step} of 5." in page
            sent = sue.post("/new", data=as_filled_in(page))
            page = sent.text
        assert sent.headers["location"] == "/data/building?new=1&tour=1"
        last = sue.get(sent.headers["location"]).text
        assert "Tour, 5 of 5." in last
        assert "Tour" not in sue.get("/data/building").text


def as_filled_in(page: str) -> dict[str, list[str]]:
    """What the form of a page sends if nobody changes it."""
    form = page.partition('action="/new"')[2]
    found: dict[str, list[str]] = {}
    for field in re.findall(r"<input[^>]*>", form):
        name = re.search(r'name="([^"]*)"', field)
        chosen = "checked" in field or not re.search(r'type="(radio|checkbox)"', field)
        if name and chosen:
            value = re.search(r'value="([^"]*)"', field)
            found.setdefault(name[1], []).append(html.unescape(value[1] if value else ""))
    for name_, text in re.findall(r'(?s)<textarea id="(\w+)"[^>]*>(.*?)</textarea>', form):
        found[name_] = [html.unescape(text)]
    return found
