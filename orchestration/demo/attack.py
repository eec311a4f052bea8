"""The figures of the demo: what an attacker who keeps every release learns, with republish and without it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from republish.anonymize.attack.coverage import value_domain
from republish.anonymize.attack.intersection import candidates, intersect
from republish.anonymize.baseline.mondrian import mondrian
from republish.anonymize.columns import IDENTIFIER, VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.formats import Published
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.principles import principle_of
from republish.anonymize.promise import Candidates
from republish.orchestration.audit.read.folders import PublishedSeries, Reading, find_series, read_release
from republish.orchestration.series.series import Series
from republish.orchestration.snapshots.sources import read_snapshot, source_of


def what_an_attacker_learns(series: Series) -> list[str]:
    """Five sentences on the published releases of the demo, with counts and nothing of any one patient.

    Both kinds of releases are attacked by the same code: each patient's candidate values are intersected over
    all releases, for an attacker who knows all quasi-identifiers and dates of presence.

    Parameters
    ----------
    series
        The demo's. Its snapshots are the truth.

    Returns
    -------
    list of str
        No sentences if there is a single release, or the contract's principle promises no candidate values.
    """
    contract = series.contract
    assert isinstance(contract, Contract), "the demo publishes a table of people"
    part = principle_of(contract).promise(contract.principle).part(Candidates)
    (published,) = find_series([series.published_folder], None)
    releases = [release.name for release in published.releases]
    if part is None or len(releases) < 2:
        return []
    promised = part.candidates
    snapshots = [_people(series, release) for release in releases]
    people = _histories(snapshots)
    alone = (mondrian(snapshot, contract, promised) for snapshot in snapshots)
    narrowed = [
        people.join(_fewest_candidates(snapshots, made, series), on="person")
        for made in (alone, _read(published, series))
    ]
    return [
        *_the_attack(narrowed, promised, len(releases)),
        _counterfeits(published),
        *_cases(narrowed, promised),
    ]


def _people(series: Series, release: str) -> pl.DataFrame:
    """`person`, `qi_0`, …, `value`: the truth behind a release."""
    return read_snapshot(source_of(series.file, release)).rename({IDENTIFIER: "person"})


def _histories(snapshots: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """`person`, and whether each was in all releases (`stayed`), came back (`returned`), or `changed`."""
    seen = pl.concat(
        snapshot.select("person", VALUE, release=pl.lit(number)) for number, snapshot in enumerate(snapshots)
    )
    there, release = pl.len(), pl.col("release")
    return seen.group_by("person").agg(
        (there == len(snapshots)).alias("stayed"),
        (release.max() - release.min() + 1 > there).alias("returned"),
        (pl.col(VALUE).n_unique() > 1).alias("changed"),
    )


def _read(published: PublishedSeries, series: Series) -> Iterator[Published]:
    """The releases as everybody who has the published folder can read them."""
    contract = series.contract
    release_format = principle_of(contract).format(contract)
    for release in published.releases:
        tables = read_release(release, release_format, contract, None, Reading())
        yield release_format.read(release_format.internal(tables, contract), contract)


def _fewest_candidates(
    snapshots: Sequence[pl.DataFrame], releases: Iterable[Published], series: Series
) -> pl.DataFrame:
    """`person`, `candidates`: how many values the attack leaves; of a person with several, the fewest."""
    domain = value_domain(*(snapshot[VALUE] for snapshot in snapshots))
    state, contract = None, series.contract
    assert isinstance(contract, Contract)
    for number, (snapshot, release) in enumerate(zip(snapshots, releases, strict=True), start=1):
        state = intersect(knowledge_table(snapshot, contract), release, domain, number, state)
    return candidates([state] if state is not None else []).group_by("person").agg(pl.col("candidates").min())


def _the_attack(narrowed: Sequence[pl.DataFrame], promised: int, releases: int) -> list[str]:
    alone, ours = (table.filter("stayed") for table in narrowed)
    without = (
        f"Without republish: each quarter is anonymized by itself, {promised} or more diseases in each group."
        f" An attacker who keeps all {releases} releases and knows every patient's quasi-identifiers narrows"
        f" {_below(alone, promised):,} of the {len(alone):,} patients in all of them down to fewer than"
        f" {promised} diseases, and knows the disease of {_below(alone, 2):,}."
    )
    with_republish = (
        "With republish: the same attack on the published folders narrows"
        f" {_below(ours, promised):,} of these {len(ours):,} patients down to fewer than {promised} diseases,"
        f" and knows the disease of {_below(ours, 2):,}."
    )
    return [without, with_republish]


def _counterfeits(published: PublishedSeries) -> str:
    manifests = {release.name: release.manifest or {} for release in published.releases}
    stated = {name: manifest["counterfeits"] for name, manifest in manifests.items()}
    tuples = sum(manifest["tuples"] for manifest in manifests.values())
    most = max(manifests, key=lambda name: stated[name])
    return (
        f"Counterfeits: {sum(stated.values()):,} of {tuples:,} published rows stand for nobody,"
        f" {stated[most]:,} of them in {most}. They fill the places of patients who left."
    )


def _cases(narrowed: Sequence[pl.DataFrame], promised: int) -> list[str]:
    """Of people who returned, and of those whose value changed."""
    happened = {
        "returned": ("Returns", "patients came back after an absence"),
        "changed": ("Changes", "patients' disease changed"),
    }
    sentences = []
    for case, (name, what) in happened.items():
        without, ours = (table.filter(case) for table in narrowed)
        sentences.append(
            f"{name}: {len(ours):,} {what}. The attack narrows {_below(without, promised):,} of them down to"
            f" fewer than {promised} diseases without republish, and {_below(ours, promised):,} with it."
        )
    return sentences


def _below(narrowed: pl.DataFrame, bound: int) -> int:
    return int((narrowed["candidates"] < bound).sum())
