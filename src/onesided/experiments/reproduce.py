"""From nothing to a report: prepare data, run what is missing, judge every claim."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from onesided.data.output import new_files
from onesided.datasets.dpbench import ONE_DIMENSIONAL, Origin, load_1d
from onesided.errors import OutputError, RequestError
from onesided.experiments.code import measuring_code
from onesided.experiments.figure import PaperFigure
from onesided.experiments.figures import FIGURES
from onesided.experiments.figures.benchmarks import benchmark_title
from onesided.experiments.runner import Progress, TrialRunner
from onesided.experiments.setting import ReproductionSetting, Size, Trace
from onesided.experiments.trial import Trial
from onesided.experiments.workspace import available_traces, prepare
from onesided.report.claims import Claim, Reproduction, Section
from onesided.report.reproduction import as_html
from onesided.version import __version__

REPORT, RESULTS = "report.html", "results.json"


@dataclass(frozen=True)
class Reproduced:
    """The report, and the files that hold it."""

    report: Reproduction
    files: tuple[Path, Path]

    @property
    def claims(self) -> list[tuple[Section, Claim]]:
        return [(section, claim) for section in self.report.sections for claim in section.claims]


def reproduce(
    names: Sequence[str],
    *,
    size: Size,
    out: Path,
    seed: int = 0,
    say: Callable[[str], None] = lambda message: None,
    progress: Progress = lambda done, total: None,
    measured: Callable[[str], None] = lambda message: None,
) -> Reproduced:
    """Run the figures called `names` (all where there are none) and write the report into `out`.

    What an earlier run has finished is taken from `out`. Damaged data are found before any work.
    """
    figures = chosen_figures(names)
    setting = _setting(size, seed, out)
    _make(setting)
    if any(figure.uses_traces for figure in figures):
        prepare(setting, say)
    runner = TrialRunner(setting)
    say("Measuring")
    trials = list(dict.fromkeys(each for figure in figures for each in figure.trials(setting)))
    runner.run(trials, progress, _figure_by_figure(figures, setting, measured))
    sections = [
        figure.section(setting, runner.results(figure.trials(setting))) for figure in figures
    ]
    report = Reproduction(
        title="One-sided differential privacy: the evaluation, measured again",
        introduction=_introduction(setting),
        warnings=_warnings(setting),
        sections=sections,
    )
    files = _write(report, setting, runner, trials)
    return Reproduced(report, files)


def _figure_by_figure(
    figures: Sequence[PaperFigure], setting: ReproductionSetting, say: Callable[[str], None]
) -> Callable[[Trial], None]:
    """Says of each figure when the last of its trials is there."""
    left = {figure.name: set(figure.trials(setting)) for figure in figures}

    def finished(trial: Trial) -> None:
        for name, trials in list(left.items()):
            trials.discard(trial)
            if not trials:
                del left[name]
                say(f"{name}: measured, {len(left)} of {len(figures)} figures to go")

    return finished


def chosen_figures(names: Sequence[str]) -> list[PaperFigure]:
    """The figures by name, in the order of the paper."""
    known = [figure.name for figure in FIGURES]
    if any(name not in known for name in names):
        raise RequestError(f"There is no such figure; choose from {', '.join(known)}.")
    return [figure for figure in FIGURES if not names or figure.name in names]


def _setting(size: Size, seed: int, out: Path) -> ReproductionSetting:
    """Looks at all data once, so that a damaged file is named before any work."""
    sources = [load_1d(shape.name).source.value for shape in ONE_DIMENSIONAL]
    same = len(set(sources)) == 1
    return ReproductionSetting(
        size=size,
        seed=seed,
        out=out,
        traces=available_traces(),
        histograms=sources[0] if same else "-".join(sources),
        code=measuring_code(),
    )


def _make(setting: ReproductionSetting) -> None:
    try:
        setting.results.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise OutputError(f"The folder {setting.out} cannot be made; name another one.") from None


def _introduction(setting: ReproductionSetting) -> list[str]:
    size = setting.size
    traces = " and ".join(trace.title for trace in setting.traces)
    return [
        "Every table and figure of the evaluation in the paper, with what the paper says, what "
        "was measured here and a verdict. Beside the paper's methods stand ours: residual and "
        "auto, and dawa and dawaz on sound ground beside the reference ones, which follow public "
        "code and are not private.",
        f"Size: {size.name}; {size.runs} runs of every measurement; building at scale "
        f"{size.scale:g}; seed {setting.seed}; version {__version__}. Numbers in brackets are the "
        "least and the greatest run; those of a ratio run from the least over the greatest to the "
        f"greatest over the least. Trajectories: {traces}. Histograms: {benchmark_title(setting)}.",
    ]


def _warnings(setting: ReproductionSetting) -> list[str]:
    warnings = [
        "The paper's building trace was never published. What it shows on that trace is measured "
        "on stand-ins here, and each row says on which; a verdict there is about the stand-in."
    ]
    if setting.histograms != Origin.DPBENCH.value:
        warnings.append(
            "Published histograms were not found in the data folder: made ones with the printed "
            "scale and sparsity stand in for them, in every figure that uses DPBench."
        )
    if Trace.REPUBLICA not in setting.traces:
        warnings.append(
            "The re:publica trace was not found in the data folder: the simulated building stands "
            "in for it."
        )
    if setting.size.name != "full":
        warnings.append("This is a quick run: few runs and a small building; expect rough numbers.")
    return warnings


def _write(
    report: Reproduction, setting: ReproductionSetting, runner: TrialRunner, trials: list[Trial]
) -> tuple[Path, Path]:
    files = (setting.out / REPORT, setting.out / RESULTS)
    content = {
        "version": __version__,
        "size": setting.size.name,
        "runs": setting.size.runs,
        "seed": setting.seed,
        "traces": [trace.value for trace in setting.traces],
        "histograms": setting.histograms,
        "figures": {
            section.name: [_claim(claim) for claim in section.claims] for section in report.sections
        },
        "trials": [
            {
                "measure": trial.measure.name,
                "parameters": dict(trial.parameters),
                "rows": [
                    {**row.labels, "runs": [_rounded(value) for value in row.values]}
                    for row in runner.results([trial])
                ],
            }
            for trial in trials
        ],
    }
    with new_files(files, overwrite=True) as workspace:
        (workspace / REPORT).write_text(as_html(report), encoding="utf-8")
        text = json.dumps(content, ensure_ascii=False)
        (workspace / RESULTS).write_text(text + "\n", encoding="utf-8")
    return files


def _rounded(value: float) -> float:
    """Six digits are more than chance leaves of any of these numbers."""
    return float(f"{value:.6g}")


def _claim(claim: Claim) -> dict[str, str]:
    return {
        "data": claim.data,
        "paper": claim.paper,
        "measured": claim.measured,
        "criterion": claim.criterion,
        "verdict": claim.verdict.value,
        "remark": claim.remark,
    }
