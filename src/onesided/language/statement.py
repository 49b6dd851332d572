"""The text of a statement before it is parsed: one SELECT, its question marks filled in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import sqlglot
from sqlglot.tokenizer_core import TokenType

from onesided.errors import RequestError
from onesided.language.canonical import literal_text
from onesided.language.literals import in_utc
from onesided.language.parser import DIALECT, MAX_LENGTH
from onesided.language.tree import Value
from onesided.language.types import MAX_DIGITS

_NO_VALUE = (
    "A value for ? is a finite number, text, boolean, date, time or None; a number has at most "
    f"{MAX_DIGITS} digits, and a time at most microseconds."
)
_WORDS = {
    TokenType.FROM: "Write the SELECT first and FROM after it.",
}


def prepared(text: str, parameters: Sequence[Value]) -> str:
    """`text` with each `?` outside quotation marks replaced by the next parameter's literal.

    Anything but one SELECT is refused here: the parser would complain aloud about some of it.
    """
    _check(text)
    tokens = _tokens(text)
    first = tokens[0].token_type if tokens else TokenType.SEMICOLON
    if first not in (TokenType.SELECT, TokenType.WITH):
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
    # A space on both sides, so that it cannot grow together with what stands beside it.
    changes = [
        (mark.start, mark.end + 1, f" {_literal(value)} ")
        for mark, value in zip(marks, parameters, strict=True)
    ]
    return _changed(text, [*changes, *_top(tokens)])


def _changed(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """`text` with each part from a start to an end replaced."""
    pieces, done = [], 0
    for start, end, new in sorted(changes):
        pieces += [text[done:start], new]
        done = end
    return "".join([*pieces, text[done:]])


def _top(tokens: Sequence[Any]) -> list[tuple[int, int, str]]:
    """SELECT TOP 5 … as SELECT … LIMIT 5, where the first SELECT says it."""
    words = [token.text.upper() for token in tokens]
    place = 2 if words[1:2] == ["DISTINCT"] else 1
    if words[0] != "SELECT" or words[place : place + 1] != ["TOP"]:
        return []
    size = 3 if words[place + 1 : place + 2] == ["("] else 1
    number = words[place + 1 + size // 2 : place + 2 + size // 2]
    if not number or not number[0].isdigit() or place + size >= len(tokens):
        return []
    ends = [token.start for token in tokens if token.token_type is TokenType.SEMICOLON]
    after = tokens[-2].end + 1 if ends else tokens[-1].end + 1
    return [
        (tokens[place].start, tokens[place + size].end + 1, ""),
        (after, after, f" LIMIT {number[0]}"),
    ]


def _tokens(text: str) -> list[Any]:
    try:
        return list(sqlglot.tokenize(text, read=DIALECT))
    except Exception:  # an unfinished string or comment
        raise RequestError("The statement is not valid SQL; check quotation marks.") from None


def _literal(value: Value) -> str:
    """The text of a literal with exactly this value; what the language cannot say is refused."""
    match value:
        case None | bool():
            return literal_text(value)
        case str():
            _check_letters(value, "A text for ?")
            return literal_text(value)
        case datetime():
            return literal_text(_moment(value))
        case date():
            return literal_text(value)
        case int() | float() | Decimal():
            return _number(value)
        case _:
            raise RequestError(_NO_VALUE)


def _number(value: int | float | Decimal) -> str:
    # A float means the decimal that it prints; float() takes NumPy's type away, whose repr differs.
    number = Decimal(repr(float(value))) if isinstance(value, float) else value
    if isinstance(number, Decimal):
        # Its size comes first: an exponent makes a few letters a text that fills the memory.
        known = number.is_finite() and abs(number.adjusted()) <= MAX_DIGITS
    else:
        known = abs(number) < 10**MAX_DIGITS
    if not known:
        raise RequestError(_NO_VALUE)
    return literal_text(number)


def _moment(value: datetime) -> datetime:
    """In UTC, which is what timestamps are here."""
    try:
        # A missing time of pandas is a datetime too, and its nanoseconds are finer than ours.
        if value == value and not getattr(value, "nanosecond", 0):
            return in_utc(datetime.combine(value.date(), value.timetz()))
    except (ValueError, OverflowError):
        pass
    raise RequestError(_NO_VALUE)


def _check(text: str) -> None:
    if not isinstance(text, str) or not text.strip():
        raise RequestError("Ask a SELECT; the statement is empty.")
    _check_letters(text, "A statement")


def _check_letters(text: str, whole: str) -> None:
    if len(text) > MAX_LENGTH:
        raise RequestError(f"{whole} has at most {MAX_LENGTH} characters; shorten it.")
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise RequestError(f"{whole} is Unicode text without NUL characters; remove them.")
