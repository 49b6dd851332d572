"""Which SELECT is accepted and what it means: a table of each, and statements made at random."""

from __future__ import annotations

import logging
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onesided.errors import InputError, RequestError
from onesided.language import Key, Schema, Type
from onesided.language.query import (
    Aggregate,
    Catalogue,
    Join,
    Ordering,
    Output,
    Select,
    SelectFigure,
)
from onesided.language.select import parse_select
from onesided.language.tree import Literal

CATALOGUE = Catalogue(
    names=("visits", "data"),
    schema=Schema.of(
        {
            "device": Type.INTEGER,
            "day": Type.DATE,
            "ts": Type.TIMESTAMP,
            "room": Type.TEXT,
            "consent": Type.BOOLEAN,
            "paid": Type.FLOAT,
            "size": Type.INTEGER,
        }
    ),
    public={
        "rooms": Schema.of({"room": Type.TEXT, "building": Type.TEXT, "size": Type.INTEGER}),
        "days": Schema.of({"date": Type.DATE, "holiday": Type.BOOLEAN}),
    },
)
ROWS = SelectFigure(Aggregate.ROWS)
JOIN = "FROM visits v JOIN rooms r ON v.room = r.room"


def parse(text: str, *parameters: Any) -> Select:
    return parse_select(text, CATALOGUE, parameters)


def test_the_parts_of_a_statement() -> None:
    select = parse(
        "SELECT v.room AS r, hour(ts), COUNT(*) n, SUM(paid) FROM visits AS v "
        "WHERE consent AND v.size > 3 GROUP BY r, 2 HAVING n > 5 AND AVG(paid) < 2 "
        "ORDER BY n DESC, COUNT(DISTINCT (day, device)) LIMIT 10"
    )
    room, hour = Key.parse("room"), Key.parse("hour(ts)")
    paid = Key.parse("paid")
    total, mean = SelectFigure(Aggregate.SUM, value=paid), SelectFigure(Aggregate.MEAN, value=paid)
    units = SelectFigure(Aggregate.UNITS, ("day", "device"))
    assert select.outputs == (
        Output("r", '"osd_k0"', room),
        Output("hour(ts)", '"osd_k1"', hour),
        Output("n", '"osd_f0"'),
        Output("sum(paid)", '"osd_f1"'),
    )
    assert select.having == '("osd_f0") > 5 AND "osd_f2" < 2'
    assert select.keys == (room, hour)
    assert select.figures == (ROWS, total, mean, units)
    assert select.where is not None
    assert select.where.sql == "consent AND size > 3"
    assert select.order == (
        Ordering('("osd_f0")', descending=True, nulls_first=False),
        Ordering('"osd_f3"', descending=False, nulls_first=False),
    )
    assert select.sets == ((0, 1),)
    assert select.limit == 10


ALIKE = {
    "position": "SELECT room, COUNT(*) FROM visits GROUP BY 1",
    "data": "SELECT room, COUNT(*) FROM data GROUP BY room",
    "case": 'select ROOM, count(*) from "VISITS" group by Room',
    "qualified": "SELECT visits.room, COUNT(*) FROM visits GROUP BY visits.room",
    "alias": "SELECT v.room, COUNT(*) FROM data v GROUP BY room",
    "comment and end": "SELECT room, COUNT(*) /* all */ FROM visits GROUP BY (room); -- end",
}


@pytest.mark.parametrize("text", ALIKE.values(), ids=ALIKE)
def test_spellings_of_one_statement(text: str) -> None:
    plain = parse("SELECT room, COUNT(*) FROM visits GROUP BY room")
    select = parse(text)
    assert (select.keys, select.figures, select.where) == (plain.keys, plain.figures, None)


@pytest.mark.parametrize("spelling", ["device, day", "(device, day)", "(device), day"])
def test_units_are_counted_by_their_key(spelling: str) -> None:
    select = parse(f"SELECT COUNT(DISTINCT {spelling}) FROM visits")
    assert select.figures == (SelectFigure(Aggregate.UNITS, ("device", "day")),)


