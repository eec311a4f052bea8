"""The beginning of a series, and those of its releases that are facts: `series.json`, sealed with the key.

The published folders are the facts themselves. This file vouches for them: no later manifest speaks for the
newest one, private folders may be deleted, and the history in DuckDB may be lost and begun anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from republish.orchestration.series.place import Place
from republish.orchestration.storage.sealed import Ledger
from republish.orchestration.storage.store import read_json

FACTS = "series.json"
"""In the private folder of a series."""
FIRST = "first_series"
"""Among the terms: the first series of its chain."""
BEFORE = "releases_before"
"""Among the terms: how many releases the series have that it goes on from."""
SHARDS = "shards"
"""Among the terms: the shards that its people are divided into; one, where nothing is said of it."""
ALONE = "began_alone"
"""Among the terms: whether its product had no releases of another series when it was begun."""


def sensitive_names(term: Any) -> list[str]:
    """The sensitive columns, from the term `sensitive`: a name, a list of names, or nothing of a view."""
    return list(term) if isinstance(term, list) else [term] if term else []


@dataclass(frozen=True)
class Chain:
    """Series that go on from one another."""

    first: str
    """The first of them, whose pseudonyms all of them use."""
    releases_before: int
    """Releases of the series before the last one."""


@dataclass(frozen=True)
class Facts:
    """The content of `series.json`."""

    terms: Mapping[str, Any]
    """Terms that can't change within the series: key, identifier, sensitive column, principle."""
    published: Mapping[str, str]
    """SHA-256 (hex) of the manifest of every published release, by release."""
    same_people: Mapping[str, str] = field(default_factory=dict)
    """The contract's declarations of other products at the last publication (`same_people`)."""

    def chain_of(self, series: str) -> Chain:
        """The chain that a series ends, whose facts these are."""
        return Chain(self.terms.get(FIRST, series), self.terms.get(BEFORE, 0))

    def with_release(self, release: str, manifest_sha256: str, same_people: Mapping[str, str]) -> Facts:
        """The facts with one more release, and what its contract declares of other products."""
        published = {**self.published, release: manifest_sha256}
        return replace(self, published=published, same_people=dict(same_people))


def facts_of(place: Place) -> Facts | None:
    """The facts of any series in a home; None if there are none that the key's holder wrote."""
    content = _ledger(place).read()
    if content is None or not {"terms", "published"} <= content.keys():
        return None
    return Facts(content["terms"], content["published"], content.get("same_people", {}))


def key_fingerprint(file: Path) -> str | None:
    """The fingerprint of the key that a series was begun with, without the key; None if unreadable."""
    terms = (read_json(file) or {}).get("terms")
    fingerprint = terms.get("key_fingerprint") if isinstance(terms, dict) else None
    return fingerprint if isinstance(fingerprint, str) else None


def write_facts(place: Place, facts: Facts) -> None:
    """Write the facts of a series, whole or not at all."""
    _ledger(place).write(asdict(facts))


def _ledger(place: Place) -> Ledger:
    return Ledger(place.home, place.private_folder / FACTS, ("facts", place.product, place.series))
