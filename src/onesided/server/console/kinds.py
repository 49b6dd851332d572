"""The kinds of questions: what each is called, and what its form asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class KindOfQuestion:
    """A kind of question: what it is called, and the fields of its form.

    - `planned`: whether its error is known before it is paid.
    """

    name: str
    title: str
    explained: str
    fields: tuple[str, ...]
    planned: bool = True

    @property
    def has_mechanisms(self) -> bool:
        """Whether there are several ways to answer it."""
        return "mechanism" in self.fields

    @property
    def inputs(self) -> tuple[str, ...]:
        """What the inputs of its form are called."""
        return tuple(name for each in self.fields for name in _INPUTS.get(each, (each,)))


_INPUTS: Mapping[str, tuple[str, ...]] = {
    "by": ("by", "values"),
    "between": ("low", "high"),
    "stands_for": ("stands", "stands_values", "noisy"),
    "groups_at_most": ("max_groups",),
    "path": ("path", "path_values"),
    "mechanism": (),
}
_GROUPED = ("by", "where", "groups_at_most")
KINDS: Mapping[str, KindOfQuestion] = {
    each.name: each
    for each in (
        KindOfQuestion(
            "count",
            "Count",
            "How many records are in each group, such as visits by room and hour.",
            ("by", "where", "max_groups", "mechanism"),
        ),
        KindOfQuestion(
            "sample",
            "True records",
            "A sample of true records, of those that nobody has to protect.",
            ("columns", "stands_for", "where"),
        ),
        KindOfQuestion(
            "sum",
            "Sum",
            "The total of a number in each group, such as minutes by room.",
            ("column", "bound", *_GROUPED),
        ),
        KindOfQuestion(
            "mean",
            "Mean",
            "The average of a number in each group.",
            ("column", "bound", *_GROUPED),
        ),
        KindOfQuestion(
            "quantile",
            "Median and quartiles",
            "The value below which a half, a quarter or three quarters of the records are.",
            ("column", "between", *_GROUPED),
        ),
        KindOfQuestion(
            "histogram",
            "Histogram",
            "How many records have a number between each two edges, such as ages by tens.",
            ("column", "edges", *_GROUPED),
            planned=False,
        ),
        KindOfQuestion(
            "distinct",
            "Different values",
            "How many different values there are in each group, such as devices by room.",
            ("value", "max_values", *_GROUPED),
        ),
        KindOfQuestion(
            "ngrams",
            "Ways taken",
            "How many records go from one value to the next, such as from room to room.",
            ("n", "path", "order", "max_groups", "mechanism"),
        ),
        KindOfQuestion(
            "touches",
            "Groups of one record",
            "In how many groups a record is: how many visit one room, two rooms, three.",
            ("by", "where", "sampled"),
            planned=False,
        ),
        KindOfQuestion(
            "sql",
            "SQL",
            "A SELECT with COUNT, SUM, AVG or MEDIAN, for those who write SQL.",
            ("statement", "groups_at_most"),
        ),
    )
}
