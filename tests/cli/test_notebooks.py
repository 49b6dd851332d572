"""Notebooks: no further packages, nothing that tells of times, Ctrl-C's sentence, the examples."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

HOUSE = Path(__file__).parents[2]
EXAMPLES = sorted((HOUSE / "examples").glob("*.ipynb"))
DATA = """
import numpy as np, pyarrow as pa, onesided as osd
many = np.arange(30_000)
keys = {"device": many % 3_000, "room": many % 7, "paid": many % 9}
table = pa.table({**keys, "off": many % 50 == 0})
visits = osd.open(table, unit="device", policy="off", budget=10)
"""
SELECT = "SELECT room, COUNT(*) AS n, SUM(paid) AS p FROM data GROUP BY room"
LIMITS = "--max-groups 4 --max-rows 3 --bound paid=9"
INTERRUPT = """
import os, signal, threading, time
from onesided.engine.duckdb.engine import DuckDBEngine
before = DuckDBEngine.count
def interrupted(self, *arguments, **more):
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    time.sleep(30)
    return before(self, *arguments, **more)
DuckDBEngine.count = interrupted
try:
    visits.count(by="room", epsilon=1, max_groups=2, mechanism="one-sided")
except KeyboardInterrupt as error:
    print(f"said: {error}")
DuckDBEngine.count = before
len(visits.count(by="room", epsilon=1, max_groups=2, mechanism="one-sided"))
"""


CORE_ALONE = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"pandas", "polars", "altair", "vl_convert", "ipywidgets"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
"""


def executed(cells: list[Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """The outputs of each cell, in a kernel that has these sources."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(HOUSE / "src")]))
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    book = nbformat.v4.new_notebook(cells=cells)
    where = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(book, timeout=200, kernel_name="python3", resources=where).execute()
    return [each.outputs for each in book.cells if each.cell_type == "code"]


def shown(outputs: list[Any]) -> str:
    """What a cell shows as HTML or text."""
    found = [each.get("data", {}) for each in outputs]
    texts = [each.get("text", "") for each in outputs]
    return "".join([*(each.get("text/html", each.get("text/plain", "")) for each in found), *texts])


def test_a_notebook_asks_in_sql_and_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = nbformat.v4.new_code_cell
    cells = [
        DATA,
        "%load_ext onesided",
        f"%%onesided visits --epsilon 0.2 --plan {LIMITS}\n{SELECT}",
        f"%%onesided visits --epsilon 0.2 {LIMITS}\n{SELECT}",
        f"%%onesided visits --epsilon 0.2 --into kept {LIMITS}\n{SELECT}",
        "kept.plot()",
        "try:\n    get_ipython().run_cell_magic('onesided', 'kept', 'SELECT 1')\n"
        "except osd.InputError as error:\n    print(error)",
        INTERRUPT,
        "visits.budget",
    ]
    found = executed([code(each) for each in cells], tmp_path, monkeypatch)
    assert "expected error" in shown(found[2])
    assert "0.2; 9.8 of 10 left" in shown(found[3])
    assert found[4] == [] or "text/html" in found[4][0]["data"]
    assert "<svg" in shown(found[5])
    assert "kept is no data set" in shown(found[6])
    assert "said: Interrupted; the account has spent ε = 1.2 of 10" in shown(found[7])
    assert "1.2 of 10" in shown(found[8])
    # The mark that work goes on is gone in the end, and says nothing of times.
    marks = [each for each in found[3] if each.output_type == "display_data"]
    assert [each["data"]["text/html"] for each in marks] == [""]


def test_the_readme_runs_in_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any package that the core does not bring: nothing else can be imported."""
    (tmp_path / "sitecustomize.py").write_text(CORE_ALONE)
    pieces = re.findall(r"```python\n(.*?)```", (HOUSE / "README.md").read_text(), re.DOTALL)
    simulate = (
        "from onesided.cli import run\nrun(['simulate', '--scale', '0.0005', '--out', 'building'])"
    )
    cells = [
        nbformat.v4.new_code_cell(each) for each in (simulate, *pieces, "counts", "sample", "ds")
    ]
    found = executed(cells, tmp_path, monkeypatch)
    for outputs in found[-3:-1]:
        assert "<table" in shown(outputs)


@pytest.mark.soak
@pytest.mark.parametrize("notebook", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = nbformat.read(notebook, 4)
    assert not any(each.get("outputs") for each in book.cells), "save it without outputs"
    found = executed(book.cells, tmp_path, monkeypatch)
    assert any("<svg" in shown(each) for each in found)
    assert any("<table" in shown(each) for each in found)
    assert len(EXAMPLES) == 3
