"""Documentation is plain: short sentences, short lines, no turns that make a reader stop."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
PAGES = sorted(
    [*HOUSE.glob("*.md"), *(HOUSE / "docs").rglob("*.md"), *(HOUSE / "src").rglob("*.md")]
)
MODULES = sorted(
    path for room in ("src", "benchmarks", "examples") for path in (HOUSE / room).rglob("*.py")
)
MOST_WORDS = 40
WIDEST_LINE = 200
# Turns that a reader of English as a second language has to read twice.
TURNS = re.compile(
    r"unless told|so many times|told apart|\bwhatever\b|\bfor good\b|\bone a file\b", re.IGNORECASE
)


def sentences(text: str) -> Iterator[str]:
    """Sentences of running text; lists, tables, code and mathematics are none."""
    prose = re.sub(r"```.*?```|\$\$.*?\$\$", "", text, flags=re.DOTALL)
    for paragraph in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) |\n#+ ", prose):
        lines = paragraph.splitlines()
        if any(line.startswith(("|", "    ", "<")) or "  " in line.strip() for line in lines):
            continue
        yield from re.split(r"(?<=[.!?])[)*”\"]*\s+", " ".join(lines))


def docstrings(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


def too_long(text: str) -> list[str]:
    return [sentence for sentence in sentences(text) if len(sentence.split()) > MOST_WORDS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(HOUSE)))
def test_a_page_is_plain(page: Path) -> None:
    text = page.read_text()
    assert not TURNS.findall(text)
    assert not too_long(text)
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert not [
        line[:80] for line in prose.splitlines() if len(line) > WIDEST_LINE and line[0] != "|"
    ]


def test_docstrings_are_plain() -> None:
    found = [
        f"{module.relative_to(HOUSE)}: {reason}"
        for module in MODULES
        for text in docstrings(module)
        for reason in [*too_long(text), *TURNS.findall(text)]
    ]
    assert not found


def test_a_long_sentence_and_a_turn_are_found() -> None:
    assert too_long("One. " + "word " * (MOST_WORDS + 1) + "end. Two.")
    assert not too_long("```\n" + "word " * 50 + "\n```\n| " + "word " * 50)
    assert TURNS.search("Whatever it is")
