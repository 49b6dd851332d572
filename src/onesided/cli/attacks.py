"""`onesided attack`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from onesided.cli.audit import json_loss, shown_loss
from onesided.cli.charts import chart_option, check_chart, draw_chart
from onesided.cli.output import as_json, overwrite_option, show_json, show_table, working
from onesided.errors import CheckFailed, RequestError

if TYPE_CHECKING:
    from onesided.audit import AttackReport
    from onesided.audit.passages import PassageReport


@click.command()
@click.option("--against", help="One release, by its name in the table; default: all.")
@click.option(
    "--data",
    type=click.Choice(["building", "republica"]),
    default="building",
    show_default=True,
    help="A building of four people, or the re:publica trace in ONESIDED_DATA.",
)
@click.option("--epsilon", default="1", show_default=True, help="That of every release.")
@click.option(
    "--trials",
    default=300,
    show_default=True,
    help="Outputs of each release that the attacker sees.",
)
@click.option("--seed", default=0, show_default=True, help="Of the releases.")
@click.option(
    "--map",
    "with_map",
    is_flag=True,
    help="Attack traces in a building whose yard is a passage, by who knows the map.",
)
@click.option(
    "--people", default=4000, show_default=True, help="With --map: how many are attacked."
)
@chart_option
@overwrite_option
@as_json
def attack(
    against: str | None,
    data: str,
    epsilon: str,
    trials: int,
    seed: int,
    with_map: bool,
    people: int,
    chart: Path | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Learn from absence who is in the smokers' yard; exit code 1 if --against lets that happen.

    Each attacker sees a release and shifts the odds "in a sensitive room" by φ at most. OSDP
    promises φ ≤ ε to attackers who hold people to be independent, and nothing beyond.

    With --map the attacker is trained on the traces of others, and names who went through the yard
    and was not seen there: before, and under the closed policies. The chart is the building.
    """
    from onesided.audit import opponents
    from onesided.loss import positive

    check_chart(chart, overwrite=overwrite)
    if with_map:
        _attack_with_map(people, seed, chart, overwrite=overwrite, as_json=as_json)
        return
    exact = positive(epsilon)
    releases = opponents(exact)
    chosen = [each for each in releases if against in (None, each.name, each.name.split(",")[0])]
    if not chosen:
        known = ", ".join(dict.fromkeys(each.name.split(",")[0] for each in releases))
        raise RequestError(f"There is nothing of that name to attack; choose one of {known}.")
    with working("Attacking"):
        scenes = _scenes(data)
        reports = {
            scene: [_attacked(release, beliefs, trials, seed) for release in chosen]
            for scene, beliefs in scenes.items()
        }
    if as_json:
        show_json(
            {scene: [_attack_facts(each) for each in found] for scene, found in reports.items()}
        )
    else:
        for scene, found in reports.items():
            _show_attack(scene, found)
    first = next(iter(reports.values()))
    draw_chart(chart, lambda: _attack_picture(next(iter(reports)), first), overwrite=overwrite)
    if against is not None and any(each.worst > float(exact) + 1e-9 for each in first):
        raise CheckFailed(f"{against} lets an attacker shift the odds by more than ε = {exact}.")


def _attack_picture(scene: str, reports: Sequence[AttackReport]) -> Any:
    from onesided.charts.findings import ComparedRow, compared_picture

    found = [
        ComparedRow(each.release, each.before, each.after, f"φ {shown_loss(each.worst)}")
        for each in reports
    ]
    return compared_picture(
        "How sure the attacker is that somebody was in a sensitive room, when it is true",
        found,
        names=("before the release", "after it"),
        axis="probability",
        what="release",
        notes=[f"{scene}. φ: how far the odds were shifted at the most."],
    )


def _scenes(data: str) -> dict[str, Any]:
    from onesided.audit import scenes

    if data == "republica":
        return {"re:publica 2013, everybody else known": scenes.republica()}
    return {
        "four people, independent": scenes.small_building(),
        "everybody but Bob known": scenes.informed_attacker(),
        "four inseparable friends (correlated: nothing is promised)": scenes.inseparable_friends(),
    }


def _attacked(release: Any, beliefs: Any, trials: int, seed: int) -> AttackReport:
    from onesided.audit import attack as run
    from onesided.randomness import seeded

    return run(release, beliefs, trials, seeded(seed))


def _show_attack(scene: str, reports: Sequence[AttackReport]) -> None:
    rows = [
        (
            each.release,
            shown_loss(each.bound),
            shown_loss(each.worst),
            f"{each.before:.3f}",
            f"{each.after:.3f}",
        )
        for each in reports
    ]
    show_table(scene, ("release", "φ claimed", "φ measured", "prior", "posterior"), rows)


def _attack_facts(report: AttackReport) -> dict[str, Any]:
    return {
        "release": report.release,
        "claimed": json_loss(report.bound),
        "measured": json_loss(report.worst),
        "prior": report.before,
        "posterior": report.after,
        "within_bound": report.within_bound,
    }


def _attack_with_map(
    people: int, seed: int, chart: Path | None, *, overwrite: bool, as_json: bool
) -> None:
    """The same people in three buildings, or seen in three ways."""
    from onesided.audit.passages import attack_passage
    from onesided.datasets.passage import Habits, PassageBuilding
    from onesided.randomness import seeded

    passage = PassageBuilding()
    settings = {
        "passage": (passage, Habits()),
        "passage, 5 % stray": (passage, Habits(stray=0.05)),
        "dead end": (PassageBuilding(dead_end=True), Habits()),
    }
    with working("Attacking"):
        reports = [
            attack_passage(name, building, habits, people, seeded(seed))
            for name, (building, habits) in settings.items()
        ]
    if as_json:
        show_json([vars(each) for each in reports])
    else:
        _show_passages(reports)
    draw_chart(chart, lambda: _building_picture(passage), overwrite=overwrite)


def _show_passages(reports: Sequence[PassageReport]) -> None:
    rows = [
        (
            each.name,
            f"{each.went:.2f}",
            f"{each.seen:.2f}",
            _by_rule(each.closed),
            _by_rule(each.caught),
            _by_rule(each.true),
            _by_rule(each.betrayed),
        )
        for each in reports
    ]
    heads = ("yard", "went", "seen there", "sensitive", "hidden caught", "closed truly", "betrayed")
    show_table("before → certain → quickest, as shares of people", heads, rows)


def _by_rule(shares: dict[str, float]) -> str:
    return " → ".join(f"{share:.2f}" for share in shares.values())


def _building_picture(building: Any) -> Any:
    from onesided.charts.maps import DrawnPlace, map_picture
    from onesided.datasets.passage import YARD

    places = [
        DrawnPlace(room.name, room.x, room.y, sensitive=room.name == YARD)
        for room in building.rooms
    ]
    return map_picture("The building: its yard is the quickest way across", places, building.ways)
