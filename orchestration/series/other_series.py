"""Other series of the same product: two series of the same people give an adversary more to intersect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from republish.anonymize.errors import ContractError
from republish.anonymize.people.randomness import derive_key
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.series.facts import FACTS, facts_of, sensitive_names
from republish.orchestration.series.release_record import ReleaseRecord, read_committed
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.log import note_once
from republish.orchestration.storage.manifest import MANIFEST, release_folders
from republish.orchestration.storage.store import read_json

FIRST = "first_series"
"""In a series' facts: the first series of its chain."""
BEFORE = "releases_before"
"""In a series' facts: how many releases the series have that it goes on from."""
SHARDS = "shards"
"""In a series' facts: the shards that its people are divided into; one, where nothing is said of it."""
ALONE = "began_alone"
"""In a series' facts: whether its product had no releases of another series when it was begun."""


@dataclass(frozen=True)
class Sibling:
    """Another series of the home, as its last release left it."""

    product: str
    name: str
    length: int
    """Releases in it, and in those that it went on from."""
    folder: Path
    """The private folder of its last release."""
    committed: ReleaseRecord
    """The last release's candidate."""
    first: str
    """The first series of its chain, whose pseudonyms all of the chain use."""
    shards: int
    sensitive: tuple[str, ...]
    """The sensitive columns, in their order."""

    def pseudonym_key(self, home: Home) -> bytes:
        """The key that makes its pseudonyms of identifiers."""
        return pseudonym_key(home, self.product, self.first)


def pseudonym_key(home: Home, product: str, first: str) -> bytes:
    """The key that makes pseudonyms of identifiers, in every series of the chain that began with `first`."""
    return derive_key(home.key(), "pseudonym", product, first)


def siblings(home: Home, product: str, series: str | None = None) -> Iterator[str]:
    """The series of a product, other than one, that have published releases in the home."""
    folder = home.published(product)
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name != series and published_releases(home, product, path.name):
            yield path.name


def published_releases(home: Home, product: str, series: str) -> list[str]:
    """The releases of any series in a home, in order."""
    return [folder.name for folder in release_folders(home.published(product, series))]


def note_last(home: Home, product: str, series: str) -> None:
    """Note in the home's log that the last release was published, if whoever did it was killed before."""
    if releases := published_releases(home, product, series):
        said = {"what": "published", "series": f"{product}/{series}", "release": releases[-1]}
        stated = read_json(home.published(product, series) / releases[-1] / MANIFEST) or {}
        note_once(home, said, contract_sha256=stated.get("contract_sha256"), late=True)


def began_alone(home: Home, product: str, series: str) -> bool:
    """Whether a product had no releases of other series when a series was begun.

    Of a series that is not begun yet: whether the product has none now. Assets are named by it, and nothing
    else depends on it: the seal of the facts, which takes the key, is not looked at.
    """
    facts = read_json(home.private(product, series) / FACTS) or {}
    if terms := facts.get("terms"):
        return bool(terms.get(ALONE, True))
    return not any(siblings(home, product, series))


def refuse_siblings(home: Home, file: ContractFile, *, begun: bool) -> None:
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
        superseded(home, file, contract.supersedes)
    ancestors = chain_of(home, contract.product, contract.supersedes)
    for name in siblings(home, contract.product, contract.series):
        facts = facts_of(home, contract.product, name)
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


def superseded(home: Home, file: ContractFile, name: str) -> Sibling:
    """The series that another one goes on from, as it was left.

    Raises ContractError if there is no such series with releases here, or its last working files are gone.
    """
    contract = file.contract
    found = sibling(home, contract.product, name)
    if found is None:
        why = f"{name} has no releases in {home.path} with working files that could be gone on from"
        raise ContractError(str(file.path), [("supersedes", why)])
    former = found.committed.parameters["name"]
    if former != contract.principle.name:
        why = f"{name} is under {former}, and {contract.principle.name} can't go on from it"
        raise ContractError(str(file.path), [("supersedes", why)])
    sensitive = tuple(one.name for _, one in contract.sensitive_columns())
    if sensitive != found.sensitive and len(sensitive) + len(found.sensitive) > 2:
        why = (
            f"must be {', '.join(found.sensitive)} in this order, as in {name}, which this series goes on"
            " from, because a signature is of all of them. Else write separate_readers: true"
        )
        raise ContractError(str(file.path), [("sensitive", why)])
    if found.shards != contract.shards:
        why = (
            f"must be {found.shards} as in {name}, which this series goes on from: people stay in their shard"
        )
        raise ContractError(str(file.path), [(SHARDS, why)])
    return found


def sibling(home: Home, product: str, name: str) -> Sibling | None:
    """A series of the home, as its last release left it; None if nothing of it can be gone on from."""
    facts = facts_of(home, product, name)
    if facts is None or not facts.published:
        return None
    last = max(facts.published)
    folder = home.private(product, name) / last
    committed = read_committed(folder, derive_key(home.key(), "candidate", product, name, last))
    if committed is None:
        return None
    length = facts.terms.get(BEFORE, 0) + len(facts.published)
    first, shards = facts.terms.get(FIRST, name), facts.terms.get(SHARDS, 1)
    sensitive = tuple(sensitive_names(facts.terms.get("sensitive")))
    return Sibling(product, name, length, folder, committed, first, shards, sensitive)


def chain_of(home: Home, product: str, name: str | None) -> list[str]:
    """A series and those that it went on from, the nearest first."""
    if name is None:
        return []
    facts = facts_of(home, product, name)
    return [name, *chain_of(home, product, facts.terms.get("supersedes") if facts else None)]
