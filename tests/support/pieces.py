"""Pieces of a probe that tests know."""

from __future__ import annotations

import numpy as np

from onesided.mechanisms.pieces import Pieces

RATE = 0.05
"""That of the probe's noise."""


def one_piece(bins: int, mean: float = 10.0) -> Pieces:
    return Pieces.of(np.zeros(bins, int), np.array([mean]), np.full(bins, round(mean)), RATE)
