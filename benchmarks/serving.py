"""What a server adds to a question, what a plan costs there, and what its start costs, in CPU.

    PYTHONPATH=src:tests python benchmarks/serving.py [--questions 40]

Everything is CPU time of this process, in which the server runs with its deadlines off; whoever
asks is a process of its own. Beside it the same questions are asked of the data set directly.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from onesided.server.config import ServerConfig
from onesided.session.frozen import FrozenDataset
from support.serving import describe, serving

MOST_ADDED, MOST_OF_A_PLAN, MOST_OF_A_START = 20.0, 50.0, 1.5
ASKING = """
import json, sys, time, urllib.request
address, token, kind, number = sys.argv[1:5]
def send(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(address + path, data, headers)) as answer:
        return answer.read()
send("/api/v1/me")
for place in range(int(number)):
    asked = {"epsilon": "0.01", "where": f"device > {place - 9 * (kind == 'warm-up')}"}
    if kind == "plan":
        send("/api/v1/datasets/visits/plan", {"kind": "count", **asked})
        continue
    asked["mechanism"] = "laplace"
    job = json.loads(send("/api/v1/datasets/visits/count", asked))["job"]
    while True:
        # One look is enough for a client that knows a deadline; here the deadlines are off.
        time.sleep(0.3)
        said = json.loads(send(job["url"]))
        if said["state"] != "accepted":
            break
    send(said["release"]["url"])
    send(said["release"]["data_url"])
"""

STARTING = """
import time
from onesided.server.app import application
from onesided.server.config import ServerConfig
from onesided.server.operate.logs import RequestLog
from onesided.server.served import Served
from onesided.server.serving import bound
application(Served.of(ServerConfig.read({file!r}), RequestLog()))
print(time.process_time())
"""


def spent(work: Callable[[], object]) -> float:
    """Seconds of CPU of this process."""
    before = time.process_time()
    work()
    return time.process_time() - before


def start_seconds(folder: Path) -> float:
    """CPU of a process until a server could open its data."""
    code = STARTING.format(file=str(folder / "onesided.toml"))
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(found.stdout)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=40)
    number = parser.parse_args().questions
    with tempfile.TemporaryDirectory() as name:
        file = describe(Path(name), seconds=None, budget=1000, devices=400)
        started = start_seconds(Path(name))

        def direct() -> None:
            arguments = dict(ServerConfig.read(file).datasets["visits"].arguments)
            arguments |= {"ledger": str(Path(name) / "direct.ledger")}
            with FrozenDataset.open(arguments, opens=True) as data:
                data.count(epsilon="0.01", where="device > -1", mechanism="laplace")
                times.append(
                    spent(
                        lambda: [
                            data.count(
                                epsilon="0.01", where=f"device > {place}", mechanism="laplace"
                            ).to_arrow()
                            for place in range(number)
                        ]
                    )
                )

        times: list[float] = []
        direct()
        with serving(file) as server:
            token = server.token()
            asked = {}
            for kind in ("warm-up", "plan", "count"):
                many = 3 if kind == "warm-up" else number
                command = [sys.executable, "-c", ASKING, server.address, token, kind, str(many)]
                asked[kind] = spent(lambda: subprocess.run(command, check=True)) / many  # noqa: B023
    print(f"(asked directly, a count takes {1000 * times[0] / number:.1f} ms of CPU)")
    added = 1000 * (asked["count"] - times[0] / number)
    found = {
        "CPU of a start before data are opened (s)": (started, MOST_OF_A_START),
        "CPU of a plan (ms)": (1000 * asked["plan"], MOST_OF_A_PLAN),
        "CPU that the server adds to a count (ms)": (added, MOST_ADDED),
    }
    for name, (value, most) in found.items():
        print(f"{name:45} {value:8.2f}   goal: at most {most:g}")
    print(json.dumps({name: value for name, (value, _) in found.items()}))
    return 1 if any(value > most for value, most in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
