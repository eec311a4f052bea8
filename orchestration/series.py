"""A series of releases: its place on disk, its order, its key, and what of it is already a fact."""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import numpy as np

from anonymize.contract import Contract
from anonymize.errors import ContractError, HomeError
from anonymize.randomness import derive_key, generator
from orchestration.contract_file import ContractFile
from orchestration.history import History
from orchestration.home import Home, only_one
from orchestration.partitions import release_partitions
from orchestration.store import read_json, write_json


@dataclass(frozen=True)
class Series:
    """The chain of releases that a contract declares, in a publisher's home."""

    file: ContractFile
    """The contract and where it lies."""
    home: Home
    """The publisher's folder."""

    @property
    def contract(self) -> Contract:
        return self.file.contract

    @property
    def name(self) -> str:
        return f"{self.contract.product}/{self.contract.series}"

    @property
    def history(self) -> History:
        return History(self.home.history)

    @cached_property
    def due(self) -> list[str]:
        """The dates of all releases up to now."""
        return list(release_partitions(self.file).get_partition_keys())

    def number(self, release: str) -> int:
        """n of a release, counted from 1."""
        return self.due.index(release) + 1

    def previous(self, release: str) -> str | None:
        """The release before, or None for the first."""
        number = self.number(release)
        return self.due[number - 2] if number > 1 else None

    def private(self, release: str) -> Path:
        return self.home.private(self.contract.product, self.contract.series) / release

    def published(self, release: str) -> Path:
        return self.home.published(self.contract.product, self.contract.series) / release

    def is_published(self, release: str) -> bool:
        """Whether a release is a fact: its folder appears whole or not at all."""
        return (self.published(release) / "manifest.json").exists()

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
        """
        folder = self.home.private(self.contract.product, self.contract.series)
        with only_one(folder, f"series {self.name}"):
            self.history.check()
            self._check_beginning()
            yield self.private(release)

    def draw(self, release: str, purpose: str) -> np.random.Generator:
        """The secret, repeatable randomness of a release for one purpose."""
        return generator(self.home.key(), self.contract.product, self.contract.series, release, purpose)

    @property
    def pseudonym_key(self) -> bytes:
        return derive_key(self.home.key(), "pseudonym", self.contract.product, self.contract.series)

    @property
    def key_fingerprint(self) -> str:
        """Tells one key from another, and nothing else of it."""
        return derive_key(self.home.key(), "fingerprint", self.contract.product, self.contract.series).hex()

    @property
    def _beginning(self) -> Path:
        return self.home.private(self.contract.product, self.contract.series) / "series.json"

    def begin(self) -> None:
        """Note what the series is begun with, before its first release is published."""
        if not self._begun():
            write_json(self._beginning, self._terms())

    def _begun(self) -> bool:
        return any(self.is_published(release) for release in self.due[:1])

    def _terms(self) -> dict[str, str]:
        """What can't change within a series."""
        return {
            "key_fingerprint": self.key_fingerprint,
            "identifier": self.contract.identifier,
            "sensitive": self.contract.sensitive.name,
            "principle": self.contract.principle.name,
            "software_version": version("republish"),
        }

    def _check_beginning(self) -> None:
        begun = read_json(self._beginning)
        if begun is None or not self._begun():
            return
        now = self._terms()
        if not hmac.compare_digest(begun["key_fingerprint"], now["key_fingerprint"]):
            raise HomeError(
                f"series {self.name} was begun with another key, and its signatures can be kept under that"
                " one only. Restore secret.key or REPUBLISH_KEY, or begin a new series"
            )
        faults = [
            (
                part,
                f"is {now[part]}, but series {self.contract.series} was begun with {begun[part]}: begin a new series",
            )
            for part in ("identifier", "sensitive", "principle")
            if begun[part] != now[part]
        ]
        if faults:
            raise ContractError(str(self.file.path), faults)
