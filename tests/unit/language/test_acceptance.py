"""What a predicate may say, what it may not, and how it is spelt in the end."""

from __future__ import annotations

import pytest

from onesided.errors import PolicyError
from onesided.language import Key, Predicate, parse_key
from onesided.language.parser import MAX_DEPTH, MAX_LENGTH

ACCEPTED = {
    "age<=17": "age <= 17",
    "age <= 17.0": "age <= 17",
    "((age)) <= (17)": "age <= 17",
    "age != 017": "age <> 17",
    "price > 1.50": "price > 1.5",
    "price > .5": "price > 0.5",
    "-5 < age": "-5 < age",
    "age - -5 > - (5)": "age - -5 > -5",
    "age = -9223372036854775808": "age = -9223372036854775808",
    "-(-age) = -(age + 1)": "-(-age) = -(age + 1)",
    "a - (b - c) = a - b - c": "a - (b - c) = a - b - c",
    "a * (b + c) = (a * b) + c": "a * (b + c) = a * b + c",
    "a and (b and c) or (d or e)": "a AND b AND c OR d OR e",
    "a and (b or c)": "a AND (b OR c)",
    "not a": "NOT a",
    "not (a = 1)": "NOT (a = 1)",
    "NOT a = 1": "NOT (a = 1)",
    "not not a": "NOT (NOT a)",
    "room in ('a', 'it''s', null)": "room IN ('a', 'it''s', NULL)",
    "not (room in ('a'))": "room NOT IN ('a')",
    "room not in ('a')": "room NOT IN ('a')",
    "age between 1 and 2 and b": "age BETWEEN 1 AND 2 AND b",
    "age not between 1 and 2": "age NOT BETWEEN 1 AND 2",
    "a is null or a is not null": "a IS NULL OR a IS NOT NULL",
    "a isnull or a notnull": "a IS NULL OR a IS NOT NULL",
    "a is true or a is not false": "a IS TRUE OR a IS NOT FALSE",
    "a is distinct from 3": "a IS DISTINCT FROM 3",
    "a is not distinct from 3": "a IS NOT DISTINCT FROM 3",
    "(a = b) is null": "(a = b) IS NULL",
    "room like 'a%'": "room LIKE 'a%'",
    "room not like '_b'": "room NOT LIKE '_b'",
    "case when a then b else c end": "CASE WHEN a THEN b ELSE c END",
    "case a when 1 then true end": "CASE a WHEN 1 THEN TRUE END",
    "coalesce(a, FALSE)": "coalesce(a, FALSE)",
    "LOWER(room) = upper('x')": "lower(room) = upper('x')",
    "d >= date '2024-02-29'": "d >= DATE '2024-02-29'",
    "d >= '2024-02-29'::date": "d >= DATE '2024-02-29'",
    "ts < timestamp '2024-02-29'": "ts < TIMESTAMP '2024-02-29 00:00:00'",
    "ts < TIMESTAMP '2024-02-29T08:30:00.5'": "ts < TIMESTAMP '2024-02-29 08:30:00.500000'",
    "hour(ts) >= 8 and weekday(ts) <= 5": "hour(ts) >= 8 AND weekday(ts) <= 5",
    "date(ts) = date '2024-02-29'": "date(ts) = DATE '2024-02-29'",
    "bucket(age, 10) = 20": "bucket(age, 10) = 20",
    '"Some Room" = \'a\' and "age" = 1': "\"Some Room\" = 'a' AND age = 1",
    '"select" = 1 and "a""b" = 2': '"select" = 1 AND "a""b" = 2',
    "age <= 17 -- minors": "age <= 17",
    "age /* years */ <= 17": "age <= 17",
    "room = '-- no comment'": "room = '-- no comment'",
    "room = 'a\\b'": "room = 'a\\b'",
    "TRUE": "TRUE",
    "NULL": "NULL",
    "@age = abs( age )": "abs(age) = abs(age)",
    "ROUND(age) = CEILING(age) ": "round(age) = ceil(age)",
    "age::int = try_cast(age as bigint)": "CAST(age AS BIGINT) = CAST(age AS BIGINT)",
    "age::text = '1'": "CAST(age AS VARCHAR) = '1'",
    "a || (b || 'c') = 'x'": "(a || b || 'c') = 'x'",
    "concat(a, b) = 'x'": (
        "(coalesce(CAST(a AS VARCHAR), '') || coalesce(CAST(b AS VARCHAR), '')) = 'x'"
    ),
    "ts > t + INTERVAL 2 HOURS": "ts > t + INTERVAL '7200 seconds'",
    "d < DATE '2024-01-31' + INTERVAL '1 month'": "d < TIMESTAMP '2024-02-29 00:00:00'",
    "extract(epoch from (a - b)) > 5": "epoch_between(a, b) > 5",
    "datediff('DAY', a, b) > 5": "date_diff('day', a, b) > 5",
    "floor(age / 10) * 5 = 1": "floor(age / 10) * 5 = 1",
    "if(a, b, c)": "CASE WHEN a THEN b ELSE c END",
}

