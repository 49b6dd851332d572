"""Check a built site: every link and anchor leads somewhere, and nothing is loaded from elsewhere.

Call it with the folder of the site. It prints what is wrong, and its exit code is 1 then.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that a browser loads by itself when it shows a page.
_LOADED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "script": "src",
    "source": "src",
    "video": "src",
}
#: Links that say something about a page and are not loaded.
_SAID = {"canonical", "next", "prev", "alternate"}
_STYLE = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


@dataclass
class SitePage(HTMLParser):
    """What one page has: its anchors, its links, and what it loads."""

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[each] for each in ("id", "name") if given.get(each)}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in _LOADED and given.get("rel") not in _SAID and _LOADED[tag] in given:
            self.loaded.append(given[_LOADED[tag]])
        if "style" in given:
            self.loaded += _in_style(given["style"])


def problems(site: Path) -> list[str]:
    """One line for each broken link or anchor, and for each thing that is loaded from elsewhere."""
    site = site.resolve()
    pages = {}
    for path in sorted(site.rglob("*.html")):
        page = pages[path] = SitePage()
        page.feed(path.read_text(encoding="utf-8"))
    found = []
    for path, page in pages.items():
        name = path.relative_to(site).as_posix()
        for target in page.loaded:
            found += _resource(target, path, name)
        # On the page for wrong addresses links begin at the root of a server.
        links = [] if path.name == "404.html" else page.links
        for target in links:
            found += _link(target, path, name, pages)
    for path in sorted(site.rglob("*.css")):
        name = path.relative_to(site).as_posix()
        for target in _in_style(path.read_text(encoding="utf-8")):
            found += _resource(target, path, name)
    return found


def _in_style(text: str) -> list[str]:
    return [first or second for first, second in _STYLE.findall(text)]


def _elsewhere(target: str) -> bool:
    parts = urlsplit(target)
    return bool(parts.netloc) or parts.scheme in ("http", "https")


def _resource(target: str, path: Path, name: str) -> list[str]:
    if target.startswith(("data:", "#")):
        return []
    if _elsewhere(target):
        return [f"{name}: loads {target} from elsewhere"]
    if target.startswith("/"):  # on the page for wrong addresses alone
        return []
    if not (path.parent / unquote(urlsplit(target).path)).exists():
        return [f"{name}: loads {target}, which is not there"]
    return []


def _link(target: str, path: Path, name: str, pages: dict[Path, SitePage]) -> list[str]:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return []
    aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if aim.is_dir():
        aim /= "index.html"
    if not aim.exists():
        return [f"{name}: {target} is not there"]
    if parts.fragment and aim in pages and unquote(parts.fragment) not in pages[aim].anchors:
        return [f"{name}: {target} names no heading"]
    return []


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]))
    print("\n".join(wrong) or "every link leads somewhere, nothing is loaded from elsewhere")
    sys.exit(bool(wrong))
