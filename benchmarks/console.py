"""How soon the expected error follows the slider in a browser, and what each screen costs in CPU.

    PYTHONPATH=src:tests python benchmarks/console.py [--moves 60]

The slider is moved in a real Chromium; its time ends when the price of its ε stands on the page.
A screen's CPU is that of the process of the server, with the little that asks for the page.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

from onesided.ledger.desk import PersonRole, TokenPurpose
from support.chromium import browser
from support.pages import ask, csrf, in_browser
from support.serving import ServerAtWork, describe, serving

MOST_OF_A_MOVE, MOST_OF_A_SCREEN = 150.0, 300.0
COUNT = {"by": ["room", "", ""], "values": ["", "", ""], "max_groups": "2", "epsilon": "0.5"}
MOVES = """async (number) => {
  const slider = document.querySelector("input[type=range]");
  const field = document.querySelector("#epsilon"), live = document.querySelector("main");
  const times = [];
  for (let move = 0; move < number; move++) {
    const began = performance.now();
    slider.value = String(-1 + (move % 30) / 20);
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const shown = `epsilon='${field.value}'`;
    await new Promise((done) => {
      const look = () => { if (live.textContent.includes(shown)) { seen.disconnect(); done(); } };
      const seen = new MutationObserver(look);
      seen.observe(live, { childList: true, subtree: true });
      look();
    });
    times.push(performance.now() - began);
    await new Promise((done) => setTimeout(done, 50));
  }
  return times;
}"""
SCREENS = {
    PersonRole.ANALYST: (
        *("/data", "/data/visits", "/account", "/data/visits/ask", "/data/visits/ask/count"),
        *("/data/visits/ask/sample", "/data/visits/releases/{count}"),
        "/data/visits/releases/{sample}",
    ),
    PersonRole.STEWARD: (
        *("/new", "/attacker", "/people", "/ledger", "/data/visits/check", "/data/visits/unit"),
        *("/data/visits/policy", "/data/visits/budget"),
    ),
}


def move_times(server: ServerAtWork, number: int) -> list[float]:
    """Milliseconds from each move of the slider until its price is shown."""
    with browser() as chromium:
        page = chromium.new_page()
        once = server.desk.add_token("ann", PersonRole.ANALYST, purpose=TokenPurpose.LOGIN)
        page.goto(f"{server.address}/login/{once}")
        page.goto(f"{server.address}/data/visits/ask/count")
        page.select_option("#by-0", "room")
        page.fill("#max_groups", "2")
        page.get_by_text("as exact as possible: ").wait_for()
        page.evaluate(MOVES, 5)
        times: list[float] = page.evaluate(MOVES, number)
    return times


def screen_costs(server: ServerAtWork) -> dict[str, float]:
    """Milliseconds of CPU of each screen, the median of several visits; and of a live plan."""
    found: dict[str, float] = {}
    numbers: dict[str, str] = {}
    for role, paths in SCREENS.items():
        with in_browser(server, server.token(role.value, role)) as visitor:
            mark = csrf(visitor)
            for kind, form in (("count", COUNT), ("sample", {"epsilon": "0.5"})):
                place = ask(server, visitor, kind, {**form, "csrf": mark})
                seen = visitor.get(place, follow_redirects=True)
                numbers.setdefault(kind, seen.url.path.rpartition("/")[2])
            for path in paths:
                address = path.format(**numbers)
                visitor.get(address).raise_for_status()
                found[path] = _cpu(lambda: visitor.get(address))  # noqa: B023
            form = {**COUNT, "csrf": mark}
            found["a live plan"] = _cpu(
                lambda: visitor.post("/data/visits/ask/count/plan", data=form)  # noqa: B023
            )
    return found


def _cpu(work: object) -> float:
    times = []
    for _ in range(5):
        before = time.process_time()
        work()  # type: ignore[operator]
        times.append(1000 * (time.process_time() - before))
    return statistics.median(times)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moves", type=int, default=60)
    number = parser.parse_args().moves
    with tempfile.TemporaryDirectory() as name:
        file = describe(
            Path(name), seconds=None, budget=1000, devices=400, server='sources = ["."]'
        )
        with serving(file) as server:
            server.token("ann")
            before = time.process_time()
            moves = sorted(move_times(server, number))
            spent = 1000 * (time.process_time() - before) / (number + 5)
            screens = screen_costs(server)
    slowest = moves[min(len(moves) - 1, int(0.95 * len(moves)))]
    for screen, cost in sorted(screens.items(), key=lambda each: -each[1]):
        print(f"  {screen:45} {cost:8.1f} ms of CPU")
    print(f"  (a move: median {statistics.median(moves):.0f} ms, {spent:.0f} ms of CPU here)")
    found = {
        "a move of the slider, 95th percentile (ms)": (slowest, MOST_OF_A_MOVE),
        "the dearest screen (ms of CPU)": (max(screens.values()), MOST_OF_A_SCREEN),
    }
    for what, (value, most) in found.items():
        print(f"{what:45} {value:8.2f}   goal: at most {most:g}")
    print(json.dumps({what: value for what, (value, _) in found.items()}))
    return 1 if any(value > most for value, most in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
