"""Run as a script: a file on Spark that may not be read any more.

Root may read everything, and so Java is started without the capabilities for that.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "src")]

DROP_FROM_CHILDREN = 24  # PR_CAPBSET_DROP
READ_ANYTHING = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def main() -> None:
    """Tell in JSON what is said, what is left behind, and what is spent, then and after a retry."""
    import onesided as osd
    from onesided.errors import ReleaseFailed
    from support.visits import POLICY, UNIT, write_visits

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    if os.geteuid() == 0:
        for capability in READ_ANYTHING:
            ctypes.CDLL(None).prctl(DROP_FROM_CHILDREN, capability, 0, 0, 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write_visits(folder, devices=20)
        with osd.open(
            path, connection="local[1]", unit=UNIT, policy=POLICY, budget=2, version="1"
        ) as data:
            path.chmod(0)
            try:
                data.sample(1, into=str(folder / "sample"))
                said = ""
            except ReleaseFailed as error:
                said = str(error)
            left = [each.name for each in folder.iterdir() if each != path]
            spent = [str(data.budget.spent)]
            path.chmod(0o600)
            data.sample(1, into=str(folder / "sample"))
            spent.append(str(data.budget.spent))
    print(json.dumps({"said": said, "left": left, "spent": spent}))


if __name__ == "__main__":
    main()
