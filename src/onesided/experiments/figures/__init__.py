"""The figures and tables of the paper, in its order."""

from __future__ import annotations

from onesided.experiments.figures import (
    by_dataset,
    by_policy,
    classification,
    crossover,
    ngrams,
    occupancy,
    pdp,
    regret,
    table1,
    table2,
)

FIGURES = (
    table1.FIGURE,
    table2.FIGURE,
    crossover.FIGURE,
    classification.FIGURE,
    ngrams.FIGURE,
    occupancy.FIGURE,
    regret.FIGURE,
    by_policy.FIGURE,
    by_dataset.FIGURE,
    pdp.FIGURE,
)
