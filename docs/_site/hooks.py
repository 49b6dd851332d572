"""What the site has beyond the pages in docs: pages from elsewhere, and text that code writes.

MkDocs calls the functions whose names begin with `on_`. See mkdocs.yml.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

sys.path.insert(0, str(Path(__file__).parent))

import commands
import elsewhere
import picture

HOUSE = Path(__file__).parents[2]
#: The folder with npm's packages; `make docs` alone has it.
PACKAGES = "ONESIDED_SITE_PACKAGES"
SEARCH_WORKER = "assets/iframe-worker.js"
MARKS = {
    "<!-- the attacker's view -->": picture.attackers_view,
    "<!-- every command -->": commands.every_command,
}


def on_config(config: Any) -> Any:
    if os.environ.get(PACKAGES):
        config.extra["polyfills"] = [SEARCH_WORKER]
    config.nav += _further(Path(config.docs_dir), str(config.nav))
    return config


def _further(folder: Path, navigation: str) -> list[dict[str, list[str]]]:
    """Pages that nobody has put into the navigation yet, so that none is lost."""
    pages = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.md"))]
    lost = [page for page in pages if f"'{page}'" not in navigation]
    return [{"Further pages": lost}] if lost else []


def on_files(files: Files, config: Any) -> Files:
    """Pages that stand elsewhere in the repository, and npm's script for search from a file."""
    for page in elsewhere.PAGES:
        files.append(File.generated(config, page.site, content=page.text()))
    packages = os.environ.get(PACKAGES)
    if packages:
        script = Path(packages) / "node_modules" / "iframe-worker" / "shim" / "index.js"
        files.append(File.generated(config, SEARCH_WORKER, abs_src_path=str(script)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Marks are replaced by what code writes; links are what they are on the site."""
    for mark, written in MARKS.items():
        if mark in markdown:
            markdown = markdown.replace(mark, written())
    return elsewhere.linked(markdown, page.file.src_uri)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Code and tables that are wider than the page are scrolled, also by keyboard."""
    html = re.sub(r"<pre>", '<pre tabindex="0">', html)
    # A heading without a word is none: readers of screens would read an empty one out.
    html = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", html)
    html = html.replace("<table>", '<div class="scrolled" tabindex="0"><table>')
    return html.replace("</table>", "</table></div>")


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The theme's search is a dialog without a name; readers of screens need one."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