@pytest.mark.parametrize(
    "join",
    [
        "rooms USING (room)",
        "rooms ON visits.room = rooms.room",
        "ROOMS ON rooms.room = visits.room",
    ],
)
def test_a_public_table_adds_columns(join: str) -> None:
    select = parse(
        f"SELECT building, rooms.size, COUNT(*) FROM visits INNER JOIN {join} "
        "WHERE building <> 'A' AND rooms.room = 'lab' GROUP BY building, rooms.size"
    )
    assert select.joins == (Join("rooms", (("room", "room"),)),)
    assert [key.name for key in select.keys] == ["rooms.building", "rooms.size"]
    assert [output.name for output in select.outputs] == ["building", "size", "count(*)"]
    assert select.where is not None
    # The joined column has the same value on both sides and is the data's own.
    assert select.where.sql == "\"rooms.building\" <> 'A' AND room = 'lab'"
    assert "rooms.building" in CATALOGUE.joined(select.joins)
    assert "days.date" not in CATALOGUE.joined(select.joins)


def test_two_public_tables() -> None:
    select = parse(
        "SELECT holiday, building, COUNT(*) FROM visits v JOIN rooms USING (room) "
        "JOIN days d ON v.day = d.date GROUP BY holiday, building"
    )
    assert [join.on for join in select.joins] == [(("room", "room"),), (("day", "date"),)]


def test_subtotals_are_groupings_of_their_own() -> None:
    def sets(text: str) -> tuple[tuple[int, ...], ...]:
        return parse(f"SELECT COUNT(*) FROM visits GROUP BY {text}").sets

    assert sets("ROLLUP (room, day)") == ((0, 1), (0,), ())
    assert sets("CUBE (room, day)") == ((0, 1), (0,), (1,), ())
    assert sets("device, ROLLUP (room)") == ((0, 1), (0,))
    assert sets("GROUPING SETS ((room, day), (day), ())") == ((0, 1), (1,), ())
    assert sets("ROLLUP ((room, day), device)") == ((0, 1, 2), (0, 1), ())


def test_groups_without_a_figure_are_asked_for_themselves() -> None:
    plain = parse("SELECT DISTINCT room, day FROM visits")
    assert plain == parse("SELECT room, day FROM visits GROUP BY room, day")
    assert plain.figures == (SelectFigure(Aggregate.GROUPS),)


def test_what_is_shown() -> None:
    def shown(text: str) -> tuple[int | None, int]:
        select = parse(text)
        return select.limit, select.offset

    groups = "room FROM visits GROUP BY room"
    assert shown(f"SELECT {groups} LIMIT 3 OFFSET 2") == (3, 2)
    assert shown(f"SELECT {groups} OFFSET 2") == (None, 2)
    assert shown(f"SELECT {groups} FETCH FIRST 4 ROWS ONLY") == (4, 0)
    assert shown(f"SELECT {groups} OFFSET 1 ROWS FETCH NEXT ROW ONLY") == (1, 1)
    assert shown(f"SELECT TOP 5 {groups}; ") == (5, 0)
    assert shown("SELECT DISTINCT TOP (5) room FROM visits -- all") == (5, 0)


N = "COUNT(*) AS n"
SAME = {
    "rows that have a value": ("COUNT(room)", "COUNT(*) FILTER (WHERE room IS NOT NULL)"),
    "a number for each row": ("COUNT(1)", "COUNT(*) FILTER (WHERE 1 IS NOT NULL)"),
    "ones": ("SUM(1)", "COUNT(*)"),
    "ones under a condition": (
        "SUM(CASE WHEN consent THEN 1 ELSE 0 END)",
        "COUNT(*) FILTER (WHERE consent)",
    ),
    "count_if": ("COUNT_IF(consent)", "COUNT(*) FILTER (WHERE consent)"),
    "a value under a condition": (
        "SUM(CASE WHEN consent THEN paid END)",
        "SUM(paid) FILTER (WHERE consent)",
    ),
    "a condition in a condition": (
        "SUM(CASE WHEN consent THEN paid END) FILTER (WHERE size > 1)",
        "SUM(paid) FILTER (WHERE size > 1 AND consent)",
    ),
    "units under a condition": (
        "COUNT(DISTINCT CASE WHEN consent THEN device END)",
        "COUNT(DISTINCT device) FILTER (WHERE consent)",
    ),
}


