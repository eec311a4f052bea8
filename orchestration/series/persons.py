"""People across series: what all products of a home call them, and who was forgotten."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from republish.anonymize.columns import IDENTIFIER, exactly
from republish.anonymize.people.pseudonyms import pseudonyms
from republish.anonymize.people.randomness import derive_key
from republish.anonymize.spelling import identifier_forms
from republish.orchestration.series.place import Place
from republish.orchestration.storage.home import Home
from republish.orchestration.storage.store import read_table

FORGOTTEN = "forgotten.parquet"
"""In the private folder of a product: `person`, as all products of the home call them; `series`, and
`through`, its last release when they were forgotten; `again`, whether they may be published again;
`published`, whether they were in any release."""
FORGOTTEN_SCHEMA = {
    "person": pl.Binary,
    "series": pl.String,
    "through": pl.String,
    "again": pl.Boolean,
    "published": pl.Boolean,
}


def comparable(home: Home, identifiers: pl.Series) -> pl.Series:
    """The pseudonyms that all products of a home have in common: 16 bytes each, in the identifiers' order.

    They are of the identifiers' normal form, under a key that serves nothing else.
    """
    if identifiers.dtype != pl.Binary:
        identifiers = identifier_forms(identifiers)
    return pseudonyms(identifiers, derive_key(home.key(), "people of all products")).rename("person")


def forgotten_file(home: Home, product: str) -> Path:
    """Where it is kept whom a product has forgotten."""
    return home.private(product, "") / FORGOTTEN


def forgotten(home: Home, product: str) -> pl.DataFrame:
    """Whom a product has forgotten, as `FORGOTTEN` says: a row per person and series.

    Version 0.3 wrote no `series`: it is null there, and means each of them.
    """
    file = forgotten_file(home, product)
    table = read_table(file) if file.exists() else pl.DataFrame(schema=FORGOTTEN_SCHEMA)
    known = [name for name in FORGOTTEN_SCHEMA if name in table.columns]
    return pl.concat([pl.DataFrame(schema=FORGOTTEN_SCHEMA), table.select(exactly(*known))], how="diagonal")


def of_series(name: str) -> pl.Expr:
    """Which rows of `forgotten` are about a series."""
    return pl.col("series").is_null() | (pl.col("series") == name)


def without_forgotten(place: Place, people: pl.DataFrame, release: str) -> pl.DataFrame:
    """A snapshot without those who were forgotten: for good, or since the release was published."""
    since = of_series(place.series) & (pl.col("through") >= release)
    gone = forgotten(place.home, place.product).filter(~pl.col("again") | since)
    if not gone.height:
        return people
    return people.filter(~comparable(place.home, people[IDENTIFIER]).is_in(gone["person"].implode()))
