"""The texts that every version of sqlglot must read alike, and the file with their trees.

After a change of the language write the file anew, with a version that is tested:
`python tests/support/parse_vectors.py`.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

FILE = Path(__file__).parents[2] / "src" / "onesided" / "language" / "vectors.json"

COMPARISONS = ("=", "<>", "!=", "<", "<=", ">", ">=", "is distinct from", "is not distinct from")
VALUES = (
    *("17", "-5", "1.5", ".5", "017", "'text'", "'it''s'", "'a\\b'", "null", "true"),
    *("date '2024-02-29'", "timestamp '2024-02-29 23:59:59.123456'", "'2024-02-29'::date"),
)
CONDITIONS = ("a = 1", "not b", "c is null", "d in (1, 2)", "e like 'x%'", "f between 1 and 2")
FUNCTIONS = (
    *("hour(ts)", "minute(ts)", "weekday(ts)", "date(ts)", "day(ts)", "month(ts)", "quarter(ts)"),
    *("year(ts)", "extract(hour from ts)", "extract(isodow from ts)", "date_trunc('month', ts)"),
    *("bucket(x, 10)", "floor(x / 10) * 10", "lower(x)", "upper(x)", "trim(x)", "left(x, 3)"),
    *("substring(x, 1, 3)", "substr(x, 2)", "coalesce(x, y, 0)", "coalesce(x)", "abs(x)"),
    *("floor(x)", "ceil(x / 10)", "round(x)", "round(x, 2)", "least(x, y, 1)", "greatest(x, 1)"),
    *("cast(x as varchar)", "x::text", "x || '-' || y", "(x || y) || z", "concat(x, 1, y)"),
    *("split_part(x, '.', 1)", "split_part(x, y, 1)", "strftime(ts, '%Y-%m')", "dayname(d)"),
    *("monthname(d)", "week(d)", "extract(doy from d)", "epoch(ts)", "epoch_us(ts)"),
    *("extract(epoch from (a - b))", "date_diff('day', a, b)", "datediff('hour', a, b)"),
    *("ts + interval 1 hour", "ts - interval '7 days'", "d + interval '1 month'", "d - 7"),
    *("date '2024-01-31' + interval 1 month", "nullif(x, 0)", "if(x, 1, 2)", "x::double"),
    *("x::timestamp", "floor(x / 10) * 5", "5 * floor(x / 5)", "try_cast(x as int)"),
    *("case when x then 1 else 2 end", "case x when 1 then 'a' when 2 then 'b' end"),
)
ARITHMETIC = ("+", "-", "*", "/", "//", "%", "||", "**", "^", "&", "|", "<<", ">>", "->", "->>")
CASTS = (
    *("cast(a as int)", "a::int", "try_cast(a as date)", "'1'::int", "date '2024-13-01'"),
    *("timestamp '2024-02-29T08:30:00.5'", "interval '1' day", "time '08:00'", "date 'x'"),
)
TESTS = (
    *("a is true", "a is not true", "a is false", "a is not false", "a isnull", "a notnull"),
    *("a is unknown", "a in ()", "a not in (1, null)", "not a in (1)", "a in (select 1)"),
    *("a like 'x'", "a not like '_'", "a ilike 'X%'", "a like 'x' escape '!'", "a ~ 'x'"),
    *("a similar to 'x'", "a glob 'x*'", "a between 1 and 2 and b", "a between symmetric 2 and 1"),
    *("a not between 1 and 2", "a = any(b)", "a = all(b)", "exists (select 1)", "(a, b) = (1, 2)"),
)
BINDING = (
    *("a or b and c", "(a or b) and c", "not a and b", "not (a and b)", "not a = 1", "not not a"),
    *("a = b = c", "a < b < c", "a = not b", "a = (not b)", "a = b is null", "(a = b) is null"),
    *("a + b * c = 1", "(a + b) * c = 1", "a - b - c = 1", "a - (b - c) = 1", "-a * b = 1"),
    *("- -a = 1", "-(-a) = 1", "a - -1 = 1", "a = -1 + 2", "a + 1 between 1 and 2 + 3"),
    *("a and b and c and d", "a or b or c or d", "a is null = b", "a like 'x' = b", "a xor b"),
)
NAMES = (
    *('"Some Room" = 1', '"a""b" = 1', '"select" = 1', "select = 1", "order = 1", "people.a = 1"),
    *("a.b.c = 1", '"é" = 1', "é = 1", "_a1 = 1", "1a = 1", "`a` = 1", "[a] = 1", "a$b = 1"),
    *("date = 1", "hour = 1", "value = 1", "left = 1", "case = 1", "end = 1", "day = 1", "@a = 1"),
    *("? = 1", "$1 = 1", ":a = 1", "* = 1", "a.* = 1", "columns(*) = 1"),
)
SPELLINGS = (
    *("a <= 1 -- why", "a /* why */ <= 1", "a <= 1;", "a <= 1; select 1", "a <= 1 from t", ""),
    *("a <= 1 as b", "a, b", "a <= 1 group by a", "a <= 1 limit 1", "((a)) <= ((1))", "A <= 1"),
    *("1e3 = a", "0x1F = a", "1_000 = a", "E'x' = a", "$$x$$ = a", "x'ff' = a", "b'1' = a"),
    *("'a' 'b' = c", "N'x' = a", "U&'x' = a", "99999999999999999999 = a", "a = 1.0000000000000001"),
    *("a == 1", "a <=> 1", "a !> 1", "a := 1", "a = 'x\ny'", "\ta\n=\n1", "a=1and b=2", "a = +1"),
)
CALLS = (
    *("now()", "random() < 1", "current_date = d", "read_text('x') = 'y'", "getenv('x') = 'y'"),
    *("count(a) = 1", "sum(a) over () = 1", "row_number() over () = 1", "regexp_matches(a, 'x')"),
    *("len(a) = 1", "list_contains(a, 1)", "a[1] = 1", "struct_pack(a := 1) = b", "x -> x + 1"),
    *("if(a, b, c)", "ifnull(a, 1) = 1", "nullif(a, 1) = 1", "greatest(a, 1) = 1", "md5(a) = 'x'"),
    *("hash(a) = 1", "uuid() = a", "typeof(a) = 'x'", "lower(a, b) = 'x'", "hour() = 1"),
    *(
        "hour(a, b) = 1",
        "bucket(a) = 1",
        "bucket(a, 0) = 1",
        "bucket(a, 1.5) = 1",
        "LOWER(a) = 'x'",
    ),
)


def texts() -> list[str]:
    """All texts, in a fixed order."""
    made = [f"a {sign} {value}" for sign, value in product(COMPARISONS[:4], VALUES)]
    made += [f"a {sign} b" for sign in COMPARISONS]
    made += [
        f"{one} {word} {two}"
        for one, word, two in product(CONDITIONS[:3], ("and", "or"), CONDITIONS)
    ]
    made += [f"not ({one})" for one in CONDITIONS]
    made += [f"{call} = 1" for call in FUNCTIONS]
    made += [f"a {sign} b = 1" for sign in ARITHMETIC]
    for group in (CASTS, TESTS, BINDING, NAMES, SPELLINGS, CALLS):
        made += group
    return list(dict.fromkeys(made))


def written() -> str:
    """The file as it should be."""
    from onesided.language.parser import tree_of
    from onesided.language.tested import digest

    known = {text: digest(text, tree_of) for text in texts()}
    return json.dumps(known, indent=0, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
