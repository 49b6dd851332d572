"""The examples run as they are."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.soak
@pytest.mark.filterwarnings("default")
def test_the_classifier_learns_from_a_published_sample(
    capsys: pytest.CaptureFixture[str],
) -> None:
    runpy.run_path(str(EXAMPLES / "classification.py"), run_name="__main__")
    shown = capsys.readouterr().out
    error = float(shown.rsplit(":", 1)[1])
    assert error < 0.3
