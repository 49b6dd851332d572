"""What flows through the house: units, histograms, measurements, requests, releases, receipts.

units.py         Unit: what one record is
histogram.py     Histogram, Axis: the only form in which a mechanism sees counts
measurement.py   Measurement, Interval: what a mechanism gives back
"""

from __future__ import annotations

from onesided.data.histogram import Axis, Histogram
from onesided.data.measurement import Interval, Measured, Measurement

__all__ = ["Axis", "Histogram", "Interval", "Measured", "Measurement"]