REFUSED = {
    "": "empty",
    "   ": "empty",
    "age <=": "not valid SQL",
    "age <= 17)": "not valid SQL",
    "room = 'a": "not valid SQL",
    "--5": "empty",
    "age <= 17; DROP TABLE t": "semicolon",
    "age <= 17 FROM visits": "FROM",
    "age <= 17 LIMIT 1": "LIMIT",
    "DISTINCT a": "DISTINCT",
    "a, b": "AND or OR",
    "a AS b": "alias",
    "a b": "alias",
    "a UNION SELECT b": "subquery",
    "age IN (SELECT 1)": "subquery",
    "(SELECT TRUE)": "subquery",
    "EXISTS (SELECT 1)": "subquery",
    "age = (SELECT max(age) FROM t)": "subquery",
    "random() < 0.5": "random()",
    "now() > ts": "now()",
    "current_date > d": "current_date",
    "read_text('x') = 'y'": "read_text()",
    "nextval('s') = 1": "nextval()",
    "uuid() = 'x'": "uuid()",
    "length(room) = 3": "length()",
    "main.lower(room) = 'a'": "not allowed",
    "count(a) > 1": "aggregate count()",
    "sum(a) OVER () > 1": "window function",
    "row_number() OVER () < 5": "window function",
    "lower(room) FILTER (WHERE a) = 'x'": "not allowed",
    "lower(DISTINCT room) = 'x'": "not allowed",
    "age::text = 1": "mixes",
    "CAST('1' AS INTEGER) = age": "cast",
    "CAST(age AS DECIMAL(10, 2)) = 1": "cast",
    "round(age, 1) = 3": "not accepted",
    "concat(a, 1.5) = 'x'": "text",
    "split_part(a, b, 1) = 'x'": "written out",
    "split_part(a, '.', 0) = 'x'": "from 1",
    "strftime(ts, '%Q') = 'x'": "%Q",
    "strftime(ts, a) = 'x'": "pattern",
    "strftime(strftime(ts, '%Y'), '%Y') = 'x'": "of its kind",
    "date_diff('century', d, ts) = 1": "one of",
    "least(TRUE, FALSE)": "no order",
    "ts + INTERVAL '1' MONTH > ts": "different lengths",
    "ts + INTERVAL '90 years' > ts": "different lengths",
    "ts + INTERVAL '5000 weeks' > ts": "68 years",
    "DATE '9999-12-31' + INTERVAL '1 day' > ts": "beyond",
    "room ILIKE lower(room)": "literal pattern",
    "room LIKE 'a\\%'": "backslash",
    "room LIKE 'a!%' ESCAPE '!'": "ESCAPE",
    "room LIKE pattern": "literal pattern",
    "room LIKE ANY ('a')": "literal pattern",
    "room SIMILAR TO 'a'": "regular expression",
    "room ~ 'a'": "regular expression",
    "room GLOB 'a'": "regular expression",
    "age // 2 = 1": "Division",
    "age % 2 = 1": "Division",
    "age ^ 2 = 4": "pow",
    "age & 1 = 1": "not allowed",
    "~age = 1": "not allowed",
    "room = 'a' 'b'": "Joining",
    "age = ?": "parameter",
    "age = $1": "parameter",
    "age = ANY(ARRAY[1])": "not allowed",
    "age IN other": "list of literals",
    "age IN (other)": "literals only",
    "age IN ()": "list of literals",
    "(age, b) = (1, 2)": "row of several values",
    "age BETWEEN SYMMETRIC 2 AND 1": "symmetric",
    "a < b < c": "parentheses",
    "a = NOT b": "parentheses",
    "a IN (1) IS NULL": "parentheses",
    "*": "star",
    "visits.*": "star",
    "a.b.c = 1": "one table name",
    "points[1] = 1": "not allowed",
    "{'a': 1} = b": "not allowed",
    "x -> x": "not allowed",
    "list_filter(l, x -> x > 1)": "list_filter",
    "COLUMNS('x') = 1": "star",
    "age = 1e3": "digits and at most one point",
    "age = 0x1F": "alias",
    "x = E'a\\n'": "not allowed",
    "x = $$a$$": "not allowed",
    "age = 123456789012345678901234567890123456789": "at most 38 digits",
    "d = DATE '2023-02-29'": "no date",
    "d = DATE '24-1-1'": "no date",
    "d = DATE 'today'": "no date",
    "d = DATE 'infinity'": "no date",
    "ts = TIMESTAMP '2024-01-01 00:00+01'": "without a zone",
    "ts = TIMESTAMP '2024-01-01 00:00:00.1234567'": "no point in time",
    "ts = TIMESTAMPTZ '2024-01-01'": "cast",
    "t = TIME '10:00'": "cast",
    "extract(century FROM ts) = 1": "no such part",
    "year(date_trunc('day', ts)) = 1": "within each other",
    "substring(room, age, 2) = 'a'": "whole numbers",
    "date(ts, 'UTC') = d": "zone",
    "bucket(age, 0) = 0": "positive integer",
    "bucket(age, -1) = 0": "positive integer",
    "bucket(age, b) = 0": "positive integer",
    "bucket(age) = 0": "bucket()",
    "bucket(bucket(age, 2), 4) = 0": "within bucket",
    "weekday(ts, 1) = 0": "weekday()",
    "a IS 5": "IS is followed by",
    "room COLLATE nocase = 'x'": "not allowed",
    "ts AT TIME ZONE 'UTC' = ts": "not allowed",
    "age = 1 AND room = 'a\0b'": "NUL",
    "room = '\ud800'": "NUL",
    # Types, as far as literals tell them.
    "17": "condition",
    "'a'": "condition",
    "age + 1": "condition",
    "lower(room)": "condition",
    "age = 1 OR 17": "condition",
    "'a' < 3": "mixes",
    "age IN (1, 'a')": "mixes",
    "age + 'x' = 1": "integer",
    "age * 1.5": "condition",
    "-TRUE = 1": "integer",
    "lower(3) = 'a'": "text",
    "3 LIKE 'a'": "text",
    "hour(DATE '2024-01-01') = 1": "timestamp in hour()",
    "date('2024-01-01') = d": "timestamp or date in date()",
    "coalesce(1, 'a') = 1": "mixes",
    "TRUE = 1": "mixes",
    "d = '1.1.2024' OR DATE '2024-01-01' = '1.1.2024'": "mixes",
}