@pytest.mark.parametrize(("one", "other"), SAME.values(), ids=SAME)
def test_a_condition_is_a_filter_wherever_it_stands(one: str, other: str) -> None:
    first, second = (parse(f"SELECT {each} AS n FROM visits") for each in (one, other))
    assert first == second


def test_figures_under_different_conditions_are_different() -> None:
    select = parse(
        "SELECT COUNT(*) FILTER (WHERE consent) * 100.0 / NULLIF(COUNT(*), 0) AS share, "
        "COUNT(*) FROM visits"
    )
    assert [figure.name for figure in select.figures] == [
        "count(*) FILTER (WHERE consent)",
        "count(*)",
    ]
    assert select.outputs[0].text == '"osd_f0" * 100.0 / NULLIF("osd_f1", 0)'


FLAT = {
    "with": f"WITH v AS (SELECT room, ts FROM visits WHERE consent) SELECT room, {N} FROM v "
    "WHERE hour(ts) > 8 GROUP BY room",
    "subquery": f"SELECT s.r AS room, {N} FROM (SELECT room AS r, hour(ts) AS h FROM visits "
    "WHERE consent ORDER BY 1) AS s WHERE s.h > 8 GROUP BY s.r",
    "everything": f"SELECT room, {N} FROM (SELECT * FROM visits WHERE consent) t "
    "WHERE hour(t.ts) > 8 GROUP BY 1",
    "twice": "WITH a AS (SELECT * FROM visits), b AS (SELECT room, ts AS t FROM a WHERE consent) "
    f"SELECT room, {N} FROM b WHERE hour(t) > 8 GROUP BY room",
}


@pytest.mark.parametrize("text", FLAT.values(), ids=FLAT)
def test_what_only_filters_and_chooses_is_written_out(text: str) -> None:
    plain = f"SELECT room, {N} FROM visits WHERE consent AND hour(ts) > 8 GROUP BY room"
    assert parse(text) == parse(plain)


@pytest.mark.parametrize(
    "text",
    [
        "FROM visits v, rooms r WHERE v.room = r.room AND consent",
        "FROM visits v CROSS JOIN rooms r WHERE consent AND r.room = v.room",
    ],
)
def test_tables_are_joined_by_comparisons_in_where(text: str) -> None:
    plain = "FROM visits v JOIN rooms r ON v.room = r.room WHERE consent"
    assert parse(f"SELECT COUNT(*) {text}") == parse(f"SELECT COUNT(*) {plain}")


def test_a_left_join_keeps_rows() -> None:
    (join,) = parse("SELECT COUNT(*) FROM visits LEFT JOIN rooms USING (room)").joins
    assert join.outer


def test_an_alias_may_be_called_as_a_column() -> None:
    select = parse(
        "SELECT room, SUM(paid) AS paid, COUNT(*) AS room_count FROM sales.visits "
        "GROUP BY room HAVING paid > 3 ORDER BY paid, room"
    )
    assert select.having == '("osd_f0") > 3'
    assert [term.text for term in select.order] == ['("osd_f0")', '"osd_k0"']


