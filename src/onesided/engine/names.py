"""Names of columns, which must stay distinct however an engine compares them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from onesided.engine.sql import RESERVED_PREFIX
from onesided.errors import SourceError


def check_names(names: Sequence[str], called: str) -> None:
    """Refuse names that some comparison takes for one another, or that the statements need.

    Engines look at capitals, blanks or the Unicode form in different ways, and some rename what
    they find twice. A policy could then read another column than the one it names.

    - `called`: what has these names, for the sentence.
    """
    known: dict[str, str] = {}
    for name in names:
        if not _is_text(name):
            raise SourceError(
                f"{called} has a column whose name is not UTF-8 or has a NUL in it; rename it."
            )
        folded = folded_name(name)
        if folded in known:
            raise SourceError(
                f"{called} has columns whose names some engines cannot distinguish: "
                f"{known[folded]!r} and {name!r}; rename one of them."
            )
        if folded.startswith(RESERVED_PREFIX):
            raise SourceError(
                f"A column name starts with {RESERVED_PREFIX}, which is reserved; rename it."
            )
        known[folded] = name


def folded_name(name: str) -> str:
    """What is left of a name without capitals, blanks, invisible letters and Unicode forms."""
    text = unicodedata.normalize("NFKC", name).casefold()
    text = unicodedata.normalize("NFKC", text)
    return "".join(letter for letter in text if _is_visible(letter))


def _is_visible(letter: str) -> bool:
    return not letter.isspace() and unicodedata.category(letter) not in ("Cc", "Cf")


def _is_text(name: str) -> bool:
    """Whether every engine has room for the name: PostgreSQL has no NUL, and Arrow ends there."""
    try:
        return b"\0" not in name.encode()
    except UnicodeEncodeError:
        return False
