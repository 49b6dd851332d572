"""A Spark for tests, whose settings are not ours."""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path
from typing import Any

#: Names the master on which the tests of Spark run, instead of this process.
MASTER = "ONESIDED_SPARK_MASTER"
#: Set where tests that need more than is installed are to fail, not to be skipped.
ALL_NEEDED = "ONESIDED_TEST_ALL"
_SPARK_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.memory": "1g",
    # Most code runs a few times only: compiling it well takes longer than running it.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.session.timeZone": "America/New_York",
}


def found_java() -> str | None:
    """Where Java is, as Spark looks for it."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")


def what_spark_lacks() -> str | None:
    """What is missing here for Spark to run, in a sentence."""
    if found_java():
        return None
    return "Spark needs Java 17, and there is none; install it or set JAVA_HOME."


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
