"""JSON files that only the key's holder can write: a seal over the content shows any change."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from republish.anonymize.errors import HomeError
from republish.anonymize.people.randomness import derive_key
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.store import read_json, write_json

SEAL = "seal"
"""The key of the seal among the content's own."""


@dataclass(frozen=True)
class Ledger:
    """A sealed file of a home. The home's key is not asked for before there is something to read or write."""

    home: Home
    file: Path
    purpose: tuple[str, ...]
    """The words that its own key is derived by."""

    def write(self, content: Mapping[str, Any]) -> None:
        """Write it anew."""
        write_sealed(self.file, content, self._key)

    def read(self) -> dict[str, Any] | None:
        """Its content; None where there is none, or its seal is broken."""
        return read_sealed(self.file, self._key) if self.file.is_file() else None

    def read_intact(self) -> dict[str, Any] | None:
        """Its content in a restored home; None where there is none. Raises HomeError if it was changed."""
        content = self.read()
        if content is None and self.file.exists():
            raise HomeError(f"{self.file}: was changed. Restore the backup once more")
        return content

    @property
    def _key(self) -> bytes:
        return derive_key(self.home.key(), *self.purpose)


def write_sealed(file: Path, content: Mapping[str, Any], key: bytes) -> None:
    """Write JSON with a seal: HMAC-SHA-256 of the content under a key of the file's own."""
    write_json(file, sealed(content, key))


def read_sealed(file: Path, key: bytes) -> dict[str, Any] | None:
    """The content of a sealed file; None where there is none, or its seal is broken."""
    content = read_json(file)
    return None if content is None else unsealed(content, key)


def sealed(content: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """Content with a seal."""
    return {**content, SEAL: _seal(content, key)}


def unsealed(content: Mapping[str, Any], key: bytes) -> dict[str, Any] | None:
    """Content without its seal; None if that is broken, or there is none."""
    said = {name: part for name, part in content.items() if name != SEAL}
    seal = content.get(SEAL)
    return said if isinstance(seal, str) and hmac.compare_digest(seal, _seal(said, key)) else None


def _seal(content: Mapping[str, Any], key: bytes) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hmac.new(key, text.encode(), "sha256").hexdigest()
