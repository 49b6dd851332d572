"""From errors to regrets: how many times the error of the best of the paper's six methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from onesided.data.histogram import Floats
from onesided.experiments.methods import PAPER_SIX
from onesided.experiments.trial import Results, Row, Scalar


def regrets(
    results: Results,
    *,
    epsilon: float,
    metric: str,
    policy: str,
    share: float,
    among: Sequence[str] = PAPER_SIX,
) -> Results:
    """One row a data set and method: the regret of every run against the best `among` these.

    The best method is the one with the least mean error over the runs. Data sets on which that is
    0 are left out: a ratio to nothing says nothing.
    """
    rows = []
    for dataset in results.labels("dataset"):
        here = results.where(dataset=dataset, epsilon=epsilon, metric=metric)
        errors = {
            str(row.labels["method"]): row.values
            for row in here
            if row.labels.get("policy", policy) == policy
            and row.labels.get("share", share) == share
        }
        ratios = regret(errors, among)
        if not all(np.isfinite(runs).all() for runs in ratios.values()):
            continue
        labels: dict[str, Scalar] = {"dataset": dataset, "share": share, "policy": policy}
        rows += [
            Row(labels={**labels, "method": method}, values=list(runs))
            for method, runs in ratios.items()
        ]
    return Results(rows)


def mean_regrets(
    results: Results,
    *,
    epsilon: float,
    metric: str,
    policies: Sequence[str],
    shares: Sequence[float],
    among: Sequence[str] = PAPER_SIX,
) -> Results:
    """One row per method and share: the mean over data sets and policies, run by run."""
    rows = []
    for share in shares:
        parts = [
            regrets(
                results, epsilon=epsilon, metric=metric, policy=policy, share=share, among=among
            )
            for policy in policies
        ]
        inputs = Results.joined(parts)
        for method in inputs.labels("method"):
            runs = np.array([row.values for row in inputs.where(method=method)])
            rows.append(
                Row(labels={"method": method, "share": share}, values=list(runs.mean(axis=0)))
            )
    return Results(rows)


def pooled(results: Results, method: str) -> Row:
    """The mean over all shares, run by run."""
    runs = np.array([row.values for row in results.where(method=method)])
    return Row(labels={"method": method}, values=list(runs.mean(axis=0)))


def regret(errors: Mapping[str, ArrayLike], among: Sequence[str]) -> dict[str, Floats]:
    """The error of every run over the least mean error of the algorithms named by `among`.

    `errors` has an error for every run of each algorithm. Where the least mean error is 0, an error
    of 0 has regret 1 and any other an infinite one.
    """
    runs = {name: np.asarray(error, dtype=np.float64) for name, error in errors.items()}
    least = min(float(runs[name].mean()) for name in among)
    if least == 0:
        return {name: np.where(error == 0, 1.0, np.inf) for name, error in runs.items()}
    return {name: error / least for name, error in runs.items()}
