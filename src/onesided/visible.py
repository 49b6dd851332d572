"""Text that came from data, policies or names, shown so that nothing in it acts.

A terminal obeys control characters, and what turns the direction of writing around makes a text
read as another one. Both are written out, `\\x1b` for an escape. Nothing else changes.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

#: They hold the letters of many scripts together, and Python does not call them printable.
_JOINERS = "\u200c\u200d"
#: Outside of its texts a JSON document has printable ASCII and line ends alone.
_BEYOND_ASCII = re.compile("[\x7f-\U0010ffff]")


def visible(text: str) -> str:
    """`text` in one line, with every letter that would act or hide written out."""
    if text.isprintable():
        return text
    return "".join(each if _is_harmless(each) else _written_out(each) for each in text)


def json_text(
    content: Any, *, sort_keys: bool = False, default: Callable[[Any], Any] | None = None
) -> str:
    """`content` as indented JSON in which no letter acts; it reads back as what it was."""
    text = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=sort_keys, default=default)
    return _BEYOND_ASCII.sub(lambda found: _in_json(found[0]), text)


def _in_json(letter: str) -> str:
    return letter if _is_harmless(letter) else json.dumps(letter)[1:-1].replace("\x7f", "\\u007f")


def _is_harmless(letter: str) -> bool:
    return letter.isprintable() or letter in _JOINERS or unicodedata.category(letter) == "Zs"


def _written_out(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
