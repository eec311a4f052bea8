"""Other series of the same product: two series of the same people give an adversary more to intersect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from republish.anonymize.errors import ContractError
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.series.facts import (
    ALONE,
    FACTS,
    SHARDS,
    Chain,
    Facts,
    facts_of,
    sensitive_names,
)
from republish.orchestration.series.place import Place
from republish.orchestration.series.release_record import ReleaseRecord
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.log import note_once
from republish.orchestration.storage.manifest import MANIFEST
from republish.orchestration.storage.store import read_json


@dataclass(frozen=True)
class Former:
    """A series that another one goes on from, as its last release left it."""

    place: Place
    facts: Facts
    committed: ReleaseRecord
    """The last release's candidate."""

    @property
    def folder(self) -> Path:
        """The private folder of its last release."""
        return self.place.private(max(self.facts.published))

    @property
    def chain(self) -> Chain:
        """The chain of whoever goes on from it."""
        own = self.facts.chain_of(self.place.series)
        return Chain(own.first, own.releases_before + len(self.facts.published))


def siblings(home: Home, product: str, series: str | None = None) -> Iterator[Place]:
    """The series of a product, other than one, that have published releases in the home."""
    folder = home.published(product)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        place = Place(home, product, path.name)
        if place.series != series and place.releases:
            yield place


def note_last(place: Place) -> None:
    """Note in the home's log that the last release was published, if whoever did it was killed before."""
    if releases := place.releases:
        said = {"what": "published", "series": place.name, "release": releases[-1]}
        stated = read_json(place.published(releases[-1]) / MANIFEST) or {}
        note_once(place.home, said, contract_sha256=stated.get("contract_sha256"), late=True)


def began_alone(place: Place) -> bool:
    """Whether a product had no releases of other series when a series was begun.

    Of a series that is not begun yet: whether the product has none now. Assets are named by it, and nothing
    else depends on it: the seal of the facts, which takes the key, is not looked at.
    """
    facts = read_json(place.private_folder / FACTS) or {}
    if terms := facts.get("terms"):
        return bool(terms.get(ALONE, True))
    return not any(siblings(place.home, place.product, place.series))


def refuse_siblings(place: Place, file: ContractFile, *, begun: bool) -> None:
    """Raise ContractError if other series of the product leave no room for this one.

    Parameters
    ----------
    file
        The contract of the series that is to be released.
    begun
        Whether any of its releases is published.
    """
    contract = file.contract
    if contract.supersedes is not None and not begun:
        superseded(place, file)
    ancestors = [] if contract.supersedes is None else chain_of(place.other(contract.supersedes))
    for other in siblings(place.home, contract.product, contract.series):
        facts, name = facts_of(other), other.series
        if facts is not None and facts.terms.get("supersedes") == contract.series:
            message = f"{contract.series} was superseded by {name}, which goes on from it: release {name}"
            raise ContractError(str(file.path), [("series", message)])
        if not (begun or contract.separate_readers or name in ancestors):
            message = (
                f"{contract.product} has releases of another series, {name}, and the two together may give"
                f" people away. To change a parameter, keep series: {name} and change it there. Else write"
                f" supersedes: {name} (this goes on from it), or separate_readers: true (nobody gets both)"
            )
            raise ContractError(str(file.path), [("series", message)])


def superseded(place: Place, file: ContractFile) -> Former:
    """The series that a contract says it goes on from (`supersedes`), as it was left.

    Raises ContractError if there is no such series with releases here, or its last working files are gone.
    """
    contract, name = file.contract, str(file.contract.supersedes)
    found = former_series(place.other(name))
    if found is None:
        why = f"{name} has no releases in {place.home.path} with working files that could be gone on from"
        raise ContractError(str(file.path), [("supersedes", why)])
    former = found.committed.parameters["name"]
    if former != contract.principle.name:
        why = f"{name} is under {former}, and {contract.principle.name} can't go on from it"
        raise ContractError(str(file.path), [("supersedes", why)])
    sensitive = [one.name for _, one in contract.sensitive_columns()]
    before = sensitive_names(found.facts.terms.get("sensitive"))
    if sensitive != before and len(sensitive) + len(before) > 2:
        why = (
            f"must be {', '.join(before)} in this order, as in {name}, which this series goes on from,"
            " because a signature is of all of them. Else write separate_readers: true"
        )
        raise ContractError(str(file.path), [("sensitive", why)])
    if (shards := found.facts.terms.get(SHARDS, 1)) != contract.shards:
        why = f"must be {shards} as in {name}, which this series goes on from: people stay in their shard"
        raise ContractError(str(file.path), [(SHARDS, why)])
    return found


def former_series(place: Place) -> Former | None:
    """A series of the home, as its last release left it; None if nothing of it can be gone on from."""
    facts = facts_of(place)
    if facts is None or not facts.published:
        return None
    committed = place.committed(max(facts.published))
    return None if committed is None else Former(place, facts, committed)


def chain_of(place: Place) -> list[str]:
    """A series and those that it went on from, the nearest first."""
    facts = facts_of(place)
    before = facts.terms.get("supersedes") if facts else None
    return [place.series, *(chain_of(place.other(before)) if before else [])]
