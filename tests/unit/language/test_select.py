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
from onesided.language.query import Aggregate, Catalogue, Join, Output, Select, SelectFigure
from onesided.language.select import parse_select
from onesided.language.tree import Column, Literal

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
    total, mean = SelectFigure(Aggregate.SUM, ("paid",)), SelectFigure(Aggregate.MEAN, ("paid",))
    units = SelectFigure(Aggregate.UNITS, ("day", "device"))
    assert select.outputs == (
        Output("r", room),
        Output("hour(ts)", hour),
        Output("n", ROWS),
        Output("sum(paid)", total),
    )
    assert select.keys == (room, hour)
    assert select.figures == (ROWS, total, mean, units)
    assert select.where is not None
    assert select.where.sql == "consent AND size > 3"
    assert [(term.source, term.descending) for term in select.order] == [
        (ROWS, True),
        (units, False),
    ]
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


def test_having_sees_released_values_only() -> None:
    select = parse(
        "SELECT hour(ts) h, COUNT(*) n FROM visits GROUP BY h HAVING n > 1.5 AND h IN (1, 2)"
    )
    bound = select.bound_having(CATALOGUE.schema)
    assert bound is not None
    with pytest.raises(InputError, match="mixes"):
        parse("SELECT COUNT(*) FROM data HAVING COUNT(*) = 'x'").bound_having(CATALOGUE.schema)


