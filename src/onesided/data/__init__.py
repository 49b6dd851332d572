"""What flows through the house: units, histograms, measurements, requests, releases, receipts.

units.py         Unit: what one record is
histogram.py     Histogram, Axis: the only form in which a mechanism sees counts
measurement.py   MeasurementTerms, Covers: what a mechanism says before the data are read;
                 Measurement, Interval: what it gives back
metrics.py       how far released counts are from the true ones
"""

from __future__ import annotations

from onesided.data.histogram import Axis, Histogram
from onesided.data.measurement import Covers, Interval, Measured, Measurement, MeasurementTerms

__all__ = [
    "Axis",
    "Covers",
    "Histogram",
    "Interval",
    "Measured",
    "Measurement",
    "MeasurementTerms",
]
