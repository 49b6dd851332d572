"""The text of a statement before it is parsed: one SELECT, its question marks filled in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import sqlglot
from sqlglot.tokenizer_core import TokenType

from onesided.errors import RequestError
from onesided.language.canonical import literal_text
from onesided.language.parser import DIALECT, MAX_LENGTH
from onesided.language.tree import Value

_WORDS = {
    TokenType.WITH: "A WITH clause is not allowed: ask one SELECT of the data set itself.",
    TokenType.FROM: "Write the SELECT first and FROM after it.",
}


def prepared(text: str, parameters: Sequence[Value]) -> str:
    """`text` with each `?` outside quotation marks replaced by the next parameter's literal.

    Anything but one SELECT is refused here: the parser would complain aloud about some of it.
    """
    _check(text)
    tokens = _tokens(text)
    first = tokens[0].token_type if tokens else TokenType.SEMICOLON
    if first is not TokenType.SELECT:
        raise RequestError(_WORDS.get(first, "Only a SELECT is answered; ask one."))
    ends = [place for place, each in enumerate(tokens) if each.token_type is TokenType.SEMICOLON]
    if ends and ends[0] != len(tokens) - 1:
        raise RequestError("Ask one statement at a time; remove the semicolon and what follows.")
    marks = [each for each in tokens if each.token_type is TokenType.PLACEHOLDER]
    if len(marks) != len(parameters):
        raise RequestError(
            f"The question marks in the statement are {len(marks)} and the values for them "
            f"{len(parameters)}; give each its value."
        )
    pieces, start = [], 0
    for mark, value in zip(marks, parameters, strict=True):
        # A space on both sides, so that it cannot grow together with what stands beside it.
        pieces += [text[start : mark.start], f" {_literal(value)} "]
        start = mark.end + 1
    return "".join([*pieces, text[start:]])


def _tokens(text: str) -> list[Any]:
    try:
        return list(sqlglot.tokenize(text, read=DIALECT))
    except Exception:  # an unfinished string or comment
        raise RequestError("The statement is not valid SQL; check quotation marks.") from None


def _literal(value: Value) -> str:
    if isinstance(value, float):
        value = Decimal(repr(value))
    known = value is None or isinstance(value, bool | int | Decimal | str | date)
    if not known or (isinstance(value, Decimal) and not value.is_finite()):
        raise RequestError("A value for ? is a finite number, text, boolean, date, time or None.")
    return literal_text(value)


def _check(text: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise RequestError("Ask a SELECT; the statement is empty.")
    if len(text) > MAX_LENGTH:
        raise RequestError(f"A statement has at most {MAX_LENGTH} characters; shorten it.")
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise RequestError("A statement is Unicode text without NUL characters; remove them.")
