"""What an adversary remembers of a series from release to release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import polars as pl

from anonymize.attack.stays import Stays
from anonymize.promise.promise import Promise

STAYS = "stays_"
"""What the tables of stays are called among the others."""
RELEASE = "release_"
"""What released tables are called among the others."""


@dataclass(frozen=True)
class Knowledge:
    """What an adversary remembers of a series. As private as the truth, and keyed like it."""

    domain: pl.DataFrame | None = None
    """`value`: every sensitive value so far, in the order of the bits."""
    covered: pl.DataFrame | None = None
    """Candidate sets by quasi-identifiers, as `intersect` leaves them."""
    hosted: pl.DataFrame | None = None
    """Candidate sets by hosting group, where hosting groups are known."""
    breach: pl.DataFrame | None = None
    """`person`, `value`, `breach`, `promised`: where breach probabilities are followed. Where the promise
    forgets people who are absent, `last_seen` too, and nothing of those whom it has forgotten."""
    members: pl.DataFrame | None = None
    """`partition`, `person` (a hash), where equivalence is to be attacked."""
    contents: pl.DataFrame | None = None
    """`partition`, `value`, `tuples`."""
    signatures: pl.DataFrame | None = None
    """`person`, `value`, `signature` (a list) in the last release, of people whom a single group covers,
    where there is no linkage; with a linkage the stays have it."""
    held_back: pl.DataFrame | None = None
    """`release`, `people`: how many people each release held back, where there is no linkage."""
    stays: Stays | None = None
    """Who was in which signature's groups, where hosting groups are known."""
    releases: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Released tables to join with: `previous_0`, … of other products, `view_1`, … of the series itself."""

    def tables(self) -> dict[str, pl.DataFrame]:
        """All there is as tables, by name: to be kept by whoever keeps files."""
        grouped = ("stays", "releases")
        kept = {part.name: getattr(self, part.name) for part in fields(self) if part.name not in grouped}
        kept |= {f"{RELEASE}{name}": table for name, table in self.releases.items()}
        if self.stays is not None:
            kept |= {f"{STAYS}{part.name}": getattr(self.stays, part.name) for part in fields(Stays)}
        return {name: table for name, table in kept.items() if table is not None}

    @classmethod
    def of(cls, tables: Mapping[str, pl.DataFrame]) -> Knowledge:
        """The knowledge that `tables` returned."""
        own = {name: table for name, table in tables.items() if not name.startswith((STAYS, RELEASE))}
        stays, releases = (
            {name.removeprefix(kind): table for name, table in tables.items() if name.startswith(kind)}
            for kind in (STAYS, RELEASE)
        )
        return cls(**own, stays=Stays(**stays) if stays else None, releases=releases)

    def with_releases(self, tables: Mapping[str, pl.DataFrame]) -> Knowledge:
        """The knowledge with more released tables."""
        return replace(self, releases={**self.releases, **tables})

    def of_the_present(self, release: int) -> Knowledge:
        """The knowledge without the values of people who left.

        Of the departed nothing is kept but a pseudonym, its signatures and the releases of its stays.
        """
        present = {
            part: table.filter(pl.col("until") == release)
            for part in ("covered", "hosted")
            if (table := getattr(self, part)) is not None
        }
        return replace(self, **present)


def promised(promises: Sequence[Promise], part: str) -> pl.Expr:
    """What was promised in the release of each row's column `promised`; null where it was not.

    Parameters
    ----------
    promises
        What each release promised to the people it published first: of release 1, 2, ….
    part
        A field of `Promise`.
    """
    given = [getattr(promise, part) for promise in promises]
    return pl.col("promised").replace_strict(
        range(1, len(promises) + 1), given, default=None, return_dtype=pl.Float64
    )
