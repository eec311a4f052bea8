"""Other products of a home about the same people: together, they give an adversary more to intersect.

People are recognised by a pseudonym that all products of a home have in common. Each series keeps those of
everybody it published.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from republish.anonymize.columns import IDENTIFIER, PSEUDONYM
from republish.anonymize.contract import View
from republish.anonymize.errors import ContractError
from republish.anonymize.people.persons import persons_of, sorted_by_names
from republish.orchestration.chain.snapshot import everybody_in, kept_snapshot, most_people
from republish.orchestration.engine import the_engine
from republish.orchestration.series.facts import Facts, facts_of, sensitive_names
from republish.orchestration.series.other_series import siblings
from republish.orchestration.series.persons import comparable, forgotten
from republish.orchestration.series.place import Place
from republish.orchestration.series.series import Series
from republish.orchestration.series.shards import Shard, ShardJob, jobs_of
from republish.orchestration.snapshots.previous import published_here
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.manifest import columns_in
from republish.orchestration.storage.store import read_table, write_working_table

NOTED = "people.parquet"
"""In the private folder of a series: `person`, as all products of the home call them, and `pseudonym`, as the
series does; `since` and `until`, the first and the last release whose snapshot each was in. `pseudonym` and
`until` are null of people who left before they were noted."""
SEPARATE_READERS, EACH_BY_ITSELF, OTHER_PEOPLE = "separate_readers", "each_by_itself", "other_people"
MEANS = {
    SEPARATE_READERS: "nobody gets releases of both",
    EACH_BY_ITSELF: "somebody may get both, and what one says of the other is not covered",
    OTHER_PEOPLE: "the identifiers there are other people's",
}
"""Words for a contract's declarations of another product."""


@dataclass(frozen=True)
class OtherProduct:
    """Another product that has published releases in the home."""

    home: Home
    name: str
    places: tuple[Place, ...]
    """Those of its series."""

    @property
    def people(self) -> pl.DataFrame | None:
        """`person`: everybody in its releases, forgotten or not; None if it is not known of a series."""
        found = [people_of(place) for place in self.places]
        known = [one.select("person") for one in found if one is not None]
        gone = forgotten(self.home, self.name).filter("published").select("person")
        return pl.concat([*known, gone]) if len(known) == len(found) else None

    @cached_property
    def columns(self) -> set[str]:
        """The columns that its releases say something of, as its contracts named them, in small letters."""
        folders = (place.published(release) for place in self.places for release in place.releases)
        return self.sensitive | {name.lower() for folder in folders for name in columns_in(folder)}

    @cached_property
    def sensitive(self) -> set[str]:
        """The columns that nobody may learn, in small letters; none of views."""
        return {name.lower() for one in self._facts for name in sensitive_names(one.terms.get("sensitive"))}

    @property
    def is_view(self) -> bool:
        """Whether its releases are views, or nothing is kept that says otherwise."""
        return not self.sensitive

    def declared_of(self, product: str) -> str | None:
        """Its contract's declaration of a product at its last release."""
        return next((one.same_people[product] for one in self._facts if product in one.same_people), None)

    def is_joined_with(self, series: Series) -> bool:
        """Whether a view names all of its releases, and so is joined with them."""
        named = published_here(series.file, self.home)
        return all(release in named.get((self.name, one), ()) for one, release in self._releases)

    @property
    def _releases(self) -> list[tuple[str, str]]:
        """Its series and their releases."""
        return [(place.series, release) for place in self.places for release in place.releases]

    @property
    def _facts(self) -> list[Facts]:
        found = map(facts_of, self.places)
        return [one for one in found if one is not None]


def other_products(series: Series) -> Iterator[OtherProduct]:
    """The other products that have published releases in the home of a series, by name."""
    home, folder = series.home, series.home.published()
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name != series.contract.product and (there := tuple(siblings(home, path.name))):
            yield OtherProduct(home, path.name, there)


def refuse_same_people(series: Series, identifiers: Iterable[pl.Series]) -> None:
    """Raise ContractError if another product published some of the people, and no contract says why it may.

    Parameters
    ----------
    series
        Whose next release is to be made.
    identifiers
        Those of the release's snapshot, of each shard; looked at if there are other products.
    """
    others = list(other_products(series))
    if not others:
        return
    before = people_of(series)
    now = pl.concat([comparable(series.home, some).to_frame() for some in identifiers])
    people = now if before is None else pl.concat([now, before.select("person")])
    for other in others:
        known = other.people
        shared = None if known is None else people.join(known, on="person", how="semi")["person"].n_unique()
        if shared != 0 and (fault := _fault(series, other, shared)) is not None:
            raise ContractError(str(series.file.path), [("same_people", fault)])


def _fault(series: Series, other: OtherProduct, shared: int | None) -> str | None:
    """Why nothing can be released beside a product with so many people in common (None: nobody can tell)."""
    contract = series.contract
    sensitive = {one.name.lower() for _, one in contract.sensitive_columns()}
    columns = sensitive | {column.name.lower() for _, column in contract.attributes()}
    given_away = sorted((sensitive & other.columns) | (other.sensitive & columns))
    is_view = isinstance(contract, View)
    may_be_joined = (is_view or other.is_view) and not columns.isdisjoint(other.columns)
    if not given_away and other.is_joined_with(series):
        return None
    apart = [] if given_away or may_be_joined else [EACH_BY_ITSELF]
    accepted = [SEPARATE_READERS, *apart, OTHER_PEOPLE]
    declared = contract.same_people.get(other.name) or other.declared_of(contract.product)
    if declared in accepted:
        return None
    ways = [f"write same_people: {{{other.name}: {way}}} ({MEANS[way]})" for way in accepted]
    if given_away:
        why = f"both publish {', '.join(given_away)}, and anybody with both can intersect them"
        if sensitive == other.sensitive:
            ways.append(f"make this a new series of {other.name}, with supersedes")
    elif may_be_joined:
        why = "anybody with both can join them"
        if is_view:
            ways.append(f"list all releases of {other.name} under principle.previous")
    else:
        why = "a promise is about the releases of one product"
    refused = f" {declared} is not accepted here." if declared else ""
    return f"{_in_both(series, other, shared)}: {why}.{refused} To go on, {'; or '.join(ways)}"


