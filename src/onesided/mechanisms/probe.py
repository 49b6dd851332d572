"""The probe of `auto`: a small one-sided release, and some questions that it suggests."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from onesided.data import Histogram, Measurement
from onesided.data.histogram import Counts
from onesided.loss import Loss
from onesided.mechanisms.base import Outline
from onesided.mechanisms.halving import halving_tree
from onesided.mechanisms.one_sided import subtract_noise
from onesided.mechanisms.picture import localities
from onesided.mechanisms.pieces import SCALES, Floats, Pieces, Roughness, pieces
from onesided.mechanisms.residual import SensitiveTotal
from onesided.randomness import Randomness

PROBE_SHARE = Fraction(1, 4)
"""The part of ε that the one-sided release costs: (0, ε/4)."""

QUESTION_SHARE = Fraction(1, 128)
"""The part of ε that each question costs each kind of units that it is about. The probe asks how
rough the counts of all units are, and where the sensitive ones are."""

MOST_BINS_FOR_BUCKETS = 1 << 17
"""Beyond so many bins only mechanisms whose time is linear in the bins are considered."""

WHERE = "number in each locality"
ROUGHNESS = (
    "visible mass",
    *(f"deviation within blocks of {scale}" for scale in SCALES),
    "deviation within pieces",
)
NUMBER = "number"


def is_bucketed(outline: Outline) -> bool:
    """Whether bins are declared, and few enough for mechanisms that look for buckets."""
    return outline.shape is not None and bool(np.prod(outline.shape) <= MOST_BINS_FOR_BUCKETS)


def questions(outline: Outline) -> tuple[str, ...]:
    """What is asked: `ROUGHNESS` about all units, the rest about sensitive ones.

    `WHERE` has an answer for each locality.
    """
    asked = (*ROUGHNESS, WHERE) if is_bucketed(outline) else ()
    return asked if outline.n is not None else (NUMBER, *asked)


def probe_loss(epsilon: Fraction, outline: Outline) -> Loss:
    """(0, ε/4) for y, and ε/128 for each question and kind of units that it is about."""
    each = QUESTION_SHARE * epsilon
    asked = questions(outline)
    about_all = sum(question in ROUGHNESS for question in asked)
    return Loss(each * len(asked), PROBE_SHARE * epsilon + each * about_all)


def take_probe(data: Histogram, epsilon: Fraction, rng: Randomness) -> Measurement:
    """y = x_ns − G at ε/4, unclipped where keys are declared, and then what y suggests to ask.

    Each answer has two-sided geometric noise.
    """
    outline = Outline.of(data)
    rate = PROBE_SHARE * epsilon / data.k
    counts = subtract_noise(data.nonsensitive, rate, rng)
    keys = np.flatnonzero(counts > 0) if data.open_domain else None
    noise = f"probe: one-sided geometric of rate {rate} on each non-sensitive count"
    parts: dict[str, Counts] = {}
    asked = questions(outline)
    if asked:
        answers = _exact_answers(data, counts, epsilon, asked)
        second = _question_rate(epsilon, data.k)
        parts["asked"] = answers + rng.two_sided_geometric(second, answers.size)
        noise += f", two-sided of rate {second} on {', '.join(asked)}"
    return Measurement(
        value=counts if keys is None else counts[keys],
        loss=probe_loss(epsilon, outline),
        noise=noise,
        keys=keys,
        parts=parts,
    )


def probed_pieces(probe: Measurement, outline: Outline, epsilon: Fraction) -> Pieces:
    """The pieces of y; single bins where keys are open."""
    if outline.shape is None:
        alone = np.arange(probe.value.size)
        rate = float(PROBE_SHARE * epsilon / outline.k)
        return Pieces.of(alone, probe.value.astype(np.float64), probe.value, rate)
    return _cut(probe.value, epsilon, outline.k)


def released_total(
    probe: Measurement, outline: Outline, epsilon: Fraction
) -> SensitiveTotal | None:
    """The number of sensitive units where it was asked: where n is not public."""
    if outline.n is not None:
        return None
    return sensitive_total(int(probe.parts["asked"][0]), epsilon, outline.k)


def sensitive_total(value: int, epsilon: Fraction, k: int) -> SensitiveTotal:
    """An answer about the number of sensitive units."""
    return SensitiveTotal(value, _question_rate(epsilon, k))


def released_answers(
    probe: Measurement, outline: Outline, epsilon: Fraction
) -> tuple[Roughness | None, Floats | None]:
    """What was asked of roughness, and of the number of sensitive units in each locality."""
    if not is_bucketed(outline):
        return None, None
    answers = probe.parts["asked"][0 if outline.n is not None else 1 :].astype(np.float64)
    scale = 1 / float(_question_rate(epsilon, outline.k))
    visible, *deviations = answers[: len(ROUGHNESS)].tolist()
    threshold = _threshold(epsilon, outline.k)
    return Roughness(visible, tuple(deviations), threshold, scale), answers[len(ROUGHNESS) :]


def _cut(probe: Counts, epsilon: Fraction, k: int) -> Pieces:
    """The pieces of y over declared bins: the same ones for the questions and for the pictures."""
    return pieces(
        probe.reshape(-1)[halving_tree(probe.shape).order], float(PROBE_SHARE * epsilon / k)
    )


def _question_rate(epsilon: Fraction, k: int) -> Fraction:
    return QUESTION_SHARE * epsilon / k


def _threshold(epsilon: Fraction, k: int) -> int:
    """The scale of the probe's noise, k/(ε/4), in whole units."""
    return ceil(k / (PROBE_SHARE * epsilon))


def _exact_answers(
    data: Histogram, probe: Counts, epsilon: Fraction, questions: tuple[str, ...]
) -> Counts:
    """The true answers; a unit that is added or removed moves each question's by k in all."""
    answers: list[int] = []
    if NUMBER in questions:
        answers.append(int(data.sensitive.sum()))
    if WHERE in questions:
        order = halving_tree(data.shape).order
        found = _cut(probe, epsilon, data.k)
        rough = Roughness.of(data.all.reshape(-1)[order], found, _threshold(epsilon, data.k))
        answers += [int(each) for each in rough.values]
        places = localities(data.bins)
        totals = np.zeros(int(places[-1]) + 1, dtype=np.int64)
        np.add.at(totals, places, data.sensitive.reshape(-1)[order])
        answers += totals.tolist()
    return np.array(answers, dtype=np.int64)
