"""Plans: prices as they will be charged, errors from public facts alone, and nothing is run."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import onesided as osd
from onesided.data.planned.option import Missing, Option
from onesided.data.planned.plan import Plan
from onesided.data.planned.sample import SamplePlan
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.errors import BudgetError, InputError, RequestError
from onesided.mechanisms.auto import Auto
from onesided.mechanisms.base import Kind, Mechanism, PublicShape
from onesided.mechanisms.laplace import Laplace
from onesided.mechanisms.one_sided import OneSided
from onesided.mechanisms.registry import mechanism
from onesided.mechanisms.residual import Residual
from onesided.mechanisms.rr import RandomizedResponse
from onesided.session.planning.planner import Supposing
from support.visits import POLICY, ROOMS, UNIT, visits

DOMAIN = {"room": [*ROOMS[:-1], osd.OTHER]}
QUESTION: dict[str, Any] = {"by": "room", "max_groups": 1, "domain": DOMAIN}
REACH = (0.35, 1.2)
"""An error that is expected for even data holds there up to these factors."""

LEAST_OF_ROUGH, MOST_OF_ROUGH = 0.1, 1.25
"""An error that is expected for data without likeness, there; likeness by chance lowers it."""


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return visits(devices=60)


def option(plan: Plan, name: str, epsilon: object = None) -> Option:
    """The only row of this mechanism, and ε where that is given."""
    (row,) = (row for row in plan.rows if row.mechanism == name and epsilon in (None, row.epsilon))
    return row


def test_a_plan_lists_every_mechanism_that_a_session_releases(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        plan = dataset.plan(**QUESTION, epsilon=1)
    sound = {n for n in osd.mechanism_names() if osd.mechanism(n).kind is Kind.SOUND}
    assert {row.mechanism for row in plan.rows} == {*sound, "rr"}
    assert (plan.groups, plan.max_groups) == (5, 1)


def test_planning_runs_nothing_and_spends_nothing(
    table: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a plan looked at the data")

    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        for name in ("count", "sample", "evaluate_policy"):
            monkeypatch.setattr(DuckDBEngine, name, refuse)
        plan = dataset.plan("room", "hour(ts) > 12", epsilon=1, max_groups=2, domain=DOMAIN)
        assert dataset.budget.charges == ()
        assert dataset.budget.spent == 0
    assert plan.where == "hour(ts) > 12"


@pytest.mark.parametrize("name", ["one-sided", "laplace", "residual", "auto", "dawaz", "rr"])
def test_the_price_is_what_the_count_is_charged(table: pa.Table, name: str) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=9) as dataset:
        dataset.sample("0.5")
        dataset.count(**QUESTION, epsilon="0.75", mechanism="laplace")
        row = option(dataset.plan(**QUESTION, epsilon=1), name, None if name != "rr" else 1)
        before = dataset.budget.spent
        dataset.count(**QUESTION, epsilon=1, mechanism=name)
        assert dataset.budget.spent - before == row.cost
        assert row.plain_cost == 1


def test_a_sample_that_is_paid_for_answers_for_free(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        dataset.sample(1)
        plan = dataset.plan(**QUESTION, epsilon="0.5")
        row = option(plan, "rr")
        assert (row.epsilon, row.cost) == (1, 0)
        assert "paid for at ε = 1" in row.note
        larger = dataset.plan(**QUESTION, epsilon="1.5")
        assert option(larger, "rr", 1).cost == 0
        assert option(larger, "rr", Fraction(3, 2)).cost == Fraction(1, 2)
        dataset.count(**QUESTION, epsilon=row.epsilon, mechanism="rr")
        assert dataset.budget.spent == 1


def test_a_sample_under_another_policy_or_part_or_with_other_coins_is_no_free_answer(
    table: pa.Table,
) -> None:
    day = table.column("day")[0].as_py()
    with osd.open(table, unit=UNIT, policy=POLICY, budget=9, partition_by="day") as dataset:
        dataset.sample(1, fresh=True)
        dataset.sample(1, policy="TRUE")
        dataset.sample(1, part={"day": day})
        assert option(dataset.plan(**QUESTION, epsilon=1), "rr").cost == 1
        assert option(dataset.plan(**QUESTION, epsilon=1, part={"day": day}), "rr").cost == 0
        assert option(dataset.plan(**QUESTION, epsilon=1, policy="TRUE"), "rr").cost == 0


def test_an_answer_that_is_paid_for_is_free(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=1) as dataset:
        dataset.count(**QUESTION, epsilon=1, mechanism="one-sided")
        plan = dataset.plan(**QUESTION, epsilon=1)
        assert option(plan, "one-sided").available
        assert option(plan, "one-sided").cost == option(plan, "one-sided").plain_cost == 0
        assert not option(plan, "laplace").fits
        assert plan.best is not None
        assert plan.best.mechanism == "one-sided"


def test_what_is_missing_is_said(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=1) as dataset:
        plan = dataset.plan("room", epsilon=1)
        assert option(plan, "one-sided").missing is Missing.MAX_GROUPS
        assert option(plan, "rr").available
        assert option(plan, "one-sided").supposing == "max_groups = 1"
        bounded = dataset.plan("room", epsilon=1, max_groups=2)
        assert option(bounded, "laplace").missing is Missing.DOMAIN
        assert option(bounded, "one-sided").available


def test_what_can_be_had_comes_first_and_the_most_exact_on_top(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        dataset.sample("1.5")
        rows = dataset.plan(**QUESTION, epsilon=1).rows
    assert [row.available for row in rows] == sorted((row.available for row in rows), reverse=True)
    had = [row.error for row in rows if row.available and row.error is not None]
    assert had == sorted(had)
    assert {row.mechanism for row in rows if row.available} == {"rr"}


def test_a_plan_agrees_to_no_budget(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY) as dataset:
        plan = dataset.plan(**QUESTION, epsilon="0.5")
        assert plan.budget is None
        assert plan.left is None
        assert all(row.fits and row.cost == Fraction(1, 2) for row in plan.rows)
        dataset.count(**QUESTION, epsilon=1, mechanism="one-sided")
        assert dataset.plan(**QUESTION, epsilon=1).left == 0


def test_a_count_in_steps_is_refused_before_the_first(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=1) as dataset:
        assert not option(dataset.plan(**QUESTION, epsilon=2), "auto").fits
        with pytest.raises(BudgetError, match="nothing was spent"):
            dataset.count(**QUESTION, epsilon=2, mechanism="auto")
        assert dataset.budget.charges == ()
        dataset.count(**QUESTION, epsilon=1, mechanism="auto")
        assert dataset.budget.left == 0


def test_a_count_that_stopped_after_its_probe_can_be_finished(
    table: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with osd.open(table, unit=UNIT, policy=POLICY, budget=1) as dataset:
        with monkeypatch.context() as interrupted:
            interrupted.setattr(Auto, "choose", stop)
            with pytest.raises(KeyboardInterrupt):
                dataset.count(**QUESTION, epsilon=1, mechanism="auto")
        assert dataset.budget.spent == 1, "the whole stays reserved"
        dataset.count(**QUESTION, epsilon=1, mechanism="auto")
        assert dataset.budget.spent == 1


def test_a_plan_shows_itself(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=1) as dataset:
        plan = dataset.plan("room", epsilon="0.5", max_groups=2, nonsensitive_share=0.9)
    content = plan.to_json()
    assert content["supposed_nonsensitive_share"] == 0.9
    assert content["left"] == content["budget"] == "1"
    assert {each["mechanism"] for each in content["options"]} == {
        row.mechanism for row in plan.rows
    }
    assert plan.table.column("mechanism").to_pylist() == [row.mechanism for row in plan.rows]
    shown = str(plan).splitlines()
    assert len(shown) == 1 + 3 + 1 + len(plan.sources), "the best three, the rest folded"
    assert shown[4].startswith(f"… {len(plan.rows) - 3} more")
    assert "no: it needs a declared domain" in {cells[-1] for cells in plan.cells(every=True)[1]}


def test_a_plan_is_the_same_after_a_way_through_json(table: pa.Table) -> None:
    asked = {"epsilon": "0.5", "max_groups": "auto"}
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        dataset.sample(1)
        found = [
            dataset.plan("room", **asked),
            dataset.plan("hour(ts)", epsilon=1),
            dataset.plan.sql(
                "SELECT COUNT(DISTINCT device, day), COUNT(*) FROM data", epsilon=1, max_rows=2
            ),
        ]
        sample = dataset.plan.sample(epsilon=1)
    assert found[0].curve is not None
    assert found[2].together is not None
    for plan in found:
        again = Plan.from_json(json.loads(json.dumps(plan.to_json())))
        assert again == plan
        assert str(again) == str(plan)
        assert again._repr_html_() == plan._repr_html_()
    assert SamplePlan.from_json(json.loads(json.dumps(sample.to_json()))) == sample


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"nonsensitive_share": 1.5}, "between 0 and 1"),
        ({"nonsensitive_share": "much"}, "between 0 and 1"),
        ({"epsilon": 0}, "greater than 0"),
        ({"by": "nowhere"}, "no column"),
        ({"policy": "room = 'lab'"}, "relax"),
    ],
)
def test_a_bad_question_is_refused(table: pa.Table, changes: dict[str, Any], word: str) -> None:
    with (
        osd.open(table, unit=UNIT, policy=POLICY, budget=1) as dataset,
        pytest.raises(InputError, match=word),
    ):
        dataset.plan(**{**QUESTION, "epsilon": 1, **changes})


EXPECTING: list[tuple[Mechanism, int]] = [
    *((each, k) for each in (OneSided(), Laplace(), Residual()) for k in (1, 3)),
    (RandomizedResponse(), 1),
    (RandomizedResponse(scale=True), 1),
]


@pytest.mark.parametrize(("mechanism", "k"), EXPECTING, ids=repr)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1)])
def test_expected_errors_hold_for_even_data(
    mechanism: Mechanism, k: int, epsilon: Fraction
) -> None:
    bins, density, share = 400, 60, 0.75
    units = bins * density // k
    facts = PublicShape((bins,), n=units, k=k, total_public=k == 1, nonsensitive_share=share)
    counts = np.full(bins, density)
    open_part = np.full(bins, int(density * share))
    data = osd.Histogram(counts, open_part, k=k)
    value = mechanism.release(data, epsilon=epsilon, rng=osd.seeded(5)).value
    expected = mechanism.expected_error(facts, epsilon)
    assert expected is not None
    low, high = REACH
    assert low * expected <= float(np.mean(np.abs(value - counts))) <= high * expected


ROUGH: list[Mechanism] = [
    mechanism(name) for name in ("dawa", "privtree", "ahp", "agrid", "dawaz", "naive-recipe")
]


@pytest.mark.parametrize("chosen", ROUGH, ids=lambda chosen: chosen.name)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1)])
@pytest.mark.parametrize("density", [3, 60, 2_000])
def test_buckets_err_as_foreseen_where_no_two_bins_are_alike(
    chosen: Mechanism, epsilon: Fraction, density: int
) -> None:
    """And far less where bins are alike: then the same number is an upper bound."""
    shape, share = (32, 32), 0.75
    facts = PublicShape((1024,), n=density * 1024, nonsensitive_share=share)
    expected = chosen.expected_error(facts, epsilon)
    assert expected is not None
    assert chosen.assumes == "no two groups are alike"
    rough = osd.seeded(7).generator().geometric(1 / (density + 1), shape) - 1
    for counts, least in ((rough, LEAST_OF_ROUGH), (np.full(shape, density), 0.0)):
        data = osd.Histogram(counts, (counts * share).astype(np.int64))
        value = chosen.release(data, epsilon=epsilon, rng=osd.seeded(5)).value
        error = float(np.mean(np.abs(value - counts)))
        assert least * expected <= error <= MOST_OF_ROUGH * expected


def test_the_bound_of_privbayes_holds_for_the_worst_data() -> None:
    counts = np.zeros((8, 8), dtype=np.int64)
    counts[3, 5] = 6_400
    facts = PublicShape((64,), n=6_400)
    expected = mechanism("privbayes").expected_error(facts, Fraction(1, 10**4))
    assert expected is not None
    released = mechanism("privbayes").release(
        osd.Histogram(counts, counts), epsilon=Fraction(1, 10**4), rng=osd.seeded(5)
    )
    assert 0 < float(np.mean(np.abs(released.value - counts))) <= expected


def test_every_option_of_a_plan_says_what_its_error_assumes(table: pa.Table) -> None:
    with osd.open(table, unit=UNIT, policy=POLICY, budget=2) as dataset:
        known = dataset.plan(**QUESTION, epsilon=1)
        open_groups = dataset.plan("room", epsilon=1, max_groups=1)
        unbounded = dataset.plan("room", epsilon=1)
    for row in (*known.rows, *open_groups.rows, *unbounded.rows):
        assert row.error is not None
        assert row.assumes
    assert {*option(open_groups, "one-sided").errors} == {10, 100, 1_000}
    assert {*option(open_groups, "laplace").errors} == {None}, "the same for any number"
    assert "for 10 / 100 / 1,000 groups" in str(open_groups)
    assert "with max_groups = 1" in option(unbounded, "one-sided").said
    assert any(cells[2].startswith("up to ±") for cells in known.cells(every=True)[1])


def test_unknown_groups_have_no_expected_error() -> None:
    facts = PublicShape(None, n=100)
    assert [each.expected_error(facts, Fraction(1)) for each in (OneSided(), Residual())] == [
        None,
        None,
    ]


@pytest.mark.parametrize("bad", [{"nonsensitive_share": True}, {"groups": 0}, {"groups": True}])
def test_what_is_supposed_is_a_number(bad: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        Supposing(**bad)
