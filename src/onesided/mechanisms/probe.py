"""The probe of `auto`: a small one-sided release, and some questions that it suggests."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, prod, sqrt

import numpy as np
from numpy.typing import NDArray

from onesided.data import Histogram, Measurement, MeasurementTerms
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.base import PublicShape
from onesided.mechanisms.buckets.tree import halving_tree
from onesided.mechanisms.localities import Located, localities_of, sensitive_means
from onesided.mechanisms.one_sided import one_sided_noise, subtract_noise
from onesided.mechanisms.pieces import SCALES, Pieces, Roughness, pieces
from onesided.mechanisms.residual import SensitiveTotal
from onesided.mechanisms.whereabouts import Apart, distance, number_of_sensitive
from onesided.randomness import Randomness

Floats = NDArray[np.float64]

PROBE_SHARE = Fraction(1, 8)
"""The part of ε that the one-sided release costs: (0, ε/8)."""

QUESTION_SHARE = Fraction(1, 128)
"""The part of ε that a question costs each kind of units that it is about, unless it is one of
those on which most depends. The probe asks how rough the counts of all units are, and where the
sensitive ones are."""

MOST_QUESTION_SHARE = Fraction(1, 32)
"""The largest part of ε that any question costs."""

TOLERATED = Fraction(1, 10)
"""The units for each bin that the noise on an answer may come to where most depends on it: so large
is the relative error that may be overlooked."""

WELL_KNOWN = 1 / 8
"""The part of all units up to which the probe's noise on their number is tolerated."""

TOLD = 10
"""To how many scales of its noise the visible mass comes if all bins are full."""

MOST_BINS_FOR_BUCKETS = 1 << 17
"""Beyond so many bins only mechanisms whose time is linear in the bins are considered."""

WHERE = "number in each locality"
ROUGHNESS = (
    "visible mass",
    *(f"deviation within {scale} blocks" for scale in SCALES),
    "deviation of all bins that do not stand alone",
)
APART = "distance from where the others are"
NUMBER = "number"
DECISIVE = (NUMBER, ROUGHNESS[1])
"""Whether bins are full, and as equal as buckets take them for."""


def is_bucketed(public: PublicShape) -> bool:
    """Whether bins are declared, and few enough for mechanisms that look for buckets."""
    return public.shape is not None and bool(np.prod(public.shape) <= MOST_BINS_FOR_BUCKETS)


def questions(epsilon: Fraction, public: PublicShape) -> tuple[str, ...]:
    """What is asked: `ROUGHNESS` about all units, the rest about sensitive ones.

    `WHERE` has an answer for each locality. What `APART` asks depends on all other answers.
    """
    asked = (*ROUGHNESS, WHERE, APART) if is_bucketed(public) else ()
    return (NUMBER, *asked) if _is_number_asked(epsilon, public) else asked


def _is_number_asked(epsilon: Fraction, public: PublicShape) -> bool:
    """Whether n is not public, or the probe's own noise may hide a good part of n."""
    if public.total is None:
        return True
    return is_bucketed(public) and sum_noise(epsilon, public) > WELL_KNOWN * public.total


def sum_noise(epsilon: Fraction, public: PublicShape) -> float:
    """The standard deviation of the sum of the probe over declared bins, √d·k/(ε/8)."""
    assert public.shape is not None
    return sqrt(prod(public.shape)) / float(probe_rate(epsilon, public))


def probe_loss(epsilon: Fraction, public: PublicShape) -> Loss:
    """(0, ε/8) for y, and its share for each question and kind of units that it is about.

    Where bins are declared, public n decides what is asked, and where units are looked for.
    """
    shares = {each: question_share(each, epsilon, public) for each in questions(epsilon, public)}
    about_all = sum((share for each, share in shares.items() if each in ROUGHNESS), Fraction(0))
    return Loss(
        epsilon * sum(shares.values()),
        epsilon * (PROBE_SHARE + about_all),
        fixed_n=public.total is not None and is_bucketed(public),
    )


def probe_terms(public: PublicShape, epsilon: Fraction) -> MeasurementTerms:
    """What can be said of `take_probe` before the data are read; it bounds nothing."""
    noise = f"probe: {one_sided_noise(probe_rate(epsilon, public))}"
    asked = questions(epsilon, public)
    if asked:
        noise += ", two-sided of rate " + ", ".join(
            f"{_question_rate(each, epsilon, public)} on the {each}" for each in asked
        )
    return MeasurementTerms(probe_loss(epsilon, public), noise, whole=True)


def probe_rate(epsilon: Fraction, public: PublicShape) -> Fraction:
    """That of the noise on y."""
    return PROBE_SHARE * epsilon / public.k


def question_share(question: str, epsilon: Fraction, public: PublicShape) -> Fraction:
    """The part of ε that a question costs: small, but for `DECISIVE` ones what `TOLERATED` asks.

    Noise of rate share·ε/k has the scale k/(share·ε), which is to be `TOLERATED`·d for d bins.
    """
    if question not in DECISIVE or public.shape is None:
        return QUESTION_SHARE
    wanted = Fraction(public.k) / (TOLERATED * prod(public.shape) * epsilon)
    return min(max(wanted, QUESTION_SHARE), MOST_QUESTION_SHARE)


