"""People forgotten by the contract's rule: those whom no snapshot of the product has had for long enough."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from republish.anonymize.columns import IDENTIFIER
from republish.anonymize.errors import ContractError
from republish.orchestration.chain.population_overlap import people_of
from republish.orchestration.chain.snapshot import PEOPLE, everybody_in
from republish.orchestration.rights.asked import NOBODY, series_of
from republish.orchestration.rights.forget import Forgetting, forget, what_is_kept
from republish.orchestration.series.persons import comparable, forgotten
from republish.orchestration.series.place import Place
from republish.orchestration.series.series import Series
from republish.orchestration.storage.home import Home


@dataclass(frozen=True)
class Absent:
    """Whom the rule of a contract is about."""

    persons: pl.Series
    """As all products of the home call them. Whoever is forgotten already is not among them."""
    unknown: int
    """People of whom the home does not say when they were there last: only a list can name them."""


def absent(series: Series) -> Absent:
    """People who were in no snapshot of the product for as long as the contract says.

    It is told from `people.parquet` of each series, which has everybody whatever else is deleted.

    Raises ContractError if the contract has no rule.
    """
    home, rule = series.home, series.contract.retention
    if rule is None:
        where = "retention: is missing, and says whom to forget: retention: {absent_for: 3 years}"
        raise ContractError(str(series.file.path), [("", where)])
    places = series_of(home, series.product)
    noted = [people for place in places if (people := people_of(place)) is not None]
    if not noted:
        return Absent(NOBODY, 0)
    begins = rule.begins(max(release for place in places for release in place.releases))
    seen = pl.concat([people.select("person", "until") for people in noted])
    last = seen.group_by("person").agg(pl.max("until"), is_known=pl.col("until").is_not_null().all())
    last = last.filter((pl.col("until") <= begins) | pl.col("until").is_null())
    last = last.filter(~pl.col("person").is_in(_in_new_snapshots(home, places).implode()))
    gone = forgotten(home, series.product).filter(pl.lit(value=not rule.never_again) | ~pl.col("again"))
    before = gone.group_by("person").agg(pl.max("through"))
    last = last.join(before, on="person", how="left")
    last = last.filter(pl.col("through").is_null() | (pl.col("through") < pl.col("until")))
    return Absent(last.filter("is_known")["person"], last.filter(~pl.col("is_known")).height)


def would_be_forgotten(series: Series) -> list[Forgetting]:
    """Count what is kept of the people whom the rule is about; nothing is changed."""
    return what_is_kept(series, [], absent(series).persons)


def forget_absent(series: Series, *, releasing: bool = False) -> list[Forgetting]:
    """Forget the people whom the rule is about, all of them or nobody.

    As part of a release (`releasing`), it does not take the lock that whoever makes one holds.

    Raises ContractError or HomeError as `absent` and `forget` do.
    """
    rule = series.contract.retention
    again = rule is None or not rule.never_again
    return forget(series, [], lambda: absent(series).persons, again=again, releasing=releasing)


def _in_new_snapshots(home: Home, places: list[Place]) -> pl.Series:
    """People in snapshots that were taken and are not published yet: they are back."""
    new = (
        folder
        for place in places
        for folder in place.private_folder.glob("2*")
        if folder.name not in place.releases
    )
    kept = (everybody_in(folder) for folder in new if (folder / PEOPLE).exists())
    return pl.concat([NOBODY, *(comparable(home, people[IDENTIFIER]) for people in kept)])
