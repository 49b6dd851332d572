"""From an address to a data set."""

from __future__ import annotations

from pathlib import Path

from onesided.client.address import DatasetAddress
from onesided.client.dataset import RemoteDataset
from onesided.client.tokens import found_token
from onesided.client.wire import Wire


def connect(
    address: str,
    *,
    token: str | None = None,
    token_file: str | Path | None = None,
    timeout: float = 60.0,
    certificates: str | Path | None = None,
) -> RemoteDataset:
    """A data set at a server, such as `https://host/visits`.

    - `token`: what the steward has given you; by default that of the environment variable
      ONESIDED_TOKEN, or of the file ~/.config/onesided/token.
    - `token_file`: another file of a token. Nobody else may be able to read it.
    - `timeout`: after how many seconds without a sign of the server to give up.
    - `certificates`: a file of certificates to trust, where these are not those of the system.

    Over http only a server on this machine is asked. Redirections are not followed.
    """
    where = DatasetAddress.of(address)
    wire = Wire(where, found_token(token, token_file), timeout=timeout, certificates=certificates)
    try:
        return RemoteDataset(where, wire)
    except BaseException:
        wire.close()
        raise
