"""What every mechanism in the registry keeps to. Being registered enrols a mechanism here."""

from __future__ import annotations

import inspect
import re
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from onesided.data import Histogram, Measured, Measurement
from onesided.data.histogram import Counts
from onesided.errors import InputError, MechanismRefused, RequestError
from onesided.mechanisms.base import AdaptiveMechanism, Kind, Mechanism, PublicShape
from onesided.mechanisms.registry import mechanism, mechanism_names
from onesided.randomness import seeded
from support.histograms import exact_only, shaped, small
from support.terms import assert_fits, stated

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "mechanisms.md"
INTEGER = ("one-sided", "laplace", "hybrid", "hybrid-paper", "suppress", "all-ns", "truman", "rr")
EPSILONS = (Fraction(1, 10**9), Fraction(1, 3), Fraction(1000))
ONE = Fraction(1)
HALF = Fraction(1, 2)

SOUND = [name for name in mechanism_names() if mechanism(name).kind is Kind.SOUND]
ADAPTIVE = [name for name in SOUND if isinstance(mechanism(name), AdaptiveMechanism)]

each_mechanism = pytest.mark.parametrize("name", mechanism_names())


def released(
    chosen: Mechanism, data: Histogram, epsilon: Fraction = HALF, seed: int = 5
) -> Measurement:
    return chosen.release(data, epsilon=epsilon, rng=seeded(seed))


def released_or_refused(
    chosen: Mechanism, data: Histogram, epsilon: Fraction = HALF
) -> Measurement | None:
    """A measurement, or None where the mechanism says in one sentence that it will not."""
    try:
        return released(chosen, data, epsilon)
    except MechanismRefused as refusal:
        reason = str(refusal)
    assert reason.endswith(".")
    assert "\n" not in reason
    return None


@each_mechanism
def test_it_says_what_it_is(name: str) -> None:
    chosen = mechanism(name)
    assert chosen.name == name
    assert isinstance(chosen.kind, Kind)
    assert chosen.summary
    assert chosen.refusal.endswith(".")


@each_mechanism
def test_its_proof_is_beside_its_module(name: str) -> None:
    module = inspect.getsourcefile(type(mechanism(name)))
    assert module is not None
    assert Path(module).with_suffix(".md").read_text(encoding="utf-8").startswith("# ")


