"""Limits of ε, budgets and bounds: stated, checked before the charge, and workable at both ends."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import onesided as osd
from onesided.cli import run
from onesided.errors import InputError, MechanismRefused, OnesidedError, SourceError
from onesided.loss import (
    LEAST_LOSS,
    MOST_LOSS,
    Loss,
    positive,
    privacy_budget,
    privacy_loss,
    rational,
    show,
)
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.mechanisms.registry import mechanism, mechanism_names

SOUND = [name for name in mechanism_names() if mechanism(name).kind is Kind.SOUND]
#: At the upper end itself weights of e^-500,000 are computed exactly, which takes half a minute.
ENDS = [LEAST_LOSS, Fraction(10**4), pytest.param(MOST_LOSS, marks=pytest.mark.soak)]
SHAPES = ((1,), (2,), (64,), (8, 8), (3, 1, 2))
TABLE = pa.table({"u": [1, 1, 2, 3], "t": ["a", "b", "a", "c"], "x": [1.0, 2.0, 3.0, 4.0]})

IMMENSE: list[Any] = [
    *("1e400000000", "1e-40000000", "1e5000", "1e-400", "1e308", "1e99999999999999999999"),
    *("1" * 400, "0." + "1" * 400, f"1/{10**60}", f"{10**60}/{10**60 + 1}", "1e1_000_000"),
    *(Decimal("1e999999"), Decimal("1e-999999999"), Decimal("0e-999999999"), Decimal("sNaN")),
    *(10**10_000, Fraction(1, 10**5_000), Fraction(10**5_000, 3), 1e308, 5e-324),
    *("nan", "inf", "-inf", float("nan"), float("inf"), Decimal("inf"), np.float64("nan")),
    *(np.bool_(True), True, None, [], "½", "0x10", "1/0", "", "e5", "1e", "١e٩٩٩٩٩٩٩٩٩"),
]
OUTSIDE: list[Any] = [0, -1, "1e-10", "1000000.1", 10**7, Fraction(1, 1009), "1/999983", "1e30"]


@pytest.mark.parametrize("value", IMMENSE, ids=range(len(IMMENSE)))
def test_no_number_fills_the_memory(value: Any) -> None:
    for read in (rational, positive, privacy_loss, privacy_budget):
        with pytest.raises(InputError) as refused:
            read(value)
        assert len(str(refused.value)) < 200


@pytest.mark.parametrize("value", OUTSIDE, ids=range(len(OUTSIDE)))
def test_what_is_asked_for_lies_in_a_range_and_is_no_odd_fraction(value: Any) -> None:
    with pytest.raises(InputError):
        privacy_loss(value)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        *(
            ("1e-9", LEAST_LOSS),
            ("1e6", MOST_LOSS),
            ("1/3", Fraction(1, 3)),
            (0.1, Fraction(1, 10)),
        ),
        *((np.float64(0.5), Fraction(1, 2)), (np.int64(3), Fraction(3)), (" 2 ", Fraction(2))),
        *(("1/1000", Fraction(1, 1000)), (Decimal("0.25"), Fraction(1, 4))),
        *((0.1 + 0.2, Fraction("0.30000000000000004")), ("1_0", Fraction(10)), ("٢", Fraction(2))),
    ],
)
def test_everything_else_is_exact(value: Any, exact: Fraction) -> None:
    assert privacy_loss(value) == exact
    assert Fraction(show(exact)) == exact


def test_an_integer_of_numpy_is_not_rounded() -> None:
    assert rational(np.int64(2**63 - 1)) == 2**63 - 1


def test_long_numbers_are_shown_exactly() -> None:
    """Two bounds that are shown alike would be one request."""
    exact = Fraction(10**40 + 1, 10**12)
    assert show(exact) == "10000000000000000000000000000.000000000001"
    assert show(-exact).startswith("-1000")
    assert [show(Fraction(each)) for each in ("100", "-10", "0", "-1/8")] == [
        *("100", "-10", "0", "-0.125")
    ]


def test_what_is_stored_may_have_more_digits_than_what_is_asked_for() -> None:
    text = f"1/{3**1000}"
    assert Loss(0, text).nonsensitive == Fraction(text)


def test_an_account_never_outgrows_what_can_be_written() -> None:
    """The sum over all denominators that are allowed."""
    total = Loss.sequential(Loss(0, privacy_loss(Fraction(1, parts))) for parts in range(1, 1001))
    assert len(str(total.epsilon.denominator)) < 500


def covered(chosen: Mechanism, data: osd.Histogram, epsilon: Fraction) -> bool:
    """Whether it answers: if not it says so beforehand."""
    try:
        chosen.check(PublicShape.of(data))
        chosen.check_rate(data.k, epsilon)
    except MechanismRefused:
        return False
    facts = PublicShape(data.shape, k=data.k, n=100)
    error = chosen.expected_error(facts, epsilon)
    assert error is None or error == error
    measurement = chosen.release(data, epsilon=epsilon, rng=osd.seeded(1))
    assert np.all(np.isfinite(measurement.value))
    return True


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("epsilon", ENDS, ids=["least", "large", "most"])
def test_every_sound_mechanism_runs_at_both_ends_or_refuses_beforehand(
    name: str, epsilon: Fraction
) -> None:
    answered = 0
    for shape in SHAPES:
        counts = np.zeros(shape, dtype=np.int64)
        counts.flat[0], counts.flat[-1] = 5, 3
        for k in (1, 1000):
            mask = counts == 3
            data = osd.Histogram(counts, counts // 2 * ~mask, k=k, only_sensitive=mask)
            answered += covered(mechanism(name), data, epsilon)
    assert answered


@pytest.mark.parametrize("name", ["one-sided", "residual", "auto"])
@pytest.mark.parametrize("epsilon", ENDS, ids=["least", "large", "most"])
def test_undeclared_keys_at_both_ends(name: str, epsilon: Fraction) -> None:
    counts = np.array([5, 3, 0])
    for k in (1, 1000):
        data = osd.Histogram(counts, counts // 2, k=k, total_public=False, open_domain=True)
        covered(mechanism(name), data, epsilon)


@pytest.mark.parametrize("epsilon", ["1e-9", "1e4"])
@pytest.mark.parametrize("name", ["auto", "dawa", "one-sided", "rr"])
@pytest.mark.parametrize("bound", [1, 1000])
def test_a_session_answers_at_both_ends_or_charges_nothing(
    name: str, epsilon: str, bound: int
) -> None:
    with osd.open(TABLE, unit="u", policy="FALSE", budget="1e9") as data:
        ask = {"domain": {"t": ["a", "b"]}, "max_groups": bound, "mechanism": name}
        try:
            answer = data.count("t", epsilon=epsilon, yes=True, **ask)
        except MechanismRefused:
            assert data.budget.spent == 0
        else:
            assert answer.table.num_rows == 2


@pytest.mark.parametrize("epsilon", ["1e-9", "1e6"])
def test_a_plan_at_both_ends(epsilon: str) -> None:
    with osd.open(TABLE, unit="u", policy="FALSE", budget="1e9") as data:
        plan = data.plan("t", epsilon=epsilon, max_groups=2, domain={"t": ["a", "b"]})
        assert len(plan.rows) > 5
        assert str(plan)
        assert plan.to_json()
        assert plan.table.num_rows == len(plan.rows)


@pytest.mark.parametrize("epsilon", ["1e-9", "1e6"])
def test_sums_and_means_at_both_ends(epsilon: str) -> None:
    with osd.open(TABLE, unit="u", policy="FALSE", budget="1e9") as data:
        for bound, grid in (("4", None), ("1e9", "1e-2"), ("1e-20", "1e-25")):
            ask = {"bound": bound, "grid": grid, "epsilon": epsilon, "max_groups": 2}
            for figure in (data.sum, data.mean):
                before = data.budget.spent
                try:
                    figure("x", "t", **ask)
                except OnesidedError:
                    assert data.budget.spent == before


@pytest.mark.parametrize(
    "value",
    ["1e400000000", "1e-400", "1e308", 10**10_000, "1/" + "3" * 99],
    ids=range(5),
)
def test_bounds_and_grids_have_limits_too(value: Any) -> None:
    with osd.open(TABLE, unit="u", policy="FALSE", budget=10) as data:
        for ask in ({"bound": value}, {"bound": 1, "grid": value}):
            with pytest.raises(InputError):
                data.sum("x", epsilon=1, **ask)
        with pytest.raises(OnesidedError):
            data.mean("x", epsilon=1, bound=1, max_rows=10**10_000)
        assert data.budget.spent == 0


@pytest.mark.parametrize("wrong", ["1e400000000", "1e-40000000", "1e5000", "1e-400", "1e308"])
@pytest.mark.parametrize("command", ["count", "plan", "sample"])
def test_the_command_line_says_one_sentence(
    command: str, wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "t.csv"
    source.write_text("u,t\n1,a\n")
    asked = ["--unit", "u", "--policy", "FALSE", "--epsilon", wrong]
    grouped = ["--by", "t", "--max-groups", "1"]
    end = ["--out", str(tmp_path / "out.csv")] if command == "sample" else grouped
    assert run([command, str(source), *asked, *end]) == 2
    # Without a budget epsilon is the budget too, and either may be what the sentence is about.
    assert " must be " in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    "budget", ["1e400000000", "1e308", "9" * 5_000, "'1e-400'", "[" * 5_000], ids=range(5)
)
def test_a_description_says_one_sentence(budget: str, tmp_path: Path) -> None:
    file = tmp_path / "onesided.toml"
    file.write_text(
        f'[datasets.t]\nsource = "t.csv"\nunit = ["u"]\npolicy = "FALSE"\nbudget = {budget}\n'
    )
    with pytest.raises(SourceError):
        osd.load("t", file)


@pytest.mark.parametrize(
    "shares",
    [
        {"name": "residual", "sensitive_share": "1e-40"},
        {"name": "residual", "sensitive_share": "1e-400000000"},
        {"name": "dawa", "partition_share": Fraction(1, 10**14)},
        {"name": "recipe", "detection_share": "1e-14"},
        {"name": "dawa", "shrink": "1e400"},
    ],
)
def test_shares_that_leave_too_little_are_refused_before_the_charge(shares: dict[str, Any]) -> None:
    with osd.open(TABLE, unit="u", policy="FALSE", budget=10) as data:
        name = shares.pop("name")
        with pytest.raises(OnesidedError):
            data.count(
                "t",
                epsilon=1,
                mechanism=name,
                max_groups=2,
                domain={"t": ["a", "b"]},
                **shares,
            )
        assert data.budget.spent == 0
