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
    write_json(file, {**content, SEAL: _seal(content, key)})


def read_sealed(file: Path, key: bytes) -> dict[str, Any] | None:
    """The content of a sealed file; None where there is none, or its seal is broken."""
    content = read_json(file)
    if content is None:
        return None
    seal = content.pop(SEAL, None)
    return content if isinstance(seal, str) and hmac.compare_digest(seal, _seal(content, key)) else None


def _seal(content: Mapping[str, Any], key: bytes) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hmac.new(key, text.encode(), "sha256").hexdigest()
