"""A sample with weights stands for all units, by what was released of them and by nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest

import onesided as osd
from onesided.data.reading import read_release
from onesided.data.receipt import Receipt
from onesided.data.release import SampleRelease, TableRelease, payload_of
from onesided.errors import RequestError

REGIONS = ["east", "north", "south", "west"]
ADULT = "age >= 18"


def _people(units: int = 6000, *, rows_each: int = 1) -> pa.Table:
    """People of whom the old and those in the south opt out more often."""
    rng = np.random.default_rng(5)
    age, place = rng.integers(0, 80, units), rng.integers(0, 4, units)
    out = rng.random(units) < 0.1 + 0.4 * (age > 50) + 0.3 * (place == 2)
    people = {
        "id": np.arange(units),
        "age": age,
        "region": np.array(REGIONS)[place],
        "opted_out": out,
        "income": 10.0 * age,
    }
    return pa.table({name: np.repeat(each, rows_each) for name, each in people.items()})


def _opened(table: pa.Table, policy: str = "opted_out", unit: Any = "rows", **more: Any) -> Any:
    return osd.open(table, unit=unit, policy=policy, budget=1000, **more)


def _by_region(dataset: Any, **more: Any) -> TableRelease:
    asked = {"mechanism": "laplace", "domain": {"region": REGIONS}, "epsilon": 1, **more}
    found = dataset.count("region", **asked)
    assert isinstance(found, TableRelease)
    return found


def _by_age(dataset: Any, **more: Any) -> TableRelease:
    domain = {"bucket(age, 10)": list(range(0, 80, 10))}
    asked = {"mechanism": "laplace", "domain": domain, "epsilon": 1, **more}
    found = dataset.count("bucket(age, 10)", **asked)
    assert isinstance(found, TableRelease)
    return found


@pytest.fixture(scope="module")
def some() -> Any:
    return _opened(_people(500))


def test_weights_sum_to_all_units_and_mend_what_depends_on_the_margins() -> None:
    table = _people()
    dataset = _opened(table)
    sample = dataset.sample(1)
    weighted = sample.weighted([_by_age(dataset), _by_region(dataset)])
    rows = weighted.table
    assert rows.column_names == [*table.column_names, "weight"]
    weights = rows["weight"].to_numpy()
    assert weights.sum() == pytest.approx(6000)
    assert weights.min() > 0
    truth = pc.mean(table["income"]).as_py()
    plain = pc.mean(rows["income"]).as_py()
    mended = float(weights @ rows["income"].to_numpy()) / 6000
    assert abs(mended - truth) < abs(plain - truth) / 5
    assert weighted.weighing.stands_for == "all 6,000 units"
    assert 0 < weighted.weighing.found.effective_units < len(rows)


def test_each_margin_has_a_table_before_and_after() -> None:
    dataset = _opened(_people())
    weighted = dataset.sample(1).weighted([_by_region(dataset)])
    table = weighted.margins["region"].to_pydict()
    assert table["region"] == REGIONS
    before, after = (np.array(table[name]) for name in ("unweighted", "weighted"))
    counted = np.array(table["counted"])
    assert np.abs(after - counted).sum() < np.abs(before - counted).sum() / 10
    assert sum(table["sampled_units"]) == len(weighted)


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_files_have_the_column_and_their_receipt_says_whom_it_stands_for(
    tmp_path: Path, ending: str
) -> None:
    dataset = _opened(_people(900))
    weighted = dataset.sample(1).weighted([_by_region(dataset)])
    weighted.write(tmp_path / f"sample.{ending}", receipt=True)
    again = read_release(tmp_path / f"sample.{ending}")
    assert again.table.cast(weighted.table.schema).equals(weighted.table)
    assert again.receipt["weights"]["stands_for"] == "all 900 units"
    assert set(again.receipt["figures"]) == {"count by region"}


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
def test_files_alone_give_the_same_weights(tmp_path: Path, ending: str) -> None:
    dataset = _opened(_people(900))
    sample, counts = dataset.sample(1), [_by_region(dataset), _by_age(dataset)]
    for name, each in {"sample": sample, "a": counts[0], "b": counts[1]}.items():
        each.write(tmp_path / f"{name}.{ending}", receipt=True)
    dataset.close()
    read = [read_release(tmp_path / f"{name}.{ending}") for name in ("sample", "a", "b")]
    assert isinstance(read[0], SampleRelease)
    first, second = sample.weighted(counts), read[0].weighted(read[1:])
    np.testing.assert_array_equal(first.table["weight"], second.table["weight"])


def test_units_of_several_rows_have_one_weight() -> None:
    dataset = _opened(_people(2000, rows_each=3), unit=["id"])
    sample = dataset.sample(1)
    weighted = sample.weighted([_by_region(dataset, max_groups=1)])
    by_unit = weighted.table.group_by("id").aggregate([("weight", "min"), ("weight", "max")])
    assert by_unit["weight_min"].equals(by_unit["weight_max"])
    assert pc.sum(by_unit["weight_min"]).as_py() == pytest.approx(2000)


@pytest.mark.parametrize("most", [1, 2, 20])
def test_the_groups_that_were_counted_are_found_again_for_sampled_units(most: int) -> None:
    rng = np.random.default_rng(8)
    table = pa.table(
        {
            "device": [f"d{number}" for number in rng.integers(0, 200, 3000)],
            "day": rng.integers(0, 3, 3000),
            "room": np.array(["café", "hall", "lab", "yard"])[rng.integers(0, 4, 3000)],
        }
    )
    dataset = _opened(table, policy="day > 5", unit=["device", "day"])
    sample = dataset.sample(60, yes=True)  # everybody
    domain = {"room": ["café", "hall", "lab", "yard"]}
    asked = {"mechanism": "laplace", "domain": domain, "epsilon": 100, "yes": True}
    count = dataset.count("room", max_groups=most, **asked)
    total = dataset.count(mechanism="laplace", epsilon=100, yes=True, max_groups=1)
    weighted = sample.weighted([count, total])
    found = weighted.margins["room"].to_pydict()
    assert found["sampled_units"] == found["counted"]


def test_groups_of_which_nobody_can_be_in_the_sample_are_not_stood_for() -> None:
    dataset = _opened(_people(), policy="opted_out OR age < 20")
    sample = dataset.sample(1)
    weighing = sample.weighted([_by_age(dataset)]).weighing
    assert weighing.margins[0].impossible == ["0", "10"]
    assert "no sampled unit in: bucket(age, 10) 0, 10" in weighing.stands_for
    assert weighing.found.total == pytest.approx(4500, rel=0.05)
    with pytest.raises(RequestError, match=r"region.*ask it where age >= 20"):
        sample.weighted([_by_age(dataset), _by_region(dataset)])


def test_a_condition_that_follows_from_the_policy_says_whom_it_stands_for() -> None:
    table = _people()
    dataset = _opened(table, policy=f"opted_out OR NOT ({ADULT})")
    counts = [_by_age(dataset, where=ADULT), _by_region(dataset, where=ADULT)]
    weighing = dataset.sample(1).weighted(counts).weighing
    adults = pc.sum(pc.greater_equal(table["age"], 18)).as_py()
    assert weighing.found.total == pytest.approx(adults, abs=30)
    assert "% of 6,000 units, those where age >= 18; no sampled" in weighing.stands_for
    assert weighing.margins[0].impossible == ["0"]


def test_a_group_that_is_empty_by_chance_is_listed() -> None:
    table = _people(400)
    dataset = _opened(table)
    domain = {"region": [*REGIONS, "nowhere"]}
    weighing = dataset.sample(1).weighted([_by_region(dataset, domain=domain)]).weighing
    assert weighing.margins[0].empty == ["nowhere"]
    assert "Empty by chance" in weighing.warnings[-1]
    assert "region nowhere" in weighing.warnings[-1]


def test_other_values_are_a_group_where_that_was_declared() -> None:
    dataset = _opened(_people())
    counted = _by_region(dataset, domain={"region": ["south", "*"]})
    found = dataset.sample(1).weighted([counted]).margins["region"].to_pydict()
    assert found["region"] == ["south", None]
    assert found["weighted"] == pytest.approx(found["counted"], rel=0.02)


def test_keys_that_were_found_can_be_weighted_by() -> None:
    dataset = _opened(_people())
    counted = dataset.count("region", epsilon=2, mechanism="residual")
    found = dataset.sample(1).weighted([counted]).margins["region"].to_pydict()
    assert sorted(found["region"]) == REGIONS
    assert found["weighted"] == pytest.approx(found["counted"], rel=0.1)


Refused = Callable[[Any], tuple[Any, list[Any]]]


def _another(part: str) -> Refused:
    def made(dataset: Any) -> tuple[Any, list[Any]]:
        count = _by_region(dataset)
        policy = {"id": "policy-other", "sql": "age < 5"}
        content = {**count.receipt.content, part: policy if part == "policy" else "other"}
        return dataset.sample(1), [TableRelease(Receipt(content), payload_of(count.table))]

    return made


def _with_weights(dataset: Any) -> tuple[Any, list[Any]]:
    counts = [_by_region(dataset)]
    return dataset.sample(1).weighted(counts), counts


REFUSALS: dict[str, tuple[Refused, str]] = {
    "another data set": (_another("dataset"), "another data set"),
    "another state": (_another("snapshot"), "another state of the data"),
    "another policy": (_another("policy"), "another policy"),
    "another unit": (_another("unit"), "another unit"),
    "no counts": (lambda data: (data.sample(1), []), "at least one"),
    "sums": (lambda data: (data.sample(1), [data.sum("age", epsilon=1, bound=9)]), "of units"),
    "a sample": (lambda data: (data.sample(1), [data.sample(1)]), "counts of units"),
    "counts of a sample": (
        lambda data: (data.sample(1), [data.count("region", epsilon=1, mechanism="rr")]),
        "does not say how exact",
    ),
    "a column that was not released": (
        lambda data: (data.sample(1, columns=["age"]), [_by_region(data)]),
        "no column region",
    ),
    "weights already": (_with_weights, "a column weight already"),
    "other rows of the sample": (
        lambda data: (data.sample(1, where=ADULT), [_by_region(data)]),
        "same condition",
    ),
    "a condition that does not follow": (
        lambda data: (data.sample(1), [_by_region(data, where=ADULT)]),
        "does not follow from the policy",
    ),
    "different conditions": (
        lambda data: (data.sample(1), [_by_region(data, where=ADULT), _by_age(data)]),
        "different units",
    ),
    "noise": (
        lambda data: (data.sample(1), [_by_region(data, epsilon="0.001")]),
        "% of a mean cell",
    ),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_what_does_not_match_is_refused_in_one_sentence(reason: str, some: Any) -> None:
    make, words = REFUSALS[reason]
    sample, counts = make(some)
    with pytest.raises(RequestError, match=words) as refusal:
        sample.weighted(counts)
    assert str(refusal.value).count(". ") == 0


def test_units_that_cannot_be_told_are_refused() -> None:
    dataset = _opened(_people(200, rows_each=2), unit=["id"])
    sample = dataset.sample(1, columns=["age", "region"])
    with pytest.raises(RequestError, match="no column id"):
        sample.weighted([_by_region(dataset, max_groups=1)])


def test_a_sample_of_other_rows_is_weighted_by_counts_of_the_same() -> None:
    dataset = _opened(_people())
    counted = _by_region(dataset, where=ADULT)
    weighing = dataset.sample(1, where="age >= 18").weighted([counted]).weighing
    assert weighing.covers.where == ADULT
    assert weighing.found.total == pytest.approx(counted.table["count"].to_numpy().sum())


def test_noise_that_is_meant_is_accepted_and_said() -> None:
    dataset = _opened(_people(500))
    counts = [_by_region(dataset, epsilon="0.02")]
    weighing = dataset.sample(1).weighted(counts, noisy=True).weighing
    assert "weights help less" in weighing.warnings[0]


def test_parts_go_together() -> None:
    table = _people(600).append_column("day", pa.array([1, 2] * 300))
    dataset = _opened(table, unit=["id", "day"], partition_by="day")
    sample = dataset.sample(1, part={"day": 1})
    counted = _by_region(dataset, part={"day": 1}, max_groups=1)
    assert sample.weighted([counted]).weighing.found.total == pytest.approx(300, abs=20)
    with pytest.raises(RequestError, match="another part"):
        sample.weighted([_by_region(dataset, max_groups=1)])


def test_nothing_in_a_receipt_but_public_facts_moves_a_weight() -> None:
    dataset = _opened(_people(700))
    sample, count = dataset.sample(1), _by_region(dataset)
    other = {**count.receipt.content, "time": "later", "purpose": "x", "account": {"cost": "7"}}
    again = TableRelease(Receipt(other), payload_of(count.table))
    first, second = sample.weighted([count]), sample.weighted([again])
    np.testing.assert_array_equal(first.table["weight"], second.table["weight"])


def test_a_sample_of_nobody_has_no_weights() -> None:
    dataset = _opened(_people(300), policy="TRUE")
    weighted = dataset.sample(1).weighted([_by_region(dataset)])
    assert len(weighted) == 0
    assert weighted.table.column_names[-1] == "weight"


DECLARED = {"bucket(age, 10)": list(range(0, 80, 10)), "region": REGIONS}


def test_both_are_paid_in_one_step() -> None:
    dataset = _opened(_people(), policy=f"opted_out OR NOT ({ADULT})")
    asked: dict[str, Any] = {"stands_for": [*DECLARED], "domain": DECLARED, "epsilon": 1}
    plan = dataset.plan.sample(**asked)
    weighted = dataset.sample(**asked)
    assert plan.cost == weighted.loss.epsilon == dataset.budget.spent == 1
    assert weighted.receipt["account"]["cost"] == "1"
    assert weighted.receipt["request"]["stands_for"] == [*DECLARED]
    assert "those where age >= 18" in weighted.weighing.stands_for
    assert weighted.weighing.covers.total == pytest.approx(4670, rel=0.05)
    again = dataset.sample(**asked)
    assert again.table.equals(weighted.table)
    assert dataset.budget.spent == 1


def test_one_of_several_questions_may_stand_for_all() -> None:
    dataset = _opened(_people(1000))
    wish = {"ask": "sample", "name": "all", "stands_for": ["region"], "domain": {"region": REGIONS}}
    answers = dataset.run([wish, {"ask": "count", "by": "region"}], epsilon=4)
    assert answers["all"].weighing.stands_for == "all 1,000 units"
    assert answers.loss.epsilon == 4


def test_keys_without_a_domain_are_found() -> None:
    dataset = _opened(_people())
    weighted = dataset.sample(3, stands_for=["region"])
    assert [each["mechanism"] for each in weighted.receipt["figures"].values()] == [
        "rr",
        "residual",
    ]
    assert weighted.margins["region"].num_rows == 4


def test_where_no_group_is_found_all_weights_are_alike() -> None:
    dataset = _opened(_people(30), policy="TRUE")
    weighted = dataset.sample("0.1", stands_for=["region"], where=ADULT)
    assert weighted.margins["region"].num_rows == 0
    assert len(weighted) == 0


def test_two_keys_together_are_one_margin() -> None:
    dataset = _opened(_people())
    weighted = dataset.sample(3, stands_for=[[*DECLARED]], domain=DECLARED)
    assert list(weighted.margins) == ["bucket(age, 10) × region"]
    assert weighted.margins["bucket(age, 10) × region"].num_rows == 32


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "nothing": ({"stands_for": []}, "is a list of columns"),
    "a number": ({"stands_for": [3]}, "is a list of columns"),
    "a domain of another key": (
        {"stands_for": ["region"], "domain": {"age": [1]}},
        "stands_for does not name",
    ),
    "a domain alone": ({"domain": {"region": REGIONS}}, "say that too"),
    "a column that would not leave": (
        {"stands_for": ["region"], "columns": ["age"]},
        "would not have the column region",
    ),
    "noise": (
        {"stands_for": ["region"], "domain": {"region": REGIONS}, "epsilon": "0.001"},
        "% of a mean cell",
    ),
    "rows that stay elsewhere": ({"stands_for": ["region"], "into": "there"}, "leave into out"),
}


@pytest.mark.parametrize("reason", WRONG)
def test_it_is_refused_before_anything_is_paid(reason: str, some: Any) -> None:
    asked, words = WRONG[reason]
    before = some.budget.spent
    with pytest.raises(RequestError, match=words):
        some.sample(**{"epsilon": 1, **asked})
    assert some.budget.spent == before


def test_groups_that_no_condition_keeps_apart_are_refused_before_the_charge() -> None:
    policy = "(age < 20 OR opted_out) AND (age < 20 OR age > 70)"
    dataset = _opened(_people(300), policy=policy)
    with pytest.raises(RequestError, match=r"No unit of the group 0 .* say with where"):
        dataset.sample(1, stands_for=[*DECLARED], domain=DECLARED, noisy=True)
    assert dataset.budget.spent == 0


KEYS: dict[str, list[Any] | None] = {
    "hour(ts)": None,
    "weekday(ts)": None,
    "date(ts)": ["2024-03-30", "2024-03-31", "2024-04-01", "*"],
    "day": ["2024-01-01", "2024-01-02"],
    "flag": None,
    "bucket(size, 2)": [0, 2, 4, "*"],
    "upper(name)": ["A", "B"],
    "kind": ["x", "*"],
    "price": ["1.50", "2.25"],
    "CASE WHEN share < 0.5 THEN 'small' ELSE 'large' END": ["small", "large"],
}


@pytest.mark.parametrize("zone", [None, {"ts": "Europe/Berlin"}])
def test_every_key_puts_units_where_they_were_counted(zone: Any) -> None:
    number = np.arange(400)
    moments = np.datetime64("2024-03-30T00:30", "us") + number * np.timedelta64(17, "m")
    table = pa.table(
        {
            "ts": pa.array(moments),
            "day": pa.array(np.array(["2024-01-01", "2024-01-02"], "datetime64[D]")[number % 2]),
            "flag": pa.array([None if each % 7 == 0 else each % 3 == 0 for each in number]),
            "size": number % 9,
            "share": number % 10 / 7,
            "name": np.array(["a", "B", None], object)[number % 3],
            "kind": pa.array(np.array(["x", "y", None], object)[number % 3]).dictionary_encode(),
            "price": pa.array(["1.50", "2.25"] * 200).cast(pa.decimal128(5, 2)),
            "out": np.zeros(400, dtype=bool),
        }
    )
    with _opened(table, policy="out", time_zone=zone) as dataset:
        sample = dataset.sample(60, yes=True)
        assert len(sample) == 400
        counts = [
            dataset.count(
                key,
                epsilon=80,
                yes=True,
                mechanism="laplace",
                domain=None if values is None else {key: values},
            )
            for key, values in KEYS.items()
        ]
    margins = sample.weighted(counts).margins
    for name, margin in margins.items():
        assert margin["sampled_units"].to_pylist() == margin["counted"].to_pylist(), name
    assert len(margins) == len(KEYS)
