"""Who lives here? A classifier learnt from a published sample of true trajectories.

    python examples/classification.py            # needs onesided[experiments] and pandas

Sample → features → scikit-learn, cell by cell; copy it and put your own table into the first cell.
Everything after the sample is ordinary data science: what is computed from a released sample is
free, and the sensitive trajectories are not in it.
"""

from __future__ import annotations

# %% The data: a simulated building, one row for every slot of ten minutes that a device was seen in
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import onesided as osd
from onesided.datasets.building import Building
from onesided.datasets.wifi import trajectories

LEAST_SUPPORT = 50

folder = TemporaryDirectory()
home = Path(folder.name)
Building.simulate(scale=0.05, seed=7).write(home)
trajectories(home / "visits.parquet", home / "days.parquet", keep=["kind", "opted_out"])

# %% The release: whoever passed a smokers' yard or a clinic, or opted out, is sensitive that day
policy = "kind IN ('smokers yard', 'clinic') OR opted_out"
with osd.open(home / "days.parquet", unit=["device", "day"], policy=policy, budget=1) as dataset:
    release = dataset.sample(epsilon=1, columns=["device", "day", "slot", "ts", "ap"])
    print(release.guarantee)
    sample = release.to_pandas()


# %% Features: length of stay, distinct access points, visits to each, patterns of three
def features(rows: pd.DataFrame, patterns: list[str] | None = None) -> pd.DataFrame:
    """One row per device and day. Which patterns count is learnt from `rows` unless it is given."""
    rows = rows.sort_values(["device", "day", "slot"])
    days = rows.groupby(["device", "day"])
    stay = days["slot"].agg(lambda slot: slot.max() - slot.min() + 1).rename("stay")
    distinct = days["ap"].nunique().rename("distinct")
    visits = rows.pivot_table(index=["device", "day"], columns="ap", values="slot", aggfunc="count")

    following = {step: days[["slot", "ap"]].shift(-step) for step in (1, 2)}
    whole = rows[following[2]["slot"] == rows["slot"] + 2].index
    triple = rows["ap"].str.cat([following[step]["ap"] for step in (1, 2)], sep=">").loc[whole]
    found = rows.loc[whole, ["device", "day"]].assign(triple=triple)
    counts = found.value_counts().unstack(fill_value=0)
    if patterns is None:
        patterns = [each for each in counts.columns if (counts[each] > 0).sum() >= LEAST_SUPPORT]
    table = pd.concat([stay, distinct, visits, counts.reindex(columns=patterns)], axis=1)
    return table.fillna(0)


learnt = features(sample)
patterns = [column for column in learnt.columns if ">" in str(column)]
print(f"{len(sample):,} published rows, {len(learnt):,} trajectories, {len(patterns)} patterns")

# %% The model. Somebody has to know some labels: take it that whoever is in the sample was asked
resident = pd.read_parquet(home / "devices.parquet").set_index("device")["resident"]


def labels(table: pd.DataFrame) -> np.ndarray:
    return resident.loc[table.index.get_level_values("device")].to_numpy()


model = make_pipeline(MaxAbsScaler(), LogisticRegression(max_iter=1000))
model.fit(learnt, labels(learnt))

# %% How good it is: only a simulation can ask the truth about trajectories that were not published
whole = pd.read_parquet(home / "days.parquet")
unseen = features(whole, patterns).drop(learnt.index).reindex(columns=learnt.columns, fill_value=0)
error = 1 - roc_auc_score(labels(unseen), model.decision_function(unseen))
print(f"1 − AUC on {len(unseen):,} unpublished trajectories: {error:.3f}")
folder.cleanup()
