"""The exact audit: every small database, every ordered neighbour, every output, no rounding.

For each kind of step from D to D′ it finds the largest ln Pr[M(D) = o] / Pr[M(D′) = o], holds it
against what is claimed, and says whether equality is attained or how much slack is left. The laws
come from the mechanism's own code (`enumeration.py`) and comparisons are decided exactly
(`exponentials.py`).

With infinitely many noise values a law is known within a horizon. The paths of D within it are
compared with those of D′ within a wider one, since the noise that makes up for a changed unit is
larger by what the change costs. Verified means: nothing within the horizon contradicts the claim.
Rejected means: the claim is false, since all unexplored mass was given to D′.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from math import exp, inf, isfinite, log

from onesided.audit.draws import NotEnumerableError, OutOfTimeError, TooManyPathsError
from onesided.audit.enumeration import Law, Tried, enumerate_law
from onesided.audit.exponentials import FLOAT_MARGIN, Mass
from onesided.audit.outputs import is_raised
from onesided.audit.protocol import Auditable, outcome
from onesided.audit.runs import Deadline
from onesided.audit.world import Database, SmallWorld, Step
from onesided.loss import Loss, Number, positive, show
from onesided.randomness import Randomness, seeded

MOST_PATHS = 600
"""Paths followed for one database; the horizon is as wide as that allows."""

MOST_UNEXPLORED = 0.1
"""A law is good for an audit if no more mass than this is beyond its horizon."""

NEGLIGIBLE = 1e-4
"""From here on a wider horizon is not worth its paths."""

MOST_UNITS = 2
"""Databases have at most so many units, unless more or fewer are asked for."""


class Verdict(Enum):
    """What the audit says about one claim."""

    VERIFIED = "verified"
    REJECTED = "rejected"
    OPEN = "open"


@dataclass(frozen=True)
class Witness:
    """The ordered pair and the output with the largest loss."""

    database: Database
    neighbour: Database
    output: Hashable


@dataclass(frozen=True)
class Finding:
    """What was found for one kind of step.

    - `claimed`: the most the log-probability may drop from D to D′;
    - `loss`: the most it was seen to drop within the horizon;
    - `at_least`: what it certainly drops, with all unexplored mass on the side of D′;
    - `attained`: whether some output drops by exactly what is claimed.
    """

    step: Step
    claimed: Fraction
    loss: float
    at_least: float
    attained: bool
    verdict: Verdict
    witness: Witness | None

    @property
    def slack(self) -> float:
        """How much less is lost than was claimed."""
        return float(self.claimed) - self.loss


def _words(loss: float) -> str:
    return f"{loss:.3f}" if isfinite(loss) else "unbounded"


@dataclass(frozen=True)
class ExactReport:
    """The findings of one exact audit, and how far it looked."""

    world: str
    findings: tuple[Finding, ...]
    databases: int
    most_units: int
    horizon: Fraction
    unexplored: float
    about: str = ""

    @property
    def rejected(self) -> bool:
        """Whether some claim is certainly false."""
        return any(finding.verdict is Verdict.REJECTED for finding in self.findings)

    @property
    def verified(self) -> bool:
        """Whether every claim holds within the horizon."""
        return all(finding.verdict is Verdict.VERIFIED for finding in self.findings)

    def __repr__(self) -> str:
        return f"<Exact audit: {self.said}; {self.databases:,} databases>"

    @property
    def said(self) -> str:
        """The verdict in one word or two."""
        return "refuted" if self.rejected else "verified" if self.verified else "undecided"

    def _repr_html_(self) -> str:
        from onesided import html

        rows = [
            [
                html.Cell(each.step.value),
                html.Cell(show(each.claimed), number=True),
                html.Cell(_words(each.loss), number=True),
                html.Cell(each.verdict.value),
            ]
            for each in self.findings
        ]
        return html.card(
            f"Exact audit: {self.said}",
            html.table(("step", "claimed", "loss", "verdict"), rows),
            html.facts({"databases": f"{self.databases:,}, of up to {self.most_units} units"}),
        )

    def finding(self, step: Step) -> Finding:
        """What was found for one kind of step."""
        return next(each for each in self.findings if each.step is step)


@dataclass(frozen=True)
class SmallClaim:
    """What `mechanism` is held to in a small `world`: the pair `loss`, and OSDP ε.

    - `epsilon`: the claimed OSDP ε; None for that of the pair;
    - `most_units`: the largest databases that are looked at;
    - `about`: what it is about, in words.
    """

    mechanism: Auditable
    world: SmallWorld
    loss: Loss
    epsilon: Fraction | None = None
    most_units: int = MOST_UNITS
    about: str = ""


@dataclass(frozen=True)
class ExactAudit:
    """How an exact audit is done.

    - `most_units`: the largest databases; None for 2, or as many as a claim says;
    - `most_paths`: how many paths of the mechanism are followed for one database;
    - `tolerance`: by how much a loss may exceed its claim, for idealised mechanisms, whose
      probabilities are rounded; 0 for everything that is released;
    - `deadline`: where it passes, the audit ends with `OutOfTimeError` and has nothing to say.
    """

    most_units: int | None = None
    most_paths: int = MOST_PATHS
    tolerance: Fraction = Fraction(0)
    deadline: Deadline | None = None

    def claim(self, claim: SmallClaim) -> ExactReport:
        """Hold a mechanism to what is claimed in a small world."""
        most = claim.most_units if self.most_units is None else self.most_units
        stated = loss_claims(claim.loss, claim.epsilon)
        report = replace(self, most_units=most).claims(claim.mechanism, claim.world, stated)
        return replace(report, about=claim.about)

    def claims(
        self, mechanism: Auditable, world: SmallWorld, claims: dict[Step, Fraction]
    ) -> ExactReport:
        """Hold each claimed loss against all pairs of its kind of step."""
        most_units = MOST_UNITS if self.most_units is None else self.most_units
        margin = max(claims.values())
        horizon = self._horizon(mechanism, world, margin, most_units)
        laws: dict[Database, Law] = {}

        def law(database: Database) -> Law:
            if database not in laws:
                data = world.build(database)
                run = self._on(mechanism, data)
                laws[database] = enumerate_law(run, horizon, margin)
            return laws[database]

        findings: dict[Step, Finding] = {
            step: self._finding(step, claimed, world.pairs(step, most_units), law)
            for step, claimed in claims.items()
            if step is not Step.EXTENDED
        }
        if Step.EXTENDED in claims:
            findings[Step.EXTENDED] = _either(claims[Step.EXTENDED], findings)
        if all_raise_alike(laws.values()):
            # Nothing is released here at all: whoever asked for this audit is told why.
            mechanism.release(world.build(next(iter(laws))), seeded(0))
        unexplored = max((each.unexplored for each in laws.values()), default=0.0)
        return ExactReport(
            world.label, tuple(findings.values()), len(laws), most_units, horizon, unexplored
        )

    def _horizon(
        self, mechanism: Auditable, world: SmallWorld, margin: Fraction, most_units: int
    ) -> Fraction:
        """The widest horizon that the allowed number of paths permits.

        Tried on one of the largest databases, in which all units differ as far as possible.
        """
        largest = tuple(world.values[-(i + 1) % len(world.values)] for i in range(most_units))
        run = self._on(mechanism, world.build(tuple(sorted(largest, key=world.values.index))))
        horizon, widest = margin / 2, None
        tried: Tried = {}
        while True:
            try:
                law = enumerate_law(run, horizon, margin, self.most_paths, tried)
            except TooManyPathsError:
                break
            if law.unexplored < MOST_UNEXPLORED:
                widest = horizon
            if law.unexplored < NEGLIGIBLE:
                break
            horizon *= Fraction(3, 2)
        if widest is None:
            raise NotEnumerableError(
                "The mechanism has too many paths for an exact audit; allow more, or audit by runs."
            )
        return widest

    def _on(self, mechanism: Auditable, data: object) -> Callable[..., object]:
        def run(rng: Randomness) -> object:
            self._check_time()
            return outcome(mechanism, data, rng)

        return run

    def _check_time(self) -> None:
        if self.deadline is not None and self.deadline.passed(1):
            raise OutOfTimeError("The exact audit was not done in time; allow more seconds.")

    def _finding(
        self,
        step: Step,
        claimed: Fraction,
        pairs: Iterable[tuple[Database, Database]],
        law: Callable[[Database], Law],
    ) -> Finding:
        worst, at_least, witness = -inf, -inf, None
        attained = exceeded = False
        for database, neighbour in pairs:
            before, after = law(database), law(neighbour)
            together, others = 0.0, after.unexplored
            for output, mass in before.inner.items():
                self._check_time()
                other = after.outer.get(output, Mass([]))
                sign = mass.compare(other, claimed + self.tolerance)
                attained |= sign == 0
                exceeded |= sign > 0
                if sign > 0:
                    together, others = together + exp(mass.log), others + other.upper()
                # Where D′ may show the output beyond the horizon, its mass there is the most known.
                beyond = output not in after.outer and after.unexplored > 0
                loss = mass.log - (_log(after.unexplored) if beyond else other.log)
                if witness is None or loss > worst + FLOAT_MARGIN:
                    worst, witness = loss, Witness(database, neighbour, output)
                at_least = max(at_least, mass.log - _log(other.upper() + after.unexplored))
            # Of many outputs each might be explained by what is unexplored, and not all together.
            if together:
                at_least = max(at_least, log(together) - _log(others))
        if at_least > float(claimed + self.tolerance) + FLOAT_MARGIN:
            verdict = Verdict.REJECTED
        else:
            verdict = Verdict.OPEN if exceeded else Verdict.VERIFIED
        return Finding(step, claimed, worst, at_least, attained, verdict, witness)


def all_raise_alike(laws: Iterable[Law]) -> bool:
    """Whether there is one outcome on all databases, and that is an exception."""
    outcomes = {output for each in laws for output in each.outer}
    return len(outcomes) == 1 and is_raised(outcomes.pop())


def _either(claimed: Fraction, findings: dict[Step, Finding]) -> Finding:
    """The extended steps are those that move a sensitive unit and those that add another one."""
    parts = [findings[Step.SENSITIVE], findings[Step.ADD_NONSENSITIVE]]
    worst = max(parts, key=lambda each: each.loss)
    at_least = max(each.at_least for each in parts)
    if at_least > float(claimed) + FLOAT_MARGIN:
        verdict = Verdict.REJECTED
    elif worst.loss <= float(claimed) + FLOAT_MARGIN:
        verdict = Verdict.VERIFIED
    else:
        verdict = Verdict.OPEN
    attained = any(each.attained and each.claimed == claimed for each in parts)
    return Finding(Step.EXTENDED, claimed, worst.loss, at_least, attained, verdict, worst.witness)


def loss_claims(loss: Loss, epsilon: Number | None = None) -> dict[Step, Fraction]:
    """What a pair (s, t) claims about each kind of step; `epsilon` if another OSDP ε is claimed."""
    osdp = loss.epsilon if epsilon is None else positive(epsilon)
    claims = {Step.REPLACE_SENSITIVE: osdp}
    if loss.extended_epsilon is not None:
        claims[Step.SENSITIVE] = loss.sensitive
        claims[Step.ADD_NONSENSITIVE] = loss.nonsensitive
        claims[Step.EXTENDED] = loss.extended_epsilon
    return claims


def _log(value: float) -> float:
    return log(value) if value > 0 else -inf
