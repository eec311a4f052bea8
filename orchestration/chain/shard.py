"""A shard's part of a release: made from its people, attacked, and written into its folder.

Of most series there is one shard, with everybody in it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.columns import CORRECTED, IDENTIFIER, PSEUDONYM, exactly
from republish.anonymize.contract import Product
from republish.anonymize.errors import HomeError, NotEligible, SnapshotError, ValueChangeRefused
from republish.anonymize.people.persons import joined_by_names
from republish.anonymize.people.rows import different_people, names_in_linkage
from republish.anonymize.principle.candidate import Candidate, ReleaseFigures
from republish.anonymize.principle.principle import Draw
from republish.anonymize.principle.state import State
from republish.anonymize.principles import principle_of
from republish.anonymize.promise import Promise
from republish.orchestration.chain.audit import Attacked, attack_candidate
from republish.orchestration.chain.delta import CHANGES
from republish.orchestration.chain.merging import write_groups
from republish.orchestration.chain.snapshot import PEOPLE
from republish.orchestration.contracts.contract_file import ContractFile
from republish.orchestration.series.release_record import write_published, write_tables
from republish.orchestration.series.shards import Shard, ShardJob
from republish.orchestration.snapshots.previous import join_previous
from republish.orchestration.steps import say_step
from republish.orchestration.storage.store import read_table


@dataclass
class Clock:
    """Seconds by what they were spent on, since it was made."""

    seconds: dict[str, float] = field(default_factory=dict)
    _at: float = field(default_factory=time.perf_counter)

    def lap(self, spent_on: str) -> None:
        """Put the time since the last lap down to something."""
        now = time.perf_counter()
        self.seconds[spent_on] = round(self.seconds.get(spent_on, 0.0) + now - self._at, 3)
        self._at = now

    def add(self, seconds: Mapping[str, float]) -> None:
        """Put the time since the last lap down to what another clock says of it."""
        self._at = time.perf_counter()
        for spent_on, spent in seconds.items():
            self.seconds[spent_on] = round(self.seconds.get(spent_on, 0.0) + spent, 3)


@dataclass(frozen=True)
class Remembered:
    """Memories of the releases so far."""

    state: State = field(default_factory=State.empty)
    """The principle's memory."""
    knowledge: Knowledge | None = None
    """An adversary's memory."""
    promises: tuple[Promise, ...] = ()
    """Each release's promise to the people it published first."""


@dataclass(frozen=True)
class ShardResult:
    """A shard's part of a release that lies in its folder: all that the whole needs to know of it."""

    attacked: Attacked
    figures: ReleaseFigures
    """Figures of the candidate."""
    widths: Mapping[str, float]
    """Figures of its format."""
    different_people: int | None
    """The people in the release, where they may have several rows; None where each has one."""
    corrected: int
    """How many sensitive values were wrong so far."""
    files: Mapping[str, str]
    """SHA-256 (hex) of what is kept, by name in the release's folder."""
    seconds: Mapping[str, float]


def make_shard(job: ShardJob) -> ShardResult:
    """Make and attack what a shard has of a release, and write it into the shard's folder.

    Raises
    ------
    HomeError
        If its delta is not that of its snapshot.
    NotEligible, SnapshotError, ValueChangeRefused
        If the principle refuses the batch.
    """
    clock, shard, release = Clock(), job.shard, job.release
    contract, folder, predecessor = shard.contract, job.own, job.predecessor
    before = Remembered(predecessor.state, predecessor.knowledge, predecessor.promises)
    before = with_others(before, shard.series.file, f"{shard.series.name} {release}")
    people = people_of(shard, release, folder)
    clock.lap("files")
    say_step("making groups")
    candidate = draw_candidate(shard, release, job.number, people, before.state)
    clock.lap("algorithm")
    say_step("attacking them")
    promises = promised(contract, before.promises)
    attacked, knowledge = attack_candidate(candidate, people, contract, promises, before.knowledge)
    clock.lap("audit")
    linkage = named_linkage(contract, people, candidate.linkage)
    files = write_tables(folder, candidate.state, knowledge, candidate.buckets)
    if shard.place:
        write_groups(shard, folder, candidate.published, linkage)
    else:
        files |= write_published(folder, candidate, linkage, release)
    clock.lap("files")
    release_format = principle_of(contract).format(contract)
    return ShardResult(
        attacked=attacked,
        figures=candidate.figures,
        widths=release_format.figures(release_format.internal(candidate.published, contract), contract),
        different_people=different_people(candidate.linkage, contract),
        corrected=int(people[CORRECTED].sum()) if CORRECTED in people.columns else 0,
        files={f"{shard.place}/{name}".lstrip("/"): digest for name, digest in files.items()},
        seconds=clock.seconds,
    )


