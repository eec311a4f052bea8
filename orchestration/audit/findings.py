"""What an audit came to: releases and series as they were attacked, and what was not looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, NamedTuple, Self

import polars as pl

from republish.anonymize.attack.assignments import Choices
from republish.anonymize.attack.combinations import Combinations
from republish.anonymize.attack.equivalence import Equivalence
from republish.anonymize.attack.figures import EquivalenceFigures
from republish.anonymize.attack.intersection import SCOPES, Intersected, candidates, intersected
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.attack.measures.guessing import Clues, Guesses
from republish.anonymize.attack.measures.presence import Presence
from republish.anonymize.columns import counted
from republish.anonymize.contract import Product, Schema
from republish.anonymize.figures import Counts, Figures
from republish.anonymize.formats import Published
from republish.anonymize.people.renaming import suspected_renamings
from republish.anonymize.promise import Promise
from republish.anonymize.promise.attacked import ReleaseAttack
from republish.anonymize.promise.registry import promised_in
from republish.anonymize.utility.usefulness import Usefulness


class Groups(NamedTuple):
    """A release as groups, beside the truth."""

    schema: Schema
    tables: Mapping[str, pl.DataFrame]
    """The published tables under our own column names."""
    published: Published
    known: pl.DataFrame
    """The truth: `person`, `value`, `qi_0`, … as codes."""


@dataclass(frozen=True)
class AttackedRelease:
    """One release, attacked with all that came before it."""

    name: str
    tuples: int
    attack: ReleaseAttack
    columns: Mapping[str, str] = field(default_factory=dict)
    """The publisher's names of its columns, by ours: another release may have others."""
    seen: Choices | None = None
    """For the attack on all releases together; None where there are too many people."""
    useful: Usefulness | None = None
    """What the release is worth; None where it has entries that can't be read, or nobody is in the truth."""
    guesses: Guesses | None = None
    """What is guessed right after learning from the groups."""
    guesses_by_column: Mapping[str, Guesses] = field(default_factory=dict)
    """The same of each of several sensitive columns, by its name."""
    groups: Groups | None = None
    """Its groups; of the last release alone, and None of a view, or if it has entries that can't be read."""
    moved: pl.DataFrame | None = None
    """How many people came from each value to each since the release before; None where there is none."""
    other_names: Sequence[Gap] = ()
    """People who may have had another identifier in the release before."""
    words_not_compared: str | None = None
    """Why the words of its texts were not compared with the contract; None if they were."""
    bytes_not_compared: str | None = None
    """Why its tables were not compared, byte for byte, with what republish writes; None if they were."""

    def clues(self, column: str | None = None) -> Clues | None:
        """What is remembered of it to guess values in the next release, or those of a column."""
        found = self.guesses if column is None else self.guesses_by_column.get(column)
        return None if found is None else found.clues

    def without_clues(self) -> Self:
        """Itself, when the next release was attacked."""
        by_column = {name: replace(one, clues=None) for name, one in self.guesses_by_column.items()}
        guesses = self.guesses and replace(self.guesses, clues=None)
        return replace(self, guesses=guesses, guesses_by_column=by_column)

    @property
    def renamed(self) -> pl.DataFrame | None:
        """Values that look renamed since the release before; None where there is nothing to compare."""
        return None if self.moved is None else suspected_renamings(self.moved)


@dataclass(frozen=True)
class Left(Figures):
    """What intersecting all releases leaves, by what an adversary knows to belong together (`SCOPES`)."""

    lifespan: Annotated[Intersected, Intersected.of_all]
    value: Annotated[Intersected, Intersected.of_all]
    person: Annotated[Intersected, Intersected.of_all]
    by_candidates: Counts
    """Everybody ever published, by the candidate values that are left of them."""

    @classmethod
    def of_knowledge(cls, knowledge: Knowledge) -> Self | None:
        """Count what an adversary knows in the end; None without groups."""
        covered, made_of = knowledge.covered, Combinations.of(knowledge.domain)
        if covered is None:
            return None
        left = {scope: candidates([covered], scope, made_of) for scope in SCOPES}
        found = {scope: intersected(some) for scope, some in left.items()}
        return cls(**found, by_candidates=counted(left["value"]["candidates"]))


