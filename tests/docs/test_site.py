"""The documentation site: its checker finds what is wrong, and its pages say what the code says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.axe import axe_faults
from support.chromium import browser

HOUSE = Path(__file__).parents[2]
MACHINERY = HOUSE / "docs" / "_site"
CHROMIUM = shutil.which("chromium")
SIZES = (375, 1440)
#: Pages of every kind; all others are looked at in one size and one theme.
OFTEN = ("index.html", "glossary.html", "mechanisms.html", "reference/python.html")


def checked(site: Path) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, str(MACHINERY / "check.py"), str(site)]
    return subprocess.run(program, capture_output=True, text=True, check=False)


BROKEN = {
    "a link": '<a href="nowhere.html">x</a>',
    "an anchor": '<a href="#nothing">x</a>',
    "a script from elsewhere": '<script src="https://unpkg.com/x"></script>',
    "a script that is not there": '<script src="x.js"></script>',
    "a font from elsewhere": '<p style="background: url(//fonts.example/x)">x</p>',
    "a preloaded style": '<link rel="preload" href="https://cdn.example/x.css">',
}


def test_the_checker_names_what_is_wrong(tmp_path: Path) -> None:
    good = '<h1 id="a">x</h1><a href="#a">x</a><a href="https://example.org">x</a>'
    (tmp_path / "index.html").write_text(good)
    assert checked(tmp_path).returncode == 0
    for number, text in enumerate(BROKEN.values()):
        (tmp_path / f"{number}.html").write_text(text)
    found = checked(tmp_path)
    assert found.returncode == 1
    assert [line.split(".")[0] for line in found.stdout.splitlines()] == list("012345")


def test_the_reference_has_every_command() -> None:
    program = "import commands; print(commands.every_command())"
    text = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HOUSE / "src"), str(MACHINERY)])},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    from onesided.cli.program import cli

    for name in cli.list_commands(None):  # type: ignore[arg-type]
        assert f"## onesided {name}\n" in text, name
    assert "| `--epsilon" in text


@pytest.mark.soak
@pytest.mark.skipif(not (shutil.which("npm") and CHROMIUM), reason="needs npm and Chromium")
def test_the_site_in_a_browser(tmp_path: Path) -> None:
    """From files: search works, no request leaves, the console is silent, axe finds nothing."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(MACHINERY / name, packages)
    quiet = ["--no-fund", "--no-audit", "--loglevel=error"]
    subprocess.run(["npm", "ci", "--prefix", packages, *quiet], check=True)
    site = tmp_path / "site"
    known = {"ONESIDED_SITE_OFFLINE": "true", "ONESIDED_SITE_PACKAGES": str(packages)}
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", site],
        cwd=HOUSE,
        env={**os.environ, **known, "PYTHONPATH": "src"},
        check=True,
    )
    wrong: list[str] = []

    def requested(request: Any) -> None:
        if not request.url.startswith(("file://", "data:", "blob:")):
            wrong.append(request.url)

    def said(message: Any) -> None:
        wrong.append(str(message))

    with browser() as chromium:
        for scheme in ("light", "dark"):
            for width in SIZES:
                view = {"width": width, "height": 900}
                context = chromium.new_context(viewport=view, color_scheme=scheme)
                for path in sorted(site.rglob("*.html")):
                    name = path.relative_to(site).as_posix()
                    seldom = (scheme, width) != ("light", SIZES[0]) and name not in OFTEN
                    if seldom or name == "404.html":
                        continue
                    page = context.new_page()
                    page.on("request", requested)
                    page.on("console", said)
                    page.on("pageerror", said)
                    page.goto(path.as_uri())
                    wrong += [f"{name} {each}" for each in axe_faults(page)]
                    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                    wrong += [f"{path.name} is wider than {width}"] if wide > 0 else []
                    page.close()
                context.close()
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.goto((site / "index.html").as_uri())
        page.locator("input.md-search__input, [data-md-component=search-query]").first.click()
        page.keyboard.type("exclusion attack")
        page.wait_for_selector("text=promise", timeout=20_000)
    assert wrong == []


def test_every_page_stands_once_in_the_navigation() -> None:
    text = (HOUSE / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r": ([\w/-]+\.md)$", text, re.MULTILINE)
    assert [page for page in listed if listed.count(page) > 1] == []
    pages = {path.relative_to(HOUSE / "docs").as_posix() for path in (HOUSE / "docs").rglob("*.md")}
    assert pages - set(listed) == set()
