"""Names that some engine could take for something else: words, marks, blanks, patterns."""

from __future__ import annotations

import random
import unicodedata

#: Words that one of the engines reserves, or has a column or a function of.
WORDS = (
    *("select", "order", "GROUP", "user", "table", "from", "null", "TRUE", "end", "case", "all"),
    *("natural", "offset", "lateral", "array", "binary", "default", "window", "using", "values"),
    *("rowid", "filename", "file_row_number", "ctid", "xmin", "tableoid", "oid", "_metadata"),
    *(
        "current_date",
        "current_user",
        "interval",
        "timestamp",
        "date",
        "hour",
        "bucket",
        "coalesce",
    ),
    *(
        "count",
        "value",
        "data",
        "index",
        "columns",
        "exclude",
        "replace",
        "osd",
        "osdt",
        "_c0",
        "id",
    ),
    *("0", "1e3", "-1", "NaN", "NULL", "nan", "1970-01-01", "key", "rows", "part", "min", "sum"),
)
PIECES = (
    *(
        "a",
        "B",
        "z9",
        "ß",
        "é",
        "e\u0301",
        "ﬁ",
        "中文",
        "😀",
        "Ω",
        "ı",
        "İ",
        "\u05d0",
        "\U0010fffd",
    ),
    *("'", '"', "`", "''", '""', "[", "]", "[1]", "(", ")", "{}", "{x}", "${x}", "$", "$1", "$$"),
    *("%", "%s", "%20", "%(a)s", "*", "**", "?", ":", ":a", "=", "a=b", ",", ";", "|", "&", "!"),
    *("#", "--", "/*", "*/", "\\", "\\n", "\\x41", ".", "..", "@", "~", "^", "<b>", "+", "/", "_"),
    *(" ", "  ", "\t", "\n", "\r\n", "\v", "\x01", "\x7f", "\x1b[1m", "\u200b", "\u202e", "\ufeff"),
    *("\u2028", "\xa0", "\x85", "\x00", "x" * 70, "é" * 40),
)


class Names:
    """Names from a seed; the same ones for the same seed."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def column(self) -> str:
        """The name of a column or table: a word, or some pieces."""
        if self.dice.random() < 0.35:
            word = self.dice.choice(WORDS)
            return self.dice.choice((word, word.upper(), word.capitalize()))
        return "".join(self.dice.choices(PIECES, k=self.dice.choice((1, 1, 2, 2, 3, 4))))

    def columns(self, count: int) -> list[str]:
        """Different names; seldom two that only look alike."""
        found: dict[str, str] = {}
        while len(found) < count:
            name = self.column()
            found.setdefault(_plain(name), name)
        names = list(found.values())
        if self.dice.random() < 0.15:
            names[-1] = names[0].swapcase()
        return names if len(set(names)) == count else self.columns(count)

    def file(self) -> str:
        """A name that a file may have, without its ending."""
        name = self.column().replace("/", "").replace("\0", "")
        return name.encode()[:200].decode(errors="ignore").strip(".") or "x"


def _plain(name: str) -> str:
    """What no comparison of an engine tells apart, or a little less."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())