REFUSED = {
    "SELECT room FROM visits UNION ALL SELECT room FROM visits": "UNION of rows",
    "SELECT room FROM visits EXCEPT ALL SELECT room FROM visits": "EXCEPT of rows",
    "FROM visits SELECT COUNT(*)": "SELECT first",
    "SELECT COUNT(*) FROM visits WHERE device IN (SELECT 1)": "subquery",
    "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1)": "subquery",
    "SELECT (SELECT 1), COUNT(*) FROM visits": "subquery",
    "SELECT COUNT(*) OVER () FROM visits": "window",
    "SELECT room, COUNT(*) FROM visits GROUP BY room HAVING SUM(paid) OVER () > 1": "window",
    "SELECT COUNT(*) FROM visits QUALIFY 1 = 1": "QUALIFY",
    "SELECT MAX(paid) FILTER (WHERE consent) FROM visits": "single record",
    "SELECT MAX(paid) FROM visits": "MAX",
    "SELECT STDDEV(paid), COUNT(*) FROM visits": "STDDEV",
    "SELECT COUNT(* EXCLUDE room) FROM visits": "star",
    "SELECT SUM(DISTINCT paid) FROM visits": "DISTINCT",
    "SELECT SUM(COUNT(*)) FROM visits": "within each other",
    "SELECT SUM(paid) / read_text('x') FROM visits": "not allowed",
    "SELECT COUNT(*) + random() FROM visits": "not allowed",
    "SELECT CAST(COUNT(*) AS BLOB) FROM visits": "cast to a number",
    "SELECT SUM(paid, size) FROM visits": "not ",
    "SELECT * FROM visits": "sample",
    "SELECT DISTINCT room, COUNT(*) FROM visits": "GROUP BY",
    "SELECT DISTINCT ON (room) room FROM visits": "on is not",
    "SELECT room, COUNT(*) FROM visits": "GROUP BY",
    "SELECT random(), COUNT(*) FROM visits GROUP BY 1": "rand",
    "SELECT COUNT(*) FROM visits GROUP BY 1": "nor in WHERE or GROUP BY",
    "SELECT COUNT(*) FROM visits GROUP BY 'x'": "name a column",
    "SELECT COUNT(*) FROM visits GROUP BY 2": "position",
    "SELECT COUNT(*) FROM visits GROUP BY CUBE (room, day, ts, device, size, paid, consent)": "64",
    "SELECT room, COUNT(*) FROM visits GROUP BY room ORDER BY room LIMIT 10 PERCENT": "LIMIT",
    "SELECT room, COUNT(*) FROM visits GROUP BY room ORDER BY room LIMIT 1 + 1": "LIMIT",
    "SELECT room, COUNT(*) FROM visits GROUP BY room LIMIT 3 OFFSET -1": "OFFSET",
    "SELECT room, COUNT(*) FROM visits GROUP BY room ORDER BY paid": "GROUP BY",
    "SELECT COUNT(*) FROM visits HAVING room = 'x'": "GROUP BY",
    "SELECT COUNT(*) FROM visits HAVING (SELECT 1) = 1": "subquery",
    "SELECT COUNT(*) FROM visits WHERE COUNT(*) > 1": "aggregate",
    "SELECT COUNT(*) AS n FROM visits WHERE n > 1": "no column n",
    "SELECT COUNT(*) AS n, SUM(paid) AS N FROM visits": "one name",
    "SELECT COUNT(*) AS n, COUNT(room) AS n FROM visits": "one name",
    "SELECT COUNT(*)": "FROM",
    "SELECT COUNT(*) FROM elsewhere": "called visits",
    "SELECT COUNT(*) FROM (SELECT room FROM visits LIMIT 3)": "LIMIT in a subquery",
    "SELECT COUNT(*) FROM (SELECT upper(room) FROM visits)": "a name",
    "SELECT COUNT(day) FROM (SELECT room FROM visits) v": "no column day",
    "WITH v AS (SELECT room FROM visits) SELECT COUNT(*) FROM w": "called visits",
    "WITH v AS (SELECT * FROM visits) INSERT INTO visits SELECT * FROM v": "Only a SELECT",
    "SELECT COUNT(*) FROM read_csv('x.csv')": "(?i)read_csv",
    "SELECT COUNT(*) FROM 'x.csv'": "called visits",
    "SELECT COUNT(*) FROM visits TABLESAMPLE 10%": "TABLESAMPLE",
    "SELECT COUNT(*) FROM visits v(a, b)": "columns",
    "SELECT COUNT(*) FROM visits v WHERE visits.room = 'x'": "no table visits",
    "SELECT COUNT(*) FROM visits WHERE rooms.size = 1": "no table rooms",
    "SELECT COUNT(*) FROM visits WHERE nothing = 1": "no column nothing",
    "SELECT COUNT(*) FROM visits, rooms": "USING",
    "SELECT COUNT(*) FROM visits CROSS JOIN rooms": "by which columns",
    "SELECT COUNT(*) FROM visits RIGHT JOIN rooms USING (room)": "RIGHT JOIN",
    "SELECT COUNT(*) FROM visits FULL OUTER JOIN rooms USING (room)": "FULL OUTER JOIN",
    "SELECT COUNT(*) FROM visits SEMI JOIN rooms USING (room)": "SEMI JOIN",
    "SELECT COUNT(*) FROM visits ANTI JOIN rooms USING (room)": "ANTI JOIN",
    "SELECT COUNT(*) FROM visits ASOF JOIN rooms USING (room)": "ASOF JOIN",
    "SELECT COUNT(*) FROM visits POSITIONAL JOIN rooms": "POSITIONAL JOIN",
    "SELECT COUNT(*) FROM visits JOIN secrets USING (room)": "not declared",
    "SELECT COUNT(*) FROM visits a JOIN visits b USING (room)": "joined with itself",
    "SELECT COUNT(*) FROM visits JOIN (SELECT 1) USING (room)": "subquery",
    "SELECT COUNT(*) FROM visits JOIN rooms USING (floor)": "no column floor",
    "SELECT COUNT(*) FROM visits JOIN rooms USING (room) JOIN rooms USING (room)": "twice",
    f"SELECT COUNT(*) {JOIN} AND r.size > 3": "r.size > 3",
    f"SELECT COUNT(*) {JOIN} OR v.size = r.size": "OR",
    "SELECT COUNT(*) FROM visits v JOIN rooms r ON room = r.room": "with its table",
    "SELECT COUNT(*) FROM visits v JOIN rooms r ON r.room = r.building": "must compare",
    "SELECT COUNT(*) FROM visits v JOIN rooms r ON lower(v.room) = r.room": "(?i)lower",
    f"SELECT COUNT(*) {JOIN} JOIN days d ON r.room = d.date": "columns of the data",
    f"SELECT size, COUNT(*) {JOIN} GROUP BY size": "several tables",
    "SELECT COUNT(*) FROM visits, LATERAL (SELECT 1)": "LATERAL",
    "SELECT COUNT(*) FROM visits FOR UPDATE": "FOR UPDATE",
    "SELECT COUNT(*) INTO t FROM visits": "INTO",
    "SELECT COUNT(*) FROM visits; DROP TABLE visits": "one statement",
    "INSERT INTO visits VALUES (1)": "Only a SELECT",
    "EXPLAIN SELECT COUNT(*) FROM visits": "Only a SELECT",
    "COPY visits TO 'x'": "Only a SELECT",
    "SELECT COUNT(* FROM visits": "not valid SQL",
    "SELECT COUNT(*) FROM visits WHERE 'x": "quotation",
    "SELECT COUNT(*) FROM visits WHERE room = ?": "question marks",
    "": "empty",
    "   ": "empty",
    ";": "Only a SELECT",
    "SELECT COUNT(*) FROM visits WHERE room = '\0'": "NUL",
    "SELECT COUNT(*) FROM visits -- " + "x" * 10_000: "10000",
    "SELECT COUNT(*) FROM visits WHERE " + "(" * 400 + "consent" + ")" * 400: "nested",
}


