"""Table 1: the share of units in a true sample, with the coins that a session tosses."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from onesided.data.units import Unit
from onesided.engine.base import Coins, CountQuery
from onesided.engine.duckdb.engine import DuckDBEngine
from onesided.experiments.setting import ReproductionSetting
from onesided.experiments.trial import Measure, Row, Trial
from onesided.language import Predicate
from onesided.loss import rational
from onesided.randomness import seeded


def kept_share(trial: Trial, setting: ReproductionSetting) -> list[Row]:
    """Of `units` units, none of them sensitive, the share that each of `runs` samples keeps."""
    units, epsilon = int(trial["units"]), float(trial["epsilon"])
    rng = seeded(trial.seed)
    table = pa.table({"unit": np.arange(units)})
    engine = DuckDBEngine(table, Unit(("unit",)), threads=1)
    try:
        policy = Predicate.parse("FALSE").bind(engine.schema)
        shares = []
        for _ in range(int(trial["runs"])):
            coins = Coins(rng.coin_key(), rational(epsilon))
            kept = engine.count(CountQuery(policy, (), coins=coins)).nonsensitive
            shares.append(float(kept.sum()) / units)
    finally:
        engine.close()
    return [Row(labels={"epsilon": epsilon, "metric": "share"}, values=shares)]


KEPT_SHARE = Measure("kept-share", kept_share, effort=2)
