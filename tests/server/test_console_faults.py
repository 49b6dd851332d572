"""What is wrong with a form stands beside the field that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import httpx
import pytest

from onesided.ledger.desk import PersonRole
from support.pages import csrf, in_browser
from support.serving import ServerAtWork, describe, serving

# What is typed into the form of a kind, and the field that it is refused for.
WRONG: Mapping[str, tuple[tuple[Mapping[str, object], str], ...]] = {
    "count": (
        ({"epsilon": "abc"}, "epsilon"),
        ({"epsilon": "500", "yes": "1"}, "epsilon"),
        ({"where": "nope = 1"}, "where"),
        ({"where": "room ="}, "where"),
        ({"by": ["nope", "", ""]}, "by-0"),
        ({"max_groups": "x"}, "max_groups"),
        ({"max_groups": "0"}, "max_groups"),
        ({"by": ["day", "", ""], "values": ["never", "", ""]}, "values-0"),
    ),
    "sum": (
        ({"bound": "3", "max_groups": "1"}, "column"),
        ({"column": "device", "max_groups": "1"}, "bound"),
        ({"column": "device", "bound": "-1", "max_groups": "1"}, "bound"),
    ),
    "quantile": (
        ({"column": "device", "low": "9", "max_groups": "1"}, "low"),
        ({"column": "device", "low": "9", "high": "1", "max_groups": "1"}, "low"),
    ),
    "histogram": (
        ({"column": "device", "edges": "9", "max_groups": "1"}, "edges"),
        ({"column": "device", "edges": "9, 1", "max_groups": "1"}, "edges"),
    ),
    "distinct": (({}, "value"), ({"value": "room"}, "max_values")),
    "ngrams": (
        ({"path": "room", "order": "ts", "max_groups": "2"}, "n"),
        ({"n": "2", "order": "ts", "max_groups": "2"}, "path"),
        ({"n": "2", "path": "room", "order": "room", "max_groups": "2"}, "order"),
    ),
    "sample": (({"where": "xx"}, "where"),),
    "sql": (({"statement": "SELECT"}, "statement"), ({"statement": ""}, "statement")),
}
CASES = [(kind, form, field) for kind, each in WRONG.items() for form, field in each]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerAtWork]:
    with serving(describe(tmp_path_factory.mktemp("faults"), seconds=None)) as found:
        yield found


@pytest.fixture(scope="module")
def ann(server: ServerAtWork) -> Iterator[httpx.Client]:
    with in_browser(server, server.token("ann")) as found:
        yield found


@pytest.mark.parametrize(("kind", "form", "field"), CASES)
def test_a_mistake_is_told_beside_its_field(
    server: ServerAtWork, ann: httpx.Client, kind: str, form: Mapping[str, object], field: str
) -> None:
    typed = {"epsilon": "0.5", **form, "csrf": csrf(ann), "do": "ask"}
    page = ann.post(f"/data/visits/ask/{kind}", data=typed)
    assert page.status_code == 400
    told = re.findall(r'<p class="fault" id="fault-([\w-]+)" role="alert">(.+?)</p>', page.text)
    assert [name for name, _ in told] == [field]
    invalid = re.findall(r'aria-describedby="([^"]*)" aria-invalid="true"', page.text)
    assert len(invalid) == (field not in ("by-0", "columns"))
    assert server.desk.spent("visits", "ann") == 0


def test_a_mistake_is_told_while_it_is_typed_and_an_empty_field_is_none(ann: httpx.Client) -> None:
    def live(**form: str) -> str:
        typed = {"epsilon": "0.5", **form, "csrf": csrf(ann)}
        return ann.post("/data/visits/ask/sum/plan", data=typed).text

    assert 'data-fault="where"' in live(column="device", bound="3", max_groups="1", where="x y")
    assert 'data-fault=""' in live(column="device", max_groups="1")


def test_nothing_is_wrong_with_a_form_that_is_opened(ann: httpx.Client) -> None:
    for kind in WRONG:
        page = ann.get(f"/data/visits/ask/{kind}").text
        assert 'role="alert"' not in page
        assert "aria-invalid" not in page


def test_a_count_goes_on_in_sql(ann: httpx.Client) -> None:
    typed = {"by": ["room", "", ""], "max_groups": "2", "epsilon": "0.5", "csrf": csrf(ann)}
    shown = ann.post("/data/visits/ask/count/plan", data=typed).text
    link = re.search(r'href="(/data/visits/ask/sql\?[^"]+)"', shown)
    assert link
    page = ann.get(link[1].replace("&amp;", "&")).text
    assert "SELECT room, COUNT(DISTINCT device, day) AS n\nFROM data\nGROUP BY room" in page
    assert "off by about" in page


def test_mistakes_of_stewards_stand_beside_their_fields(server: ServerAtWork) -> None:
    person = {"name": "zoe", "role": "analyst", "dataset": "visits", "days": "9"}
    budget = {"budget": "30", "why": "a new year"}
    wrong = {
        "/people": (person, {"days": "x", "most_in_all": "-1", "most_per_release": "much"}),
        "/data/visits/budget": (budget, {"budget": "1"}),
    }
    with in_browser(server, server.token("sue", PersonRole.STEWARD)) as sue:
        mark = csrf(sue)
        for path, (right, mistakes) in wrong.items():
            for field, text in mistakes.items():
                page = sue.post(path, data={**right, field: text, "csrf": mark})
                assert page.status_code == 400
                assert f'id="fault-{field}" role="alert"' in page.text, (path, field)
