"""The description as a page of plain HTML; nothing in it comes from elsewhere, and nothing runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

PAGE_STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1a1a1a; background: #fff; }
h2 { font-size: 1.05rem; margin: 2rem 0 0.25rem; font-family: ui-monospace, monospace; }
p { margin: 0.25rem 0; }
pre { background: #f4f4f4; padding: 0.75rem; overflow: auto; font-size: 0.85rem; }
.method { display: inline-block; min-width: 4rem; color: #0550ae; }
.who { color: #555; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #161616; }
  pre { background: #242424; }
  .method { color: #7ab7ff; }
  .who { color: #aaa; }
}
"""


def documentation(described: Mapping[str, Any]) -> str:
    """The page."""
    parts = [
        _operation(method, path, said)
        for path, methods in described["paths"].items()
        for method, said in methods.items()
    ]
    info = described["info"]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(info['title'])} API</title>\n"
        '<link rel="stylesheet" href="/api/v1/docs.css">\n</head>\n<body>\n'
        f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>\n"
        f"<p>{escape(info['description'])} Show a token with each request: "
        "<code>Authorization: Bearer …</code>. The same in JSON: "
        '<a href="/api/v1/openapi.json">openapi.json</a>.</p>\n'
        f"{''.join(parts)}</body>\n</html>\n"
    )


def _operation(method: str, path: str, said: Mapping[str, Any]) -> str:
    statuses = ", ".join(said["responses"])
    body = ""
    if "requestBody" in said:
        (content,) = said["requestBody"]["content"].values()
        shown = escape(json.dumps(content["schema"], indent=1, ensure_ascii=False))
        body = f"<details><summary>What it takes</summary><pre>{shown}</pre></details>\n"
    return (
        f'<h2><span class="method">{escape(method.upper())}</span> {escape(path)}</h2>\n'
        f"<p>{escape(said['summary'])}</p>\n"
        f'<p class="who">{escape(said["description"])} Answers: {escape(statuses)}.</p>\n{body}'
    )