def people_of(shard: Shard, release: str, folder: Path) -> pl.DataFrame:
    """T(n): the people of a shard's snapshot, as far as the delta says that they are there.

    The folder is that of the shard, in that of the release.

    Raises HomeError if the delta was made of another snapshot.
    """
    people, series = read_table(folder / PEOPLE), shard.series
    file = folder / CHANGES
    changes = read_table(file) if file.exists() else people.select(PSEUDONYM).clear()
    present = changes.filter(pl.col("change") != "deleted") if changes.height else changes
    if not people[PSEUDONYM].equals(present[PSEUDONYM]):  # both are in the order of pseudonyms
        raise HomeError(
            f"{series.name} {release}: the delta is not that of the snapshot. Materialize"
            f" {series.contract.product}/delta once more, or run republish release"
        )
    if CORRECTED not in changes.columns:
        return people
    return people.join(changes.select(PSEUDONYM, CORRECTED), on=PSEUDONYM, maintain_order="left")


def with_others(before: Remembered, file: ContractFile, where: str) -> Remembered:
    """Memories with the tables that others released, as the contract names them; as they are if it doesn't.

    Raises SnapshotError, which says `where`, if one can't be read or is another one than it was.
    """
    try:
        state, others = join_previous(before.state, file)
    except SnapshotError as refusal:
        raise SnapshotError(f"{where}: {refusal}") from None
    knowledge = (before.knowledge or Knowledge()).with_releases(others) if others else before.knowledge
    return Remembered(state, knowledge, before.promises)


def promised(contract: Product, before: tuple[Promise, ...]) -> tuple[Promise, ...]:
    """Promises of the releases so far and of the next one."""
    return (*before, principle_of(contract).promise(contract.principle))


def draw_candidate(shard: Shard, release: str, number: int, people: pl.DataFrame, state: State) -> Candidate:
    """Have the principle make a candidate of T(n) on a state; `number` is n, and may be another release's.

    Raises
    ------
    NotEligible, SnapshotError, ValueChangeRefused
        If it refuses the batch.
    """
    where = f" in shard {shard.number} of {shard.contract.shards}" if shard.place else ""
    return candidate_of(
        people,
        shard.contract,
        state,
        number,
        lambda purpose: shard.draw(release, purpose),
        f"{shard.series.name} {release}{where}",
    )


def candidate_of(
    people: pl.DataFrame, contract: Product, state: State, number: int, draw: Draw, where: str
) -> Candidate:
    """A principle's candidate of T(n), with `identifier`; its refusal says `where`."""
    try:
        return principle_of(contract).release(people.drop(IDENTIFIER), contract, state, number, draw)
    except (NotEligible, SnapshotError, ValueChangeRefused) as refusal:
        raise type(refusal)(f"{where}: {refusal}") from None


def named_linkage(contract: Product, people: pl.DataFrame, linkage: pl.DataFrame) -> pl.DataFrame:
    """The linkage of a candidate of people under the identifier's own name, sorted by all columns."""
    names = names_in_linkage(contract)
    named = joined_by_names(people.select(exactly(PSEUDONYM, *names)), linkage)
    return named.drop(PSEUDONYM).sort(pl.all()).rename(names)
