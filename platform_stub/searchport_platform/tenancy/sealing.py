"""Sealing credentials: AES-256-GCM, bound to the row that a secret belongs to."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

import attrs
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

__all__ = ["NEW_KEY", "Keyring", "Sealed", "SealingError", "load_key_file", "new_key"]

KEY_BYTES = 32
NEW_KEY = "python3 -c 'import base64, os; print(base64.b64encode(os.urandom(32)).decode())'"
"""A command that prints a new key, for messages."""

_NONCE_BYTES = 12


class SealingError(RuntimeError):
    """A secret that does not open, or keys that cannot be used; its text holds neither."""


@attrs.frozen
class Sealed:
    """A sealed secret. key_id: which key of the ring sealed it. generation: grows with every new value of its row."""

    key_id: str
    nonce: bytes = attrs.field(repr=False)
    data: bytes = attrs.field(repr=False)
    generation: int = 0


class Keyring:
    """Keys of 32 bytes: the first seals, all open.

    place: what a secret belongs to (organization, toolkit, name); with the key's id it is the associated data (RFC 5116), so that
    a row copied to another tenant does not open.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        if not keys or any(len(key) != KEY_BYTES for key in keys):
            raise SealingError(f"secret keys are one or more of {KEY_BYTES} bytes each")
        self._keys = {_identify(key): AESGCM(key) for key in keys}
        self.key_id = _identify(keys[0])

    @classmethod
    def parse(cls, text: str) -> Keyring:
        """A ring from base64 keys, by comma. Raises SealingError."""
        try:
            return cls([base64.b64decode(part.strip(), validate=True) for part in text.split(",")])
        except ValueError:  # binascii.Error is one; so is what a text beyond ASCII raises
            raise SealingError(f"SEARCHPORT_SECRET_KEYS: not base64 of {KEY_BYTES} bytes, by comma") from None

    def seal(self, secret: str, place: Sequence[str]) -> Sealed:
        """Seals with the first key and a fresh nonce."""
        nonce = os.urandom(_NONCE_BYTES)
        data = self._keys[self.key_id].encrypt(nonce, secret.encode(), _bind(place, self.key_id))
        return Sealed(self.key_id, nonce, data)

    def open(self, sealed: Sealed, place: Sequence[str]) -> str:
        """The secret. Raises SealingError where the key is not in the ring, or the row is not where it was sealed."""
        key = self._keys.get(sealed.key_id)
        if key is None:
            raise SealingError(
                f"the credential was sealed with key {sealed.key_id!r}, which SEARCHPORT_SECRET_KEYS does not hold"
            )
        try:
            return key.decrypt(sealed.nonce, sealed.data, _bind(place, sealed.key_id)).decode()
        except InvalidTag:
            raise SealingError("the credential does not open: it was changed, or belongs to another row") from None


def _identify(key: bytes) -> str:
    return hashlib.sha256(b"searchport key id" + key).hexdigest()[:16]


def _bind(place: Sequence[str], key_id: str) -> bytes:
    return json.dumps([*place, key_id]).encode()


def new_key() -> bytes:
    """A random key."""
    return os.urandom(KEY_BYTES)


def load_key_file(path: Path) -> Keyring:
    """The ring in a file, which is made with one random key, readable by its owner alone, where it is not there."""
    if not path.exists():
        _make_key_file(path)
    if path.stat().st_mode & 0o077:
        raise SealingError(f"{path} can be read by others; run: chmod 600 {path}")
    try:
        return Keyring.parse(path.read_text(encoding="ascii").strip())
    except (SealingError, UnicodeDecodeError):
        raise SealingError(f"{path} holds no sealing key; restore it, for without it no stored credential opens") from None


def _make_key_file(path: Path) -> None:
    """Writes the key beside its place and links it there at once: of two processes one wins, and neither reads half a key."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(base64.b64encode(new_key()).decode() + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
