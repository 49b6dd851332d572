"""HTML charts in a real browser: nothing leaves the machine, nothing runs, both themes differ."""

from __future__ import annotations

from pathlib import Path

from onesided.charts.answers import DrawnAnswer, answer_picture
from onesided.charts.parts import DrawnFigure, DrawnKey
from support.chromium import browser, look

MARKUP = "</svg><img src=http://x.test/ onerror=alert(1)>"
NAMES = ["lab", "<script>alert(1)</script>", MARKUP, "مرحبا 😀"]


def test_an_html_chart_stands_alone_in_both_themes(tmp_path: Path) -> None:
    figure = DrawnFigure(
        "count", [90.0, 0.0, -4.0, 30.0], [80.0, 0.0, 0.0, 20.0], [99.0, 9.0, 8.0, 41.0],
        ["90", "0", "-4", "30"], covers="95% interval",
    )  # fmt: skip
    rooms = DrawnKey.of("room", NAMES, NAMES, ordered=False)
    hours = DrawnKey.of("hour", [1, 2, 3, 4], ["1", "2", "3", "4"], ordered=True)
    rows = [[name, text] for name, text in zip(NAMES, figure.texts, strict=True)]
    with browser() as chromium:
        for keys in ([rooms], [hours], [rooms, hours]):
            drawn = answer_picture(DrawnAnswer(NAMES[1], keys, [figure], ["room", "count"], rows))
            file = drawn.write(tmp_path / f"{len(keys)}{keys[0].name}.html")
            light, dark = (look(chromium, file, theme) for theme in ("light", "dark"))
            for seen in (light, dark):
                assert not seen.requests
                assert not seen.complaints
                assert NAMES[1] in seen.text
            assert light.picture != dark.picture
