"""What the pages for contributors print works as printed."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from onesided.experiments.setting import ReproductionSetting, Size
from onesided.experiments.trial import Results
from onesided.randomness import seeded
from onesided.report.claims import ClaimVerdict
from support.histograms import small
from support.terms import assert_fits, stated

HOUSE = Path(__file__).parents[2]
PAGES = sorted((HOUSE / "docs" / "contributing").glob("*.md"))


def text_of(name: str) -> str:
    return (HOUSE / "docs" / "contributing" / name).read_text(encoding="utf-8")


def first_module(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The first Python block of a page, as the module that a reader makes of it."""
    block, *_ = re.findall(r"```python\n(.*?)```", text_of(name), re.DOTALL)
    path = folder / "printed.py"
    path.write_text(block, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("printed", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "printed", module)
    spec.loader.exec_module(module)
    return module


def test_the_mechanism_keeps_its_terms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = first_module("mechanism.md", tmp_path, monkeypatch).Evens()
    data = small("laplace")
    found = chosen.release(data, epsilon=1, rng=seeded(1))
    assert_fits(found, stated(chosen, data, 1), data.bins)
    assert not (found.value % 2).any()


def test_the_command_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = first_module("command.md", tmp_path, monkeypatch).kept
    answer = CliRunner().invoke(kept, ["1", "--units", "100", "--json"])
    assert json.loads(answer.stdout)["kept"] == 63


def test_the_figure_judges_its_claim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure = first_module("figure.md", tmp_path, monkeypatch).FIGURE
    setting = ReproductionSetting(
        size=Size(name="tiny", runs=2, scale=0.01, most_trajectories=10),
        seed=0,
        out=tmp_path,
        traces=(),
        histograms="made",
        code="this",
    )
    results = Results.joined(each.rows(setting) for each in figure.trials(setting))
    (claim,) = figure.section(setting, results).claims
    assert claim.verdict is ClaimVerdict.HOLDS


def test_what_the_engine_page_quotes_stands_there() -> None:
    quoted = re.findall(
        r"^`([^`]+)`:\n\n```python\n(.*?)```", text_of("engine.md"), re.DOTALL | re.M
    )
    assert len(quoted) >= 5
    for path, block in quoted:
        assert block in (HOUSE / path).read_text(encoding="utf-8"), path


def test_the_engine_page_lists_every_file_that_knows_datafusion() -> None:
    listed = re.findall(
        r"`([^`]+)`", "\n".join(re.findall(r"^\|.*\|$", text_of("engine.md"), re.M))
    )
    known = [
        path.relative_to(HOUSE).as_posix()
        for folder in ("src", "tests", "docs", "benchmarks", "examples")
        for path in (HOUSE / folder).rglob("*")
        if path.suffix in (".py", ".md") and "contributing" not in path.as_posix()
    ]
    known += [path.name for path in HOUSE.glob("*.*") if path.suffix in (".md", ".toml")]
    touched = {
        each
        for each in known
        if "datafusion" in (HOUSE / each).read_text(encoding="utf-8").casefold()
    }
    folder = "src/onesided/engine/datafusion/"
    assert {folder if each.startswith(folder) else each for each in touched} == {
        each for each in listed if "/" in each or each.endswith((".md", ".toml"))
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_tests_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    made = set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
    named = set(re.findall(r"tests/[a-z_/]+\.py", text))
    assert named
    assert [each for each in named - made if not (HOUSE / each).exists()] == []
