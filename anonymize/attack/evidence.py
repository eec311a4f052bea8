"""What a release promises, and whether it holds: one row per promise, the same for every attack."""

from __future__ import annotations

import polars as pl

COVERAGE = "coverage"
COUNTS = "counts"
HOSTS = "hosting groups"
SHARE = "share of a value"
CANDIDATES = "candidates by quasi-identifiers"
HOST_CANDIDATES = "candidates by hosting group"
CHANGES = "candidates after a change"
SERIES = "candidates over several series"
EQUIVALENCE = "equivalence"
EQUIVALENCE_DECIDED = "equivalence decided"
BREACH = "breach probability"
ROW_ORDER = "row order"
NUMBERING = "group numbering"
COUNTERFEITS = "counterfeits hidden"
IDENTIFIERS = "no identifiers"
UNREAD = "no other columns"
METADATA = "file metadata"

MEANINGS = {
    COVERAGE: "Everybody in the table lies in a published group that holds their value.",
    COUNTS: "There are as many tuples as people and counterfeits, so R(n) says the truth.",
    HOSTS: "Every group holds exactly the people it hosts, within its intervals, and its counterfeits.",
    SHARE: "No value is carried by a larger share of a group than promised.",
    CANDIDATES: "Who knows everybody's quasi-identifiers and stays is left with so many values each.",
    HOST_CANDIDATES: "Even who knows everybody's group in every release is left with so many values each.",
    CHANGES: "Intersecting over a change of value leaves none or so many values, never a few.",
    SERIES: "All series of the product together leave so many values each.",
    EQUIVALENCE: "No fewer people than promised are known to have the same values as others.",
    EQUIVALENCE_DECIDED: "The search for such people came to its end: about nobody was the time too short.",
    BREACH: "Nobody was ever linked to a value with a larger probability than promised.",
    ROW_ORDER: "The order of published rows says nothing about people.",
    NUMBERING: "The numbering of groups says nothing about people.",
    COUNTERFEITS: "No published column tells counterfeits from people.",
    IDENTIFIERS: "No identifier is published.",
    UNREAD: "No column is published that the format does not have.",
    METADATA: "The files carry no more than the tables.",
}

SCHEMA = {
    "promise": pl.String,
    "people": pl.Int64,
    "broken": pl.Int64,
    "found": pl.Float64,
    "required": pl.Float64,
    "holds": pl.Boolean,
}


def promise(
    name: str, people: int, broken: int, found: float | None = None, required: float | None = None
) -> pl.DataFrame:
    """One row of evidence.

    Parameters
    ----------
    name
        A constant of this module.
    people
        How many were looked at (people; for what concerns files, tables or groups).
    broken
        For how many of them the promise doesn't hold.
    found, required
        The worst figure found and the one promised, if it is about a figure.

    Returns
    -------
    pl.DataFrame
        `promise`, `people`, `broken`, `found`, `required`, `holds`.
    """
    row = (name, people, broken, found, required, broken == 0)
    return pl.DataFrame([row], schema=SCHEMA, orient="row")
