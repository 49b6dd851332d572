"""What sums and means keep to: the contract of the registry's mechanisms, for totals of amounts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onesided as osd
from onesided.data import Histogram, Measured, Measurement, MeasurementTerms
from onesided.errors import InputError, MechanismRefused
from onesided.loss import Loss
from onesided.mechanisms import sums
from onesided.mechanisms.sums import GridTotals, mean_terms, release_mean, release_sum, sum_terms
from onesided.randomness import Randomness, seeded
from support.histograms import exact_only
from support.payments import STEP, payments
from support.terms import assert_fits
from support.visits import POLICY, UNIT

EPSILONS = (Fraction(1, 10**6), Fraction(1, 3), Fraction(1000))
HALF = Fraction(1, 2)
AMOUNTS = np.array([[40, 0, 7], [0, 120, 55]])
UNITS = np.array([[9, 0, 3], [0, 30, 12]])
QUARTER = Fraction(1, 4)


def totals(
    *,
    k: int = 1,
    open_domain: bool = False,
    nonnegative: bool = True,
    step: Fraction = QUARTER,
) -> GridTotals:
    """Amounts of up to 8 quarters from each unit."""
    steps = AMOUNTS.reshape(-1) if open_domain else AMOUNTS
    return GridTotals(
        steps, ceiling=8, step=step, k=k, nonnegative=nonnegative, open_domain=open_domain
    )


def counts(*, k: int = 1, open_domain: bool = False) -> Histogram:
    units = UNITS.reshape(-1) if open_domain else UNITS
    return Histogram(units, units, k=k, total_public=False, open_domain=open_domain)


def summed(epsilon: Fraction, rng: Randomness, **form: Any) -> Measurement:
    return release_sum(totals(**form), epsilon, rng)


def averaged(epsilon: Fraction, rng: Randomness, **form: Any) -> Measurement:
    step = form.pop("step", QUARTER)
    return release_mean(totals(**form, step=step), counts(**form), epsilon, rng)


Released = Callable[..., Measurement]


def terms_of(
    release: Released, epsilon: Fraction, *, k: int, step: Fraction = QUARTER
) -> MeasurementTerms:
    """What is said of a figure before the data are read."""
    if release is averaged:
        return mean_terms(epsilon, ceiling=8, step=step, k=k)
    return sum_terms(epsilon, ceiling=8, step=step, k=k, nonnegative=True)


each_figure = pytest.mark.parametrize("release", [summed, averaged])


def test_the_proof_is_beside_the_module() -> None:
    page = Path(sums.__file__).with_suffix(".md")
    assert page.read_text(encoding="utf-8").startswith("# ")


@each_figure
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("k", [1, 2, 100])
def test_a_release_costs_the_epsilon_that_was_asked_for(
    release: Released, epsilon: Fraction, k: int
) -> None:
    assert terms_of(release, epsilon, k=k).loss == Loss(0, epsilon)


@each_figure
@pytest.mark.parametrize("open_domain", [False, True])
@pytest.mark.parametrize("step", [QUARTER, Fraction(3)])
def test_a_release_is_as_its_terms_say(
    release: Released, open_domain: bool, step: Fraction
) -> None:
    found = release(HALF, seeded(1), open_domain=open_domain, step=step, k=2)
    assert_fits(found, terms_of(release, HALF, step=step, k=2), AMOUNTS.size)


@each_figure
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_value_has_the_shape_of_the_totals(release: Released, epsilon: Fraction) -> None:
    assert release(epsilon, seeded(1)).value.shape == AMOUNTS.shape


@each_figure
@pytest.mark.parametrize("open_domain", [False, True])
def test_the_same_seed_gives_the_same_release_and_another_another(
    release: Released, open_domain: bool
) -> None:
    first, second, other = (release(HALF, seeded(s), open_domain=open_domain) for s in (5, 5, 6))
    np.testing.assert_array_equal(first.value, second.value)
    assert not np.array_equal(first.value, other.value, equal_nan=True)


@each_figure
def test_it_draws_exactly(release: Released, monkeypatch: pytest.MonkeyPatch) -> None:
    release(HALF, exact_only(monkeypatch, 3))


@each_figure
def test_a_release_leaves_the_totals_as_they_were(release: Released) -> None:
    before = AMOUNTS.copy(), UNITS.copy()
    release(HALF, seeded(3))
    np.testing.assert_array_equal(AMOUNTS, before[0])
    np.testing.assert_array_equal(UNITS, before[1])


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_sum_is_a_whole_number_of_steps(epsilon: Fraction) -> None:
    value = summed(epsilon, seeded(2)).value / float(QUARTER)
    np.testing.assert_array_equal(value, np.rint(value))
    assert np.all(value >= 0)


@each_figure
def test_open_domains_list_only_keys_that_were_seen(release: Released) -> None:
    for seed in range(20):
        found = release(HALF, seeded(seed), open_domain=True)
        assert found.keys is not None
        assert found.value.shape == found.keys.shape
        assert np.all(np.diff(found.keys) > 0)
        assert np.all(AMOUNTS.reshape(-1)[found.keys] > 0)


def test_certain_bounds_hold_and_need_values_that_are_not_negative() -> None:
    for seed in range(20):
        certain = [i for i in summed(HALF, seeded(seed)).intervals if i.confidence == 1]
        assert [each.of for each in certain] == [Measured.ALL]
        assert np.all(certain[0].lower <= AMOUNTS * float(QUARTER))
    unsure = summed(HALF, seeded(1), nonnegative=False)
    assert all(interval.confidence < 1 for interval in unsure.intervals)
    assert all(interval.confidence < 1 for interval in averaged(HALF, seeded(1)).intervals)


@each_figure
@pytest.mark.parametrize("epsilon", [0, -1, "much", float("nan"), True])
def test_epsilon_must_be_a_positive_number(release: Released, epsilon: Any) -> None:
    with pytest.raises(InputError, match=r"epsilon must be"):
        release(epsilon, seeded(1))


@pytest.mark.parametrize(
    "bad",
    [
        {"steps": [-1]},
        {"steps": [0.5]},
        {"steps": []},
        {"ceiling": 0},
        {"ceiling": 1.5},
        {"ceiling": True},
        {"step": 0},
        {"k": 0},
    ],
)
def test_impossible_totals_are_refused_in_one_sentence(bad: dict[str, Any]) -> None:
    given = {"steps": [3], "ceiling": 4, **bad}
    with pytest.raises(InputError, match=r"^[^\n]*\.$"):
        GridTotals(given.pop("steps"), **given)


def test_a_mean_over_other_bins_is_refused() -> None:
    other = Histogram(UNITS[:1], UNITS[:1], total_public=False)
    with pytest.raises(MechanismRefused, match="same bins"):
        release_mean(totals(), other, HALF, seeded(1))


@pytest.mark.parametrize("figure", ["sum", "mean"])
@pytest.mark.parametrize("epsilon", [HALF, Fraction(2)])
def test_a_session_charges_the_loss_of_the_release(figure: str, epsilon: Fraction) -> None:
    with osd.open(payments(), unit=UNIT, policy=POLICY, budget=3) as dataset:
        release = getattr(dataset, figure)(
            "paid", by="room", bound=25, grid=STEP, max_groups=5, epsilon=epsilon
        )
        (charge,) = dataset.budget.charges
        assert dataset.budget.spent == epsilon
    assert charge.charge.spending.loss == Loss(0, epsilon)
    assert release.receipt["loss"]["sensitive"] == "0"
    assert release.receipt["loss"]["nonsensitive"] == str(epsilon)
    assert release.receipt["mechanism"] == f"one-sided-{figure}"
    assert "geometric" in release.receipt["noise"]
