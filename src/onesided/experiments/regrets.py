"""From errors to regrets: how many times the error of the best of the paper's six methods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onesided.experiments.methods import PAPER_SIX
from onesided.experiments.metrics import regret
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
    """One row a method and share: the mean over data sets and policies, run by run."""
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
