"""A candidate that passed its audit, as it lies in a release's private folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from orchestration.expectations.verdict import Verdict
from orchestration.store import read_json, sha256

COMMITTED = "candidate.json"
"""Written last: without it, nothing else in the folder counts."""


@dataclass(frozen=True)
class Committed:
    """A candidate that passed its audit, as recorded in `candidate.json`."""

    made_from: Mapping[str, Any]
    """All it was made from: digests of snapshot, state, parameters, algorithm, key."""
    parameters: Mapping[str, Any]
    """The principle's name and its parameters."""
    figures: Mapping[str, int]
    """Counts worth plotting."""
    attack: Mapping[str, float]
    """What the attacks came to, and the smallest m of the series so far."""
    widths: Mapping[str, float]
    """The mean interval width of each quasi-identifier."""
    verdicts: list[Verdict]
    """What the audit found."""
    seconds: Mapping[str, float]
    """How long each part took, when it was computed."""
    files: Mapping[str, str]
    """SHA-256 (hex) of its files by name."""
    is_new: bool = True
    """Whether it was computed just now, rather than found."""

    @classmethod
    def unknown(cls) -> Committed:
        """Of a release whose private folder is not kept and that history doesn't know."""
        nothing = {field.name: {} for field in fields(cls)}
        return cls(**nothing | {"verdicts": [], "is_new": False})

    def as_json(self) -> dict[str, Any]:
        """Itself as the content of `candidate.json`."""
        return {
            "made_from": dict(self.made_from),
            "parameters": dict(self.parameters),
            "figures": dict(self.figures),
            "attack": dict(self.attack),
            "widths": dict(self.widths),
            "audit": [verdict.as_json() for verdict in self.verdicts],
            "seconds": dict(self.seconds),
            "files": dict(self.files),
        }


def read_committed(folder: Path) -> Committed | None:
    """The committed candidate in a private folder, or None if there is none or its files were touched."""
    record = read_json(folder / COMMITTED)
    if record is None:
        return None
    for name, digest in record["files"].items():
        if not (folder / name).exists() or sha256(folder / name) != digest:
            return None
    return _committed(record)


def committed_in_history(row: Mapping[str, Any]) -> Committed:
    """What history still knows of a candidate whose private folder is not kept."""
    record = {
        name: json.loads(row[name]) for name in ("parameters", "figures", "audit", "seconds", "made_from")
    }
    return _committed({**record, "attack": {}, "widths": {}, "files": {}})


def history_row(committed: Committed, product: str, series: str, release: str, n: int) -> dict[str, Any]:
    """What history is to know of a candidate."""
    widths = {f"mean width of {qi}": width for qi, width in committed.widths.items()}
    return {
        "product": product,
        "series": series,
        "release": release,
        "n": n,
        "status": "audited",
        "principle": committed.parameters["name"],
        "parameters": dict(committed.parameters),
        "figures": {**committed.figures, **widths},
        "audit": [verdict.as_json() for verdict in committed.verdicts],
        "seconds": dict(committed.seconds),
        "made_from": dict(committed.made_from),
    }


def _committed(record: Mapping[str, Any]) -> Committed:
    return Committed(
        made_from=record["made_from"],
        parameters=record["parameters"],
        figures=record["figures"],
        attack=record["attack"],
        widths=record["widths"],
        verdicts=[Verdict(**verdict) for verdict in record["audit"]],
        seconds=record["seconds"],
        files=record["files"],
        is_new=False,
    )
