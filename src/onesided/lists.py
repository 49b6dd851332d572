"""Lists that somebody typed: names and keys with commas."""

from __future__ import annotations


def split_list(text: str) -> list[str]:
    """The parts between commas outside parentheses and quotes: `room,bucket(age, 10)`."""
    parts, depth, quote, start = [], 0, "", 0
    for index, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
        else:
            depth += (letter == "(") - (letter == ")")
    parts.append(text[start:])
    return [part.strip() for part in parts]


def unquoted(name: str) -> str:
    """A name without the double quotes around it."""
    if len(name) > 2 and name[0] == name[-1] == '"':
        return name[1:-1].replace('""', '"')
    return name
