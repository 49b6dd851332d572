"""Charts that compare methods, and the page of a reproduction."""

from __future__ import annotations

from pathlib import Path

import pytest

from onesided.charts import Axes, Series, comparison, svg, write_png
from onesided.report.claims import Claim, Plot, Reproduction, Section, Table, Verdict
from onesided.report.reproduction import as_html


def series(name: str, height: float) -> Series:
    heights = [height, 2 * height]
    return Series(
        name=name,
        x=["99 %", "1 %"],
        y=heights,
        low=[each / 2 for each in heights],
        high=[each * 2 for each in heights],
    )


def test_everything_a_reader_needs_is_in_the_chart() -> None:
    axes = Axes(x="share ρ", y="error (ratio)", reference=1.0)
    panels = {"ε = 1": [series("one", 1), series("two", 3)], "ε = 0.01": [series("one", 2)]}
    text = svg(comparison(panels, axes, title="Errors", subtitle="bars: all runs"))
    for word in ("Errors", "bars: all runs", "share ρ", "error (ratio)", "ε = 1", "one", "two"):
        assert word in text
    assert "99 %" in text
    assert "method" in text


@pytest.mark.parametrize("connect", [True, False])
def test_methods_differ_in_shape_as_well_as_in_colour(connect: bool) -> None:
    axes = Axes(x="x", y="y", connect=connect)
    chart = comparison({"": [series("one", 1), series("two", 3)]}, axes, title="t").to_dict()
    channels = [layer.get("encoding", {}) for layer in chart["concat"][0]["layer"]]
    shapes = next(each["shape"]["scale"]["range"] for each in channels if "shape" in each)
    colours = next(each["color"]["scale"]["range"] for each in channels if "color" in each)
    assert len(set(shapes)) == len(set(colours)) == 2
    assert any("strokeDash" in each for each in channels) is connect


def test_a_chart_can_be_looked_at(tmp_path: Path) -> None:
    chart = comparison({"": [series("one", 1)]}, Axes(x="x", y="y"), title="t")
    write_png(chart, tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ((True, True), Verdict.HOLDS),
        ((True, False), Verdict.PARTLY),
        ((False, False), Verdict.FAILS),
    ],
)
def test_a_verdict_sums_up_its_checks(checks: tuple[bool, ...], verdict: Verdict) -> None:
    assert Verdict.of(*checks) is verdict


def test_the_page_shows_every_claim_and_stands_alone() -> None:
    claim = Claim(
        data="made <data>",
        paper="less than 2",
        measured="3 (2–4)",
        verdict=Verdict.FAILS,
        remark="because of k",
    )
    section = Section(
        name="figure",
        title="Figure",
        setting="ten runs",
        claims=[claim],
        plots=[Plot(svg="<svg></svg>", caption="look here")],
        tables=[Table(title="numbers", columns=("a", "b"), rows=[("x", 1.5)])],
        notes=["mind this"],
    )
    report = Reproduction(
        title="Report", introduction=["how"], warnings=["stand-in"], sections=[section]
    )
    page = as_html(report)
    for word in (
        "made &lt;data&gt;",
        "less than 2",
        "3 (2–4)",
        "does not hold",
        "because of k",
        "<svg></svg>",
        "look here",
        "mind this",
        "stand-in",
        "1.5",
    ):
        assert word in page
    assert "http" not in page
    assert "<script" not in page
