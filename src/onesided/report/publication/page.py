"""One page of HTML without scripts: dark and light, and nothing in a text acts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from onesided.html import Cell, safe
from onesided.visible import visible

_STYLE = """
:root { color-scheme: light dark; --ink: #16181d; --back: #fff; --soft: #5a6170; --line: #d9dde4;
        --raised: #f6f7f9; --accent: #2456c7; --bar: #7fa1ea; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eceef2; --back: #14161a; --soft: #a3abba; --line: #32373f; --raised: #1c1f25;
          --accent: #8fb2ff; --bar: #4a6fc4; } }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; margin: 0;
       color: var(--ink); background: var(--back); overflow-wrap: anywhere; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.01em; }
h2 { font-size: 1.375rem; line-height: 1.3; margin: 3rem 0 .5rem; padding-top: 1.5rem;
     border-top: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.75rem 0 .25rem; }
p { margin: .25rem 0 .75rem; max-width: 44rem; }
a { color: var(--accent); text-underline-offset: .15em; } .soft { color: var(--soft); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(10rem, 100%), 1fr));
         gap: .75rem; margin: 1rem 0; }
.facts div { background: var(--raised); border: 1px solid var(--line); border-radius: .5rem;
             padding: .625rem .875rem; }
dt { color: var(--soft); font-size: .875rem; } dd { margin: 0; font-weight: 600; }
.files { list-style: none; padding: 0; margin: .75rem 0; display: flex; flex-wrap: wrap;
         gap: .5rem; }
.files a { display: block; border: 1px solid var(--line); border-radius: .375rem;
           padding: .25rem .75rem; text-decoration: none; }
.files a:hover { border-color: var(--accent); }
.files small { color: var(--soft); }
.wide { overflow-x: auto; max-width: 100%; margin: .75rem 0; }
.chart svg { max-width: 100%; height: auto; min-width: 30rem; }
table { border-collapse: collapse; font-size: .9375rem; min-width: min(100%, 36rem); }
th, td { padding: .375rem 1.25rem .375rem 0; border-bottom: 1px solid var(--line);
         text-align: left; vertical-align: top; overflow-wrap: normal; }
thead th { color: var(--soft); font-weight: 500; font-size: .875rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { display: block; width: 7rem; height: .625rem; margin-top: .4rem; }
.bar rect { fill: var(--bar); }
code { font: .875rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
p.wide { background: var(--raised); border: 1px solid var(--line); border-radius: .375rem;
         padding: .375rem .75rem; max-width: 100%; }
@media print { .files { display: none; } }
"""
_TAG = re.compile("<[^>]*>")
_ROLE = re.compile(r'\s(?:role|aria-[a-z]+)="[^"]*"')
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_NUMBER = ' class="number"'
_BAR_WIDTH = 100
_KILO = 1000


@dataclass
class PublishedPage:
    """A page under construction; `html()` is the finished text."""

    title: str
    _parts: list[str] = field(default_factory=list)
    _facts: list[str] = field(default_factory=list)

    def heading(self, text: str, depth: int = 2) -> None:
        self._parts.append(f"<h{depth}>{safe(text)}</h{depth}>")

    def paragraph(self, *texts: str, soft: bool = False) -> None:
        kind = ' class="soft"' if soft else ""
        self._parts.append(f"<p{kind}>{' '.join(map(safe, texts))}</p>")

    def code(self, text: str) -> None:
        self._parts.append(f'<p class="wide"><code>{safe(text)}</code></p>')

    def at_a_glance(self, facts: Mapping[str, str]) -> None:
        """Short facts side by side: a name, and what it is."""
        items = "".join(
            f"<div><dt>{safe(name)}</dt><dd>{safe(text)}</dd></div>" for name, text in facts.items()
        )
        self._parts.append(f'<dl class="facts">{items}</dl>')

    def files(self, sizes: Mapping[str, int | None]) -> None:
        """Links to files beside the page, whose names are made here, with their sizes."""
        items = "".join(f"<li>{_file(name, size)}</li>" for name, size in sizes.items())
        self._parts.append(f'<ul class="files">{items}</ul>')

    def chart(self, svg: str) -> None:
        """A chart that is one picture with its words; its marks are no pictures of their own."""
        outer, end, inner = svg.partition(">")
        plain = _TAG.sub(lambda found: _ROLE.sub("", found[0]), inner)
        self._parts.append(f'<div class="wide chart" tabindex="0">{outer}{end}{plain}</div>')

    def texts(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """A table of texts; `name` says what it is."""
        self.table(name, columns, ([Cell(each or "") for each in row] for row in rows))

    def table(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        """A table that can be scrolled, also by keyboard; `name` says what it is."""
        body = list(rows)
        right = {place for row in body for place, cell in enumerate(row) if cell.number}
        head = "".join(
            f'<th scope="col"{_NUMBER if place in right else ""}>{safe(each)}</th>'
            if each
            else "<td></td>"  # above bars: a heading without a word is none
            for place, each in enumerate(columns)
        )
        lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in body)
        label = escape(visible(name))
        self._parts.append(
            f'<div class="wide" role="region" tabindex="0" aria-label="{label}">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>"
        )

    def describe(self, facts: Any) -> None:
        """JSON-LD in the head; no sign in it can end the element that holds it."""
        text = json.dumps(facts, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e")
        self._facts.append(f'<script type="application/ld+json">{text}</script>')

    def html(self) -> str:
        title, body = escape(visible(self.title)), "\n".join(self._parts)
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            f"<title>{title}</title>\n<style>{_STYLE}</style>\n{''.join(self._facts)}</head>\n"
            f"<body><main><h1>{safe(self.title)}</h1>\n{body}\n</main></body></html>\n"
        )


def _cell(cell: Cell) -> str:
    if cell.bar is not None:
        width = round(_BAR_WIDTH * min(max(cell.bar, 0.0), 1.0))
        return (
            f'<td><svg class="bar" viewBox="0 0 {_BAR_WIDTH} 8" preserveAspectRatio="none" '
            f'aria-hidden="true"><rect width="{width}" height="8"/></svg></td>'
        )
    names = " ".join(
        name for name, is_so in (("number", cell.number), ("soft", cell.muted)) if is_so
    )
    marked = f' class="{names}"' if names else ""
    return f"<td{marked}>{safe(cell.text)}</td>"


def _file(name: str, size: int | None) -> str:
    if size is None:
        said = ""
    elif size < _KILO:
        said = f" <small>{size} B</small>"
    elif size < _KILO**2:
        said = f" <small>{size / _KILO:.3g} kB</small>"
    else:
        said = f" <small>{size / _KILO**2:.3g} MB</small>"
    return f'<a href="{escape(name)}">{safe(name)}{said}</a>'
