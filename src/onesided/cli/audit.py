"""`onesided audit`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onesided.cli.charts import chart_option, check_chart, draw_chart
from onesided.cli.output import (
    as_json,
    overwrite_option,
    progress,
    show_facts,
    show_json,
    show_table,
    working,
)
from onesided.errors import CheckFailed, RequestError

if TYPE_CHECKING:
    from onesided.audit import ExactAudit, ExactReport, StatisticalReport, Target
    from onesided.data import Histogram

EXACT_SHARE = 0.4
LEAST_SHARE = 0.2
"""The exact audit may take the one share of the time, and runs have at least the other."""


@click.command()
@click.argument("name")
@click.option(
    "--epsilon", default="1", show_default=True, help="The ε that the mechanism is said to keep."
)
@click.option(
    "--method",
    type=click.Choice(["both", "exact", "runs"]),
    default="both",
    show_default=True,
    help="In exact arithmetic on small databases, by many runs, or both.",
)
@click.option(
    "--pairs",
    type=click.Path(path_type=Path),
    help='JSON: [[D, D′], …], each {"all": […], "nonsensitive": […]}; default: search for pairs.',
)
@click.option("--time", default=60.0, show_default=True, help="Seconds for the whole audit.")
@click.option(
    "--confidence", default=0.99, show_default=True, help="Of the lower bound that runs give."
)
@click.option("--seed", default=0, show_default=True, help="Of the search and of all runs.")
@click.option("--workers", default=2, show_default=True, help="Processes for the runs.")
@chart_option
@overwrite_option
@as_json
def audit(
    name: str,
    epsilon: str,
    method: str,
    pairs: Path | None,
    time: float,
    confidence: float,
    seed: int,
    workers: int,
    chart: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Try to refute the promise of the mechanism NAME; exit code 1 if that succeeds.

    Runs can only reject: a mechanism that they do not refute is not proven by that.
    """
    from onesided.audit import Deadline, StatisticalAudit, target

    if not 0 < time < inf:
        raise RequestError("--time must be a number of seconds above 0.")
    check_chart(chart, overwrite=overwrite, beside=[] if pairs is None else [pairs])
    whole = Deadline(time)
    claim = target(name, epsilon)
    listed = None if pairs is None else _read_pairs(pairs, claim)
    exact, unfinished = [], False
    if method == "exact":
        exact = claim.exactly(_exact_audit(claim, time))
    elif method == "both":
        exact, unfinished = _exactly(claim, EXACT_SHARE * time)
    runs = None
    if method != "exact":
        with progress(f"Auditing {name}") as advance:
            runs = claim.by_runs(
                StatisticalAudit(
                    confidence=confidence,
                    seconds=max(time - whole.elapsed, LEAST_SHARE * time),
                    workers=workers,
                    seed=seed,
                    progress=lambda phase, share: advance(int(1000 * share), 1000),
                ),
                pairs=listed,
            )
    rejected = any(each.rejected for each in exact) or (runs is not None and runs.rejected)
    if as_json:
        facts = _audit_facts(claim, exact, runs, rejected)
        show_json({**facts, "exact_ran_out_of_time": unfinished})
    else:
        _show_audit(claim, exact, runs)
        if unfinished:
            show_facts({"exact": "ran out of time, so it says nothing; allow more with --time"})
    draw_chart(chart, lambda: _audit_picture(claim, exact, runs), overwrite=overwrite)
    if rejected:
        raise CheckFailed(f"Refuted: {claim.what}.")


def _exact_audit(claim: Target, seconds: float) -> ExactAudit:
    from onesided.audit import Deadline, ExactAudit

    return ExactAudit(tolerance=claim.tolerance, deadline=Deadline(seconds))


def _exactly(claim: Target, seconds: float) -> tuple[list[ExactReport], bool]:
    """What the exact audit says where it is possible, and whether it ran out of time."""
    from onesided.audit import NotEnumerableError, OutOfTimeError

    try:
        with working("Listing all outcomes"):
            return claim.exactly(_exact_audit(claim, seconds)), False
    except NotEnumerableError:
        return [], False
    except OutOfTimeError:
        return [], True


