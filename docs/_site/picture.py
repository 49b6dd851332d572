"""The picture of the landing page: what an attacker can tell of somebody who is missing."""

from __future__ import annotations

from math import exp

COLUMNS, ROWS = 6, 4
STEP, RADIUS, LEFT, TOP = 26, 8, 27, 24
#: Who is sensitive, who was left out by the coin, and whom the attacker asks about.
SENSITIVE = {3, 9, 14, 16, 22}
LEFT_OUT = {1, 5, 8, 11, 13, 18, 21}
ASKED = 9
SHARE, EPSILON = 0.2, 1.0


def belief(kept: float) -> float:
    """How probable it is that somebody missing is sensitive, where others stay with `kept`."""
    return SHARE / (SHARE + (1 - SHARE) * (1 - kept))


def attackers_view() -> str:
    """Three pictures side by side: the table, without the sensitive, and a true sample."""
    sampled = belief(1 - exp(-EPSILON))
    views = (
        (
            "The table",
            set(),
            SHARE,
            True,
            "Red units are sensitive. Before anything is published, an attacker gives"
            f" {_percent(SHARE)} to the circled person being one of them.",
        ),
        (
            "The sensitive left out",
            SENSITIVE,
            belief(1.0),
            False,
            "The circled person was there and is missing, so they <strong>must</strong> be"
            " sensitive: 100 %. This is the exclusion attack.",
        ),
        (
            "Published with onesided, ε = 1",
            SENSITIVE | LEFT_OUT,
            sampled,
            False,
            "Others are missing too, at random. The attacker's belief goes to"
            f" {_percent(sampled)} at most, and every published record is true.",
        ),
    )
    figures = "\n".join(_figure(*view) for view in views)
    return f'<div class="views">\n{figures}\n</div>'


def _figure(title: str, missing: set[int], share: float, secret: bool, caption: str) -> str:
    width, height = 2 * LEFT + (COLUMNS - 1) * STEP, TOP + ROWS * STEP + 34
    dots = "".join(_dot(each, each in missing, secret) for each in range(COLUMNS * ROWS))
    x, y = _place(ASKED)
    bar = TOP + ROWS * STEP + 8
    full = width - 20
    drawn = (
        f'<rect class="sheet" x="1" y="1" width="{width - 2}" height="{height - 2}" rx="6"/>{dots}'
        f'<circle class="asked" cx="{x}" cy="{y}" r="{RADIUS + 4}"/>'
        f'<rect class="bar" x="10" y="{bar}" width="{full}" height="8" rx="4"/>'
        f'<rect class="belief" x="10" y="{bar}" width="{full * share:.0f}" height="8" rx="4"/>'
    )
    label = f"{title}: the attacker's belief is {_percent(share)}"
    return (
        f'<figure><svg role="img" aria-label="{label}" viewBox="0 0 {width} {height}">{drawn}</svg>'
        f"<figcaption><strong>{title}.</strong> {caption}</figcaption></figure>"
    )


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _dot(each: int, missing: bool, secret: bool) -> str:
    x, y = _place(each)
    kind = "gone" if missing else "secret" if secret and each in SENSITIVE else "open"
    return f'<circle class="{kind}" cx="{x}" cy="{y}" r="{RADIUS}"/>'


def _place(each: int) -> tuple[int, int]:
    return LEFT + each % COLUMNS * STEP, TOP + each // COLUMNS * STEP