def take_probe(data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
    """y = x_ns − G at ε/8, unclipped where keys are declared, and then what y suggests to ask.

    Each answer has two-sided geometric noise. A unit that is added or removed moves the answers to
    a question by at most k in all. The last question, `APART`, is what all other answers suggest.
    """
    public = PublicShape.of(data)
    rate = probe_rate(epsilon, public)
    counts = subtract_noise(data.nonsensitive, rate, rng)
    keys = np.flatnonzero(counts > 0) if data.open_domain else None
    answers = _first_answers(data, counts, epsilon, public)
    probe = Measurement(
        value=counts if keys is None else counts[keys],
        keys=keys,
        parts=_with_noise(answers, epsilon, public, rng),
    )
    if APART not in questions(epsilon, public):
        return probe
    order = halving_tree(data.shape).order
    _, expected = foreseen(probe, public, epsilon)
    last = {APART: np.array([distance(data.sensitive.reshape(-1)[order], expected)])}
    return replace(probe, parts={**probe.parts, **_with_noise(last, epsilon, public, rng)})


def _with_noise(
    answers: dict[str, Counts], epsilon: Fraction, public: PublicShape, rng: Randomness
) -> dict[str, Counts]:
    rates = {each: _question_rate(each, epsilon, public) for each in answers}
    return {
        each: exact + rng.two_sided_geometric(rates[each], exact.size)
        for each, exact in answers.items()
    }


def foreseen(probe: Measurement, public: PublicShape, epsilon: Fraction) -> tuple[Pieces, Floats]:
    """The pieces of y with the units that are not sensitive, and what bins expect of the others."""
    found = _probed_pieces(probe, public, epsilon)
    sensitive = number_of_sensitive(found, released_total(probe, public, epsilon), public)
    if public.total is not None:
        found = found.with_units(public.total - sensitive)
    return found, sensitive_means(found, sensitive, released_numbers(probe, public, epsilon))


def _probed_pieces(probe: Measurement, public: PublicShape, epsilon: Fraction) -> Pieces:
    """The pieces of y; single bins where keys are open."""
    if public.shape is None:
        alone = np.arange(probe.value.size)
        rate = float(probe_rate(epsilon, public))
        return Pieces.of(alone, probe.value.astype(np.float64), probe.value, rate)
    return cut(probe.value, probe_rate(epsilon, public))


def released_total(
    probe: Measurement, public: PublicShape, epsilon: Fraction
) -> SensitiveTotal | None:
    """The number of sensitive units where it was asked."""
    if NUMBER not in probe.parts:
        return None
    return sensitive_total(int(probe.parts[NUMBER][0]), epsilon, public)


def sensitive_total(value: int, epsilon: Fraction, public: PublicShape) -> SensitiveTotal:
    """An answer about the number of sensitive units."""
    return SensitiveTotal(value, _question_rate(NUMBER, epsilon, public))


def released_numbers(probe: Measurement, public: PublicShape, epsilon: Fraction) -> Located | None:
    """The numbers of sensitive units by locality where they were asked."""
    if WHERE not in probe.parts:
        return None
    return Located(probe.parts[WHERE].astype(np.float64), _scale(WHERE, epsilon, public))


def released_answers(
    probe: Measurement, public: PublicShape, epsilon: Fraction
) -> tuple[Roughness | None, Apart | None]:
    """What was asked of roughness, and of how far sensitive units are from where the others are."""
    if not is_bucketed(public):
        return None, None
    visible, *deviations = (float(probe.parts[each][0]) for each in ROUGHNESS)
    scales = tuple(_scale(each, epsilon, public) for each in ROUGHNESS)
    rough = Roughness(visible, tuple(deviations), _threshold(epsilon, public), scales)
    return rough.in_order(), Apart(float(probe.parts[APART][0]), _scale(APART, epsilon, public))


def cut(probe: Counts, rate: Fraction) -> Pieces:
    """The pieces of y over declared bins, in the order of the halving tree.

    The same ones for the questions, for the pictures and for buckets.
    """
    order = halving_tree(probe.shape).order
    return pieces(probe.reshape(-1)[order], float(rate))


def _question_rate(question: str, epsilon: Fraction, public: PublicShape) -> Fraction:
    return question_share(question, epsilon, public) * epsilon / public.k


def _scale(question: str, epsilon: Fraction, public: PublicShape) -> float:
    """That of the noise on an answer."""
    return 1 / float(_question_rate(question, epsilon, public))


def _threshold(epsilon: Fraction, public: PublicShape) -> int:
    """The scale of the probe's noise, k/(ε/8), in whole units.

    Or more, where bins are so few that the visible mass would not rise out of its noise.
    """
    assert public.shape is not None
    noise = 1 / _question_rate(ROUGHNESS[0], epsilon, public)
    return ceil(max(1 / probe_rate(epsilon, public), TOLD * noise / prod(public.shape)))


def _first_answers(
    data: Histogram, probe: Counts, epsilon: Fraction, public: PublicShape
) -> dict[str, Counts]:
    """The true answers to what y suggests to ask, in the order of `questions`."""
    answers = {}
    asked = questions(epsilon, public)
    if NUMBER in asked:
        answers[NUMBER] = np.array([data.sensitive.sum()])
    if WHERE in asked:
        order = halving_tree(data.shape).order
        found = cut(probe, probe_rate(epsilon, public))
        rough = Roughness.of(data.all.reshape(-1)[order], found, _threshold(epsilon, public))
        for each, value in zip(ROUGHNESS, rough.values, strict=True):
            answers[each] = np.array([int(value)])
        places = localities_of(found)
        answers[WHERE] = np.zeros(int(places.max()) + 1, dtype=np.int64)
        np.add.at(answers[WHERE], places, data.sensitive.reshape(-1)[order])
    return answers
