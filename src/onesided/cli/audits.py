"""`onesided audit NAME` and `onesided audit session`: one word for both."""

from __future__ import annotations

import click

from onesided.cli.audit import audit
from onesided.cli.session_audit import session

_OF_A_MECHANISM = "mechanism"


class _MechanismUnlessNamed(click.Group):
    """What is no command of this group is the name of a mechanism, or an option about one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [_OF_A_MECHANISM, *args]
        return super().parse_args(ctx, args)


@click.group(
    cls=_MechanismUnlessNamed,
    commands={_OF_A_MECHANISM: audit, "session": session},
    subcommand_metavar="NAME | session [OPTIONS]",
)
def audits() -> None:
    """Try to refute what is promised; exit code 1 if that succeeds.

    `onesided audit NAME` tries the mechanism of that name, such as one-sided; its options are
    listed by `onesided audit NAME --help`. `onesided audit session` tries whole releases.
    """
