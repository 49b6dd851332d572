"""A command that is ended from outside, at any moment: what it leaves behind and what it says."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from onesided.cli import run
from onesided.data.private import remove_abandoned
from support.interrupting import LEDGER, balance, check_left_behind, command, ended_by, interrupted

ROWS = 300_000
POLICY = ["--unit", "rows", "--policy", "age < 18"]
SIGNALS = (signal.SIGINT, signal.SIGTERM)
MOMENTS = 200


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows enough for every step to take its time."""
    folder = tmp_path_factory.mktemp("rows")
    number = np.arange(ROWS)
    table = pa.table({"id": number, "age": number % 90, "room": number % 7, "c": number % 9973})
    pq.write_table(table, folder / "rows.parquet")
    pyarrow.csv.write_csv(table, folder / "rows.csv")
    return folder


def asks(sources: Path) -> list[list[str]]:
    """Questions that take different ways through the house."""
    file, listed = str(sources / "rows.parquet"), str(sources / "rows.csv")
    sql = "SELECT room, COUNT(*) AS n, SUM(age) AS s FROM data GROUP BY room"
    bounds = ["--bound", "age=90", "--max-groups", "1"]
    return [
        ["sample", file, *POLICY],
        ["sample", listed, *POLICY],
        ["count", file, *POLICY, "--by", "room", "--max-groups", "1"],
        ["sql", sql, file, *POLICY, *bounds],
    ]


def end_at_random_moments(sources: Path, folder: Path, moments: int, seed: int) -> None:
    """Each question in turn, with each signal, and a whole run now and then to know how long."""
    rng = random.Random(seed)
    private = folder / "private"
    private.mkdir()
    environment = {**os.environ, "TMPDIR": str(private)}
    questions = asks(sources)
    usual: dict[int, float] = {}
    for turn in range(moments):
        which = turn % len(questions)
        if turn % (8 * len(questions)) < len(questions):
            whole = folder / f"whole-{turn}"
            whole.mkdir()
            usual[which] = ended_by(questions[which], whole, None, environment=environment).seconds
        out = folder / f"turn-{turn}"
        out.mkdir()
        number = SIGNALS[turn // len(questions) % 2]
        moment = rng.uniform(0, usual[which])
        ended = ended_by(questions[which], out, number, moment, environment)
        check_left_behind(out, ended, number)
        left = [each for each in (*private.iterdir(), *out.iterdir()) if "onesided-" in each.name]
        assert left == [], (ended, left)


def test_signals_at_a_few_random_moments(sources: Path, tmp_path: Path) -> None:
    end_at_random_moments(sources, tmp_path, moments=2, seed=random.randrange(2**32))


@pytest.mark.soak
def test_signals_at_many_random_moments(sources: Path, tmp_path: Path) -> None:
    end_at_random_moments(sources, tmp_path, moments=MOMENTS, seed=7)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_after_the_charge_leaves_nothing_and_says_what_was_charged(
    number: signal.Signals, sources: Path, tmp_path: Path
) -> None:
    private, out = tmp_path / "private", tmp_path / "out"
    private.mkdir()
    out.mkdir()
    ask = ["sample", str(sources / "rows.csv"), *POLICY]
    code, said = interrupted(ask, out, {**os.environ, "TMPDIR": str(private)}, number)
    assert code == 128 + number, said
    assert said.startswith("onesided: Interrupted")
    assert said.count("\n") == 1
    assert "ε = 1" in said
    assert [each.name for each in out.iterdir() if LEDGER not in each.name] == []
    assert list(private.iterdir()) == []
    assert run(command(ask, out)[1:]) == 0
    account = balance(out)
    assert account is not None
    assert account.spent == 1


def test_what_a_killed_process_left_is_gone_after_the_next_start(
    sources: Path, tmp_path: Path
) -> None:
    private, out = tmp_path / "private", tmp_path / "out"
    private.mkdir()
    out.mkdir()
    environment = {**os.environ, "TMPDIR": str(private)}
    ask = ["sample", str(sources / "rows.csv"), *POLICY]
    code, _ = interrupted(ask, out, environment, signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert list(private.iterdir()) != []  # a staged table with all rows
    again = subprocess.run(command(ask, out), capture_output=True, env=environment, check=False)
    assert again.returncode == 0
    assert list(private.iterdir()) == []
    assert [each for each in out.iterdir() if "onesided-" in each.name] == []


LOST = """
import signal, sys, time
from onesided.cli import run
import onesided.session.dataset as sessions

class Deaf:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
        time.sleep(0.01)

counted = sessions.Dataset.count
def count(self, *arguments, **options):
    answer = counted(self, *arguments, **options)
    {how}
    return answer
sessions.Dataset.count = count
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "how",
    [
        "deaf = Deaf(); del deaf",
        "\n    try: signal.raise_signal(signal.SIGTERM)\n    except BaseException: pass",
        "deaf = Deaf(); del deaf\n    time.sleep(60)",
        "\n    try: signal.raise_signal(signal.SIGTERM)\n    except BaseException: pass\n"
        "    time.sleep(60)",
        "\n    try: signal.raise_signal(signal.SIGTERM)\n"
        "    except BaseException: raise RuntimeError('of a library') from None",
    ],
)
def test_an_interruption_that_got_lost_is_remembered(how: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1, 40, 50]}), tmp_path / "a.parquet")
    ask = ["count", "a.parquet", *POLICY, "--epsilon", "1", "--mechanism", "one-sided"]
    answer = subprocess.run(
        [sys.executable, "-c", LOST.format(how=how), *ask],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=50,
    )
    assert answer.returncode == 143, answer.stderr
    assert answer.stdout == ""
    assert answer.stderr.startswith("onesided: Interrupted; the account has spent ε = 1 of 1")
    assert answer.stderr.count("\n") == 1


SECOND = """
import signal, sys
from onesided.cli import run
import onesided.session.dataset as sessions

closed = sessions.Dataset.close
def close(self):
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGTERM)
    closed(self)
sessions.Dataset.close = close
def count(self, *arguments, **options):
    {first}
    return counted(self, *arguments, **options)
counted, sessions.Dataset.count = sessions.Dataset.count, count
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("first", "code", "lines"), [("pass", 0, 0), ("signal.raise_signal(signal.SIGTERM)", 143, 1)]
)
def test_a_signal_while_the_end_is_tidied_up_changes_nothing(
    first: str, code: int, lines: int, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"age": [1, 40, 50]}), tmp_path / "a.parquet")
    ask = ["count", "a.parquet", *POLICY, "--epsilon", "1", "--mechanism", "one-sided"]
    private = tmp_path / "private"
    private.mkdir()
    answer = subprocess.run(
        [sys.executable, "-c", SECOND.format(first=first), *ask],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(private)},
    )
    assert answer.returncode == code, answer.stderr
    assert answer.stderr.count("\n") == lines
    assert list(private.iterdir()) == []


