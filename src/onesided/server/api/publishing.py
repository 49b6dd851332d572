"""Pages for those who get the data: a folder about a release, and one about the ledger."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from onesided.errors import OnesidedError
from onesided.server.api.releases import show_release
from onesided.server.problems import Problem
from onesided.server.routing import AUDITOR, STEWARD, ApiCall, ApiRoute, Reply

ZIP = "application/zip"
_MOMENT = (1980, 1, 1, 0, 0, 0)


def publish_release(call: ApiCall) -> Reply:
    """What `onesided publish` writes about a release, unsigned: the key stays with its owner."""
    from onesided.report.publication.publishing import publish

    show_release(call)  # which says whether it may be seen
    place = f"{call.served.config.ledger}#{call.path['number']}"
    return _zipped(lambda out: publish([place], out))


def report_ledger(call: ApiCall) -> Reply:
    """What `onesided report` writes about all accounts, unsigned."""
    from onesided.report.publication.account import report

    return _zipped(lambda out: report(call.served.config.ledger, out))


def _zipped(write: Callable[[Path], object]) -> Reply:
    """The files of a folder as one file."""
    with TemporaryDirectory() as folder:
        out = Path(folder, "page")
        try:
            write(out)
        except OnesidedError as error:
            raise Problem(409, str(error), type(error).__name__) from None
        kept = io.BytesIO()
        with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(out.iterdir()):
                archive.writestr(zipfile.ZipInfo(path.name, _MOMENT), path.read_bytes())
    return Reply(kept.getvalue(), media_type=ZIP)


ROUTES = (
    ApiRoute(
        method="GET",
        path="/api/v1/datasets/{dataset}/releases/{number}/publication",
        handler=publish_release,
        summary="A page about a release, with its data and metadata, as a ZIP file.",
        roles=(STEWARD,),
        answers={200: (ZIP,)},
        refusals=(409,),
    ),
    ApiRoute(
        method="GET",
        path="/api/v1/ledger/report",
        handler=report_ledger,
        summary="A page about all accounts for an auditor, as a ZIP file.",
        roles=(STEWARD, AUDITOR),
        answers={200: (ZIP,)},
        refusals=(409,),
    ),
)
