"""A series of releases: its place on disk, its order, its key, and what of it is already a fact."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from republish.anonymize.contract import Product
from republish.anonymize.errors import ContractError, HomeError, PublishedFolderError
from republish.anonymize.people.randomness import derive_key, generator
from republish.anonymize.people.rows import has_several_rows
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.series.due import due_releases, today
from republish.orchestration.series.facts import FACTS, Facts, facts_of, key_fingerprint, write_facts
from republish.orchestration.series.other_series import (
    ALONE,
    BEFORE,
    FIRST,
    SHARDS,
    Sibling,
    began_alone,
    note_last,
    pseudonym_key,
    published_releases,
    refuse_siblings,
    sibling,
    superseded,
)
from republish.orchestration.series.pending_erasures import refuse_unforgotten
from republish.orchestration.series.record import joined_buckets, release_row
from republish.orchestration.series.release_record import (
    CANDIDATE,
    ReleaseRecord,
    read_committed,
    read_record,
)
from republish.orchestration.storage.history import History
from republish.orchestration.storage.home import Home, only_one
from republish.orchestration.storage.manifest import MANIFEST, verify_release, verify_series
from republish.orchestration.storage.replacing import settle_replacing
from republish.orchestration.storage.store import clear_partial, clear_staged, read_json, read_table, sha256

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Series:
    """The chain of releases that a contract declares, in a publisher's home."""

    file: ContractFile
    """The contract and where it lies."""
    home: Home
    """The publisher's folder."""

    @property
    def contract(self) -> Product:
        """The product that the contract declares."""
        return self.file.contract

    @property
    def name(self) -> str:
        """Product and series, `hospital/v1`."""
        return f"{self.contract.product}/{self.contract.series}"

    @cached_property
    def history(self) -> History:
        """The history of the home's releases."""
        return History(self.home.history)

    @property
    def due(self) -> list[str]:
        """The dates of all releases up to now. Asked anew each time: Dagster's server runs for months."""
        return due_releases(self.file)

    @property
    def next_due(self) -> str | None:
        """The first due release that is not published; None if all of them are."""
        return next((release for release in self.due if not self.is_published(release)), None)

    @property
    def late(self) -> list[str]:
        """The releases that are not published, and should be since the end of their day."""
        waiting = self.next_due
        return [] if waiting is None else [release for release in self.due if waiting <= release < today()]

    def number(self, release: str) -> int:
        """The n of a release, counted from 1. The first one has its number before it is due."""
        return 1 if release == self.file.first_release else self.due.index(release) + 1

    def chain_number(self, release: str) -> int:
        """The number of a release counted from the first of the series that this one goes on from."""
        return self.number(release) + self._chain[1]

    @cached_property
    def superseded(self) -> Sibling | None:
        """The series that this one goes on from, as it was left.

        None if there is none. Once this one is begun, the other's working files may be deleted.

        Raises ContractError if there is no such series, or it can't be gone on from.
        """
        name = self.contract.supersedes
        if name is not None and self._on_disk():
            return sibling(self.home, self.contract.product, name)
        return None if name is None else superseded(self.home, self.file, name)

    @property
    def _chain(self) -> tuple[str, int]:
        """The first of the series that go on from one another, and their releases before this series."""
        begun = facts_of(self.home, self.contract.product, self.contract.series) if self._on_disk() else None
        if begun is not None:
            return begun.terms.get(FIRST, self.contract.series), begun.terms.get(BEFORE, 0)
        before = self.superseded
        return (before.first, before.length) if before else (self.contract.series, 0)

    def previous(self, release: str) -> str | None:
        """The release before, or None for the first."""
        number = self.number(release)
        return self.due[number - 2] if number > 1 else None

    @property
    def private_folder(self) -> Path:
        """Where all the series' working files are."""
        return self.home.private(self.contract.product, self.contract.series)

    @property
    def published_folder(self) -> Path:
        """Where the series' releases are published."""
        return self.home.published(self.contract.product, self.contract.series)

    @property
    def catalogues(self) -> Path:
        """Where records of the series for catalogues are."""
        return self.home.catalogues(self.contract.product, self.contract.series)

    def private(self, release: str) -> Path:
        """A release's working files."""
        return self.private_folder / release

    def published(self, release: str) -> Path:
        """The folder of a release that everybody may have."""
        return self.published_folder / release

    def is_published(self, release: str) -> bool:
        """Whether a release is a fact: its folder appears whole or not at all."""
        return self.published(release).is_dir()

    def record(self, release: str) -> ReleaseRecord | None:
        """The record of the release's candidate; its files are not looked at."""
        return read_record(self.private(release), self.candidate_key(release))

    def committed(self, release: str) -> ReleaseRecord | None:
        """The release's candidate that passed its audit; None if there is none, or any of it was changed."""
        return read_committed(self.private(release), self.candidate_key(release))

    @contextmanager
    def locked_for(self, release: str) -> Iterator[Path]:
        """Lock the series while working on a release; yields the release's private folder.

        Raises
        ------
        HomeError
            If the release is not due, the series was begun with another key, the history by newer
            software, or another run has the lock; or if people have to be forgotten again before it.
        ContractError
            If the contract is not the one the series was begun with where that can't change.
        PublishedFolderError
            If a release that was published is gone, or is not as it was published.
        """
        if release not in self.due:
            raise HomeError(
                f"{self.name} {release}: is not due. This machine's clock says {today()}: make it on its"
                " date, or set the clock right"
            )
        with self.locked():
            if not self.is_published(release):
                refuse_unforgotten(self.home, self.contract.product, self.contract.series, release)
            for folder in (self.private(release), *self.private(release).glob("shard-*")):
                clear_partial(folder)
            yield self.private(release)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Check that the series is unchanged, then lock it. Raises as `locked_for` does."""
        with only_one(self.private_folder, f"series {self.name}"):
            settle_replacing(self.home, self.private_folder.parent)
            clear_staged(self.home)
            clear_partial(self.private_folder)
            on_disk = self.check()
            clear_partial(self.published_folder)
            vouched = self._facts(on_disk).published
            recorded = self.history.published(self.contract.product, self.contract.series)
            for release in on_disk:
                if release not in recorded:
                    self.verify(release)
            for release in on_disk:
                if release not in vouched or release not in recorded:
                    self.record_publication(release)
            note_last(self.home, self.contract.product, self.contract.series)
            yield

    def check(self) -> list[str]:
        """Check that releases can be added to the series, and change nothing; returns those on disk.

        Raises as `locked_for` does.
        """
        on_disk = self._on_disk()
        facts = self._facts(on_disk)
        recorded = self.history.published(self.contract.product, self.contract.series)
        self._refuse_lost(on_disk, {*facts.published, *recorded})
        self._refuse_other_terms(on_disk, facts)
        self._refuse_other_schedule(on_disk)
        refuse_siblings(self.home, self.file, begun=bool(on_disk))
        for release in on_disk:
            if release not in facts.published:
                self._refuse_strange(release)
        return on_disk

    def verify_published(self) -> None:
        """Check that all published releases are as they were published, and follow one another.

        Raises
        ------
        PublishedFolderError
            Naming the first file or folder that is not.
        """
        if on_disk := self._on_disk():
            verify_series(self.published_folder)
            self.verify(on_disk[-1])  # no later manifest vouches for the last one: the facts do

    def verify(self, release: str) -> dict[str, Any]:
        """Check that a published release is as it was published; returns its manifest.

        Raises
        ------
        PublishedFolderError
            Naming the file that is not what its manifest, or for the manifest what the series, says.
        """
        stated = verify_release(self.published(release))
        manifest = self.published(release) / MANIFEST
        vouched = self._facts([release]).published.get(release)
        if vouched not in (None, sha256(manifest)):
            raise PublishedFolderError(
                f"{manifest}: was changed after publication (other SHA-256 than in {self._facts_file}). Put"
                " it back from a copy"
            )
        return stated

    def draw(self, release: str, purpose: str) -> np.random.Generator:
        """The secret, repeatable randomness of a release for one purpose."""
        return generator(self.home.key(), self.contract.product, self.contract.series, release, purpose)

    def candidate_key(self, release: str) -> bytes:
        """The key of a candidate's seal: a candidate of another release has another seal."""
        return self._key("candidate", release)

    @property
    def pseudonym_key(self) -> bytes:
        """The key of pseudonyms; the same for all series that go on from one another."""
        return pseudonym_key(self.home, self.contract.product, self._chain[0])

    @property
    def shard_key(self) -> bytes:
        """The key of shards; the same for all series that go on from one another."""
        return derive_key(self.home.key(), "shard", self.contract.product, self._chain[0])

    @property
    def key_fingerprint(self) -> str:
        """Tells one key from another, and nothing else of it."""
        return self._key("fingerprint").hex()

    def _key(self, *purpose: str) -> bytes:
        product, series = self.contract.product, self.contract.series
        return derive_key(self.home.key(), purpose[0], product, series, *purpose[1:])

    def begin(self) -> None:
        """Note what the series is begun with, before its first release is published."""
        if not self._on_disk():
            first, before = self._chain
            alone = began_alone(self.home, self.contract.product, self.contract.series)
            terms = {**self._terms(), FIRST: first, BEFORE: before, ALONE: alone}
            facts = Facts(terms, {}, self.contract.same_people)
            write_facts(self.home, self.contract.product, self.contract.series, facts)

    def record_publication(self, release: str, committed: ReleaseRecord | None = None) -> str:
        """Note that a release is a fact, and in history; returns the SHA-256 (hex) of its manifest.

        `committed` is its candidate, where its files were compared with it just now.
        """
        digest = sha256(self.published(release) / MANIFEST)
        facts = self._facts([release])
        if facts.published.get(release) != digest:
            facts = facts.with_release(release, digest, self.contract.same_people)
            write_facts(self.home, self.contract.product, self.contract.series, facts)
        # The earlier ones, too, if the history turns out to be damaged and is begun anew.
        for one, vouched in sorted(facts.published.items(), reverse=True):
            if self.history.published(self.contract.product, self.contract.series).get(one) != vouched:
                self._enter(one, vouched, committed if one == release else None)
        return digest

    @property
    def _facts_file(self) -> Path:
        return self.private_folder / FACTS

    def _on_disk(self) -> list[str]:
        return published_releases(self.home, self.contract.product, self.contract.series)

    def _terms(self) -> dict[str, str | int | list[str] | None]:
        """Terms that can't change within a series."""
        sensitive = [one.name for _, one in self.contract.sensitive_columns()]
        return {
            "key_fingerprint": self.key_fingerprint,
            "identifier": self.contract.identifier,
            **({"rows": "several"} if has_several_rows(self.contract) else {}),
            "sensitive": sensitive if len(sensitive) > 1 else next(iter(sensitive), None),
            "principle": self.contract.principle.name,
            "supersedes": self.contract.supersedes,
            SHARDS: self.contract.shards,
            "software_version": version("republish"),
        }

    def _facts(self, on_disk: list[str]) -> Facts:
        """The sealed facts of the series; without any release on disk, there may be none."""
        if not on_disk and not self._facts_file.exists():  # nor may there be a key
            return Facts({}, {})
        facts = facts_of(self.home, self.contract.product, self.contract.series)
        if facts is not None:
            return facts
        begun_with = key_fingerprint(self._facts_file)
        if begun_with is not None and not hmac.compare_digest(begun_with, self.key_fingerprint):
            raise HomeError(
                f"series {self.name} was begun with another key, and its signatures can be kept under that"
                " one only. Restore secret.key or REPUBLISH_KEY, or begin a new series"
            )
        raise HomeError(
            f"{self._facts_file}: says what series {self.name} was begun with, and is not there or was"
            " changed. Put it back from a copy, or begin a new series"
        )

    def _refuse_lost(self, on_disk: list[str], recorded: set[str]) -> None:
        """Refuse to make a published release again whose folder is gone: somebody may have the first one."""
        if lost := sorted(recorded - set(on_disk)):
            raise PublishedFolderError(
                f"{self.published(lost[0])}: was published, and is not there any more. Put it back from a"
                " copy, or begin a new series"
            )

    def _refuse_other_terms(self, on_disk: list[str], facts: Facts) -> None:
        if not on_disk:
            return
        usual = {SHARDS: 1, "rows": "one"}
        begun, now = {**usual, **facts.terms}, {**usual, **self._terms()}
        said = f"but series {self.contract.series} was begun with"
        self._refuse(
            (part, f"is {now[part]}, {said} {begun.get(part)}: begin a new series")
            for part in ("identifier", "sensitive", "principle", "supersedes", "rows", SHARDS)
            if begun.get(part) != now[part]
        )

    def _refuse_other_schedule(self, on_disk: list[str]) -> None:
        """A release's number and what it is built on follow from the dates: those of the past can't move."""
        first, last = self.due[: len(on_disk)], self.contract.releases.last
        if (
            len(first) < len(on_disk)
            and on_disk[: len(first)] == first
            and (not last or today() <= f"{last}")
        ):
            raise HomeError(
                f"{self.published(on_disk[-1])}: is published, and by this machine's clock it is not due yet."
                f" The clock says {today()}: set it right; or leave releases.first and releases.cron as they"
                " were"
            )
        if on_disk != first:
            message = (
                f"by this schedule the first releases are {named(first) or 'none'}, and published are"
                f" {named(on_disk)}: leave releases.first and releases.cron as they were and releases.last"
                " behind the published ones, or begin a new series"
            )
            self._refuse([("releases", message)])

    def _refuse(self, faults: Iterable[tuple[str, str]]) -> None:
        if faults := list(faults):
            raise ContractError(str(self.file.path), faults)

    def _refuse_strange(self, release: str) -> None:
        """Refuse a fact that a run was killed before noting, unless its tables are those of its candidate."""
        stated, committed = verify_release(self.published(release)), self.committed(release)
        if committed is None or not is_of_candidate(stated, committed):
            raise PublishedFolderError(
                f"{self.published(release)}: is not known to {self._facts_file}. If the series published it,"
                f" {self.private_folder} is older than that: put it back from a newer copy; or move the"
                " release out of the home, republish backup the home, and republish restore that with"
                " --published. If the series did not publish it, take it away"
            )

    def _enter(self, release: str, manifest_sha256: str, known: ReleaseRecord | None) -> None:
        """Enter a published release into history, by its candidate if that is known to be as it was."""
        stated, committed = read_json(self.published(release) / MANIFEST), known or self.committed(release)
        assert stated is not None
        files = {} if committed is None else committed.files
        own = sorted(name for name in files if Path(name).name == "buckets.parquet")
        buckets = joined_buckets([read_table(self.private(release) / name) for name in own])
        self.history.enter(release_row(stated, committed, manifest_sha256), buckets)
        if committed is None:
            _log.warning(
                "%s: of %s %s it has what the manifest states and no more: its private folder is not kept",
                self.history.file,
                self.name,
                release,
            )


def is_of_candidate(manifest: dict[str, Any], committed: ReleaseRecord) -> bool:
    """Whether the tables that a manifest states are byte for byte those of a candidate."""
    stated = {f"{CANDIDATE}{name}": file["sha256"] for name, file in manifest["files"].items()}
    made = committed.tables(CANDIDATE)
    return bool(made) and made.items() <= stated.items()


def named(releases: list[str]) -> str:
    """Releases in a message: all of a few, or the first ones and the last."""
    if len(releases) <= 4:
        return ", ".join(releases)
    return f"{releases[0]}, {releases[1]}, …, {releases[-1]}"
