"""Where everything is that an audit reads, and what releases say they promise."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from republish.anonymize.contract import Product
from republish.anonymize.errors import PublishedFolderError
from republish.anonymize.formats import Format
from republish.anonymize.principles import parameters_stated, principle_of
from republish.anonymize.promise import Promise
from republish.orchestration.audit.read.as_of import as_of
from republish.orchestration.audit.read.folders import (
    PublishedSeries,
    Reading,
    ReleaseFiles,
    format_of,
    names_of_truth,
)
from republish.orchestration.audit.read.foreign import Foreign
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.series.shards import shard_name
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.manifest import MANIFEST


@dataclass(frozen=True)
class ShardFiles:
    """What one shard has of every release, in files below a folder."""

    folder: Path
    number: int
    """Counted from 0."""
    domain: pl.DataFrame
    """`value`: every sensitive value of all shards, in the order of the bits, so that all have one order."""

    def of(self, series: int, release: str) -> Path:
        """The folder of what it has of a release, of the series with this place among those audited."""
        return self.folder / f"{series}" / release / shard_name(self.number)


@dataclass(frozen=True)
class Material:
    """Where everything is that an audit reads."""

    file: ContractFile
    series: list[PublishedSeries]
    truth: Path | None
    """The folder of the true tables; None where they are those of the contract's source, or of `home`."""
    private: Path | None
    foreign: Foreign | None
    reading: Reading
    previous: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """The releases of others that the contract names: `previous_0`, …."""
    home: Home | None = None
    """The home in which the releases were published, where no folder of true tables is given."""
    believes_manifests: bool = True
    """Whether releases are judged by what their manifests say they promise, or all by the contract."""
    measures: bool = False
    """Whether to measure also what no verdict depends on and a report alone shows: guesses of values and
    presence, and what a release is worth. It takes as long as all attacks."""
    shard: ShardFiles | None = None
    """The shard whose people and groups alone are attacked; None for all of them."""
    columns_read: dict[Path, ContractFile] = field(default_factory=dict, compare=False, repr=False)
    """What `file_of` has read, by the folder of the release."""

    @property
    def contract(self) -> Product:
        """What the columns are and what is promised."""
        return self.file.contract

    @cached_property
    def unreleased(self) -> list[str]:
        """The names of files beside the true tables that look like those, and belong to no release given."""
        if self.truth is None:
            return []
        given = {
            name
            for series in self.series
            for release in series.releases
            for name in names_of_truth(release.name, self.contract)
        }
        forms = {_form(name) for name in given}
        there = {file.name for file in self.truth.iterdir()}
        return sorted(name for name in there - given if _form(name) in forms)

    def file_of(self, release: ReleaseFiles) -> ContractFile:
        """The contract with the columns that a release has."""
        if self.foreign is not None:
            return self.file
        if release.path not in self.columns_read:
            self.columns_read[release.path] = as_of(self.file, release)
        return self.columns_read[release.path]

    def turns(self, series: PublishedSeries) -> list[Turn]:
        """The releases of a series in order."""
        return [Turn(self, series, number) for number, _ in enumerate(series.releases, start=1)]

    @property
    def goes_by_shard(self) -> bool:
        """Whether it is known who is in which of several shards, so that each is attacked by itself."""
        return self.private is not None and self.contract.shards > 1 and self.foreign is None

    @property
    def asked(self) -> Promise:
        """What releases are to keep: what the mapping of another tool's tables says, or the contract."""
        elsewhere = self.foreign.promise if self.foreign else None
        return elsewhere or principle_of(self.contract).promise(self.contract.principle)


@dataclass(frozen=True)
class Turn:
    """A release whose turn it is to be attacked, after those before it in its series."""

    material: Material
    series: PublishedSeries
    number: int
    """Counted from 1 over the releases of the series that are audited."""

    @property
    def release(self) -> ReleaseFiles:
        """Where it is published."""
        return self.series.releases[self.number - 1]

    @property
    def contract(self) -> Product:
        """What its columns are."""
        return self.material.file_of(self.release).contract

    @property
    def format(self) -> Format:
        """How it is published."""
        return format_of(self.release, self.contract, self.material.foreign)

    @property
    def promises(self) -> list[Promise]:
        """What it is judged by: what each release so far promised, or what is asked of all of them."""
        stated = promises_of(self.material, self.series, self.number)
        return stated if self.material.believes_manifests else [self.material.asked] * len(stated)


def _form(name: str) -> str:
    """A file's name with zeros in place of all digits."""
    return re.sub(r"\d", "0", name)


def promises_of(material: Material, series: PublishedSeries, number: int) -> list[Promise]:
    """What the first releases of a series each promised to the people they published first.

    The promises of the series that it goes on from come first: people who were published there keep them.
    A manifest of the contract's own principle states the parameters of its release; where there is none, what
    the contract or the mapping asks for counts.

    Raises
    ------
    PublishedFolderError
        If a manifest's parameters are none of the principle's.
    """
    principle = principle_of(material.contract)
    promises = []
    for release in [*(series.before.chain if series.before else []), *series.releases[:number]]:
        stated = (release.manifest or {}).get("principle")
        promise = material.asked
        if isinstance(stated, dict) and stated.get("name") == principle.name:
            try:
                promise = principle.promise(parameters_stated(stated))
            except ValidationError as error:
                fault = error.errors()[0]
                where = ".".join(map(str, ("principle", *fault["loc"])))
                raise PublishedFolderError(f"{release.path / MANIFEST}: {where}: {fault['msg']}") from None
        promises.append(promise)
    return promises
