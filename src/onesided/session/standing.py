"""A sample and the counts that make it stand for everybody, paid for in one step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from onesided.data.planned.sample import PlannedMargin
from onesided.data.release import Receipt, Release, SampleRelease
from onesided.data.weighing.counted import margin_name
from onesided.data.weighing.covered import decided, outside
from onesided.data.weighing.placing import check_unit
from onesided.data.weighing.weighing import WEIGHT, check_noise
from onesided.data.weighing.weighted import WeightedSample, weighted
from onesided.errors import OnesidedError, ReleaseFailed, RequestError
from onesided.language import Key
from onesided.loss import show
from onesided.policy import Policy
from onesided.session.asking import Asker
from onesided.session.kernel import Answer, Kernel
from onesided.session.questions.counts import CountingQuestion
from onesided.session.questions.samples import Samples
from onesided.session.receipts import together
from onesided.session.scope import policy_text
from onesided.session.showing import shown_sample, shown_table
from onesided.weights.margins import noise_per_mean_cell

SAMPLE_SHARE = Fraction(7, 10)
"""Of ε for the sample. At ε = 1 it then keeps four fifths of the units that all of ε would keep, so
that its own errors grow by an eighth, while counts need a few hundredths of ε each to be of use."""
EXACT, FOUND = "laplace", "residual"
"""What counts groups that are declared, and what finds them: unbiased noise of a stated variance on
all units helps weights most."""
_MOST_LABELS = 10_000


@dataclass(frozen=True)
class AskedStanding:
    """A sample with the counts by which it is weighted.

    - `epsilon`: what both cost together.
    """

    sample: Samples
    counts: tuple[CountingQuestion, ...]
    epsilon: Fraction

    @property
    def questions(self) -> tuple[Samples | CountingQuestion, ...]:
        """All that is charged, all or none."""
        return (self.sample, *self.counts)

    @property
    def margins(self) -> tuple[PlannedMargin, ...]:
        """What to expect of the counts."""
        return tuple(
            PlannedMargin(
                name=margin_name([key.name for key in each.groups.keys]),
                mechanism=each.mechanism.name,
                groups=each.groups.bins,
                noise=None if each.groups.bins is None else each.expected_error(),
            )
            for each in self.counts
        )

    @property
    def noise(self) -> float:
        """The expected noise as a share of a mean group, of all margins whose groups are known."""
        return noise_per_mean_cell(_sizes(self.margins), self.sample.facts.units)

    @property
    def said(self) -> tuple[str, ...]:
        """What to expect of the counts, in words."""
        noise = f"counts are expected to be off by {self.noise:.1%} of a mean group"
        return (*(each.said for each in self.margins), noise)

    def release(self, kernel: Kernel, answers: Sequence[Answer]) -> WeightedSample:
        """The sample with weights; it was checked before the charge that there can be some."""
        drawn = shown_sample(kernel, self.sample, answers[0], None)
        counts = [shown_table(each) for each in answers[1:]]
        assert isinstance(drawn, SampleRelease)  # nothing was to be left elsewhere
        receipts = [drawn.receipt, *(each.receipt for each in counts)]
        facts, policy = self.sample.facts, policy_text(self.sample.scope.policy)
        content = {
            **drawn.receipt.content,
            **together(receipts, facts, policy),
            "request": {
                **drawn.receipt["request"],
                "epsilon": show(self.epsilon),
                "stands_for": [each.name for each in self.margins],
            },
            "figures": {"sample": dict(drawn.receipt.content)},
        }
        try:
            return weighted(drawn.under(Receipt(content)), counts, noisy=True, checked=True)
        except OnesidedError as error:
            raise ReleaseFailed(
                f"{error} The charge stands; the sample and the counts alone are free now."
            ) from None


def standing(
    asking: Asker,
    epsilon: Fraction,
    stands_for: Any,
    where: str | None = None,
    columns: Sequence[str] | None = None,
    *,
    domain: Mapping[str, Sequence[Any]] | None = None,
    noisy: bool = False,
    **asked: Any,
) -> AskedStanding:
    """The questions, checked as far as possible before anything is paid.

    - `stands_for`: for each count what it groups by.
    - `asked`: the other arguments of a sample.
    """
    if asked.pop("into", None) is not None:
        raise RequestError("Rows that the engine leaves elsewhere get no weights; leave into out.")
    margins = _margins(stands_for)
    sample = asking.sample(epsilon * SAMPLE_SHARE, where, columns, **asked)
    read = _read(margins, sample)
    policy = sample.scope.policy if isinstance(sample.scope.policy, Policy) else None
    condition = outside(policy, read, where)
    share = (epsilon - epsilon * SAMPLE_SHARE) / len(margins)
    declared = _declared(domain or {}, margins)
    counts = []
    for by, own in zip(margins, declared, strict=True):
        # A unit counts once: the noise is least then, and each unit has one group.
        groups, within = asking.groups(
            by,
            condition,
            max_groups=1,
            domain=own,
            policy=asked.get("policy"),
            part=asked.get("part"),
        )
        question = asking.counting(share, groups, within, FOUND if groups.undeclared else EXACT)
        question.check()
        if condition == where and policy is not None:
            _check_possible(policy, question)
        counts.append(question)
    found = AskedStanding(sample, tuple(counts), epsilon)
    if not noisy:
        check_noise(_sizes(found.margins), sample.facts.units)
    return found


def sampling(
    asking: Asker,
    epsilon: Fraction,
    where: str | None = None,
    columns: Sequence[str] | None = None,
    *,
    stands_for: Any = None,
    **asked: Any,
) -> Samples | AskedStanding:
    """A sample, alone or with the counts that it is weighted by."""
    if stands_for is not None:
        return standing(asking, epsilon, stands_for, where, columns, **asked)
    if asked.pop("domain", None) is not None:
        raise RequestError("A domain is for the counts of stands_for; say that too.")
    asked.pop("noisy", None)
    return asking.sample(epsilon, where, columns, **asked)


def sampled(
    kernel: Kernel,
    asked: Samples | AskedStanding,
    *,
    into: str | None = None,
    fresh: bool = False,
    purpose: str = "",
) -> Release:
    """The sample, charged and drawn; with weights where it is to stand for all units."""
    if isinstance(asked, AskedStanding):
        return asked.release(kernel, kernel.ask(asked.questions, fresh=fresh, purpose=purpose))
    (answer,) = kernel.ask([asked], fresh=fresh, purpose=purpose)
    return shown_sample(kernel, asked, answer, into)


def drawn(asked: Samples | AskedStanding) -> Samples:
    """The sample alone."""
    return asked.sample if isinstance(asked, AskedStanding) else asked


def _sizes(margins: Sequence[PlannedMargin]) -> list[tuple[int, float]]:
    return [
        (each.groups, each.noise)
        for each in margins
        if each.groups is not None and each.noise is not None
    ]


def _margins(stands_for: Any) -> list[list[str]]:
    """What each count groups by."""
    listed = [stands_for] if isinstance(stands_for, str) else stands_for
    if not isinstance(listed, Sequence) or not listed:
        raise RequestError('stands_for is a list of columns or keys, such as ["age", "region"].')
    margins = [[each] if isinstance(each, str) else each for each in listed]
    for each in margins:
        texts = isinstance(each, Sequence) and each and all(isinstance(text, str) for text in each)
        if not texts:
            raise RequestError(
                'stands_for is a list of columns or keys, such as ["age", "region"].'
            )
    return [list(each) for each in margins]


def _read(margins: Sequence[Sequence[str]], sample: Samples) -> tuple[str, ...]:
    """The columns that the counts read; refused where weights would need others of the sample."""
    schema, leaving = sample.facts.schema, sample.leaving
    keys = [Key.parse(text).bind(schema) for by in margins for text in by]
    read = tuple(dict.fromkeys(name for key in keys for name in key.columns))
    missing = [name for name in read if name not in leaving.names]
    if missing:
        raise RequestError(
            f"The sample would not have the column {missing[0]}, which weights need; name it "
            "among its columns."
        )
    check_unit(sample.facts.unit, leaving)
    if any(name.lower() == WEIGHT for name in leaving.names):
        raise RequestError(
            f"The sample would have a column {WEIGHT} already; choose columns without that one."
        )
    return read


def _declared(
    domain: Mapping[str, Sequence[Any]], margins: Sequence[Sequence[str]]
) -> list[dict[str, Sequence[Any]]]:
    """For each count the domains of its keys; one that is for none of them is refused."""
    named = {Key.parse(name).name: (name, values) for name, values in domain.items()}
    keys = [{Key.parse(text).name for text in by} for by in margins]
    unknown = [name for name in named if not any(name in each for each in keys)]
    if unknown:
        raise RequestError(
            f"A domain is declared for {unknown[0]}, which stands_for does not name."
        )
    return [{said: values for name, (said, values) in named.items() if name in own} for own in keys]


def _check_possible(policy: Policy, question: CountingQuestion) -> None:
    """Refuse groups that are sensitive as a whole, where no condition keeps the others apart."""
    groups = question.groups
    if not {*policy.columns} & {name for key in groups.keys for name in key.columns}:
        return
    known = [domain for domain in groups.domains.values() if domain is not None]
    if len(known) < len(groups.keys) or (groups.bins or 0) > _MOST_LABELS:
        return
    for labels in product(*(each.labels for each in known)):
        if decided(policy, groups.keys, labels, None, frozenset()):
            shown = ", ".join(map(str, labels))
            raise RequestError(
                f"No unit of the group {shown} can be in the sample; say with where for whom it is "
                "to stand."
            )
