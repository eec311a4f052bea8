"""A series of releases: its place on disk, its order, its key, and what of it is already a fact."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from dagster import TimeWindowPartitionsDefinition

from anonymize.contract import Contract
from anonymize.errors import ContractError, HomeError, PublishedFolderError
from anonymize.randomness import derive_key, generator
from orchestration.committed import history_row, read_committed
from orchestration.contract_file import ContractFile
from orchestration.history import History
from orchestration.home import Home, only_one
from orchestration.manifest import MANIFEST, verify_release
from orchestration.partitions import release_partitions
from orchestration.store import clear_partial, read_json, sha256, write_json


@dataclass(frozen=True)
class Series:
    """The chain of releases that a contract declares, in a publisher's home."""

    file: ContractFile
    """The contract and where it lies."""
    home: Home
    """The publisher's folder."""

    @property
    def contract(self) -> Contract:
        """What the contract declares."""
        return self.file.contract

    @property
    def name(self) -> str:
        """Product and series, `hospital/v1`."""
        return f"{self.contract.product}/{self.contract.series}"

    @property
    def history(self) -> History:
        """The history of the home's releases."""
        return History(self.home.history)

    @property
    def due(self) -> list[str]:
        """The dates of all releases up to now. Asked anew each time: Dagster's server runs for months."""
        return list(self._releases.get_partition_keys())

    @cached_property
    def _releases(self) -> TimeWindowPartitionsDefinition:
        return release_partitions(self.file)

    def number(self, release: str) -> int:
        """The n of a release, counted from 1."""
        return self.due.index(release) + 1

    def previous(self, release: str) -> str | None:
        """The release before, or None for the first."""
        due = self.due
        number = due.index(release)
        return due[number - 1] if number else None

    @property
    def private_folder(self) -> Path:
        """Where all the series' working files are."""
        return self.home.private(self.contract.product, self.contract.series)

    @property
    def published_folder(self) -> Path:
        """Where the series' releases are published."""
        return self.home.published(self.contract.product, self.contract.series)

    def private(self, release: str) -> Path:
        """A release's working files."""
        return self.private_folder / release

    def published(self, release: str) -> Path:
        """What everybody may have of a release."""
        return self.published_folder / release

    def is_published(self, release: str) -> bool:
        """Whether a release is a fact: its folder appears whole or not at all."""
        return self.published(release).is_dir()

    @contextmanager
    def held(self, release: str) -> Iterator[Path]:
        """Hold the series while working on a release; yields the release's private folder.

        Raises
        ------
        HomeError
            If the series was begun with another key, the history by newer software, or another run
            holds the series.
        ContractError
            If the contract is not the one the series was begun with where that can't change.
        PublishedFolderError
            If a release that was published is gone.
        """
        with self.locked():
            clear_partial(self.private(release))
            yield self.private(release)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the series, once it is sure that it is as it was left. Raises as `held` does."""
        with only_one(self.private_folder, f"series {self.name}"):
            facts = self._facts_on_disk()
            recorded = self.history.published(self.contract.product, self.contract.series)
            self._refuse_lost(facts, recorded)
            self._refuse_other_beginning(facts)
            self._refuse_other_schedule(facts)
            clear_partial(self.published_folder)
            for release in facts:
                if release not in recorded:
                    self._record(release)
            yield

    def verify(self, release: str) -> dict[str, Any]:
        """Check that a published release is as it was published; returns its manifest.

        Raises
        ------
        PublishedFolderError
            Naming the file that is not what its manifest, or for the manifest what history, says.
        """
        stated = verify_release(self.published(release))
        manifest = self.published(release) / MANIFEST
        recorded = self.history.published(self.contract.product, self.contract.series).get(release)
        if recorded not in (None, sha256(manifest)):
            raise PublishedFolderError(
                f"{manifest}: was changed after publication (other SHA-256 than in {self.home.history}). Put"
                " it back from a copy"
            )
        return stated

    def draw(self, release: str, purpose: str) -> np.random.Generator:
        """The secret, repeatable randomness of a release for one purpose."""
        return generator(self.home.key(), self.contract.product, self.contract.series, release, purpose)

    @property
    def pseudonym_key(self) -> bytes:
        """What identifiers become pseudonyms with."""
        return derive_key(self.home.key(), "pseudonym", self.contract.product, self.contract.series)

    @property
    def key_fingerprint(self) -> str:
        """Tells one key from another, and nothing else of it."""
        return derive_key(self.home.key(), "fingerprint", self.contract.product, self.contract.series).hex()

    def begin(self) -> None:
        """Note what the series is begun with, before its first release is published."""
        if not self._facts_on_disk():
            write_json(self._beginning, self._terms())

    @property
    def _beginning(self) -> Path:
        return self.private_folder / "series.json"

    def _facts_on_disk(self) -> list[str]:
        folder = self.published_folder
        if not folder.is_dir():
            return []
        return sorted(path.name for path in folder.iterdir() if path.is_dir() and path.name[0] != ".")

    def _terms(self) -> dict[str, str]:
        """What can't change within a series."""
        return {
            "key_fingerprint": self.key_fingerprint,
            "identifier": self.contract.identifier,
            "sensitive": self.contract.sensitive.name,
            "principle": self.contract.principle.name,
            "software_version": version("republish"),
        }

    def _refuse_lost(self, facts: list[str], recorded: Mapping[str, str]) -> None:
        """Somebody may have a release whose folder is gone here: it must not be made once more, another."""
        if lost := sorted(set(recorded) - set(facts)):
            raise PublishedFolderError(
                f"{self.published(lost[0])}: was published, and is not there any more. Put it back from a"
                " copy, or begin a new series"
            )

    def _refuse_other_beginning(self, facts: list[str]) -> None:
        if not facts:
            return
        begun, now = read_json(self._beginning), self._terms()
        if begun is None or not now.keys() <= begun.keys():
            raise HomeError(
                f"{self._beginning}: says what series {self.name} was begun with, and is not there or can't"
                " be read. Put it back from a copy, or begin a new series"
            )
        if not hmac.compare_digest(begun["key_fingerprint"], now["key_fingerprint"]):
            raise HomeError(
                f"series {self.name} was begun with another key, and its signatures can be kept under that"
                " one only. Restore secret.key or REPUBLISH_KEY, or begin a new series"
            )
        said = f"but series {self.contract.series} was begun with"
        self._refuse(
            (part, f"is {now[part]}, {said} {begun[part]}: begin a new series")
            for part in ("identifier", "sensitive", "principle")
            if begun[part] != now[part]
        )

    def _refuse_other_schedule(self, facts: list[str]) -> None:
        """A release's number and what it is built on follow from the dates: those of the past can't move."""
        first = self.due[: len(facts)]
        if facts != first:
            message = (
                f"by this schedule the first releases are {named(first) or 'none'}, and published are"
                f" {named(facts)}: leave releases.first and releases.cron as they were, or begin a new series"
            )
            self._refuse([("releases", message)])

    def _refuse(self, faults: Iterable[tuple[str, str]]) -> None:
        if faults := list(faults):
            raise ContractError(str(self.file.path), faults)

    def _record(self, release: str) -> None:
        """Enter into history what a run that was killed could not, or what a lost history had."""
        committed = read_committed(self.private(release))
        verify_release(self.published(release))
        product, series = self.contract.product, self.contract.series
        if committed is not None:
            row = history_row(committed, product, series, release, self.number(release))
            self.history.record_candidate(row, pl.read_parquet(self.private(release) / "buckets.parquet"))
        digest = sha256(self.published(release) / MANIFEST)
        self.history.record_publication(product, series, release, digest)


def named(releases: list[str]) -> str:
    """Releases in a message: all of a few, or the first ones and the last."""
    if len(releases) <= 4:
        return ", ".join(releases)
    return f"{releases[0]}, {releases[1]}, …, {releases[-1]}"
