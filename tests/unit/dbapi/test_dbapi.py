"""Python's DB-API 2.0 for a data set: rows, types, errors, options in statements, and purses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from fractions import Fraction
from threading import Barrier, Thread
from typing import Any

import pyarrow as pa
import pytest

import onesided as osd
from onesided import dbapi
from onesided.dbapi.statements import said
from onesided.errors import BudgetError, MechanismRefused, RequestError
from support.payments import STEP, payments
from support.visits import POLICY, UNIT

UNITS = "COUNT(DISTINCT device, day)"
BY_ROOM = f"SELECT room, {UNITS} n FROM data WHERE room <> ? GROUP BY room"
COUNTS: dict[str, Any] = {"mechanism": "one-sided", "max_groups": 5}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return payments(devices=20)


@pytest.fixture
def dataset(table: pa.Table) -> Iterator[osd.Dataset]:
    with osd.open(table, name="visits", unit=UNIT, policy=POLICY, budget=2) as found:
        yield found


@pytest.fixture(scope="module")
def shared(table: pa.Table) -> Iterator[osd.Dataset]:
    with osd.open(table, name="visits", unit=UNIT, policy=POLICY, budget=100) as found:
        yield found


def test_the_module_has_all_names_of_the_standard() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 2, "qmark")
    tree = {
        dbapi.Error: Exception,
        dbapi.Warning: Exception,
        dbapi.InterfaceError: dbapi.Error,
        dbapi.DatabaseError: dbapi.Error,
        dbapi.DataError: dbapi.DatabaseError,
        dbapi.OperationalError: dbapi.DatabaseError,
        dbapi.IntegrityError: dbapi.DatabaseError,
        dbapi.InternalError: dbapi.DatabaseError,
        dbapi.ProgrammingError: dbapi.DatabaseError,
        dbapi.NotSupportedError: dbapi.DatabaseError,
    }
    for kind, root in tree.items():
        assert kind.__bases__ == (root,)
        assert getattr(dbapi.Connection, kind.__name__) is kind
    assert dbapi.Date(2024, 1, 2) == date(2024, 1, 2)
    assert dbapi.Time(1, 2, 3) == time(1, 2, 3)
    assert dbapi.Timestamp(2024, 1, 2, 3) == datetime(2024, 1, 2, 3)
    moment = datetime(2024, 1, 2, 3, 4, 5)
    ticks = moment.replace(tzinfo=UTC).timestamp()
    assert dbapi.TimestampFromTicks(ticks) == moment
    assert (dbapi.DateFromTicks(ticks), dbapi.TimeFromTicks(ticks)) == (
        moment.date(),
        moment.time(),
    )
    assert dbapi.Binary(b"x") == b"x"


def test_a_cursor_hands_out_rows(dataset: osd.Dataset) -> None:
    with dataset.cursor(epsilon=1, **COUNTS) as cursor:
        assert (cursor.description, cursor.rowcount, cursor.release) == (None, -1, None)
        with pytest.raises(dbapi.ProgrammingError, match="Execute"):
            cursor.fetchone()
        assert cursor.execute(BY_ROOM, ["lab"]) is cursor
        assert [column[0] for column in cursor.description or ()] == ["room", "n"]
        assert all(len(column) == 7 for column in cursor.description or ())
        assert (cursor.rowcount, cursor.rownumber) == (3, 0)
        first = cursor.fetchone()
        assert first is not None
        assert first[0] == "cafe"
        assert [row[0] for row in cursor.fetchmany(1)] == ["hall"]
        assert [row[0] for row in cursor] == ["office"]
        assert cursor.rownumber == 3
        assert cursor.fetchone() is None
        assert cursor.fetchall() == []
        assert cursor.execute(BY_ROOM, ["lab"]).fetchmany() == [first]
        assert dataset.budget.spent == 1
        with pytest.raises(dbapi.NotSupportedError, match="one statement"):
            cursor.executemany(BY_ROOM, [["lab"], ["hall"]])
        cursor.execute(BY_ROOM, ["hall"])
        with pytest.raises(dbapi.OperationalError) as refused:
            cursor.execute(BY_ROOM, ["office"])
        assert isinstance(refused.value.__cause__, BudgetError)
        assert cursor.rowcount == -1
    with pytest.raises(dbapi.InterfaceError, match="closed"):
        cursor.execute(BY_ROOM, ["lab"])


def test_types_of_columns_equal_their_kinds(dataset: osd.Dataset) -> None:
    with dbapi.connect(
        dataset, epsilon="0.2", max_groups=2, max_rows=2, mechanism="one-sided"
    ) as c:
        cursor = c.cursor()
        cursor.execute(
            "SELECT room, day, date_trunc('hour', ts) h, consent, COUNT(*) n, AVG(paid) a "
            "FROM data GROUP BY room, day, h, consent",
            bounds={"paid": 20},
            grid={"paid": STEP},
        )
        kinds = [column[1] for column in cursor.description or ()]
    text, moment, number = dbapi.STRING, dbapi.DATETIME, dbapi.NUMBER
    assert kinds == [text, moment, moment, text, number, number]
    assert dbapi.ROWID not in kinds
    assert dbapi.BINARY not in kinds
    assert dbapi.STRING != dbapi.NUMBER


def test_a_closed_connection_leaves_the_data_set_open(dataset: osd.Dataset) -> None:
    with dbapi.connect(dataset, epsilon=1, **COUNTS) as connection:
        cursor = connection.cursor()
        cursor.execute(f"SELECT {UNITS} FROM visits")
        connection.commit()
        connection.rollback()
        assert len(cursor.fetchall()) == 1
    for use in (connection.cursor, connection.commit, connection.rollback):
        with pytest.raises(dbapi.InterfaceError, match="closed"):
            use()
    with pytest.raises(dbapi.InterfaceError):
        cursor.execute(f"SELECT {UNITS} FROM visits")
    assert dataset.budget.spent == 1


@pytest.mark.parametrize(
    ("statement", "options", "kind", "cause"),
    [
        ("DROP TABLE visits", {}, dbapi.ProgrammingError, RequestError),
        (f"SELECT {UNITS} FROM data", {"max_group": 1}, dbapi.ProgrammingError, RequestError),
        (f"SELECT {UNITS} FROM data", {"epsilon": 0}, dbapi.ProgrammingError, osd.InputError),
        (
            f"SELECT {UNITS} FROM data",
            {"epsilon": 101, "yes": True},
            dbapi.OperationalError,
            BudgetError,
        ),
        (
            f"SELECT {UNITS} FROM data",
            {"mechanism": "suppress"},
            dbapi.NotSupportedError,
            MechanismRefused,
        ),
    ],
)
def test_errors_are_those_of_the_standard_with_our_sentences(
    shared: osd.Dataset,
    statement: str,
    options: dict[str, Any],
    kind: type[Exception],
    cause: type[Exception],
) -> None:
    before = shared.budget.spent
    connection = dbapi.connect(shared, epsilon=1)
    with pytest.raises(kind) as refused:
        connection.cursor().execute(statement, **options)
    assert isinstance(refused.value.__cause__, cause)
    assert str(refused.value) == str(refused.value.__cause__)
    assert shared.budget.spent == before
    with pytest.raises(dbapi.ProgrammingError):
        dbapi.connect(shared, epsilon="much")


@pytest.mark.parametrize(
    ("statement", "parameters", "epsilon"),
    [
        (f"SELECT {UNITS} FROM data", None, Fraction(1, 2)),
        (f"SELECT {UNITS} FROM data /* epsilon=0.1 */", None, Fraction(1, 10)),
        (f"SELECT {UNITS} FROM data /*+ epsilon=0.1 */", None, Fraction(1, 10)),
        (f"SELECT {UNITS} FROM data -- epsilon = 1/10", None, Fraction(1, 10)),
        (f"/* epsilon=0.1 max_groups=3 */ SELECT {UNITS} FROM data", None, Fraction(1, 10)),
        (f"SELECT {UNITS} FROM data", {"epsilon": "0.1"}, Fraction(1, 10)),
        (f"SELECT {UNITS} FROM data WHERE room <> :room", {"room": "lab"}, Fraction(1, 2)),
        (f"SELECT {UNITS} FROM data /* a note */", None, Fraction(1, 2)),
        (f"SELECT {UNITS} FROM data WHERE room <> '/* epsilon=9 */'", None, Fraction(1, 2)),
    ],
)
def test_a_statement_says_its_epsilon(
    shared: osd.Dataset, statement: str, parameters: Any, epsilon: Fraction
) -> None:
    before = shared.budget.spent
    connection = dbapi.connect(shared, epsilon="0.5", fresh=True, **COUNTS)
    release = connection.cursor().execute(statement, parameters).release
    assert release is not None
    assert shared.budget.spent - before == connection.purse.spent == epsilon


def test_an_argument_comes_before_a_comment_and_a_comment_before_the_connection(
    dataset: osd.Dataset,
) -> None:
    connection = dbapi.connect(dataset, epsilon=1, max_groups=1, bounds={"device": 5})
    statement = f"SELECT room, {UNITS} FROM data GROUP BY room /* epsilon=0.3 max_groups=2 */"
    release = connection.ask(statement, epsilon="0.2")
    assert release.loss.epsilon == Fraction(1, 5)
    assert "at most 2 groups" in release.receipt.figure
    with pytest.raises(dbapi.ProgrammingError, match=r"epsilon=0\.1"):
        dbapi.connect(dataset).cursor().execute(f"SELECT {UNITS} FROM data")


def test_options_are_read_from_comments_alone() -> None:
    found = said(
        "SELECT ':a', \"/* epsilon=1 */\", x::int /* epsilon=0.1, bounds.paid=0:9 bounds.k=2 */ "
        "FROM d WHERE a = :a AND b = :b -- grid.paid=0.5\n AND c = :a;",
        {"a": 1, "b": "x"},
    )
    assert "epsilon=0.1" not in found.text
    assert found.text.startswith("SELECT ':a', \"/* epsilon=1 */\", x::int")
    assert found.text.count("?") == 3
    assert found.parameters == (1, "x", 1)
    assert found.options == {
        "epsilon": "0.1",
        "bounds": {"paid": ("0", "9"), "k": "2"},
        "grid": {"paid": "0.5"},
    }
    assert said("SELECT ':a' FROM d WHERE b = ?", [3]).text == "SELECT ':a' FROM d WHERE b = ?"


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("SELECT 1 /* epsilon=1 */ /* epsilon=2 */", "twice"),
        ("SELECT 1 /* epsilon=1 max_group=2 */", "did you mean max_groups"),
        ("SELECT 1 /* max_groups=few */", "whole number"),
        ("SELECT 1 /* epsilon=1 and more */", "written like"),
        ("SELECT 1 /* bounds=3 */", "bounds.paid"),
        ("SELECT 1 /* epsilon.x=3 */", "epsilon.paid"),
        ("SELECT :rom", "did you mean room"),
    ],
)
def test_what_cannot_be_read_is_refused(statement: str, word: str) -> None:
    with pytest.raises(RequestError, match=word):
        said(statement, {"room": 1})


def test_a_statement_beyond_the_purse_is_not_sent(dataset: osd.Dataset) -> None:
    connection = dbapi.connect(dataset, epsilon="0.4", most="0.9", **COUNTS)
    cursor = connection.cursor()
    cursor.execute(BY_ROOM, ["lab"])
    cursor.execute(BY_ROOM, ["lab"])
    assert connection.purse.left == Fraction(1, 2), "a repeat is free"
    with pytest.raises(dbapi.ProgrammingError):
        cursor.execute("SELECT nothing FROM data")
    assert connection.purse.left == Fraction(1, 2), "a refusal costs nothing"
    dataset.close()  # what is refused now was not sent
    with pytest.raises(dbapi.OperationalError, match="was not sent"):
        cursor.execute(f"{BY_ROOM} /* epsilon=0.6 */", ["lab"])
    with pytest.raises(dbapi.OperationalError, match="was not sent"):
        cursor.execute(BY_ROOM, ["hall"], epsilon="0.51", fresh=True)


def test_several_connections_share_a_purse(dataset: osd.Dataset) -> None:
    purse = dbapi.Purse("0.5")
    start, outcomes = Barrier(4), []

    def ask(room: str) -> None:
        connection = dbapi.connect(dataset, epsilon="0.2", most=purse, **COUNTS)
        start.wait()
        try:
            connection.cursor().execute(BY_ROOM, [room])
            outcomes.append("answered")
        except dbapi.OperationalError:
            outcomes.append("refused")

    threads = [Thread(target=ask, args=(room,)) for room in ("cafe", "hall", "lab", "office")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["answered"] * 2 + ["refused"] * 2
    assert dataset.budget.spent == purse.spent == Fraction(2, 5)
