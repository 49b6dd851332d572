"""Telling residents from visitors by logistic regression, ten folds, four methods.

Each method, trained on its own data, is tested on all trajectories of the fold that was left out,
sensitive or not: that is what a classifier is for. What was learnt from non-sensitive trajectories
is tested on the non-sensitive ones of the fold as well, which is easier; the paper does not say
which of the two it did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onesided.data.histogram import Floats
from onesided.experiments.features import (
    bounded_features,
    frequent,
    pattern_counts,
    plain_features,
)
from onesided.experiments.journeys import Journeys
from onesided.experiments.objective import ObjectivePerturbation
from onesided.experiments.setting import EPSILONS, ReproductionSetting
from onesided.experiments.trial import Measure, Row, Scalar, Trial
from onesided.experiments.workspace import journeys_of
from onesided.loss import rational
from onesided.mechanisms.rr import keep_probability
from onesided.randomness import Randomness, seeded

Units = NDArray[np.int64]
Scores = Floats

MOST_ITERATIONS = 300
CHANCE = 0.5
EVERYBODY = "all trajectories"
NONSENSITIVE = "non-sensitive trajectories"


def sampled_classifiers(trial: Trial, setting: ReproductionSetting) -> list[Row]:
    """All-NS and OsdpRR: learn from trajectories that were handed out."""
    choosing, folding, coins = seeded(trial.seed).spawn(3)
    study = _Study(_at_most(journeys_of(trial, setting), int(trial["most"]), choosing))
    nonsensitive = study.journeys.nonsensitive(float(trial["share"]))
    labels: dict[str, Scalar] = {"trace": trial["trace"], "share": float(trial["share"])}

    def everybody(train: Units) -> Units:
        return train[nonsensitive[train]]

    def thinned(epsilon: float) -> Callable[[Units], Units]:
        probability = keep_probability(rational(epsilon))
        generator = coins.generator()

        def sample(train: Units) -> Units:
            open_ = everybody(train)
            return open_[generator.random(open_.size) < probability]

        return sample

    folds = list(_folds(study.journeys.units, int(trial["runs"]), folding))
    all_ns = study.errors(folds, everybody, nonsensitive)
    rows = []
    for epsilon in EPSILONS:
        thin = study.errors(folds, thinned(epsilon), nonsensitive)
        for name, found in {"All-NS": all_ns, "OsdpRR": thin}.items():
            named = {**labels, "method": name, "epsilon": epsilon}
            rows.append(_row([each.everybody for each in found], {**named, "tested": EVERYBODY}))
            rows.append(
                _row([each.nonsensitive for each in found], {**named, "tested": NONSENSITIVE})
            )
    return rows


SAMPLED_CLASSIFIERS = Measure("classifier", sampled_classifiers, effort=8)


def private_classifiers(trial: Trial, setting: ReproductionSetting) -> list[Row]:
    """ObjDP, which treats everybody as sensitive, and Random, which looks at labels alone."""
    choosing, folding, noise = seeded(trial.seed).spawn(3)
    chosen = _at_most(journeys_of(trial, setting), int(trial["most"]), choosing)
    features = bounded_features(chosen)
    generator = noise.generator()
    rows = []
    folds = list(_folds(chosen.units, int(trial["runs"]), folding))
    for epsilon in EPSILONS:
        method = ObjectivePerturbation(epsilon=epsilon)
        private, random = [], []
        for train, test in folds:
            weights = method.fit(features[train], chosen.label[train], noise)
            private.append(_error(chosen.label[test], features[test] @ weights))
            random.append(_error(chosen.label[test], generator.random(test.size)))
        for name, errors in {"ObjDP": private, "Random": random}.items():
            labels = {"trace": trial["trace"], "method": name, "epsilon": epsilon}
            rows.append(_row(errors, {**labels, "tested": EVERYBODY}))
    public = {"units": chosen.units, "positive": float(chosen.label.mean())}
    return rows + [
        Row(labels={"trace": trial["trace"], "metric": name}, values=[float(value)])
        for name, value in public.items()
    ]


PRIVATE_CLASSIFIERS = Measure("classifier-dp", private_classifiers, effort=7)


@dataclass(frozen=True)
class _FoldErrors:
    """1 − AUC on all trajectories of a fold, and on its non-sensitive ones."""

    everybody: float
    nonsensitive: float


class _Study:
    """The features of all trajectories; which patterns are used is decided for each training."""

    def __init__(self, journeys: Journeys) -> None:
        from scipy.sparse import csc_array

        self.journeys = journeys
        self._plain = csc_array(plain_features(journeys))
        self._patterns = pattern_counts(journeys)

    def errors(
        self,
        folds: list[tuple[Units, Units]],
        release: Callable[[Units], Units],
        nonsensitive: NDArray[np.bool_],
    ) -> list[_FoldErrors]:
        """1 − AUC on each fold, after learning from what `release` hands out of the others."""
        errors = []
        for train, test in folds:
            scores = self._scores(release(train), test)
            label, open_ = self.journeys.label[test], nonsensitive[test]
            errors.append(_FoldErrors(_error(label, scores), _error(label[open_], scores[open_])))
        return errors

    def _scores(self, released: Units, test: Units) -> Scores:
        from scipy.sparse import hstack
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import MaxAbsScaler

        label = self.journeys.label[released]
        if label.size == 0 or label.all() or not label.any():
            return np.zeros(test.size)  # nothing to tell apart: everybody gets the same score
        used = frequent(self._patterns, released)
        features = hstack([self._plain, self._patterns[:, used]]).tocsr()
        model: Any = make_pipeline(
            MaxAbsScaler(), LogisticRegression(solver="liblinear", max_iter=MOST_ITERATIONS)
        )
        model.fit(features[released], label)
        return np.asarray(model.decision_function(features[test]))


def _at_most(journeys: Journeys, most: int, rng: Randomness) -> Journeys:
    if journeys.units <= most:
        return journeys
    return journeys.only(np.sort(rng.generator().permutation(journeys.units)[:most]))


def _folds(units: int, folds: int, rng: Randomness) -> Iterator[tuple[Units, Units]]:
    """Training and test units of every fold."""
    fold = rng.generator().permutation(units) % folds
    for number in range(folds):
        yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)


def _error(label: NDArray[np.bool_], scores: Scores) -> float:
    """1 − AUC; chance where a fold has one label only."""
    from sklearn.metrics import roc_auc_score

    if not label.any() or label.all():
        return CHANCE
    return 1 - float(roc_auc_score(label, scores))


def _row(errors: list[float], labels: dict[str, Scalar]) -> Row:
    return Row(labels={**labels, "metric": "1 − AUC"}, values=errors)
