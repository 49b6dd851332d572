"""Charts that compare methods, and the page of a reproduction."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from onesided.charts.comparison import COLOURS, Axes, Series, comparison, log_ticks, svg, write_png
from onesided.report.claims import (
    Claim,
    ClaimVerdict,
    NumberTable,
    Plot,
    Reproduction,
    Section,
    Spread,
    digits,
)
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


def test_a_method_keeps_its_looks_in_every_chart() -> None:
    fixed = replace(series("two", 3), look=6)
    for panel in ([series("one", 1), fixed], [fixed]):
        chart = comparison({"": panel}, Axes(x="x", y="y"), title="t").to_dict()
        colours = [
            dict(zip(scale["domain"], scale["range"], strict=True))
            for layer in chart["concat"][0]["layer"]
            if (scale := layer["encoding"].get("color", {}).get("scale"))
        ]
        assert {each["two"] for each in colours} == {COLOURS[6]}


def test_panels_can_share_their_scale() -> None:
    panels = {"a": [series("one", 1)], "b": [series("one", 100)]}
    for same, different in ((True, 1), (False, 2)):
        chart = comparison(panels, Axes(x="x", y="y", same_y=same), title="t").to_dict()
        domains = {
            tuple(layer["encoding"]["y"]["scale"]["domain"])
            for panel in chart["concat"]
            for layer in panel["layer"]
        }
        assert len(domains) == different


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.9, 12, [1, 2, 5, 10]),
        (0.2, 250, [0.3, 1, 3, 10, 30, 100]),
        (1e-7, 3, [1e-6, 1e-4, 1e-2, 1]),
    ],
)
def test_ticks_of_a_logarithmic_axis_are_round_and_few(
    low: float, high: float, ticks: list[float]
) -> None:
    assert log_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.12, "0.120"),
        (9.999, "10.0"),
        (125.4, "125"),
        (21_634, "21,600"),
        (4.736e-6, "4.74e-06"),
    ],
)
def test_numbers_have_three_digits(value: float, text: str) -> None:
    assert digits(value) == text


def test_the_spread_of_a_ratio_is_its_widest() -> None:
    assert Spread(4, 2, 6).over(Spread(2, 1, 3)) == Spread(2, 2 / 3, 6)


def test_a_chart_can_be_looked_at(tmp_path: Path) -> None:
    chart = comparison({"": [series("one", 1)]}, Axes(x="x", y="y"), title="t")
    write_png(chart, tmp_path / "chart.png")
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        ((True, True), ClaimVerdict.HOLDS),
        ((True, False), ClaimVerdict.PARTLY),
        ((False, False), ClaimVerdict.FAILS),
    ],
)
def test_a_verdict_sums_up_its_checks(checks: tuple[bool, ...], verdict: ClaimVerdict) -> None:
    assert ClaimVerdict.of(*checks) is verdict


def test_the_page_shows_every_claim_and_stands_alone() -> None:
    claim = Claim(
        data="made <data>",
        paper="less than 2",
        measured="3 (2–4)\n5 (4–6)",
        criterion="it is below 2",
        verdict=ClaimVerdict.FAILS,
        remark="because of k",
    )
    section = Section(
        name="figure",
        title="Figure",
        setting="ten runs",
        claims=[claim],
        plots=[Plot(svg="<svg></svg>", caption="look here")],
        tables=[
            NumberTable(
                title="numbers", columns=("a", "b"), rows=[("x", 1.5), ("y", Spread(4, 3, 5))]
            )
        ],
        notes=["mind this"],
    )
    report = Reproduction(
        title="Report", introduction=["how"], warnings=["stand-in"], sections=[section]
    )
    page = as_html(report)
    for word in (
        "made &lt;data&gt;",
        "less than 2",
        "3 (2–4)<br>5 (4–6)",
        "holds if it is below 2",
        "does not hold",
        "because of k",
        "<svg></svg>",
        "look here",
        "mind this",
        "stand-in",
        "1.5",
        "4.00<br><small>3.00–5.00</small>",
        'href="#figure"',
        'id="figure"',
        "1 rows: 0 × ✓ holds",
    ):
        assert word in page
    assert "http" not in page
    assert "<script" not in page
