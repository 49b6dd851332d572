"""All quick benchmarks, one after the other: `make bench`. Exits with 1 where a goal is missed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = (
    ("randomness.py",),
    ("embedded.py",),
    ("lookups.py",),
    ("speed.py",),
    ("ledger.py",),
    ("serving.py",),
    ("accuracy.py", "--quick"),
)


def main() -> int:
    missed = []
    for script, *options in SCRIPTS:
        print(f"\n== {script} {' '.join(options)}", flush=True)
        if subprocess.run([sys.executable, HERE / script, *options], check=False).returncode:
            missed.append(script)
    if missed:
        print(f"\nGoals missed in: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
