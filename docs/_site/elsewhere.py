"""Pages of the site that stand elsewhere in the repository, and where links lead on the site."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HOUSE = Path(__file__).parents[2]
PACKAGE = HOUSE / "src" / "onesided"
_LINK = re.compile(r"(\]\()([^)\s]+)(\))")
_FENCED = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class ElsewherePage:
    """A page of the site, `site`, whose text is in the file `source` of the repository."""

    site: str
    source: str

    def text(self) -> str:
        path = HOUSE / self.source
        if not self.source:
            return _proofs()
        if path.suffix == ".ipynb":
            return _notebook(path)
        return path.read_text(encoding="utf-8")


def _notebook(path: Path) -> str:
    """The cells of a notebook; the tests execute them, and what they show is drawn at random."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    shown = []
    for cell in cells:
        text = "".join(cell["source"])
        shown.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    note = (
        f"This page is the notebook [{path.name}](/examples/{path.name}); run it to see its charts."
    )
    return "\n\n".join([shown[0], note, *shown[1:]]) + "\n"


def _proofs() -> str:
    lines = [
        "# Proofs",
        "",
        "The proof of a mechanism is a page beside its code, with the same name.",
        "The words are those of [the promise](/docs/promise.md).",
        "",
    ]
    for page in PAGES:
        if page.site.startswith("proofs/") and page.source:
            title = (HOUSE / page.source).read_text(encoding="utf-8").splitlines()[0]
            lines.append(f"- [{title.lstrip('# ')}](/{page.source})")
    return "\n".join(lines) + "\n"


def _pages() -> tuple[ElsewherePage, ...]:
    proofs = sorted(PACKAGE.rglob("*.md"))
    return (
        ElsewherePage("changelog.md", "CHANGELOG.md"),
        ElsewherePage("contributing.md", "CONTRIBUTING.md"),
        *(
            ElsewherePage(f"tutorials/{path.stem}.md", f"examples/{path.name}")
            for path in sorted((HOUSE / "examples").glob("*.ipynb"))
        ),
        ElsewherePage("proofs/index.md", ""),
        *(
            ElsewherePage(f"proofs/{path.stem}.md", path.relative_to(HOUSE).as_posix())
            for path in proofs
        ),
    )


PAGES = _pages()
_SOURCE_OF = {page.site: page.source for page in PAGES}
_SITE_OF = {page.source: page.site for page in PAGES if page.source}


@cache
def repository() -> str:
    """Where the repository is for the public, as the package says."""
    with (HOUSE / "pyproject.toml").open("rb") as file:
        address: str = tomllib.load(file)["project"]["urls"]["Repository"]
    return address


def linked(markdown: str, site: str) -> str:
    """The text of the page `site` with links to other pages of the site, or into the repository."""
    source = _SOURCE_OF.get(site, f"docs/{site}")
    parts = _FENCED.split(markdown)
    return "".join(
        part if part.startswith("```") else _LINK.sub(lambda m: _replaced(m, source, site), part)
        for part in parts
    )


def _replaced(found: re.Match[str], source: str, site: str) -> str:
    target, hash_sign, anchor = found[2].partition("#")
    if not target or re.match(r"[a-z]+:", target):
        return found[0]
    if target.startswith("/"):
        path = target[1:]
    else:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    if path in _SITE_OF:
        known = _SITE_OF[path]
    elif path.startswith("docs/"):
        known = path.removeprefix("docs/")
    elif path == "README.md":
        known = "index.md"
    elif (HOUSE / path).exists():
        kind = "tree" if (HOUSE / path).is_dir() else "blob"
        return f"{found[1]}{repository()}/{kind}/main/{path}{hash_sign}{anchor}{found[3]}"
    else:
        return found[0]
    relative = posixpath.relpath(known, posixpath.dirname(site) or ".")
    return f"{found[1]}{relative}{hash_sign}{anchor}{found[3]}"
