"""JSON files that only the key's holder can write: a seal over the content shows any change."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestration.storage.store import read_json, write_json

SEAL = "seal"
"""The key of the seal among the content's own."""


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
