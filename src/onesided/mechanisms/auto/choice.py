"""The choice: every candidate is run on every scenario, and the best one on average is taken."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from onesided.data.metrics import mre
from onesided.mechanisms.auto.candidates import Candidate
from onesided.mechanisms.auto.scenarios import Scenario
from onesided.randomness import Randomness


def best_candidate(
    options: Sequence[Candidate], scenarios: Iterable[Scenario], rng: Randomness
) -> Candidate:
    """The one with the least mean logarithm of its error over that of the best one.

    A mean of the ratios themselves would let one scenario veto what is best on all others.
    """
    forms = [form for option in options for form in option.forms]
    total = np.zeros(len(forms))
    for each in scenarios:
        runs = [value for option in options for value in option.tried(each.data, each.look, rng)]
        errors = np.array([mre(each.data.all, value) for value in runs])
        # Less than one bin that is wrong by one is chance.
        errors += 1 / each.data.bins
        total += each.weight * np.log(errors / errors.min())
    return forms[int(np.argmin(total))]
