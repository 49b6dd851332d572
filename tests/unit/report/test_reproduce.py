"""The way from trials to a report: kept results, the same report again, every claim judged."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onesided.data import Histogram
from onesided.errors import RequestError
from onesided.experiments.code import measuring_code
from onesided.experiments.figures import FIGURES, table1
from onesided.experiments.measures import histograms, trajectories
from onesided.experiments.measures.sampling import KEPT_SHARE
from onesided.experiments.measures.trajectories import GRAMS, OCCUPANCY
from onesided.experiments.methods import LAPLACE, ONE_SIDED, Method, error_rows
from onesided.experiments.reproduce import chosen_figures, reproduce
from onesided.experiments.runner import TrialRunner
from onesided.experiments.setting import ReproductionSetting, Size, Trace
from onesided.experiments.store import ResultStore
from onesided.experiments.trial import Results, Row, Trial
from onesided.experiments.workspace import prepare
from onesided.randomness import seeded
from onesided.report.claims import ClaimVerdict

TINY = Size(name="tiny", runs=2, scale=0.003, most_trajectories=600)


def setting(out: Path) -> ReproductionSetting:
    return ReproductionSetting(
        size=TINY, seed=0, out=out, traces=(Trace.BUILDING,), histograms="made", code="this"
    )


def share_trial(epsilon: float = 1.0) -> Trial:
    return Trial.of(KEPT_SHARE, epsilon=epsilon, units=500, runs=2, seed=0)


def fake_rows(methods: Iterable[Method], *arguments: Any, **named: Any) -> list[Row]:
    """Rows with the labels of real ones, and an error that the name of the method decides."""
    return [
        Row(
            labels={
                **named["labels"],
                "method": method.label,
                "epsilon": epsilon,
                "metric": metric,
            },
            values=[1.0 + len(method.label) / 10] * named["runs"],
        )
        for method in methods
        for epsilon in named["epsilons"]
        for metric in ("MRE", "Rel50", "Rel95", "L1")
    ]


def test_the_key_depends_on_every_parameter_but_not_on_their_order() -> None:
    assert Trial.of(GRAMS, a=1, b=2) == Trial.of(GRAMS, b=2, a=1)
    keys = {
        Trial.of(GRAMS, n=4).key,
        Trial.of(GRAMS, n=5).key,
        Trial.of(OCCUPANCY, n=4).key,
    }
    assert len(keys) == 3


def test_results_of_other_code_are_not_taken(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "experiments" / "figures").mkdir(parents=True)
    mechanism, figure = package / "mechanism.py", package / "experiments" / "figures" / "figure.py"
    for path in (mechanism, figure):
        path.write_text("one = 1")
    first = measuring_code(package)
    figure.write_text("one = 2")  # only shows what was measured
    assert measuring_code(package) == first
    mechanism.write_text("one = 2")
    other = measuring_code(package)
    assert other != first

    before, after = (replace(setting(tmp_path), code=code) for code in (first, other))
    TrialRunner(before).store.put(share_trial(), [Row(labels={}, values=[1.0])])
    assert TrialRunner(after).store.get(share_trial()) is None


def test_rows_are_picked_by_labels() -> None:
    rows = Results([Row(labels={"a": 1, "b": b}, values=[b, b + 2]) for b in (1, 2)])
    assert str(rows.one(b=2)) == "3.00 (2.00–4.00)"
    assert rows.labels("b") == [1, 2]
    with pytest.raises(RequestError, match="2 results instead of one"):
        rows.one(a=1)


def test_a_damaged_result_counts_as_missing(tmp_path: Path) -> None:
    store, trial = ResultStore(tmp_path), share_trial()
    store.put(trial, [Row(labels={"a": 1}, values=[0.5])])
    assert store.get(trial) == [Row(labels={"a": 1}, values=[0.5])]
    (path,) = tmp_path.rglob("*.json")
    path.write_text(path.read_text()[:-10])
    assert store.get(trial) is None


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    runner = TrialRunner(setting(tmp_path))
    done, missing = share_trial(1.0), share_trial(0.5)
    kept = [Row(labels={"kept": "from before"}, values=[1.0])]
    runner.store.put(done, kept)
    seen: list[tuple[int, int]] = []
    runner.run([done, missing, done], lambda *progress: seen.append(progress))
    assert seen == [(1, 2), (2, 2)]
    assert runner.store.get(done) == kept
    assert runner.store.get(missing) == missing.rows(runner.setting)


def test_the_same_seed_gives_the_same_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONESIDED_DATA", raising=False)
    monkeypatch.setattr(table1, "EPSILONS", (1.0, 0.5, 0.1))
    contents = []
    for name in ("first", "second"):
        done = reproduce(["table1"], size=TINY, out=tmp_path / name)
        contents.append([path.read_bytes() for path in done.files])
    assert contents[0] == contents[1]


def test_no_method_changes_the_numbers_of_another() -> None:
    counts = np.arange(40)
    histogram = Histogram(counts, counts // 2)

    def rows(*methods: Method) -> Results:
        made = error_rows(
            methods,
            histogram,
            counts,
            epsilons=(1.0, 0.1),
            runs=2,
            rng=seeded(4),
            labels={},
        )
        return Results(made)

    alone, beside = rows(ONE_SIDED), rows(LAPLACE, ONE_SIDED)
    assert alone.rows == beside.where(method=ONE_SIDED.label).rows
    first, second = (beside.where(method=LAPLACE.label, epsilon=e).rows for e in (1.0, 0.1))
    assert first != second


def test_another_seed_gives_other_numbers(prepared: ReproductionSetting) -> None:
    one, other = (
        Trial.of(KEPT_SHARE, epsilon=1.0, units=500, runs=2, seed=seed).rows(prepared)
        for seed in (0, 1)
    )
    assert one != other


def test_unknown_figures_are_refused() -> None:
    with pytest.raises(RequestError, match="choose from table1"):
        chosen_figures(["table3"])


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> ReproductionSetting:
    made = setting(tmp_path_factory.mktemp("reproduction"))
    prepare(made, lambda message: None)
    return made


@pytest.mark.one_in(2)
@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_every_figure_judges_its_claims_and_draws_its_charts(
    figure: Any, prepared: ReproductionSetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONESIDED_DATA", raising=False)
    monkeypatch.setattr(histograms, "error_rows", fake_rows)
    monkeypatch.setattr(trajectories, "error_rows", fake_rows)
    trials = figure.trials(prepared)
    results = Results.joined(trial.rows(prepared) for trial in trials)
    section = figure.section(prepared, results)
    assert section.claims
    for claim in section.claims:
        assert claim.measured
        assert claim.paper
        assert claim.data
        assert claim.criterion
        # What does not hold is explained.
        assert claim.remark or claim.verdict is ClaimVerdict.HOLDS
    assert section.plots or section.tables
    for plot in section.plots:
        assert plot.svg.startswith("<svg")
        assert plot.caption
        assert "NaN" not in plot.svg


def test_a_tuned_simulator_proves_nothing(prepared: ReproductionSetting) -> None:
    (figure,) = chosen_figures(["classification"])
    results = Results.joined(trial.rows(prepared) for trial in figure.trials(prepared))
    section = figure.section(prepared, results)
    (level,) = [claim for claim in section.claims if "10 %" in claim.paper]
    assert level.verdict is ClaimVerdict.OPEN
    assert "no evidence" in level.remark
    assert any("no evidence" in note for note in section.notes)


def test_results_hold_every_claim_and_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONESIDED_DATA", raising=False)
    done = reproduce(["table2"], size=replace(TINY, runs=1), out=tmp_path)
    content = json.loads((tmp_path / "results.json").read_text())
    assert len(content["figures"]["table2"]) == len(done.claims) == 1
    assert {trial["parameters"]["dataset"] for trial in content["trials"]} >= {"adult", "patent"}
    assert content["histograms"] == "made"
    assert "stand-in" in (tmp_path / "report.html").read_text()
    assert np.isfinite(
        [value for trial in content["trials"] for row in trial["rows"] for value in row["runs"]]
    ).all()
