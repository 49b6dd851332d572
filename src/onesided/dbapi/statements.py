"""What a statement says beside its SELECT: options in comments, and parameters by name.

    SELECT room, COUNT(DISTINCT device, day) FROM data GROUP BY room  /* epsilon=0.1 max_groups=4 */

A comment is read where it begins with an option; every other one is left to the parser. Quotes are
respected: a comment within a literal is a part of the literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onesided.errors import RequestError
from onesided.language.tree import Value
from onesided.spelling import meant

_PIECES = re.compile(
    r"(?P<quoted>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")"
    r"|(?P<comment>/\*.*?\*/|--[^\n]*)"
    r"|(?P<cast>::)"
    r"|:(?P<name>[A-Za-z_]\w*)",
    re.DOTALL,
)
_OPTION = re.compile(r"([A-Za-z_]+)(?:\.(\w+|\"[^\"]+\"))?\s*=\s*([^\s,]+)")
_PAIRS = re.compile(rf"{_OPTION.pattern}(?:[\s,]+{_OPTION.pattern})*[\s,]*")
_BY_COLUMN = ("bounds", "grid")
_WHOLE = ("max_rows", "max_values")
_WORDS = ("mechanism",)
EPSILON, MAX_GROUPS = "epsilon", "max_groups"
OPTIONS = (EPSILON, MAX_GROUPS, *_WHOLE, *_WORDS, *_BY_COLUMN)
"""What a comment, or the address of a connection, may say; `bounds` and `grid` of a column each."""


@dataclass(frozen=True)
class Said:
    """A statement as it is asked, and what was said beside it.

    - `text`: without the comments that were read, and with `?` for each parameter.
    - `options`: arguments of `Dataset.sql`, among them perhaps its `epsilon`.
    """

    text: str
    parameters: tuple[Value, ...]
    options: Mapping[str, Any] = field(default_factory=dict)


def said(operation: str, parameters: Sequence[Value] | Mapping[str, Value]) -> Said:
    """Read a statement; `parameters` that it does not name may hold its ε."""
    named = parameters if isinstance(parameters, Mapping) else None
    values: list[Value] = []
    options: dict[str, Any] = {}
    pieces: list[str] = []
    last = 0
    for found in _PIECES.finditer(operation):
        pieces.append(operation[last : found.start()])
        last = found.end()
        name, comment = found["name"], found["comment"]
        if comment is not None and (read := _options_in(comment)) is not None:
            options = joined(options, read, once=True)
            pieces.append(" ")
        elif name is not None and named is not None:
            if name not in named:
                raise RequestError(f"There is no parameter {name!r}{meant(name, named)}.")
            values.append(named[name])
            pieces.append("?")
        else:
            pieces.append(found[0])
    pieces.append(operation[last:])
    if named is not None and EPSILON in named and not _names(operation, EPSILON):
        options = joined(options, {EPSILON: named[EPSILON]}, once=True)
    # A sequence is for the `?` of the statement, in their order.
    given = tuple(values) if isinstance(parameters, Mapping) else tuple(parameters)
    return Said("".join(pieces).strip().rstrip(";"), given, options)


def joined(
    options: Mapping[str, Any], others: Mapping[str, Any], *, once: bool = False
) -> dict[str, Any]:
    """Both together; of the same option `others` count, unless it may be said `once` only."""
    result = dict(options)
    for name, value in others.items():
        if name in _BY_COLUMN and name in result and value is not None:
            value = {**(result[name] or {}), **value}
        elif once and name in result:
            raise RequestError(f"A statement says its {name} twice; say it once.")
        result[name] = value
    return result


def options_of(pairs: Iterator[tuple[str, str]]) -> dict[str, Any]:
    """Options from their texts, such as those of an address; a column stands behind a point."""
    options: dict[str, Any] = {}
    for name, text in pairs:
        option, _, column = name.partition(".")
        options = joined(options, {option: _value(option, column or None, text)}, once=True)
    return options


def _options_in(comment: str) -> dict[str, Any] | None:
    """The options of a comment; None where it is a comment like any other."""
    # Tools that take comments away leave those that are meant for a database: /*+ … */.
    inside = comment[2:-2].removeprefix("+") if comment.startswith("/*") else comment[2:]
    first = _OPTION.match(inside.strip())
    if first is None or first[1] not in OPTIONS:
        return None
    if _PAIRS.fullmatch(inside.strip()) is None:
        raise RequestError(
            "Options in a comment are written like /* epsilon=0.1 max_groups=4 bounds.paid=100 */."
        )
    pairs = _OPTION.findall(inside)
    return options_of(
        (f"{name}.{column}" if column else name, text) for name, column, text in pairs
    )


def _value(option: str, column: str | None, text: str) -> Any:
    """What an option says, as the argument of its name."""
    if option not in OPTIONS:
        raise RequestError(
            f"There is no option {option!r}{meant(option, OPTIONS)}; there are: "
            f"{', '.join(OPTIONS)}."
        )
    if (option in _BY_COLUMN) != (column is not None):
        raise RequestError(f"{option} is said like {option}.paid=100 for each column.")
    if column is not None:
        low, mark, high = text.partition(":")
        return {column.strip('"'): (low, high) if mark and option == "bounds" else text}
    if option in _WHOLE or (option == MAX_GROUPS and text != "auto"):
        if not (text.isascii() and text.isdigit()):
            raise RequestError(f"{option} is a whole number, such as 4.")
        return int(text)
    return text


def _names(operation: str, name: str) -> bool:
    return any(found["name"] == name for found in _PIECES.finditer(operation))
