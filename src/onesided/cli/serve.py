"""`onesided serve`: who may ask a server, and the server itself.

`onesided serve FILE` is the command `start` of the group. A file of the name of another command is
served as `./token`.
"""

from __future__ import annotations

import click

from onesided.cli.people import rights, token
from onesided.cli.server import start

_SERVING = "start"


class _ServeGroup(click.Group):
    """A group in which anything but the name of a command is what is served."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        known = (*self.commands, *ctx.help_option_names)
        if args and args[0] not in known:
            args = [_SERVING, *args]
        return super().parse_args(ctx, args)


@click.group(cls=_ServeGroup)
def serve() -> None:
    """Let people ask who do not hold the data, and say who may.

    Who asks shows a token. It is a steward's, an analyst's or an auditor's, and what an analyst may
    do is said for each data set.
    """


serve.add_command(token)
serve.add_command(rights)
serve.add_command(start)