def _read_pairs(path: Path, claim: Target) -> list[tuple[Histogram, Histogram]]:
    from onesided.audit.neighbours import are_neighbours
    from onesided.data import Histogram

    if claim.pairs is not None:
        raise RequestError(f"{claim.name} is audited on rows, not on histograms: omit --pairs.")
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))
        pairs = [(Histogram(**before), Histogram(**after)) for before, after in listed]
    except OSError:
        raise RequestError(f"{path} cannot be read: name a file of pairs.") from None
    except (ValueError, TypeError):
        raise RequestError(
            f'{path} must hold [[D, D′], …] with D = {{"all": […], "nonsensitive": […]}}.'
        ) from None
    relation = claim.setting.relation
    for number, pair in enumerate(pairs, start=1):
        if not are_neighbours(*pair, relation):
            raise RequestError(
                f"Pair {number} of {path} are no neighbours: D′ must be D with {relation.value}."
            )
    return pairs


def _audit_facts(
    claim: Target, exact: Sequence[ExactReport], runs: StatisticalReport | None, rejected: bool
) -> dict[str, Any]:
    facts: dict[str, Any] = {"claim": claim.what, "rejected": rejected, "exact": [], "runs": None}
    for report in exact:
        facts["exact"].append(
            {
                "where": report.world,
                "about": report.about,
                "databases": report.databases,
                "most_units": report.most_units,
                "unexplored_mass": report.unexplored,
                "findings": [
                    {
                        "step": finding.step.value,
                        "claimed": str(finding.claimed),
                        "loss": json_loss(finding.loss),
                        "at_least": json_loss(finding.at_least),
                        "attained": finding.attained,
                        "verdict": finding.verdict.value,
                    }
                    for finding in report.findings
                ],
            }
        )
    if runs is not None:
        facts["runs"] = {
            "at_least": json_loss(runs.at_least),
            "confidence": runs.confidence,
            "hits": runs.hits,
            "neighbour_hits": runs.neighbour_hits,
            "runs": runs.runs,
            "pair": _pair(runs.pair),
            "pairs_tried": runs.pairs_tried,
            "seed": runs.seed,
            "effort": vars(runs.effort),
            "in_time": runs.in_time,
            "seconds": round(runs.seconds, 3),
            "rejected": runs.rejected,
        }
    return facts


def _show_audit(
    claim: Target, exact: Sequence[ExactReport], runs: StatisticalReport | None
) -> None:
    show_facts({"claim": claim.what})
    rows = [
        (
            finding.step.value,
            ", ".join(filter(None, (report.world, report.about))),
            report.most_units,
            float(finding.claimed),
            finding.loss,
            "attained" if finding.attained else f"{finding.slack:.3g}",
            finding.verdict.value,
        )
        for report in exact
        for finding in report.findings
    ]
    if rows:
        title = "exact, every database of up to so many units"
        columns = ("step", "where", "units", "claimed", "loss", "slack", "verdict")
        show_table(title, columns, rows)
    if runs is not None:
        show_facts(
            {
                "runs": f"the loss is at least {runs.at_least:.3f} "
                f"(confidence {runs.confidence:g}): {runs.hits} of {runs.runs} outputs against "
                f"{runs.neighbour_hits}",
                "pair": _pair(runs.pair),
                "searched": f"{runs.pairs_tried} pairs, seed {runs.seed}"
                + ("" if runs.in_time else "; time ran out before the search was done"),
                "verdict": "rejected"
                if runs.rejected
                else "not rejected, which proves nothing: runs can only reject",
            }
        )


def _pair(pair: Any) -> str:
    """The pair in words; one that was given may be of histograms or of rows."""
    from onesided.audit.neighbours import in_words
    from onesided.data import Histogram

    if isinstance(pair, tuple) and all(isinstance(each, Histogram) for each in pair):
        return in_words(*pair)
    return str(pair)


def _audit_picture(
    claim: Target, exact: Sequence[ExactReport], runs: StatisticalReport | None
) -> Any:
    from onesided.charts.findings import ComparedRow, audit_picture

    losses: dict[str, float] = {}
    for report in exact:
        losses["exact loss"] = max(losses.get("exact loss", 0.0), report.findings[0].loss)
    if runs is not None:
        losses["runs: at least"] = max(runs.at_least, 0.0)
    found = [
        ComparedRow(name, None, loss if isfinite(loss) else None, shown_loss(loss))
        for name, loss in losses.items()
    ]
    return audit_picture(f"Audit of {claim.name}", float(claim.epsilon), found)


def shown_loss(value: float) -> str:
    """A loss, or the shift of odds, for people."""
    return f"{value:.3f}" if isfinite(value) else "unbounded"


def json_loss(value: float) -> float | str:
    """The same for JSON, which has no infinity."""
    return round(value, 9) if isfinite(value) else "unbounded"
