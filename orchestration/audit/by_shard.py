"""Series whose people are divided into shards: each shard is attacked by itself, and the findings are joined.

The private folder says who is in which shard. Every release is read once and divided into files, and what
only the whole can show is looked at then; afterwards no more is in memory than the shards that are worked on.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from republish.anonymize.attack.finding import Count
from republish.anonymize.attack.input import prepare_tables
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.attack.measures.presence import Presence
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Schema
from republish.anonymize.errors import SnapshotError
from republish.anonymize.formats.published import GROUP
from republish.anonymize.promise.attacked import ReleaseAttack, attack_tables
from republish.anonymize.promise.rules import SHARDS
from republish.orchestration.audit.findings import AttackedRelease, AttackedSeries, Left
from republish.orchestration.audit.read.folders import (
    PublishedSeries,
    Reading,
    shard_linkages,
)
from republish.orchestration.audit.read.manifests import held_back
from republish.orchestration.audit.read.material import Material, ShardFiles, Turn
from republish.orchestration.audit.series import (
    LINKAGE,
    PEOPLE,
    Read,
    as_a_whole,
    attack_series,
    attacked_release,
    read_tables,
)
from republish.orchestration.engine import the_engine
from republish.orchestration.storage.home import private_folder
from republish.orchestration.storage.scratch import scratch_folder
from republish.orchestration.storage.store import write_table
from republish.orchestration.unforeseen import named

PEOPLE_EACH = 8
"""A person of an audit takes as much memory as so many people of a release that is made: of two releases,
a process took 1.1 GiB for 100,000 people and 2.7 GiB for 300,000."""


def steps_by_shard(material: Material) -> int:
    """How many steps `attack_by_shard` takes."""
    return sum(len(one.releases) for one in material.series) + material.contract.shards


def attack_by_shard(material: Material, seconds: float) -> Generator[str, None, list[AttackedSeries]]:
    """Attack every series shard by shard; yields the name of each step as it begins.

    Parameters
    ----------
    material
        What to read, with the private folder.
    seconds
        Time for the equivalence attack on each series: all its shards share it.

    Raises
    ------
    SnapshotError
        If a shard's linkage is missing, or people of the truth are in no linkage and not held back.
    """
    with scratch_folder() as folder:
        shards = material.contract.shards
        wholes: list[list[_Whole]] = []
        domain = None
        for series in material.series:
            wholes.append([])
            last: list[AttackedRelease] = []
            for turn in material.turns(series):
                yield f"{series.name} {turn.release.name}: dividing it into {shards} shards"
                with named(turn.release.path):
                    whole, domain = _divide(turn, folder, domain, last)
                last = [whole.release]
                wholes[-1].append(whole._replace(release=whole.release.without_clues()))
        assert domain is not None
        values = domain.to_frame(VALUE)
        alone = replace(material, reading=Reading())
        jobs = [
            _Job(replace(alone, shard=ShardFiles(folder, number, values)), seconds / shards)
            for number in range(shards)
        ]
        largest = max(one.largest for some in wholes for one in some)
        done: list[list[AttackedSeries]] = []
        yield f"shard 1 of {shards}"
        for found in the_engine().run(attack_shard, jobs, largest * PEOPLE_EACH):
            done.append(found)
            if len(done) < shards:
                yield f"shard {len(done) + 1} of {shards}"
        moved = [_astray(folder, material, series) for series in material.series]
    joined: dict[str, AttackedSeries] = {}
    for at, series in enumerate(material.series):
        before = joined[series.before.name] if series.before else None
        joined[series.name] = _joined([found[at] for found in done], wholes[at], moved[at], before)
    return list(joined.values())


class _Whole(NamedTuple):
    """What only a whole release can show."""

    release: AttackedRelease
    """With the findings and figures of the whole alone."""
    largest: int
    """People in the largest shard."""


@dataclass(frozen=True)
class _Job:
    """A shard to be attacked."""

    material: Material
    seconds: float


def attack_shard(job: _Job) -> list[AttackedSeries]:
    """Attack the people and groups of one shard, in every series.

    Of single people nothing is left but what the attack on several series together needs.
    """
    steps = attack_series(job.material, job.seconds)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return [_reduced(one, is_needed=len(end.value) > 1) for one in end.value]


def _reduced(series: AttackedSeries, *, is_needed: bool) -> AttackedSeries:
    known = series.knowledge
    kept = Knowledge(domain=known.domain, covered=known.covered, hosted=known.hosted)
    releases = [
        replace(
            one,
            attack=replace(one.attack, knowledge=Knowledge(), tables={}),
            seen=None,
            groups=None,
        )
        for one in series.releases
    ]
    if is_needed:
        releases[-1] = replace(releases[-1], attack=replace(releases[-1].attack, knowledge=kept))
    return replace(series, releases=releases, before=None, left_of_shards=series.left)


def _divide(
    turn: Turn, folder: Path, domain: pl.Series | None, before: Sequence[AttackedRelease]
) -> tuple[_Whole, pl.Series]:
    """Write what each shard has of a release, and look at the whole; with the sensitive values so far."""
    release = turn.release
    tables, people = read_tables(turn, domain)
    assert turn.material.private is not None
    linkages = shard_linkages(
        turn.material.private, turn.series.name, release.name, turn.contract, turn.material.reading
    )
    places = [
        private_folder(_place(folder, turn.material, turn.series, release.name, shard))
        for shard in range(len(linkages))
    ]
    _divide_people(places, people, linkages, turn)
    _divide_tables(places, tables, linkages)
    read = Read(tables, people, pl.concat(linkages), held_back(release))
    whole, domain = _look_at(turn, read, domain, before)
    return _Whole(whole, max(linkage.height for linkage in linkages)), domain


def _place(folder: Path, material: Material, series: PublishedSeries, release: str, shard: int = 0) -> Path:
    """Where what a shard has of a release is put."""
    return ShardFiles(folder, shard, pl.DataFrame()).of(material.series.index(series), release)


def _divide_people(
    places: Sequence[Path], people: pl.DataFrame, linkages: Sequence[pl.DataFrame], turn: Turn
) -> None:
    """The truth of each shard, in its order; people who are held back are where other releases have them.

    People who are in no release at all are in the first one's.
    """
    release = turn.release
    everybody = pl.concat([linkage.select("person") for linkage in linkages])
    absent = people.join(everybody, on="person", how="anti", maintain_order="left")
    if absent.height > held_back(release):
        raise SnapshotError(
            f"{turn.material.private}: the linkages of {release.name} lack {absent.height:,} of the"
            f" {people.height:,} people in its truth, and {held_back(release):,} are held back. Give the"
            " private folder of this series, and the truth that it was made of; without --private the"
            " whole table is attacked"
        )
    waiting = _placed(absent, len(places), _other_linkages(turn))
    for at, (place, linkage) in enumerate(zip(places, linkages, strict=True)):
        own = people.join(linkage, on="person", how="semi", maintain_order="left")
        write_table(place / PEOPLE, pl.concat([own, waiting[at]]))
        write_table(place / LINKAGE, linkage)


def _placed(
    absent: pl.DataFrame, shards: int, others: Iterable[Sequence[pl.DataFrame]]
) -> list[pl.DataFrame]:
    """The people of each shard who are held back, by the linkages of other releases."""
    found = [absent.clear() for _ in range(shards)]
    linked = iter(others)
    while not absent.is_empty() and (linkages := next(linked, None)) is not None:
        for at, linkage in enumerate(linkages):
            own = absent.join(linkage, on="person", how="semi", maintain_order="left")
            found[at] = pl.concat([found[at], own])
            absent = absent.join(own, on="person", how="anti", maintain_order="left")
    return [pl.concat([found[0], absent]), *found[1:]]


def _other_linkages(turn: Turn) -> Iterator[Sequence[pl.DataFrame]]:
    """The linkages of each shard in other releases of a series, those before first; read when asked for."""
    material, series = turn.material, turn.series
    assert material.private is not None
    before = [(one.name, release) for one in _chain(series)[:-1] for release in one.releases]
    own = [(series.name, release) for release in series.releases]
    for name, release in [*reversed(before + own[: turn.number - 1]), *own[turn.number :]]:
        yield shard_linkages(material.private, name, release.name, material.contract, material.reading)


def _divide_tables(
    places: Sequence[Path], tables: Mapping[str, pl.DataFrame], linkages: Sequence[pl.DataFrame]
) -> None:
    """The rows of each shard's groups, in their order. Groups of nobody are in the first one's."""
    hosting = pl.concat([linkage.select("group_id").unique() for linkage in linkages])
    for name, table in tables.items():
        keyed = table.with_columns(GROUP)
        for at, (place, linkage) in enumerate(zip(places, linkages, strict=True)):
            own = pl.col("group_id").is_in(linkage["group_id"].unique().implode())
            if at == 0:
                own |= ~pl.col("group_id").is_in(hosting["group_id"].unique().implode())
            write_table(place / f"table-{name}.parquet", keyed.filter(own))


def _look_at(
    turn: Turn, read: Read, domain: pl.Series | None, before: Sequence[AttackedRelease]
) -> tuple[AttackedRelease, pl.Series]:
    """What the whole release shows: its tables and files, what it is worth, and what groups teach."""
    schema = turn.contract.table_schema
    assert isinstance(schema, Schema)
    seen, domain = prepare_tables(schema, turn.format, read.tables, read.people, domain)
    found = ReleaseAttack(attack_tables(seen), (), Knowledge())
    whole = as_a_whole(attacked_release(found, turn, read), turn, read, before)
    return replace(whole, groups=None), domain


def _astray(folder: Path, material: Material, series: PublishedSeries) -> list[pl.DataFrame]:
    """For each release, how many people are in another shard than before, or in a group with people of two.

    People are looked at in as many parts as there are shards, by a hash of their identifier.
    """
    shards = material.contract.shards
    chain = [(one, release) for one in _chain(series) for release in one.releases]
    linked = [
        pl.scan_parquet(_place(folder, material, one, release.name, shard) / LINKAGE).with_columns(
            n=pl.lit(n), shard=pl.lit(shard)
        )
        for n, (one, release) in enumerate(chain)
        for shard in range(shards)
    ]
    everything = pl.concat(linked)
    groups = everything.group_by("n", "group_id").agg(pl.col("shard").n_unique()).filter(pl.col("shard") > 1)
    mixed = groups.select("n", "group_id", mixed=True).collect(engine="streaming")
    counts = []
    for part in range(shards):
        own = everything.filter(pl.col("person").hash(0) % shards == part).collect(engine="streaming")
        home = own.group_by("person").agg(home=pl.col("shard").sort_by("n", "shard").first())
        placed = own.join(home, on="person").join(mixed, on=["n", "group_id"], how="left")
        is_astray = (pl.col("shard") != pl.col("home")) | pl.col("mixed").is_not_null()
        counts.append(
            placed.group_by("n").agg(
                people=pl.col("person").n_unique(), broken=pl.col("person").filter(is_astray).n_unique()
            )
        )
    found = pl.concat(counts).group_by("n").agg(pl.col("people", "broken").sum())
    counted = {n: Count(people, broken) for n, people, broken in found.rows()}
    first = len(chain) - len(series.releases)
    return [SHARDS.finding(counted.get(n, Count(0, 0))) for n in range(first, len(chain))]


def _chain(series: PublishedSeries) -> list[PublishedSeries]:
    """The series after those that it goes on from."""
    return [*(_chain(series.before) if series.before else []), series]


def _joined(
    shards: Sequence[AttackedSeries],
    wholes: Sequence[_Whole],
    moved: Sequence[pl.DataFrame],
    before: AttackedSeries | None,
) -> AttackedSeries:
    """A series as its shards and its whole releases were found."""
    releases = [
        _joined_release([one.releases[number] for one in shards], whole.release, astray)
        for number, (whole, astray) in enumerate(zip(wholes, moved, strict=True))
    ]
    known = [one.knowledge for one in shards if one.knowledge.domain is not None]
    if known:
        attack = replace(releases[-1].attack, knowledge=_everybody(known))
        releases[-1] = replace(releases[-1], attack=attack)
    presence = [one.presence for one in shards if one.presence is not None]
    whole = [one.whole for one in shards if one.whole is not None]
    return AttackedSeries(
        shards[0].name,
        releases,
        [found for one in shards for found in one.equivalences],
        whole=ReleaseAttack.of_shards(whole) if len(whole) == len(shards) else None,
        why_no_assignments=next((one.why_no_assignments for one in shards if one.why_no_assignments), None),
        presence=Presence.of_all(presence) if presence else None,
        before=before,
        left_of_shards=Left.of_all([one.left for one in shards if one.left is not None]),
        largest_shard=max(one.largest for one in wholes),
        promised=shards[0].promised,
    )


def _joined_release(
    shards: Sequence[AttackedRelease], whole: AttackedRelease, astray: pl.DataFrame
) -> AttackedRelease:
    moved = [one.moved for one in shards if one.moved is not None]
    return replace(
        whole,
        attack=ReleaseAttack.of_shards(
            [one.attack for one in shards], pl.concat([astray, whole.attack.findings])
        ),
        moved=pl.concat(moved) if moved else None,
    )


def _everybody(known: Sequence[Knowledge]) -> Knowledge:
    """What is known of the people of all shards, in the end."""
    covered, hosted = (
        pl.concat([table for one in known if (table := getattr(one, kind)) is not None])
        for kind in ("covered", "hosted")
    )
    return Knowledge(domain=known[0].domain, covered=covered, hosted=hosted)