@dataclass(frozen=True)
class AttackedSeries:
    """All releases of a series."""

    name: str
    releases: list[AttackedRelease]
    equivalences: list[Equivalence]
    """The smallest attack per signature; empty where it wasn't attacked."""
    whole: ReleaseAttack | None = None
    """What all releases together allow; None where nothing was to be found."""
    why_no_assignments: str | None = None
    """If it should have been."""
    presence: Presence | None = None
    """How well people in the last release are told from people of earlier ones; None if there are too few."""
    before: AttackedSeries | None = None
    """The series that it goes on from: it was attacked with everything known from there."""
    left_of_shards: Left | None = None
    """What is left of the people of all shards, where these were attacked one by one."""
    largest_shard: int = 0
    """The most people of a release in one shard, where these were attacked one by one."""
    promised: Sequence[Promise] = ()
    """What each release of the chain is judged by."""

    @cached_property
    def left(self) -> Left | None:
        """What intersecting all releases leaves; None without groups."""
        return self.left_of_shards or Left.of_knowledge(self.knowledge)

    @property
    def chain(self) -> list[AttackedRelease]:
        """Its releases after those of the series that it goes on from."""
        return [*(self.before.chain if self.before else []), *self.releases]

    @property
    def figures(self) -> dict[str, Any]:
        """What the parts of a promise are shown by: figures of the last release, and of the whole series."""
        sizes = [one.e for one in self.equivalences if one.e is not None]
        return {
            **self.releases[-1].attack.figures,
            **EquivalenceFigures(min(sizes, default=None)).as_json(),
            **self.of_all_releases,
        }

    @property
    def of_all_releases(self) -> dict[str, Any]:
        """Figures of what all releases together allow."""
        return {} if self.whole is None else self.whole.figures

    @property
    def knowledge(self) -> Knowledge:
        """What an adversary knows in the end."""
        return self.releases[-1].attack.knowledge

    @property
    def in_groups(self) -> bool:
        """Whether releases are of groups, so that candidate values could be intersected."""
        return self.left is not None

    def promises(self) -> pl.DataFrame:
        """One row per promise, over all releases: the release that breaks it most, else the last one.

        Where none breaks it, it is the last of those of which it was not decided, if there are any.

        Where a promise changed from a release on, there is one row for each figure: people keep what they
        were promised when they were published first. `promised_in` has the first and the last one of each run
        of releases that promised it; it is null where all promised the same.
        """
        found = [(release.name, release.attack.findings) for release in self.releases]
        if self.whole is not None:
            found.append((self.releases[-1].name, self.whole.findings))
        rows = pl.concat(
            findings.with_columns(pl.lit(name).alias("release"), pl.lit(n).alias("n"))
            for n, (name, findings) in enumerate(found)
        )
        where = pl.col("release").filter(~pl.col("holds"))
        worst = pl.all().sort_by("broken", pl.col("undecided") > 0, "n").last()
        judged = (
            rows.group_by("promise", "since", maintain_order=True)
            .agg(worst, where.alias("broken_in"))
            .with_columns(pl.lit(self.name).alias("series"))
            .drop("release", "n")
        )
        return (
            judged.with_columns(self._promised_in(judged))
            .with_row_index("at")
            .sort(pl.col("at").min().over("promise"), "since")
            .drop("at")
        )

    def _promised_in(self, judged: pl.DataFrame) -> pl.Series:
        """The runs of releases that promised what each row is about; null of a promise with one row."""
        names = [release.name for release in self.chain]
        repeated = judged.select(pl.len().over("promise") > 1).to_series()
        runs = [
            [
                [names[run[0] - 1], names[run[-1] - 1]]
                for run in _runs(promised_in(promise, since, self.promised))
            ]
            if several
            else None
            for promise, since, several in zip(judged["promise"], judged["since"], repeated, strict=True)
        ]
        return pl.Series("promised_in", runs, pl.List(pl.List(pl.String)))


def _runs(numbers: Sequence[int]) -> list[list[int]]:
    """Ascending numbers, those that follow each other together."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


@dataclass(frozen=True)
class Gap:
    """Something that a reader might believe was looked at."""

    what: str
    """With `{}` in the place of each count of people."""
    why: str
    people: tuple[int, ...] = ()
    """The counts."""
    series: str | None = None
    """The series that it is about, if it is about one."""


def braced(name: str) -> str:
    """A name within the words of a `Gap` or of a report's line: its own braces are no places for counts."""
    return name.replace("{", "{{").replace("}", "}}")


ALL_SERIES = "all series together"
"""What is said in place of a series' name."""


@dataclass(frozen=True)
class Findings:
    """What the audit came to."""

    contract: Product
    promise: Promise
    """What is asked for today."""
    series: list[AttackedSeries]
    together: pl.DataFrame | None
    """Evidence over all series, if there is more than one."""
    not_covered: list[Gap] = field(default_factory=list)
    """What was not looked at, and why."""
    asked: pl.DataFrame | None = None
    """What the contract asks for, as `promises` has it, of series that never took it up: neither the last
    release nor a series that goes on from it promises that. None where there are none."""

    def promises(self) -> pl.DataFrame:
        """One row per series, promise and figure: `series`, `promise`, `people`, … `broken_in`."""
        rows = [one.promises() for one in self.series]
        if self.together is not None:
            rows.append(
                self.together.with_columns(
                    pl.lit(str(ALL_SERIES)).alias("series"),
                    pl.lit([], dtype=pl.List(pl.String)).alias("broken_in"),
                )
            )
        return pl.concat(rows, how="diagonal").select(
            "series",
            "promise",
            "people",
            "broken",
            "undecided",
            "found",
            "required",
            "bound",
            "holds",
            "promised_in",
            "broken_in",
        )

    @property
    def holds(self) -> bool:
        """Whether every promise is kept."""
        return bool(self.promises()["holds"].all())

    @property
    def keeps_contract(self) -> bool:
        """Whether every promise is kept, and the contract asks for no more than was promised."""
        return self.holds and self.missed.is_empty()

    @property
    def missed(self) -> pl.DataFrame:
        """What the contract asks for and does not hold, where the releases keep what they state themselves.

        A release that states m = 2, and keeps it, misses a contract that asks for m = 3.
        """
        promises = self.promises()
        if self.asked is None:
            return promises.clear()
        keep_their_own = promises.group_by("series", "promise").agg(pl.col("holds").all()).filter("holds")
        return self.asked.filter(~pl.col("holds")).join(keep_their_own, on=["series", "promise"], how="semi")