@pytest.mark.parametrize(("text", "canonical"), ACCEPTED.items())
def test_accepted_and_canonical(text: str, canonical: str) -> None:
    predicate = Predicate.parse(text)
    assert predicate.sql == canonical
    assert Predicate.parse(canonical) == predicate


@pytest.mark.parametrize(("text", "named"), REFUSED.items())
def test_refused_with_the_offending_part(text: str, named: str) -> None:
    with pytest.raises(PolicyError) as refusal:
        Predicate.parse(text)
    message = str(refusal.value)
    assert named.lower() in message.lower()
    assert message.endswith(".")
    assert "\n" not in message


@pytest.mark.parametrize(
    "text",
    [
        "(" * 4000 + "a" + ")" * 4000,
        "NOT " * 2000 + "a",
        "- " * 4000 + "a = 1",
        "CASE WHEN " * 500 + "a",
        "lower(" * 1200 + "a" + ")" * 1200 + " = 'a'",
        "+".join(["a"] * 4000) + " = 1",
        "a = 1 OR " * 2000 + "b",
        "[" * 4000,
        "x" * (MAX_LENGTH + 1),
    ],
)
def test_huge_texts_are_refused_not_fatal(text: str) -> None:
    with pytest.raises(PolicyError):
        Predicate.parse(text)


def test_long_lists_and_chains_are_accepted() -> None:
    numbers = ", ".join(str(number) for number in range(1500))
    assert Predicate.parse(f"age IN ({numbers})").columns == ("age",)
    assert Predicate.parse(" OR ".join(f"a = {n}" for n in range(900))).columns == ("a",)


def test_nesting_up_to_the_limit_is_accepted() -> None:
    text = "a" + " + a)" * (MAX_DEPTH - 4) + " = 1"
    assert Predicate.parse("(" * (MAX_DEPTH - 4) + text).columns == ("a",)


@pytest.mark.parametrize("text", [None, 17, b"age <= 17", ["age"]])
def test_only_text_is_a_predicate(text: object) -> None:
    with pytest.raises(PolicyError):
        Predicate.parse(text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "name", "column"),
    [
        ("room", "room", "room"),
        ('"date"', "date", "date"),
        ("HOUR( ts )", "hour(ts)", "ts"),
        ("weekday(ts)", "weekday(ts)", "ts"),
        ("date(ts)", "date(ts)", "ts"),
        ('bucket("my age",10)', 'bucket("my age", 10)', "my age"),
    ],
)
def test_group_keys(text: str, name: str, column: str) -> None:
    key = parse_key(text)
    assert (key.name, key.columns) == (name, (column,))
    if isinstance(key, Key) and "(" in name:
        assert parse_key(name) == key


@pytest.mark.parametrize("text", ["17", "hour(hour(ts))", "a, b", "lower('x')", "count(a)"])
def test_what_is_no_value_of_a_row_is_no_group_key(text: str) -> None:
    with pytest.raises(PolicyError):
        parse_key(text)