REFUSED = {
    "SELECT DISTINCT room, COUNT(*) FROM visits": "DISTINCT",
    "SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits": "UNION",
    "SELECT COUNT(*) FROM visits EXCEPT SELECT 1": "EXCEPT",
    "WITH a AS (SELECT 1) SELECT COUNT(*) FROM a": "WITH",
    "FROM visits SELECT COUNT(*)": "SELECT first",
    "SELECT COUNT(*) FROM (SELECT * FROM visits)": "subquery",
    "SELECT COUNT(*) FROM visits WHERE device IN (SELECT 1)": "subquery",
    "SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1)": "subquery",
    "SELECT (SELECT 1), COUNT(*) FROM visits": "subquery",
    "SELECT COUNT(*) OVER () FROM visits": "window",
    "SELECT room, COUNT(*) FROM visits GROUP BY room HAVING SUM(paid) OVER () > 1": "window",
    "SELECT COUNT(*) FROM visits QUALIFY 1 = 1": "QUALIFY",
    "SELECT COUNT(*) FILTER (WHERE consent) FROM visits": "FILTER",
    "SELECT MEDIAN(paid) FROM visits": "MEDIAN",
    "SELECT MAX(paid) FROM visits": "MAX",
    "SELECT STDDEV(paid), COUNT(*) FROM visits": "STDDEV",
    "SELECT COUNT(room) FROM visits": "COUNT\\(room\\)",
    "SELECT COUNT(1) FROM visits": "COUNT\\(1\\)",
    "SELECT COUNT(* EXCLUDE room) FROM visits": "EXCLUDE",
    "SELECT SUM(DISTINCT paid) FROM visits": "DISTINCT",
    "SELECT SUM(paid * 2) FROM visits": "paid \\* 2",
    "SELECT SUM(paid) / COUNT(*) FROM visits": "released columns",
    "SELECT SUM(paid, size) FROM visits": "not ",
    "SELECT * FROM visits": "star",
    "SELECT room FROM visits GROUP BY room": "figure",
    "SELECT room, COUNT(*) FROM visits": "GROUP BY",
    "SELECT upper(room), COUNT(*) FROM visits GROUP BY upper(room)": "group key",
    "SELECT paid + 1, COUNT(*) FROM visits GROUP BY paid + 1": "group key",
    "SELECT random(), COUNT(*) FROM visits GROUP BY 1": "rand",
    "SELECT 'x', COUNT(*) FROM visits": "group key",
    "SELECT COUNT(*) FROM visits GROUP BY 1": "cannot be a key",
    "SELECT COUNT(*) FROM visits GROUP BY 2": "position",
    "SELECT room, COUNT(*) FROM visits GROUP BY ALL": "ALL",
    "SELECT room, COUNT(*) FROM visits GROUP BY ROLLUP (room)": "ROLLUP",
    "SELECT room, COUNT(*) FROM visits GROUP BY CUBE (room)": "CUBE",
    "SELECT room, COUNT(*) FROM visits GROUP BY GROUPING SETS (room)": "not allowed",
    "SELECT room, COUNT(*) FROM visits GROUP BY room, room": "once",
    "SELECT room, COUNT(*) FROM visits GROUP BY room LIMIT 3": "ORDER BY",
    "SELECT room, COUNT(*) FROM visits GROUP BY room ORDER BY room LIMIT 10 PERCENT": "LIMIT",
    "SELECT room, COUNT(*) FROM visits GROUP BY room ORDER BY room LIMIT 1 + 1": "LIMIT",
    "SELECT room, COUNT(*) FROM visits GROUP BY room ORDER BY room LIMIT 3 OFFSET 1": "OFFSET",
    "SELECT room, COUNT(*) FROM visits GROUP BY room ORDER BY paid": "GROUP BY",
    "SELECT room, COUNT(*) FROM visits GROUP BY room ORDER BY ALL": "ALL",
    "SELECT room, COUNT(*) FROM visits GROUP BY room ORDER BY COUNT(*) + 1": "released columns",
    "SELECT COUNT(*) FROM visits HAVING room = 'x'": "GROUP BY",
    "SELECT COUNT(*) FROM visits HAVING (SELECT 1) = 1": "subquery",
    "SELECT COUNT(*) FROM visits WHERE COUNT(*) > 1": "aggregate",
    "SELECT COUNT(*) AS n FROM visits WHERE n > 1": "no column n",
    "SELECT COUNT(*) AS room FROM visits": "alias",
    "SELECT COUNT(*) AS n, SUM(paid) AS N FROM visits": "alias",
    "SELECT COUNT(*), COUNT(*) FROM visits": "one name",
    "SELECT COUNT(*)": "FROM",
    "SELECT COUNT(*) FROM elsewhere": "called visits",
    "SELECT COUNT(*) FROM main.visits": "main.visits",
    "SELECT COUNT(*) FROM read_csv('x.csv')": "(?i)read_csv",
    "SELECT COUNT(*) FROM 'x.csv'": "called visits",
    "SELECT COUNT(*) FROM visits TABLESAMPLE 10%": "TABLESAMPLE",
    "SELECT COUNT(*) FROM visits v(a, b)": "columns",
    "SELECT COUNT(*) FROM visits v WHERE visits.room = 'x'": "no table visits",
    "SELECT COUNT(*) FROM visits WHERE rooms.size = 1": "no table rooms",
    "SELECT COUNT(*) FROM visits WHERE nothing = 1": "no column nothing",
    "SELECT COUNT(*) FROM visits, rooms": "USING",
    "SELECT COUNT(*) FROM visits CROSS JOIN rooms": "CROSS JOIN",
    "SELECT COUNT(*) FROM visits NATURAL JOIN rooms": "NATURAL JOIN",
    "SELECT COUNT(*) FROM visits LEFT JOIN rooms USING (room)": "LEFT JOIN",
    "SELECT COUNT(*) FROM visits FULL OUTER JOIN rooms USING (room)": "FULL OUTER JOIN",
    "SELECT COUNT(*) FROM visits SEMI JOIN rooms USING (room)": "SEMI JOIN",
    "SELECT COUNT(*) FROM visits ANTI JOIN rooms USING (room)": "ANTI JOIN",
    "SELECT COUNT(*) FROM visits ASOF JOIN rooms USING (room)": "ASOF JOIN",
    "SELECT COUNT(*) FROM visits POSITIONAL JOIN rooms": "POSITIONAL JOIN",
    "SELECT COUNT(*) FROM visits JOIN secrets USING (room)": "not declared",
    "SELECT COUNT(*) FROM visits JOIN visits USING (room)": "not declared",
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
    "SUM(paid)": SelectFigure(Aggregate.SUM, ("paid",)),
    "AVG(size)": SelectFigure(Aggregate.MEAN, ("size",)),
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
    assert all(isinstance(output.source, Key | SelectFigure) for output in select.outputs)


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
    } | {Aggregate.UNITS}
    columns = {part.name for key in select.keys for part in [Column(key.column)]}
    assert columns <= set(CATALOGUE.schema)
