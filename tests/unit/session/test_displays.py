"""Values show themselves: in a line, in a notebook, and to all that speak Arrow."""

from __future__ import annotations

import csv
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow as pa
import pytest

import onesided as osd
from onesided.audit import ExactAudit, target
from onesided.errors import InputError

TRAP = "<script>alert(1)</script> **b** [red]r[/red] \x1b[31m"


@pytest.fixture(scope="module")
def dataset() -> osd.Dataset:
    rooms = [f"room {number % 30:02}" for number in range(900)]
    paid = [float(number % 7) for number in range(900)]
    table = pa.table({TRAP: [1] * 900, "room": rooms, "paid": paid, "age": [30] * 900})
    return osd.open(table, unit="rows", policy="age < 18", budget=100, name="<b>visits</b>")


@pytest.fixture(scope="module")
def counts(dataset: osd.Dataset) -> osd.Release:
    domain = {"room": ["room 00", "room 01", "nobody", "*"]}
    return dataset.count(by="room", epsilon=1, mechanism="laplace", domain=domain)


class Elements(HTMLParser):
    """The elements of a text, and what could act in it."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.seen.add(tag)
        assert {name for name, _ in attrs} <= {"style"}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def harmless(html: str) -> str:
    found = Elements()
    found.feed(html)
    assert not found.open
    assert not found.seen & {"script", "style", "img", "a", "link", "iframe", "svg"}
    assert "\x1b" not in html
    assert "http" not in html
    return html


def test_every_value_shows_itself(dataset: osd.Dataset, counts: osd.Release) -> None:
    sample = dataset.sample(epsilon=1)
    exact = target("one-sided", "1").exactly(ExactAudit())[0]
    values: list[Any] = [
        dataset,
        counts,
        sample,
        dataset.sql("SELECT room, COUNT(*) AS n, AVG(paid) AS m FROM data GROUP BY room", epsilon=1,
                    bounds={"paid": 7}),
        dataset.plan("room", epsilon=1),
        dataset.plan.sample(epsilon=1),
        dataset.plan.questions("SELECT COUNT(*) FROM data", budget=1),
        dataset.run([{"ask": "count", "by": "room"}], epsilon=1),
        dataset.budget,
        osd.Policy(f"room = '{TRAP}'"),
        osd.Loss("1/3", 1),
        counts.receipt,
        exact,
    ]  # fmt: skip
    for value in values:
        assert len(repr(value)) < 400, repr(value)
        assert "\n" not in repr(value)
        assert "\x1b" not in repr(value)
        harmless(value._repr_html_())


def test_a_release_shows_rows_intervals_promise_and_cost(counts: osd.Release) -> None:
    shown = harmless(counts._repr_html_())
    for words in (
        "nobody",
        "(all others)",
        "95% interval",
        " – ",
        escape(counts.guarantee),
        "left",
    ):
        assert words in shown
    assert "not counted" not in shown
    assert "(all others)" in str(counts)


def test_a_long_sample_shows_its_first_rows(dataset: osd.Dataset) -> None:
    sample = dataset.sample(epsilon=2)
    shown = harmless(sample._repr_html_())
    assert shown.count("<tr>") == 21
    assert f"… {len(sample) - 20:,} more rows" in shown
    assert f"{len(sample):,} units in {len(sample):,} rows" in shown
    assert "&lt;script&gt;" in shown


def test_what_was_not_counted_is_no_zero(dataset: osd.Dataset) -> None:
    asked = {"by": "room", "bound": 7, "epsilon": 5, "domain": {"room": ["room 00", "nobody"]}}
    mean = dataset.mean("paid", **asked)
    texts = {row["room"]: row["mean"] for row in mean}
    if texts["nobody"] is None:
        assert "not counted" in mean._repr_html_()
    count = dataset.sum("paid", **asked)
    assert "not counted" not in count._repr_html_()


def test_a_release_speaks_arrow(dataset: osd.Dataset, counts: osd.Release) -> None:
    rows = counts.to_arrow().to_pylist()
    assert list(counts) == rows
    assert len(counts) == 4
    assert polars.DataFrame(counts).to_dicts() == rows
    assert counts.to_polars().to_dicts() == rows
    assert duckdb.sql("SELECT count(*) FROM counts").fetchall() == [(4,)]
    assert len(pandas.DataFrame(counts)) == 4
    assert pa.table(counts).equals(counts.to_arrow())
    sample = dataset.sample(epsilon=2)
    assert polars.DataFrame(sample).height == len(sample) == len(list(sample))


def test_a_stream_outlives_the_name_of_its_release(dataset: osd.Dataset) -> None:
    reader = pa.RecordBatchReader.from_stream(dataset.sample(epsilon=3))
    assert reader.read_all().num_rows > 0


def test_a_release_of_no_rows_is_a_release(dataset: osd.Dataset) -> None:
    nothing = dataset.count(by="room", where="room = 'x'", epsilon=1, mechanism="one-sided")
    assert len(nothing) == 0
    assert nothing
    harmless(nothing._repr_html_())
    assert "count" in str(nothing)


def test_files_hold_names_unchanged(tmp_path: Path) -> None:
    names = ["=1+1", "+1", "-1", "@x", "<script>alert(1)</script>", "**b** [red]r[/red]"]
    table = pa.table({"name": names * 3, "age": [40] * len(names) * 3})
    dataset = osd.open(table, unit="rows", policy="age < 18", budget=5_000)
    found = dataset.count(by="name", epsilon=1_000, mechanism="one-sided", yes=True)
    found.write(tmp_path / "names.csv")
    with (tmp_path / "names.csv").open(encoding="utf-8", newline="") as file:
        assert {row["name"] for row in csv.DictReader(file)} == set(names)
    harmless(found._repr_html_())
    for name in names:
        assert escape(name) in found._repr_html_()
        assert name in str(found)


def test_an_account_is_drawn(dataset: osd.Dataset) -> None:
    assert "<svg" in dataset.budget.plot().svg()


def test_what_holds_no_numbers_is_shown_and_not_drawn(dataset: osd.Dataset) -> None:
    large = "CASE WHEN COUNT(*) > 1 THEN '<b>many' ELSE 'few' END AS size"
    told = dataset.sql(f"SELECT room, COUNT(*) AS n, {large} FROM data GROUP BY room", epsilon=9)
    assert "&lt;b&gt;many" in harmless(told._repr_html_())
    assert "<b>many" not in str(told.plot().to_dict())
    words = dataset.sql(f"SELECT room, {large} FROM data GROUP BY room", epsilon=9)
    with pytest.raises(InputError, match="nothing to draw"):
        words.plot()
