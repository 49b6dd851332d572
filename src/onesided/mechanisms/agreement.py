"""How far made-up counts are from what was released about the roughness of all counts."""

from __future__ import annotations

import numpy as np

from onesided.mechanisms.easel import Easel
from onesided.mechanisms.grain import Grain
from onesided.mechanisms.pieces import Floats, Roughness

NEGLIGIBLE = 0.05
"""By how much more than it may a made-up deviation may be, as it is drawn by chance."""

MOST_OF_AN_ANSWER = 0.5
"""Which part of how far bins deviate may be due to one block that is a hole or not by chance."""

MOST_DISAGREEMENT = 2.0
"""By how many times what is tolerated counts of a special kind may differ from an answer."""

WIDE = 1.5
"""How many scales of their noise the pictures lie from the answers."""


def disagreement(easel: Easel, grain: Grain, released: Roughness) -> float:
    """How many times what is tolerated as chance made-up counts differ from an answer, at most."""
    visible = easel.visible(grain, released.threshold)
    answers, scales = np.array(released.values), np.array(released.scales)
    apart = np.abs(np.array([visible, *easel.deviations(grain)]) - answers)
    a_block = easel.means.sum() / np.array(easel.found.numbers)
    by_chance = np.minimum(a_block, MOST_OF_AN_ANSWER * np.array(released.deviations))
    most = tolerated(answers, scales) + np.array([0.0, *np.maximum(by_chance, 0.0)])
    return float(np.max(apart / np.maximum(most, 1.0)))


def tolerated(answers: Floats, scales: Floats) -> Floats:
    """By how much what is made up may differ from answers with noise of these `scales`."""
    return WIDE * scales + NEGLIGIBLE * np.abs(answers)
