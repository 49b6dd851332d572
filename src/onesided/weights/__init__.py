"""Weights that make a sample stand for everybody, from released counts; see calibration.md.

margins       what was counted, and in which of its cells each unit of the sample is
combinations  the units of a sample that no margin can tell apart, taken together
newton        the weights for one strength of belief in the counts
calibration   how far to believe the counts, and the weights that follow
"""

from onesided.weights.calibration import Calibrated, calibrated
from onesided.weights.margins import Margin, total_of

__all__ = ["Calibrated", "Margin", "calibrated", "total_of"]
