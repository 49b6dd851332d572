"""A sqlglot that was not tested must give the known trees, or no policy is read."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlglot

from onesided.errors import PolicyError
from onesided.language.parser import parse, tree_of
from onesided.language.tested import REFUSED, TESTED, check_parser, corpus, differing
from onesided.language.tree import Expression, Not
from support.parse_vectors import FILE, written


def otherwise(text: str) -> Expression:
    """A reader that turns policies with a NOT around."""
    tree = tree_of(text)
    return Not(tree) if text.startswith("not") else tree


@pytest.fixture
def untested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where an untested version leaves its mark."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sqlglot, "__version__", f"99.{tmp_path.name}")
    return tmp_path / "onesided"


def test_the_corpus_is_what_this_version_reads() -> None:
    """After a change of the language: `python tests/support/parse_vectors.py`."""
    assert FILE.read_text(encoding="utf-8") == written()
    trees = [known for known in corpus().values() if known != REFUSED]
    assert len(trees) > 150
    assert len(corpus()) - len(trees) > 50


def test_the_version_that_is_tested_is_free(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sqlglot, "__version__", TESTED[0])
    check_parser(otherwise)
    assert list(tmp_path.iterdir()) == []


def test_an_untested_version_that_agrees_is_remembered(untested: Path) -> None:
    assert parse("age <= 17") == tree_of("age <= 17")
    assert [each.name.startswith("sqlglot-99.") for each in untested.iterdir()] == [True]


def test_an_untested_version_that_differs_reads_nothing(untested: Path) -> None:
    assert differing(otherwise) != []
    with pytest.raises(PolicyError, match=f"install sqlglot=={TESTED[-1]}"):
        check_parser(otherwise)
    assert not untested.exists()


def test_a_folder_that_cannot_be_written_does_not_matter(
    untested: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    untested.write_text("a file")
    assert parse("age <= 18") == tree_of("age <= 18")
