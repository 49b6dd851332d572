"""What a mechanism says before the data are read, held against what it gives back."""

from __future__ import annotations

import numpy as np

from onesided.data import Histogram, Measured, Measurement, MeasurementTerms
from onesided.loss import Number, rational
from onesided.mechanisms.base import Mechanism, PublicShape


def stated(chosen: Mechanism, data: Histogram, epsilon: Number) -> MeasurementTerms:
    """The terms of a release; nothing but the public of `data` is seen."""
    return chosen.terms(PublicShape.of(data), rational(epsilon))


def assert_fits(found: Measurement, terms: MeasurementTerms, bins: int) -> None:
    """The types, intervals and buckets of a measurement over so many `bins` are as stated."""
    listed = bins if found.keys is None else found.keys.size
    assert is_whole(found.value) is terms.whole
    assert found.value.size == listed
    assert (found.buckets is not None) is terms.buckets
    assert len(found.intervals) == len(terms.covers)
    for interval, covers in zip(found.intervals, terms.covers, strict=True):
        assert interval.of is covers.of
        assert interval.confidence == covers.confidence
        assert (interval.upper is not None) is covers.upper
        for bound in (interval.lower, interval.upper):
            assert bound is None or is_whole(bound) is covers.whole
            assert bound is None or covers.of is Measured.BUCKETS or bound.size == listed


def is_whole(values: np.ndarray) -> bool:
    return bool(np.issubdtype(values.dtype, np.integer))