def _in_both(series: Series, other: OtherProduct, shared: int | None) -> str:
    whom = f"{other.name}, another product of this home"
    if shared is None:
        return f"nobody can tell who of {series.name} is in {whom}: its working files are gone or damaged"
    return f"{shared:,} people of {series.name} are in releases of {whom}, too"


def people_of(place: Place) -> pl.DataFrame | None:
    """Everybody in the published releases of a series, as `NOTED` says.

    Of a series that was published before this was noted, it is everybody in the snapshots that are kept.

    Returns
    -------
    polars.DataFrame or None
        None if there are no releases, nothing of them is kept, or they have another key.
    """
    folder, releases = place.private_folder, place.releases
    if not releases or facts_of(place) is None:
        return None
    noted = pl.concat([read_table(file) for file in files]) if (files := noted_files(folder)) else None
    if noted is not None and "until" in noted.columns:
        return noted.filter(pl.col("since").is_in(releases))
    kept = ((release, kept_snapshot(folder / release)) for release in releases)
    found = _joined(_noted(place.home, taken.table, release) for release, taken in kept if taken is not None)
    if noted is None:
        return found if found.height else None
    return noted.filter(pl.col("since").is_in(releases)).join(found.drop("since"), on="person", how="left")


def noted_files(folder: Path) -> list[Path]:
    """Where it is noted who is in a series: a file, or one for each shard."""
    whole = folder / NOTED
    return [whole] if whole.exists() else sorted(folder.glob(f"{whole.stem}-*{whole.suffix}"))


def note_people(series: Series, release: str) -> None:
    """Keep who is in a release that is about to be published, with everybody of those before it.

    If it is never published after all, people who are new in it count for nobody.
    """
    folder = series.private(release)
    list(the_engine().run(note_shard, jobs_of(series, release, folder), most_people(series, folder)))


def note_shard(job: ShardJob) -> None:
    """Keep who of a shard is in a release, with everybody of those before it."""
    shard, series = job.shard, job.shard.series
    name = NOTED.replace(".", f"-{shard.place}.") if shard.place else NOTED
    file, people = series.private_folder / name, everybody_in(job.own)
    before = _before(shard, file)
    if before is None:
        noted = _noted(series.home, people, job.release)
    else:
        noted = with_release(before, series.home, people, job.release)
    write_working_table(file, sorted_by_names(noted, "person"))


def _before(shard: Shard, file: Path) -> pl.DataFrame | None:
    """People of a shard in the releases before."""
    if not shard.place:
        return people_of(shard.series)
    releases = shard.series.releases
    return read_table(file).filter(pl.col("since").is_in(releases)) if file.exists() else None


def with_release(before: pl.DataFrame, home: Home, people: pl.DataFrame, release: str) -> pl.DataFrame:
    """Those who were noted before a release, and the people of it, as `NOTED` says.

    Most people stay, and are known by the pseudonym that was noted of them. Only of others it is found out
    what the home calls them: they are new, or have another pseudonym than before.
    """
    known, own = (_numbers(one[PSEUDONYM]) for one in (before, people))
    stays = (known.is_in(own.implode()) & known.is_unique()).fill_null(value=False)
    noted = before.with_columns(
        since=pl.when(stays).then(pl.min_horizontal("since", pl.lit(release))).otherwise("since"),
        until=pl.when(stays).then(pl.lit(release)).otherwise("until"),
    )
    new = _noted(home, people.filter(~own.is_in(known.filter(stays).implode())), release)
    again = noted["person"].is_in(new["person"].implode())
    called = _joined([noted.filter(again), new])
    return pl.concat([noted.filter(~again)[called.columns], called])


def _numbers(pseudonyms: pl.Series) -> pl.Series:
    """The 16 bytes of each pseudonym as a number: polars looks these up several times as fast as bytes."""
    return persons_of(pseudonyms).bin.reinterpret(dtype=pl.Int128)


def _noted(home: Home, people: pl.DataFrame, release: str) -> pl.DataFrame:
    """A row for each person of a release, as `NOTED` says."""
    called = people.select(comparable(home, people[IDENTIFIER]), persons_of(people[PSEUDONYM]))
    return called.with_columns(since=pl.lit(release), until=pl.lit(release)).unique("person", keep="first")


def _joined(noted: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """A row per person: of tables with a row for each of their people, oldest first."""
    schema = {"person": pl.Binary, PSEUDONYM: pl.Binary, "since": pl.String, "until": pl.String}
    newest = [pl.coalesce(f"{name}_now", name).alias(name) for name in (PSEUDONYM, "until")]
    found = pl.DataFrame(schema=schema)
    for table in noted:
        both = found.join(table, on="person", how="full", coalesce=True, suffix="_now")
        found = both.with_columns(pl.min_horizontal("since", "since_now"), *newest)[list(schema)]
    return found
