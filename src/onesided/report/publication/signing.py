"""Keys, and signatures of receipts and folders by Ed25519 (needs the extra `sign`).

A key is a file in the steward's folder of settings, made at the first signing. A new key moves the
old one aside under the name of its public half, so that what it signed can still be checked.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onesided.errors import InputError, OutputError, RequestError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ALGORITHM = "Ed25519"
SIGNATURE = "signature"
_KEY = re.compile("[0-9a-f]{64}")


def canonical_bytes(content: Mapping[str, Any]) -> bytes:
    """What is signed of a JSON document: sorted keys, no blanks, ASCII."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def can_sign() -> bool:
    """Whether the extra `sign` is installed."""
    try:
        import cryptography  # noqa: F401
    except ImportError:
        return False
    return True


class SigningKey:
    """The steward's private key."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def at(cls, path: Path, *, new: bool = False) -> SigningKey:
        """The key in this file, made where there is none; a `new` one takes its place."""
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            load_pem_private_key,
        )

        if path.exists():
            try:
                read = load_pem_private_key(path.read_bytes(), password=None)
            except (OSError, ValueError, TypeError):
                raise InputError(f"{path.name} is no private key; name another file.") from None
            if not isinstance(read, Ed25519PrivateKey):
                raise InputError(f"{path.name} is no key for {ALGORITHM}; name another file.")
            if not new:
                return cls(read)
            os.replace(path, path.with_name(f"{path.stem}-{cls(read).public[:16]}{path.suffix}"))
        made = Ed25519PrivateKey.generate()
        text = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
                file.write(text)
        except OSError:
            raise OutputError(
                f"The key {path.name} cannot be kept in its folder; name another file."
            ) from None
        return cls(made)

    @property
    def public(self) -> str:
        """The public half, as 64 hexadecimal digits."""
        return self._key.public_key().public_bytes_raw().hex()

    def signature(self, content: bytes) -> dict[str, str]:
        """A signature with the key that checks it."""
        return {
            "algorithm": ALGORITHM,
            "key": self.public,
            "value": self._key.sign(content).hex(),
        }

    def signed(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """The document with its signature in it."""
        return {**content, SIGNATURE: self.signature(canonical_bytes(content))}


def signing_key_file() -> Path:
    """Where the key is kept where nobody says otherwise."""
    named = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA")
    return (Path(named) if named else Path.home() / ".config") / "onesided" / "signing-key.pem"


def public_keys(given: Sequence[str]) -> tuple[str, ...]:
    """Keys as hexadecimal digits, or files that hold them."""
    keys = []
    for each in given:
        text = each
        if not _KEY.fullmatch(each.strip().lower()):
            try:
                text = Path(each).read_text(encoding="ascii")
            except (OSError, ValueError):
                text = ""
        if not _KEY.fullmatch(text.strip().lower()):
            raise RequestError("A key is 64 hexadecimal digits, or a file that holds them.")
        keys.append(text.strip().lower())
    return tuple(keys)


def signature_problem(
    content: bytes, signature: Mapping[str, Any] | None, keys: Sequence[str]
) -> str | None:
    """Why a signature does not hold; None where it does. Without `keys` its own key is believed."""
    if signature is None:
        return "it is not signed, and a key was given" if keys else None
    if not can_sign():
        raise InputError("Signatures need more than the core: install onesided[sign].")
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = str(signature.get("key", ""))
    if keys and key not in keys:
        return "it is signed by another key"
    try:
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
        public.verify(bytes.fromhex(str(signature.get("value", ""))), content)
    except (InvalidSignature, ValueError):
        return "its signature does not fit what it says"
    return None
