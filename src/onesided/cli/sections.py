"""The help of a command with many options: in sections, and with an example."""

from __future__ import annotations

import click

_SECTIONS = {
    "The data": "table connection unit policy name config token_file version public memory_limit "
    "statement_timeout",
    "The question": "error by column columns max_values where domain max_groups max_rows bound "
    "grid stands_for noisy nonnegative mechanism stricter_policy part purpose nonsensitive_share",
    "What it may cost": "epsilon plan budget ledger partition_by fresh yes",
    "The answer": "out into overwrite as_json",
}
_SECTION_OF = {name: title for title, names in _SECTIONS.items() for name in names.split()}
_OTHERS = "General"


class CommandInSections(click.Command):
    """A command whose `--help` brings together what belongs together.

    - `example`: a call, which the help ends with.
    """

    def __init__(self, *args: object, example: str = "", **given: object) -> None:
        super().__init__(*args, **given)  # type: ignore[arg-type]
        self.example = example

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by section, in the order of the sections."""
        listed: dict[str, list[tuple[str, str]]] = {title: [] for title in (*_SECTIONS, _OTHERS)}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is not None and isinstance(option, click.Option):
                listed[_SECTION_OF.get(option.name or "", _OTHERS)].append(record)
        for title, records in listed.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The example as it would be typed."""
        if self.example:
            with formatter.section("Example"):
                for line in self.example.splitlines():
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")
