"""A page, put together from headings, sentences, tables and charts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from onesided.report.claims import Spread, digits
from onesided.visible import visible

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff;
       max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.8rem; } h2 { font-size: 1.3rem; margin-top: 2.5rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.92rem; }
th, td { padding: 0.3rem 0.8rem; border-bottom: 1px solid #ddd; text-align: left;
         vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.spread { white-space: nowrap; font-variant-numeric: tabular-nums; }
td.spread small { color: #555; }
th { border-bottom: 2px solid #555; }
th.wide { min-width: 31rem; }
figure { margin: 1.5rem 0; overflow-x: auto; } figcaption { font-size: 0.92rem; color: #444; }
code { background: #f3f3f3; padding: 0.1rem 0.3rem; border-radius: 3px; }
.note { border-left: 4px solid #b58900; padding: 0.2rem 1rem; background: #fdf8ec; }
"""


@dataclass(frozen=True)
class Link:
    """A word in a table that leads to the heading with this anchor."""

    text: str
    anchor: str


@dataclass
class Page:
    """A page under construction; `html()` is the finished text."""

    title: str
    _parts: list[str] = field(default_factory=list)

    def heading(self, text: str, anchor: str = "") -> None:
        place = f' id="{_safe(anchor)}"' if anchor else ""
        self._parts.append(f"<h2{place}>{_safe(text)}</h2>")

    def paragraph(self, text: str) -> None:
        self._parts.append(f"<p>{_safe(text)}</p>")

    def note(self, text: str) -> None:
        """A paragraph that must not be overlooked."""
        self._parts.append(f'<p class="note">{_safe(text)}</p>')

    def code(self, text: str) -> None:
        self._parts.append(f"<p><code>{_safe(text)}</code></p>")

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]], wide: str = "") -> None:
        """A cell for every value; the column called `wide` gets most of the room."""
        head = "".join(
            f'<th class="wide">{_safe(column)}</th>'
            if column == wide
            else f"<th>{_safe(column)}</th>"
            for column in columns
        )
        body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
        self._parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")

    def figure(self, svg: str, caption: str) -> None:
        """A chart as SVG with a sentence that says what to see in it."""
        self._parts.append(f"<figure>{svg}<figcaption>{_safe(caption)}</figcaption></figure>")

    def html(self) -> str:
        body = "\n".join(self._parts)
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{_safe(self.title)}</title><style>{_STYLE}</style></head>\n"
            f"<body><h1>{_safe(self.title)}</h1>\n{body}\n</body></html>\n"
        )


def _safe(text: str) -> str:
    """Text in a page, where nothing in it acts; lines stay lines."""
    return escape("\n".join(map(visible, text.split("\n"))))


def _cell(value: Any) -> str:
    if isinstance(value, Spread):
        spread = f"{digits(value.low)}–{digits(value.high)}"
        return f'<td class="spread">{digits(value.mean)}<br><small>{spread}</small></td>'
    if isinstance(value, Link):
        return f'<td><a href="#{_safe(value.anchor)}">{_safe(value.text)}</a></td>'
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td>{_safe(str(value)).replace(chr(10), '<br>')}</td>"
    if isinstance(value, int):
        text = f"{value:,}"
    else:
        text = f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:,.3g}"
    return f'<td class="number">{text}</td>'
