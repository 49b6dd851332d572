"""One page of HTML without scripts: dark and light, and nothing in a text acts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from onesided.visible import visible

_STYLE = """
:root { color-scheme: light dark; --ink: #1a1a1a; --back: #fff; --soft: #555; --line: #bbb;
        --link: #0b5c78; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8e8e8; --back: #16181d; --soft: #b0b4bc; --line: #555a66; --link: #8fd3ea; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--back);
       max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { font-size: 1.3rem; margin-top: 2.2rem; }
h3 { font-size: 1.05rem; margin-bottom: .3rem; }
a { color: var(--link); } .soft { color: var(--soft); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .6rem 0; font-size: .92rem; }
th, td { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left;
         vertical-align: top; overflow-wrap: normal; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
code { font-size: .9em; } svg { max-width: 100%; height: auto; }
"""
_TAG = re.compile("<[^>]*>")
_ROLE = re.compile(r'\s(?:role|aria-[a-z]+)="[^"]*"')
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def safe(text: object) -> str:
    """A text in which nothing acts, kept apart from the direction of what is around it."""
    return f"<bdi>{escape(visible(str(text)))}</bdi>"


@dataclass
class PublishedPage:
    """A page under construction; `html()` is the finished text."""

    title: str
    _parts: list[str] = field(default_factory=list)
    _facts: list[str] = field(default_factory=list)

    def heading(self, text: str, depth: int = 2) -> None:
        self._parts.append(f"<h{depth}>{safe(text)}</h{depth}>")

    def paragraph(self, *texts: object, soft: bool = False) -> None:
        kind = ' class="soft"' if soft else ""
        self._parts.append(f"<p{kind}>{' '.join(map(safe, texts))}</p>")

    def code(self, text: str) -> None:
        self._parts.append(f'<p class="wide"><code>{safe(text)}</code></p>')

    def links(self, names: Iterable[str]) -> None:
        """Links to files beside the page, whose names are made here."""
        items = "".join(f'<li><a href="{escape(each)}">{safe(each)}</a></li>' for each in names)
        self._parts.append(f"<ul>{items}</ul>")

    def chart(self, svg: str) -> None:
        """A chart that is one picture with its words; its marks are no pictures of their own."""
        outer, end, inner = svg.partition(">")
        plain = _TAG.sub(lambda found: _ROLE.sub("", found[0]), inner)
        self._parts.append(f'<div class="wide">{outer}{end}{plain}</div>')

    def table(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """A table that can be scrolled, also by keyboard; `name` says what it is."""
        head = "".join(f'<th scope="col">{safe(each)}</th>' for each in columns)
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
        label = escape(visible(name))
        self._parts.append(
            f'<div class="wide" role="region" tabindex="0" aria-label="{label}">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
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


def _cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td>{'' if value is None else safe(value)}</td>"
    text = f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
    return f'<td class="number">{text}</td>'