def test_who_ignores_hang_ups_goes_on(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1, 40, 50]}), tmp_path / "a.parquet")
    program = SECOND.format(first="signal.raise_signal(signal.SIGHUP)")
    ask = ["count", "a.parquet", *POLICY, "--epsilon", "1", "--mechanism", "one-sided"]
    codes = [
        subprocess.run(
            [sys.executable, "-c", before + program, *ask],
            capture_output=True,
            check=False,
            cwd=tmp_path,
        ).returncode
        for before in ("", "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n")
    ]
    assert codes == [129, 0]


STUCK = """
import signal, sys, threading, time
from onesided.cli import stop, run
import onesided.session.dataset as sessions

stop.PATIENCE = 0.2
def close(self):
    time.sleep(0.5)
    signal.raise_signal(signal.SIGTERM)
    time.sleep(60)
sessions.Dataset.close = close
def count(self, *arguments, **options):
    signal.raise_signal(signal.SIGINT)
sessions.Dataset.count = count
sys.exit(run(sys.argv[1:]))
"""


def test_a_signal_long_after_the_first_ends_the_process_at_once(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1, 40, 50]}), tmp_path / "a.parquet")
    ask = ["count", "a.parquet", *POLICY, "--epsilon", "1", "--mechanism", "one-sided"]
    answer = subprocess.run(
        [sys.executable, "-c", STUCK, *ask],
        capture_output=True,
        timeout=50,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert answer.returncode == -signal.SIGTERM
    assert [each.name[:9] for each in tmp_path.iterdir() if each.is_dir()] == ["onesided-"]
    remove_abandoned(tmp_path)
    assert [each for each in tmp_path.iterdir() if each.is_dir()] == []


EARLY = """
import builtins, signal
from onesided.cli import main
load = builtins.__import__
def importing(name, *arguments, **options):
    if name == "click":
        signal.raise_signal(signal.SIGINT)
    return load(name, *arguments, **options)
builtins.__import__ = importing
main(["mechanisms"])
"""


def test_a_signal_before_there_is_anything_to_tidy_up_ends_without_a_word() -> None:
    answer = subprocess.run(
        [sys.executable, "-c", EARLY],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert answer.returncode == -signal.SIGINT
    assert answer.stdout == answer.stderr == ""


TIDYING = """
import signal, sys, time
from onesided.cli import run
import onesided.session.dataset as sessions

def count(self, *arguments, **options):
    try:
        signal.raise_signal(signal.SIGINT)
    finally:
        time.sleep(2.5)
        print("tidied up")
sessions.Dataset.count = count
sys.exit(run(sys.argv[1:]))
"""


def test_what_tidies_up_is_not_interrupted_again(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1, 40, 50]}), tmp_path / "a.parquet")
    ask = ["count", "a.parquet", *POLICY, "--epsilon", "1", "--mechanism", "one-sided"]
    answer = subprocess.run(
        [sys.executable, "-c", TIDYING, *ask],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert answer.returncode == 130
    assert answer.stdout == "tidied up\n"
    assert answer.stderr == "onesided: Interrupted before anything was charged.\n"


LOADING = """
import sys, time
from importlib import import_module
from onesided.cli.stop import Stop
sys.path.insert(0, sys.argv[1])
stop = Stop()
with stop.installed():
    stop.begin()
    try:
        print(import_module("interrupted").whole)
        time.sleep(20)
    except KeyboardInterrupt:
        print("interrupted")
"""


def test_a_module_that_is_being_loaded_is_loaded_to_its_end(tmp_path: Path) -> None:
    """DuckDB ends the process with an abort where an interruption meets its loading."""
    module = "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\nwhole = True\n"
    (tmp_path / "interrupted.py").write_text(module)
    ended = subprocess.run(
        [sys.executable, "-c", LOADING, str(tmp_path)], capture_output=True, text=True, timeout=60
    )
    assert ended.stdout.split() == ["True", "interrupted"]
