"""Releases that are out, and that a home restored from an older backup does not know.

The home has lost the signatures that they gave to people, and a release that is made without them can give
these people away. So they are made once more, and must be byte for byte what they were.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from republish.anonymize.errors import AlreadyPublished
from republish.orchestration.series.place import Place
from republish.orchestration.storage.manifest import MANIFEST
from republish.orchestration.storage.sealed import Ledger
from republish.orchestration.storage.store import read_json, sha256

SINCE = "published_since.json"
"""In the private folder of a series, sealed: each of these releases with its digest and `STATED`."""
STATED = ("contract_sha256", "software_version")


def note_since(place: Place, releases: Sequence[Path]) -> None:
    """Note releases that were published since the backup.

    The folders are published ones, as somebody has them.
    """
    noted = {
        folder.name: {
            "sha256": sha256(folder / MANIFEST),
            **{name: (read_json(folder / MANIFEST) or {}).get(name) for name in STATED},
        }
        for folder in releases
    }
    _ledger(place).write({"releases": noted})


def published_since(place: Place) -> Mapping[str, Mapping[str, Any]]:
    """The notes on a series, by release; mostly none.

    Raises HomeError if the file was changed.
    """
    noted = _ledger(place).read_intact()
    releases: Mapping[str, Mapping[str, Any]] = noted["releases"] if noted else {}
    return releases


def refuse_other_bytes(series: Place, release: str, folder: Path) -> None:
    """Raise AlreadyPublished if a release is out, and is not what was made of it now.

    The folder has the release as it was made now, before anybody sees it; it is deleted if it is refused.
    """
    out = published_since(series).get(release)
    if out is None or out["sha256"] == sha256(folder / MANIFEST):
        return
    now = read_json(folder / MANIFEST) or {}
    reasons = {
        "contract_sha256": "the contract file is another one: put it back as it was",
        "software_version": f"republish {out['software_version']} made it: install that version",
    }
    differ = [reason for name, reason in reasons.items() if now.get(name) != out[name]]
    shutil.rmtree(folder)
    raise AlreadyPublished(
        f"{series.name} {release}: was published after the backup that this home was restored from, and what"
        " is made of it now is not what is out;"
        f" {' and '.join(differ) or 'its snapshot is another one: put it back as it was'}. Without it, this"
        " series can't go on: restore a newer backup, or begin a new series that nobody gets together with"
        " this one (separate_readers: true)"
    )


def _ledger(place: Place) -> Ledger:
    return Ledger(place.home, place.private_folder / SINCE, ("published since", place.product, place.series))
