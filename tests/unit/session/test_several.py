"""Several questions at once: all or none, each answered as if it were asked alone."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import onesided as osd
from onesided.errors import BudgetError, InputError, ReleaseFailed
from onesided.session.question_files import read_questions
from onesided.session.several import KINDS
from onesided.session.table import Reading
from support.visits import POLICY, UNIT, visits

BOUND: dict[str, Any] = {"by": "room", "max_groups": 4}
ASKED: dict[str, dict[str, Any]] = {
    "count": {**BOUND, "mechanism": "one-sided"},
    "ngrams": {"n": 2, "by": "room", "order": "ts", "max_groups": 4, "mechanism": "one-sided"},
    "touches": {"by": "room"},
    "sum": {"column": "device", "bound": 400, **BOUND},
    "mean": {"column": "device", "bound": 400, **BOUND},
    "quantile": {"column": "device", "bounds": (0, 400), "max_groups": 2},
    "histogram": {"column": "device", "edges": (0, 100, 400), "max_groups": 2},
    "distinct": {"column": "room", "max_values": 2},
    "describe": {"columns": ["room"], "max_values": 4},
    "sample": {"columns": ["room"]},
    "sql": {
        "query": "SELECT room, COUNT(*) AS n, SUM(device) AS s FROM data GROUP BY room",
        "max_groups": 4,
        "max_rows": 3,
        "bounds": {"device": 400},
        "mechanism": "one-sided",
    },
}
ALL = [{"ask": kind, "name": kind, "epsilon": "0.5", **asked} for kind, asked in ASKED.items()]


def opened(**options: Any) -> osd.Dataset:
    given: dict[str, Any] = {"unit": UNIT, "policy": POLICY, "rng": osd.seeded(1), **options}
    return osd.open(visits(devices=40), name="visits", version="1", **given)


def test_every_kind_has_an_example() -> None:
    assert set(ASKED) == set(KINDS)


def test_answers_are_those_of_the_questions_alone(tmp_path: Path) -> None:
    with opened(ledger=tmp_path / "v.ledger", budget=9) as data:
        answers = data.run(ALL)
        assert data.budget.spent == len(ALL) * Fraction("0.5")
        assert list(answers) == list(ASKED)
        for kind, asked in ASKED.items():
            alone = getattr(data, kind)(epsilon="0.5", **asked)
            assert alone.table == answers[kind].table, kind
        assert data.budget.spent == len(ALL) * Fraction("0.5")
    assert answers.loss.epsilon == sum(each.loss.epsilon for each in answers.values())
    assert answers.account["spent"] == "5.5"


def test_all_are_charged_or_none() -> None:
    with opened(budget=3) as data:
        with pytest.raises(BudgetError):
            data.run(ALL)
        assert data.budget.spent == 0


def test_a_run_that_failed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, asked = Reading.totals, list[int]()

    def failing(reading: Reading, *given: Any, **more: Any) -> Any:
        asked.append(1)
        if len(asked) == 1:
            raise OSError("no space")
        return plain(reading, *given, **more)

    monkeypatch.setattr(Reading, "totals", failing)
    with opened(ledger=tmp_path / "v.ledger", budget=6) as data:
        with pytest.raises(ReleaseFailed):
            data.run(ALL)
        assert data.budget.spent == len(ALL) * Fraction("0.5")
        first = data.count(epsilon="0.5", **ASKED["count"]).table  # stored before the failure
        answers = data.run(ALL)
        assert data.budget.spent == len(ALL) * Fraction("0.5")
    assert answers["count"].table == first
    assert list(answers) == list(ASKED)


def test_an_epsilon_is_shared_by_those_that_say_none() -> None:
    questions = [
        {"ask": "count", "epsilon": "0.4"},
        {"ask": "count", "where": "room = 'lab'"},
        {"ask": "sample", "name": "rows"},
    ]
    with opened() as data:
        answers = data.run(questions, epsilon="0.5")
    costs = [each.receipt["account"]["cost"] for each in answers.values()]
    assert costs == ["0.4", "0.25", "0.25"]
    assert list(answers) == ["count-1", "count-2", "rows"]
    assert answers.account["budget"] == "0.9"


BAD: dict[str, tuple[Any, str]] = {
    "none": ([], "Questions are a list"),
    "a text": ("count", "Questions are a list"),
    "no kind": ([{"epsilon": 1}], "asks one of"),
    "a kind misspelt": ([{"ask": "cuont", "epsilon": 1}], "did you mean count?"),
    "an argument misspelt": ([{"ask": "count", "epsilon": 1, "maxgroups": 3}], "max_groups?"),
    "one that a sum has not": (
        [{"ask": "sum", "column": "device", "epsilon": 1, "bounds": 3}],
        "bound?",
    ),
    "no epsilon": ([{"ask": "count"}], "Say an epsilon"),
    "two of one name": ([{"ask": "count", "name": "a", "epsilon": 1}] * 2, "name of its own"),
    "a name that is a path": ([{"ask": "count", "name": "../a", "epsilon": 1}], "name of its own"),
    "a large epsilon": ([{"ask": "count", "epsilon": 11}], "yes=True"),
    "said for one": ([{"ask": "count", "epsilon": 1, "fresh": True}], "fresh cannot be said"),
    "no column": ([{"ask": "count", "by": "rom", "epsilon": 1}], "did you mean room?"),
    "no bound": ([{"ask": "count", "by": "room", "epsilon": 1}], "max_groups"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_questions_cost_nothing(case: str) -> None:
    questions, word = BAD[case]
    with opened(budget=9) as data:
        with pytest.raises(InputError) as caught:
            data.run(questions)
        assert word in str(caught.value)
        assert data.budget.spent == 0


FILES = {
    "no file": (None, "cannot be read"),
    "no TOML": ("[[questions", "is not TOML"),
    "no questions": ("epsilon = 1", "[[questions]]"),
    "another key": ("epsilno = 1\n[[questions]]\nask = 'count'", "did you mean epsilon?"),
    "a number for a purpose": ("purpose = 1\n[[questions]]\nask = 'count'", "must be a text"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_bad_file_is_one_sentence(case: str, tmp_path: Path) -> None:
    text, word = FILES[case]
    file = tmp_path / "questions.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError) as caught:
        read_questions(file)
    assert word in str(caught.value)


def test_a_domain_may_be_a_file_beside_the_questions(tmp_path: Path) -> None:
    (tmp_path / "rooms.txt").write_text("cafe\nlab\n*")
    file = tmp_path / "questions.toml"
    file.write_text('[[questions]]\nask = "count"\nby = "room"\ndomain = {room = "rooms.txt"}\n')
    (question,) = read_questions(file).questions
    assert question["domain"] == {"room": ["cafe", "lab", "*"]}
