"""Policies: identity, sensitivity, relaxation by example, functions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from onesided.engine.duckdb.writer import DuckDBWriter
from onesided.errors import PolicyError
from onesided.language import Field, Schema, Type
from onesided.policy import (
    FunctionPolicy,
    MinimumRelaxation,
    Policy,
    Verdict,
    minimum_relaxation,
)

SCHEMA = Schema.of(
    {
        "age": Type.INTEGER,
        "height": Type.FLOAT,
        "room": Type.TEXT,
        "consent": Type.BOOLEAN,
        "day": Type.DATE,
        "ts": Type.TIMESTAMP,
        "member": Field(Type.BOOLEAN, nullable=False),
    }
)


def test_policies_are_equal_up_to_canonical_form() -> None:
    one, other = Policy("age<=17 or not consent"), Policy("((age <= 17.0)) OR (NOT (consent))")
    assert one == other
    assert hash(one) == hash(other)
    assert one.id == other.id
    assert one.sql == str(one) == "age <= 17 OR NOT consent"
    assert one != Policy("age <= 18 OR NOT consent")
    assert one.columns == ("age", "consent")


def test_the_id_is_a_hash_of_the_canonical_text_and_stays_so() -> None:
    # Ledgers hold this value: if it changes, open accounts no longer know their policy.
    digest = "38a4ef70850051aabd59f430308e57e06ea308f8e1e0a23bac615b8c50d1ce75"
    assert Policy("age <= 17").id == f"policy-{digest}"


def test_policies_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Policy("age <= 17").sql = "FALSE"  # type: ignore[misc]


@pytest.mark.parametrize(("age", "sensitive"), [(17, True), (18, False), (None, True)])
def test_null_is_sensitive(age: int | None, sensitive: bool) -> None:
    policy = Policy("age <= 17")
    assert policy.is_sensitive({"age": age}) is sensitive
    assert policy.bind(SCHEMA).is_sensitive({"age": age}) is sensitive


def test_a_bound_policy_spells_columns_as_the_schema_does() -> None:
    bound = Policy("AGE <= 17").bind(SCHEMA)
    assert bound.sql == "age <= 17"
    assert bound.id == Policy("age <= 17").id
    assert bound.columns == ("age",)
    assert bound.render_sensitive(DuckDBWriter("v")) == '(("v"."age" <= 17) IS NOT FALSE)'


def test_the_trivial_policies() -> None:
    everything, nothing = Policy.all_sensitive(), Policy.none_sensitive()
    assert everything.is_sensitive({})
    assert not nothing.is_sensitive({})
    assert nothing.relaxes(everything)
    assert not everything.relaxes(nothing)
    assert Policy("room LIKE 'a%'").relaxes(everything)
    assert nothing.relaxes(Policy("room LIKE 'a%'"))
    assert Policy("NULL").constant is True


@pytest.mark.parametrize(
    ("first", "second", "without", "bound"),
    [
        ("age <= 17", "age <= 20", Verdict.YES, Verdict.YES),
        ("age <= 20", "age <= 17", Verdict.NO, Verdict.NO),
        ("age > 17", "age >= 18", Verdict.NOT_PROVEN, Verdict.YES),
        ("age > 17.2", "age > 17.8", Verdict.NOT_PROVEN, Verdict.YES),
        ("height > 17", "height >= 18", Verdict.NOT_PROVEN, Verdict.NO),
        ("age = 3", "age IN (1, 3, 5)", Verdict.YES, Verdict.YES),
        ("age <> 3", "age < 3 OR age > 3", Verdict.YES, Verdict.YES),
        ("age BETWEEN 3 AND 5", "age >= 3", Verdict.YES, Verdict.YES),
        ("age IS NULL", "age < 0", Verdict.YES, Verdict.YES),
        ("age < 0", "age IS NULL", Verdict.NO, Verdict.NO),
        ("age < 0", "age IS NOT NULL AND age < 0", Verdict.NO, Verdict.NO),
        ("consent", "consent IS NOT FALSE", Verdict.YES, Verdict.YES),
        ("NOT consent", "consent IS FALSE", Verdict.NO, Verdict.NO),
        ("NOT member", "member IS FALSE", Verdict.NO, Verdict.YES),
        ("(age < 3) = consent", "consent = (age < 3)", Verdict.YES, Verdict.YES),
        ("consent = member", "member = consent", Verdict.NOT_PROVEN, Verdict.YES),
        ("room > 'a'", "room >= 'a '", Verdict.NO, Verdict.NO),
        ("room IN ('b')", "room BETWEEN 'a' AND 'c'", Verdict.YES, Verdict.YES),
        ("coalesce(age, 5) < 7", "age < 7", Verdict.YES, Verdict.YES),
        ("CASE WHEN age < 3 THEN consent ELSE TRUE END", "age >= 3 OR consent", *[Verdict.YES] * 2),
        ("day > DATE '2024-02-28'", "day >= DATE '2024-02-29'", Verdict.NOT_PROVEN, Verdict.YES),
        ("ts > DATE '2024-02-28'", "ts >= DATE '2024-02-29'", Verdict.NOT_PROVEN, Verdict.NO),
        ("day > DATE '9999-12-31'", "FALSE", Verdict.NOT_PROVEN, Verdict.NOT_PROVEN),
        ("height = 0.1", "height = 0.10000000000000000001", Verdict.NOT_PROVEN, Verdict.YES),
        ("room LIKE 'a%'", "room LIKE 'a%'", Verdict.YES, Verdict.YES),
        ("room LIKE 'ab%'", "room LIKE 'a%'", Verdict.NOT_PROVEN, Verdict.NOT_PROVEN),
        ("room LIKE 'a%' AND age < 3", "age < 4", Verdict.YES, Verdict.YES),
        ("room LIKE 'a%' OR age < 4", "age < 3", Verdict.NO, Verdict.NO),
        ("age < 4", "age < 3 OR room LIKE 'a%'", Verdict.NOT_PROVEN, Verdict.NOT_PROVEN),
        ("age + 1 < 4", "age < 3", Verdict.NOT_PROVEN, Verdict.NOT_PROVEN),
        ("hour(ts) < 8", "hour(ts) < 9", Verdict.NOT_PROVEN, Verdict.NOT_PROVEN),
        ("day < ts", "day < ts OR age < 3", Verdict.YES, Verdict.YES),
    ],
)
def test_relaxes(first: str, second: str, without: Verdict, bound: Verdict) -> None:
    assert Policy(first).relaxes(Policy(second)).verdict is without
    answer = Policy(first).relaxes(Policy(second), SCHEMA)
    assert answer.verdict is bound
    assert bool(answer) is (bound is Verdict.YES)
    assert (answer.counterexample is not None) is (bound is Verdict.NO)
    assert answer.reason.endswith(".")


def test_a_counterexample_names_every_column() -> None:
    answer = Policy("age < 4 OR room LIKE 'a%'").relaxes(Policy("age < 3"), SCHEMA)
    assert answer.counterexample == {"age": 3, "room": None}


def test_too_many_regions_are_not_proven() -> None:
    many = " OR ".join(f"c{n} = {n}" for n in range(12))
    answer = Policy(f"{many} OR x = 1").relaxes(Policy(many))
    assert answer.verdict is Verdict.NOT_PROVEN
    assert "100,000" in answer.reason


def test_one_column_spelt_in_two_ways_is_not_proven_without_a_schema() -> None:
    assert Policy("Age < 3").relaxes(Policy("age < 4")).verdict is Verdict.NOT_PROVEN
    assert Policy("Age < 3").relaxes(Policy("age < 4"), SCHEMA)


def test_one_column_with_two_types_is_not_proven() -> None:
    assert Policy("a = 1").relaxes(Policy("a = 'x'")).verdict is Verdict.NOT_PROVEN


def test_minimum_relaxation_is_the_conjunction() -> None:
    one, other = Policy("age <= 17"), Policy("room LIKE 'a%' OR consent")
    least = minimum_relaxation(one, other, Policy.all_sensitive(), one)
    assert isinstance(least, MinimumRelaxation)
    assert least.parts == (one, other)
    assert least == Policy("age <= 17 AND (room LIKE 'a%' OR consent)")
    assert minimum_relaxation(least, Policy("consent")) == minimum_relaxation(
        Policy("consent"), other, one
    )


def test_minimum_relaxation_of_trivial_policies() -> None:
    one = Policy("age <= 17")
    assert minimum_relaxation(one) is one
    assert minimum_relaxation(one, Policy("age<=17")) == one
    assert minimum_relaxation(one, Policy.none_sensitive()) == Policy.none_sensitive()
    assert minimum_relaxation(Policy.all_sensitive()) == Policy.all_sensitive()
    with pytest.raises(PolicyError):
        minimum_relaxation()


@pytest.mark.parametrize(
    ("result", "sensitive"),
    [
        *((False, False), (np.False_, False), (True, True), (np.True_, True)),
        *((None, True), (0, True), (0.0, True), ("", True), ([], True), (np.int64(0), True)),
    ],
)
def test_only_false_makes_a_row_non_sensitive(result: object, sensitive: bool) -> None:
    assert Policy.from_function(lambda row: result).is_sensitive({}) is sensitive


def test_a_function_that_fails_makes_the_row_sensitive() -> None:
    policy = Policy.from_function(lambda row: row["age"] <= 17)
    assert policy.is_sensitive({"age": "old"})
    assert policy.is_sensitive({})
    assert not policy.is_sensitive({"age": 18})


def test_a_function_relaxes_only_itself_and_what_everything_does() -> None:
    def minors(row: Mapping[str, Any]) -> bool:
        return bool(row["age"] <= 17)

    policy, same = Policy.from_function(minors), Policy.from_function(minors)
    assert policy.relaxes(same)
    assert policy.relaxes(Policy.all_sensitive())
    assert Policy.none_sensitive().relaxes(policy)
    assert policy.relaxes(Policy("age <= 17")).verdict is Verdict.NOT_PROVEN
    assert Policy("age <= 17").relaxes(policy).verdict is Verdict.NOT_PROVEN
    assert minimum_relaxation(policy, same) == policy
    with pytest.raises(PolicyError):
        minimum_relaxation(policy, Policy("age <= 17"))


def test_the_id_of_a_function_is_stable_only_with_a_name() -> None:
    def minors(row: Mapping[str, Any]) -> bool:
        return False

    assert Policy.from_function(minors, "minors").id == "function-minors"
    assert Policy.from_function(minors, "minors").has_stable_id
    assert not Policy.from_function(minors).has_stable_id
    assert "process" in Policy.from_function(minors).id
    assert "minors" in Policy.from_function(minors).sql
    for wrong in (("no function", None), (minors, " ")):
        with pytest.raises(PolicyError):
            FunctionPolicy(*wrong)  # type: ignore[arg-type]


def test_importing_policies_loads_neither_parser_nor_engine() -> None:
    heavy = "{'sqlglot', 'numpy', 'duckdb', 'pyspark', 'pyarrow'}"
    code = f"import sys, onesided.policy; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
