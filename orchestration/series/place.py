"""The place of a series in a home: its files, its keys, and the candidates that are recorded there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from republish.anonymize.people.randomness import derive_key, generator
from republish.orchestration.series.release_record import ReleaseRecord, read_committed, read_record
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.manifest import release_folders


@dataclass(frozen=True)
class Place:
    """Where a series of a product is in a publisher's home. It may have nothing there yet."""

    home: Home
    """The publisher's folder."""
    product: str
    series: str
    """Its name among the series of the product."""

    @property
    def name(self) -> str:
        """Product and series, `hospital/v1`."""
        return f"{self.product}/{self.series}"

    @property
    def private_folder(self) -> Path:
        """Where all the series' working files are."""
        return self.home.private(self.product, self.series)

    @property
    def published_folder(self) -> Path:
        """Where the series' releases are published."""
        return self.home.published(self.product, self.series)

    @property
    def catalogues(self) -> Path:
        """Where records of the series for catalogues are."""
        return self.home.catalogues(self.product, self.series)

    @property
    def releases(self) -> list[str]:
        """The releases that are published, in order."""
        return [folder.name for folder in release_folders(self.published_folder)]

    def other(self, series: str) -> Place:
        """The place of another series of the product in the same home."""
        return Place(self.home, self.product, series)

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

    def candidate_key(self, release: str) -> bytes:
        """The key of a candidate's seal: a candidate of another release has another seal."""
        return self.key("candidate", release)

    def key(self, purpose: str, *more: str) -> bytes:
        """The series' own key for a purpose, derived from that of the home."""
        return derive_key(self.home.key(), purpose, self.product, self.series, *more)

    @property
    def key_fingerprint(self) -> str:
        """Tells one key from another, and nothing else of it."""
        return self.key("fingerprint").hex()

    def draw(self, release: str, purpose: str) -> np.random.Generator:
        """The secret, repeatable randomness of a release for one purpose."""
        return generator(self.home.key(), self.product, self.series, release, purpose)