def test_the_documentation_lists_every_mechanism_once() -> None:
    rows = re.findall(r"^\| (`[^|]+) \|", DOCUMENTATION.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(re.findall(r"`([^`]+)`", " ".join(rows))) == sorted(mechanism_names())


@each_mechanism
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_release_costs_the_epsilon_that_was_asked_for(name: str, epsilon: Fraction) -> None:
    chosen = mechanism(name)
    loss = stated(chosen, small(name), epsilon).loss
    assert loss == chosen.loss(epsilon, fixed_n=True)
    assert isinstance(chosen, AdaptiveMechanism) or loss.epsilon == epsilon


@each_mechanism
def test_without_a_public_total_no_release_is_bound_to_n(name: str) -> None:
    loss = stated(mechanism(name), small(name, total_public=False), HALF).loss
    assert not loss.fixed_n
    assert loss.extended_epsilon is not None


@each_mechanism
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_value_has_the_shape_of_the_histogram(name: str, epsilon: Fraction) -> None:
    data = small(name)
    value = released(mechanism(name), data, epsilon).value
    assert value.shape == data.shape
    assert name == "non-truman" or np.all(np.isfinite(value))


@each_mechanism
def test_the_same_seed_gives_the_same_release(name: str) -> None:
    chosen, data = mechanism(name), small(name)
    first, second = released(chosen, data), released(chosen, data)
    np.testing.assert_array_equal(first.value, second.value)


@pytest.mark.parametrize("name", INTEGER)
def test_counts_are_integers_where_it_says_so(name: str) -> None:
    assert stated(mechanism(name), small(name), HALF).whole


@pytest.mark.parametrize("name", [name for name in mechanism_names() if name not in ADAPTIVE])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("total_public", [True, False])
def test_a_release_is_as_its_terms_say(name: str, k: int, total_public: bool) -> None:
    chosen, data = mechanism(name), small(name, k=k, total_public=total_public)
    found = released_or_refused(chosen, data)
    if found is not None:
        assert_fits(found, stated(chosen, data, HALF), data.bins)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("bins", [0, 1, 9])
def test_nothing_that_is_said_or_refused_depends_on_counts(name: str, bins: int) -> None:
    """Empty data, large counts and the smallest domain: each is answered, or none is."""
    answers = {_answer(name, counts, bins > 0) for counts in _extremes(bins)}
    assert len(answers) == 1


def _extremes(bins: int) -> list[Counts]:
    """Counts over so many bins; 0 stands for keys that are not declared."""
    if bins == 0:
        return [np.array(each, dtype=np.int64) for each in ([], [0], [1, 2], [2**53])]
    return [np.full(bins, each, dtype=np.int64) for each in (0, 1, 2**40, 2**53 // bins)]


def _answer(name: str, counts: Counts, declared: bool) -> bool:
    """Whether there are answers; they must be as stated at every ε."""
    chosen = mechanism(name)
    kinds = {each.tobytes(): each for each in (counts, counts // 2, counts * 0)}
    for others, epsilon in product(kinds.values(), EPSILONS):
        data = Histogram(counts, others, open_domain=True)
        if declared:
            data = shaped(name, counts, others)
        found = released_or_refused(chosen, data, epsilon)
        if found is None:
            return False
        if not isinstance(chosen, AdaptiveMechanism):
            assert_fits(found, stated(chosen, data, epsilon), data.bins)
    return True


@pytest.mark.parametrize("name", SOUND)
def test_sound_mechanisms_draw_exactly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism(name).release(small(name), epsilon=1, rng=exact_only(monkeypatch, 3))


def test_floating_point_draws_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="floating-point"):
        mechanism("rr").release(small("rr"), epsilon=1, rng=exact_only(monkeypatch, 3))


@each_mechanism
@pytest.mark.parametrize("bins", [1, 2, 3, 13, 100])
def test_any_number_of_bins(name: str, bins: int) -> None:
    counts = np.arange(bins) * 3
    found = released_or_refused(mechanism(name), shaped(name, counts, counts // 2))
    assert found is None or found.value.size == bins


@each_mechanism
def test_no_records_at_all(name: str) -> None:
    nothing = np.zeros(9, dtype=np.int64)
    found = released_or_refused(mechanism(name), shaped(name, nothing, nothing))
    assert found is None or found.value.size == 9


@each_mechanism
@pytest.mark.parametrize("k", [3, 10_000])
def test_units_in_several_bins(name: str, k: int) -> None:
    data = small(name, k=k)
    assert data.k == min(k, data.bins)
    found = released_or_refused(mechanism(name), data)
    assert found is None or found.value.size == data.bins


@each_mechanism
def test_open_domains_list_only_keys_that_were_seen(name: str) -> None:
    everyone = np.array([50, 9, 0, 70, 40])
    others = np.array([45, 0, 0, 60, 1])
    found = released_or_refused(
        mechanism(name), Histogram(everyone, others, open_domain=True), Fraction(2)
    )
    if found is None:
        return
    assert found.keys is not None
    assert found.value.shape == found.keys.shape
    assert np.all(np.diff(found.keys) > 0)
    assert np.all(others[found.keys] > 0)


@each_mechanism
def test_certain_bounds_hold(name: str) -> None:
    data = small(name)
    for seed in range(20):
        for interval in released(mechanism(name), data, seed=seed).intervals:
            if interval.confidence < 1:
                continue
            truth = data.all if interval.of is Measured.ALL else data.nonsensitive
            assert np.all(interval.lower <= truth)
            assert interval.upper is None or np.all(truth <= interval.upper)


@each_mechanism
@pytest.mark.parametrize("d", [None, 1, 4096])
def test_the_error_is_foreseen_from_public_facts(name: str, d: int | None) -> None:
    public = PublicShape(None if d is None else (d,), n=10_000, total_public=True)
    expected = mechanism(name).expected_error(public, ONE)
    assert expected is None or 0 <= expected < float("inf")


@pytest.mark.parametrize("name", ADAPTIVE)
@pytest.mark.parametrize("total_public", [True, False])
def test_the_steps_of_an_adaptive_mechanism_add_up(name: str, total_public: bool) -> None:
    chosen, data, rng = mechanism(name), small(name, total_public=total_public), seeded(2)
    assert isinstance(chosen, AdaptiveMechanism)
    public = PublicShape.of(data)
    first = chosen.probe_terms(public, HALF)
    probe = chosen.probe(data, HALF, rng)
    assert_fits(Measurement(probe.value, keys=probe.keys), first, data.bins)
    choice = chosen.choose(probe, public, HALF, rng)
    assert choice.label
    assert_fits(choice.measure(data, rng), choice.terms, data.bins)
    both = first.loss + choice.terms.loss
    assert both.epsilon == HALF
    whole = chosen.loss(HALF, fixed_n=total_public)
    assert both.sensitive <= whole.sensitive
    assert both.nonsensitive <= whole.nonsensitive
    assert both.fixed_n is whole.fixed_n is total_public


@each_mechanism
@pytest.mark.parametrize("epsilon", [0, -1, "much", float("nan"), True])
def test_epsilon_must_be_a_positive_number(name: str, epsilon: object) -> None:
    with pytest.raises(InputError, match=r"epsilon must be"):
        mechanism(name).release(small(name), epsilon=epsilon, rng=seeded(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("everyone", "others"),
    [
        ([-1, 2], [0, 0]),
        ([1.5, 2], [1, 1]),
        ([1, 2], [2, 2]),
        ([float("nan"), 1], [0, 0]),
        ([], []),
        ([1, 2], [1]),
        ("counts", "counts"),
        (3, 3),
        ([2**60, 1], [0, 0]),
    ],
)
def test_impossible_counts_are_refused_in_one_sentence(everyone: object, others: object) -> None:
    with pytest.raises(InputError, match=r"^[^\n]*\.$"):
        Histogram(everyone, others)  # type: ignore[arg-type]


def test_unknown_names_and_parameters_are_refused() -> None:
    with pytest.raises(RequestError, match="choose one of"):
        mechanism("magic")
    with pytest.raises(RequestError, match="clip"):
        mechanism("one-sided", clipping=True)
