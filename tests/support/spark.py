"""A Spark for tests, whose settings are not ours."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

_SPARK_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "America/New_York",
}


def start_spark(master: str, folder: Path, **more: str) -> Any:
    """A session whose files stay in `folder`."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master(master).appName("tests of onesided")
    settings = {
        **_SPARK_SETTINGS,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder / "spill"),
        **more,
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session
