"""A chart as a file or in a notebook, with what it shows in words and as a table."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import vl_convert

from onesided import html
from onesided.charts.style import Spec, Theme, config
from onesided.errors import OutputError
from onesided.visible import visible

VEGA_LITE = "https://vega.github.io/schema/vega-lite/v6.json"
PNG_SCALE = 2.0
MOST_ON_PAGE, MOST_IN_NOTEBOOK = 4_000, 200
"""Of the table behind a chart so many rows are shown."""
_NAMED = re.compile(r'\bid="([^"]+)"')
_TAG = re.compile(r'<\w+(?:\s+[\w:-]+="[^"]*")*\s*/?>')
_SPOKEN = re.compile(r'\s(?:role|aria-\w+)="[^"]*"')
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 15px/1.5 system-ui, sans-serif; background: Canvas; color: CanvasText;
       max-width: 62rem; margin: 1.5rem auto; padding: 0 1rem; }}
figure {{ margin: 0; overflow-x: auto; }}
svg {{ max-width: 100%; height: auto; }}
td, th {{ text-align: left; padding: .1em 1em .1em 0; border-bottom: 1px solid #8884; }}
</style></head>
<body>{body}</body></html>
"""


@dataclass(frozen=True)
class Picture:
    """A chart.

    - `draw`: its Vega-Lite specification for a theme, without the look that all charts share.
    - `title`: what it is.
    - `said`: what it shows in words, for those who do not see it.
    - `headings`, `rows`: the table behind it, as texts.
    """

    draw: Callable[[Theme], Spec]
    title: str
    said: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]

    def to_dict(self, theme: Theme = Theme.LIGHT) -> Spec:
        """The whole Vega-Lite specification, with its data."""
        return {"$schema": VEGA_LITE, **config(theme), **self.draw(theme)}

    def svg(self, theme: Theme = Theme.LIGHT) -> str:
        """The chart as SVG text, which says in words what it shows."""
        drawn = str(vl_convert.vegalite_to_svg(json.dumps(self.to_dict(theme))))
        words = f'<svg role="img" aria-label="{escape(visible(self.said))}" '
        return _named_apart(_as_one(drawn).replace("<svg ", words, 1))

    def png(self, theme: Theme = Theme.LIGHT, scale: float = PNG_SCALE) -> bytes:
        """The chart as a PNG image."""
        spec = json.dumps(self.to_dict(theme))
        return bytes(vl_convert.vegalite_to_png(spec, scale=scale))

    def pdf(self) -> bytes:
        """The chart as a PDF document of one page."""
        return bytes(vl_convert.vegalite_to_pdf(json.dumps(self.to_dict(Theme.LIGHT))))

    def html(self) -> str:
        """A page that stands alone, dark or light as its reader's: the chart and its table."""
        title = escape(visible(self.title))
        return _PAGE.format(title=title, body=f"<figure>{self._inner(MOST_ON_PAGE)}</figure>")

    def write(self, path: str | Path) -> Path:
        """Write it as its ending says: .svg, .png, .html or .pdf."""
        target = Path(path)
        way = WAYS.get(target.suffix.lower())
        if way is None:
            raise OutputError(f"{target.name} does not tell its format; use {', '.join(WAYS)}.")
        content = way(self)
        try:
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        except OSError:
            raise OutputError(
                f"{target} cannot be written; check the folder and the disk."
            ) from None
        return target

    def __repr__(self) -> str:
        return f"<Picture: {visible(self.said)}>"

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self._inner(MOST_IN_NOTEBOOK)}</div>'

    def _inner(self, most: int) -> str:
        rows = self.rows[:most]
        more = len(self.rows) - len(rows)
        rest = html.note(f"… {more:,} more rows") if more > 0 else ""
        table = html.plain_table(self.headings, rows)
        return f"{self.svg(Theme.PAGE)}<details><summary>Table</summary>{table}{rest}</details>"


WAYS: dict[str, Callable[[Picture], Any]] = {
    ".svg": Picture.svg,
    ".png": Picture.png,
    ".html": Picture.html,
    ".pdf": Picture.pdf,
}


def _as_one(svg: str) -> str:
    """The chart without what is said of its parts: it is read out as one picture."""
    return _TAG.sub(lambda tag: _SPOKEN.sub("", tag[0]), svg)


def _named_apart(svg: str) -> str:
    """Names within a chart, which must differ from those of other charts on the same page."""
    mark = hashlib.sha256(svg.encode()).hexdigest()[:8]
    for name in set(_NAMED.findall(svg)):
        svg = svg.replace(f'id="{name}"', f'id="{mark}-{name}"')
        svg = svg.replace(f"url(#{name})", f"url(#{mark}-{name})")
        svg = svg.replace(f'href="#{name}"', f'href="#{mark}-{name}"')
    return svg