@pytest.mark.parametrize("text", REFUSED)
def test_everything_else_is_refused_by_name(text: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(InputError, match=REFUSED[text]) as refusal:
        parse(text)
    assert "\n" not in str(refusal.value)
    assert not caplog.records  # the parser must not repeat the statement to a log


def test_question_marks_become_literals() -> None:
    select = parse(
        "SELECT COUNT(*) FROM visits WHERE room = ? AND room <> '?' AND paid < ? AND day = ? "
        "AND ts > ? AND consent = ? AND size <> ? HAVING COUNT(*) > ?",
        "it's; --",
        0.5,
        date(2024, 1, 2),
        datetime(2024, 1, 2, 3),
        True,
        -7,
        Decimal("1.50"),
    )
    assert select.where is not None
    assert select.where.sql == (
        "room = 'it''s; --' AND room <> '?' AND paid < 0.5 AND day = DATE '2024-01-02' AND "
        "ts > TIMESTAMP '2024-01-02 03:00:00' AND consent = TRUE AND size <> -7"
    )
    for wrong in (object(), float("nan"), b"x", [1]):
        with pytest.raises(RequestError, match="finite number"):
            parse("SELECT COUNT(*) FROM visits WHERE paid = ?", wrong)


@given(st.text(max_size=40))
def test_a_parameter_is_one_literal_whatever_it_says(value: str) -> None:
    try:
        select = parse("SELECT COUNT(*) FROM visits WHERE room = ?", value)
    except InputError:
        assert any("\ud800" <= letter <= "\udfff" or letter == "\0" for letter in value)
        return
    assert select.where is not None
    assert select.where.expression.right == Literal(Type.TEXT, value)  # type: ignore[union-attr]


KEYS = ["room", "hour(ts)", "weekday(day)", "bucket(size, 10)", "day", "device"]
FIGURES = {
    "COUNT(*)": ROWS,
    "COUNT(DISTINCT device, day)": SelectFigure(Aggregate.UNITS, ("device", "day")),
    "SUM(paid)": SelectFigure(Aggregate.SUM, value=Key.parse("paid")),
    "AVG(size)": SelectFigure(Aggregate.MEAN, value=Key.parse("size")),
}


@st.composite
def statements(draw: st.DrawFn) -> tuple[str, list[str], list[str]]:
    """A statement that should be accepted, its keys, and its figures in order of appearance."""
    keys = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=3))
    figures = draw(st.lists(st.sampled_from(list(FIGURES)), unique=True, min_size=1, max_size=3))
    items = draw(st.permutations([*keys, *figures]))
    named = {item: f"c{place}" for place, item in enumerate(items) if draw(st.booleans())}
    listed = [f"{item} AS {named[item]}" if item in named else item for item in items]
    text = f"SELECT {', '.join(listed)} FROM {draw(st.sampled_from(['visits', 'data']))}"
    if draw(st.booleans()):
        text += " WHERE consent"

    def referred(item: str) -> str:
        ways = [item, str(items.index(item) + 1), *([named[item]] if item in named else [])]
        return draw(st.sampled_from(ways))

    if keys:
        text += f" GROUP BY {', '.join(map(referred, keys))}"
    if draw(st.booleans()):
        text += f" HAVING {named.get(figures[0], figures[0])} > 3"
    if draw(st.booleans()):
        text += f" ORDER BY {referred(draw(st.sampled_from(items)))} DESC LIMIT 7"
    return text, keys, [item for item in items if item in FIGURES]


