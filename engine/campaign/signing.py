"""Signatures of a campaign's history by a key of the lab (Ed25519, RFC 8032).

Digests make a history consistent; a complete rewrite can make them fit. A signed head cannot be made
again without the key. Signatures are in a file of their own next to the campaign, one JSON object a line.
"""

from __future__ import annotations

import base64
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import AssayPilotError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


_LONGEST_KEY = 10_000
_LARGEST = 10_000_000
"""Bytes of a key and of a file of signatures; anything larger is neither."""


@dataclass(frozen=True, slots=True)
class Signature:
    """A head of a history and when it was signed."""

    events: int
    head: str
    time: str

    def message(self) -> bytes:
        """Return what is signed."""
        return f"AssayPilot history\n{self.events}\n{self.head}\n{self.time}\n".encode()


def signatures_of(path: str | Path) -> Path:
    """Return the file of a campaign's signatures."""
    return Path(f"{path}.signatures")


def make_key(path: Path) -> Path:
    """Write a new private key, readable by its owner alone, and its public half next to it; return the latter."""
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key, public = Ed25519PrivateKey.generate(), Path(f"{path}.public")
    private = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    shown = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    for place, content, mode in ((path, private, 0o600), (public, shown, 0o644)):
        try:
            with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as stream:
                stream.write(content)
        except OSError as error:
            raise AssayPilotError(
                f"the key cannot be written: {error.strerror}", file=str(place), mend="Name a file that does not exist."
            ) from error
    return public


def sign(path: Path, key: Path, *, events: int, head: str) -> Signature:
    """Sign the head of a campaign's history and append the signature to the file of its signatures."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = _key(key)
    if not isinstance(private, Ed25519PrivateKey):
        raise AssayPilotError("this is a public key, which signs nothing", file=str(key), mend="Give the private key.")
    signature = Signature(events, head, datetime.now(UTC).isoformat(timespec="seconds"))
    line = {
        "events": events,
        "head": head,
        "time": signature.time,
        "signature": base64.b64encode(private.sign(signature.message())).decode(),
    }
    place = signatures_of(path)
    try:
        with place.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise AssayPilotError(f"the signature cannot be written: {error.strerror}", file=str(place)) from error
    return signature


def signed(path: Path, key: Path) -> Signature:
    """Return the latest signature of a campaign's history by a key; AssayPilotError when there is none.

    ``key``: the public or the private one. ``verify`` checks whether the history still has the signed head.
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    known = _key(key)
    public: Ed25519PublicKey = known.public_key() if isinstance(known, Ed25519PrivateKey) else known
    found = []
    for line in _read(signatures_of(path), _LARGEST, "signatures").splitlines():
        try:
            entry = json.loads(line)
            one = Signature(int(entry["events"]), str(entry["head"]), str(entry["time"]))
            public.verify(base64.b64decode(entry["signature"], validate=True), one.message())
        except (ValueError, KeyError, TypeError, RecursionError, InvalidSignature):
            continue
        found.append(one)
    if not found:
        raise AssayPilotError("no signature here is by this key", file=str(signatures_of(path)), option="--key")
    return max(found, key=lambda one: one.events)


def _key(path: Path) -> Ed25519PrivateKey | Ed25519PublicKey:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    content = _read(path, _LONGEST_KEY, "a key")
    try:
        key = (
            serialization.load_pem_private_key(content, None)
            if b"PRIVATE" in content
            else serialization.load_pem_public_key(content)
        )
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey | Ed25519PublicKey):
        raise AssayPilotError(
            "this is no Ed25519 key without a passphrase",
            file=str(path),
            option="--key",
            mend="Let sign make a new key.",
        )
    return key


def _read(path: Path, most: int, what: str) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(most + 1)
    except OSError as error:
        raise AssayPilotError(f"{what} cannot be read here: {error.strerror}", file=str(path)) from error
    if len(content) > most:
        raise AssayPilotError(f"too large to be {what}", file=str(path))
    return content
