"""The package that is published: its files, its metadata, and the README with the core alone."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import onesided as osd

HOUSE = Path(__file__).parents[2]
PYTHON = [sys.executable, "-m"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, and the wheel that is made of it."""
    out = tmp_path_factory.mktemp("dist")
    command = [*PYTHON, "build", "--no-isolation", "--outdir", str(out), str(HOUSE)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[-2000:]
    return out


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_the_package_can_be_published(built: Path) -> None:
    files = sorted(map(str, built.iterdir()))
    assert len(files) == 2
    checked = subprocess.run(
        [*PYTHON, "twine", "check", "--strict", *files], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout

    (wheel,) = built.glob("*.whl")
    said = metadata(wheel)
    assert said["Version"] == osd.__version__
    assert {each.split(",")[0] for each in said.get_all("Project-URL", [])} == {
        "Changelog",
        "Documentation",
        "Issues",
        "Repository",
    }
    assert len(said.get_all("Classifier", [])) > 10
    assert said["Keywords"]
    text = said.get_payload()
    assert isinstance(text, str)
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 30
    assert [each for each in links if not each.startswith("https://")] == []
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "onesided/py.typed" in names
    assert "onesided/mechanisms/laplace.md" in names
    assert [each for each in names if not each.startswith("onesided")] == []

    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as packed:
        inside = {name.partition("/")[2] for name in packed.getnames()}
    known = ("docs/index.md", "docs/_site/hooks.py", "tests/docs/test_package.py", "mkdocs.yml")
    for name in (*known, "CITATION.cff", "SECURITY.md", "CHANGELOG.md", "examples/steward.ipynb"):
        assert name in inside, name
    assert not [name for name in inside if "__pycache__" in name]


def test_the_citation_names_this_version_and_repository() -> None:
    text = (HOUSE / "CITATION.cff").read_text(encoding="utf-8")
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"\nversion: {osd.__version__}\n" in text
    assert f"\nrepository-code: {project['urls']['Repository']}\n" in text
    assert f"\nlicense: {project['license']}\n" in text


@pytest.mark.soak
def test_the_wheel_alone_runs_the_readme_and_the_demo(built: Path, tmp_path: Path) -> None:
    (wheel,) = built.glob("*.whl")
    subprocess.run([*PYTHON, "venv", str(tmp_path / "venv")], check=True)
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    quiet = ["--quiet", "--disable-pip-version-check", "--prefer-binary"]
    subprocess.run([python, "-m", "pip", "install", *quiet, str(wheel)], check=True)
    subprocess.run([python, HOUSE / "tests" / "support" / "readme.py"], check=True, cwd=tmp_path)
    demo = [python, "-m", "onesided", "demo", "--scale", "0.003"]
    shown = subprocess.run(demo, check=True, cwd=tmp_path, capture_output=True, text=True)
    assert "onesided[charts]" in shown.stderr
    assert "<svg" not in (tmp_path / "demo" / "index.html").read_text(encoding="utf-8")