@given(statements())
def test_whatever_is_made_by_the_rules_is_accepted(made: tuple[str, list[str], list[str]]) -> None:
    text, keys, figures = made
    select = parse(text)
    assert [key.name for key in select.keys] == keys
    assert select.figures == tuple(FIGURES[figure] for figure in figures)


SOUP = """
    SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN USING ON AS DISTINCT AND OR NOT IN UNION ALL
    visits data rooms room paid device day ts n v COUNT(*) SUM(paid) ( ) , . = > * 1 'x' ; OVER
    FILTER WITH hour(ts) NULL BETWEEN CASE WHEN THEN END ? :: || -- /*
"""


@given(st.lists(st.sampled_from(SOUP.split()), max_size=14))
def test_no_soup_of_words_gets_anything_but_an_answer_or_a_refusal(words: list[str]) -> None:
    try:
        select = parse("SELECT COUNT(*) " + " ".join(words))
    except InputError:
        return
    assert select.figures
    assert all("osd_" in output.text or output.key is None for output in select.outputs)


@given(statements(), st.data())
def test_a_torn_statement_is_refused_or_means_no_more(
    made: tuple[str, list[str], list[str]], data: st.DataObject
) -> None:
    text, _, figures = made
    cut = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(cut, len(text)))
    try:
        select = parse(text[:cut] + text[end:])
    except InputError:
        return
    assert {figure.aggregate for figure in select.figures} <= {
        FIGURES[figure].aggregate for figure in figures
    } | {Aggregate.UNITS, Aggregate.ROWS, Aggregate.GROUPS}
    columns = {name for key in select.keys for name in key.columns}
    assert columns <= set(CATALOGUE.schema)
