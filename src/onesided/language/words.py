"""Names in the canonical text: bare where that is unambiguous, otherwise in double quotes."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def quoted(text: str, mark: str) -> str:
    """`text` between quotation marks, those inside it doubled."""
    return f"{mark}{text.replace(mark, mark * 2)}{mark}"


def spelled(name: str) -> str:
    """A column name as the canonical text spells it."""
    if _PLAIN.fullmatch(name) and not _is_keyword(name):
        return name
    return quoted(name, '"')


def _is_keyword(name: str) -> bool:
    # The parser knows its own keywords best; it is loaded here only where it is in use anyway.
    from onesided.language.parser import is_keyword

    return is_keyword(name)
