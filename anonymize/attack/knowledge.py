"""The knowledge of an adversary about a series, from release to release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace

import polars as pl

from republish.anonymize.attack.stays import Stays

STAYS = "stays_"
"""What the tables of stays are called among the others."""
RELEASE = "release_"
"""What released tables are called among the others."""
OWN = ("domain", "covered", "hosted", "held_back", "waiting")
"""What every attack on groups has in common, a table each."""
FORGED, MEMBERS = f"{STAYS}forged", "members"
"""Tables whose `person` is no person: a counterfeit, or a hash of who was in which group."""


@dataclass(frozen=True)
class Knowledge:
    """Everything that an adversary remembers of a series. As private as the truth, and keyed like it."""

    domain: pl.DataFrame | None = None
    """`value`: every sensitive value so far, in the order of the bits."""
    covered: pl.DataFrame | None = None
    """Candidate sets by quasi-identifiers, as `intersect` leaves them."""
    hosted: pl.DataFrame | None = None
    """Candidate sets by hosting group, where hosting groups are known."""
    held_back: pl.DataFrame | None = None
    """`release`, `people`: how many people each release held back who may be covered by a group by chance,
    where there is no linkage."""
    waiting: pl.DataFrame | None = None
    """`person`, `release`: who of these may be among them, and was not in the release before."""
    stays: Stays | None = None
    """Who was in which signature's groups: by the linkage, or where one group alone covered a person."""
    releases: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """Released tables to join with: `previous_0`, … of other products, `view_1`, … of the series itself."""
    parts: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """What the attacks on single parts of a promise remember, by names of their own."""

    def by_chance(self, people: pl.Series | None = None) -> int:
        """Count the people, of these, whom a group may cover by chance, because they were held back.

        A person who waits in many releases is one, and excuses one.
        """
        held_back, waiting = self.held_back, self.waiting
        if held_back is None or waiting is None:
            return 0
        if people is not None:
            waiting = waiting.filter(pl.col("person").is_in(people.implode()))
        begun = held_back.join(waiting.group_by("release").len("begun"), on="release")
        return int(begun.select(pl.min_horizontal("people", "begun").sum()).item())

    @property
    def followed(self) -> Stays:
        """The stays, after a first release of groups."""
        assert self.stays is not None
        return self.stays

    def tables(self) -> dict[str, pl.DataFrame]:
        """All there is as tables, by name: to be kept by whoever keeps files."""
        kept = {name: getattr(self, name) for name in OWN} | dict(self.parts)
        kept |= {f"{RELEASE}{name}": table for name, table in self.releases.items()}
        if self.stays is not None:
            kept |= {f"{STAYS}{part.name}": getattr(self.stays, part.name) for part in fields(Stays)}
        return {name: table for name, table in kept.items() if table is not None}

    @classmethod
    def of(cls, tables: Mapping[str, pl.DataFrame]) -> Knowledge:
        """The knowledge that `tables` returned."""
        stays, releases = (
            {name.removeprefix(kind): table for name, table in tables.items() if name.startswith(kind)}
            for kind in (STAYS, RELEASE)
        )
        parts = {
            name: table
            for name, table in tables.items()
            if name not in OWN and not name.startswith((STAYS, RELEASE))
        }
        own = {name: table for name, table in tables.items() if name in OWN}
        return cls(**own, stays=Stays(**stays) if stays else None, releases=releases, parts=parts)

    def with_releases(self, tables: Mapping[str, pl.DataFrame]) -> Knowledge:
        """The knowledge with more released tables."""
        return replace(self, releases={**self.releases, **tables})

    def with_persons(self, change: Callable[[pl.DataFrame], pl.DataFrame]) -> Knowledge:
        """The knowledge with a change to each table of people; counterfeits have numbers of their own."""

        def changed(name: str, table: pl.DataFrame) -> pl.DataFrame:
            is_of_people = "person" in table.columns and name not in (FORGED, MEMBERS)
            return change(table) if is_of_people else table

        return Knowledge.of({name: changed(name, table) for name, table in self.tables().items()})

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
