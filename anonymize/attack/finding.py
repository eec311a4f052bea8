"""What an attack found on one promise: a row of figures, the same for every attack."""

from __future__ import annotations

import polars as pl

from anonymize.promise.promise import Promise

COVERAGE = "coverage"
COUNTS = "counts"
HOSTS = "hosting groups"
SHARE = "share of a value"
ENTRIES = "published entries"
INTERVALS = "one interval per group"
SIGNATURES = "signature invariance"
ASSIGNMENTS = "candidates by assignment"
RISK = "disclosure risk"
CHAIN = "manifest chain"
CLAIMS = "manifest claims"
CANDIDATES = "candidates by quasi-identifiers"
HOST_CANDIDATES = "candidates by hosting group"
CHANGES = "candidates after a change"
SERIES = "candidates over several series"
EQUIVALENCE = "equivalence"
BREACH = "breach probability"
ROW_ORDER = "row order"
NUMBERING = "group numbering"
COUNTERFEITS = "counterfeits hidden"
IDENTIFIERS = "no identifiers"
UNREAD = "no other columns"
METADATA = "file metadata"
JOIN = "join with earlier releases"

MEANINGS = {
    COVERAGE: "Every person in the table lies in a published group that holds their value.",
    COUNTS: "A release has as many tuples as people and stated counterfeits.",
    HOSTS: "Every group consists of its people, within its intervals, and its stated counterfeits.",
    SHARE: "No value is carried by a larger share of a group than promised.",
    CANDIDATES: "An adversary who knows every person's quasi-identifiers and dates of presence is left"
    " with at least the promised number of candidate values for each person.",
    ENTRIES: "No published entry is missing, unknown to the contract, stated twice, or an interval that"
    " ends before it begins.",
    INTERVALS: "All rows of a group have the same intervals.",
    SIGNATURES: "Each person's groups have one signature as long as the person stays with the same value, and"
    " it has as many values as promised, each once or all equally often.",
    ASSIGNMENTS: "The values that remain for a person, once all people of each release share out its tuples,"
    " are at least as many as promised.",
    RISK: "No person's value has a larger probability than promised, if all assignments of tuples to people"
    " are equally likely (Definition 14).",
    CHAIN: "Each release follows the one before it: no manifest is missing, replaced or in another place.",
    CLAIMS: "The manifest's numbers are those of the published tables.",
    HOST_CANDIDATES: "An adversary who knows every person's group in every release is left with at least the"
    " promised number of candidate values for each person.",
    CHANGES: "Intersecting the candidate values before and after a change of value leaves none, or at least"
    " the promised number.",
    SERIES: "All series of the product together leave at least the promised number of candidate values for"
    " each person.",
    EQUIVALENCE: "No group of people smaller than promised is known to have the same values as another.",
    BREACH: "No person was ever linked to a value with a larger probability than promised.",
    ROW_ORDER: "The order of published rows says nothing about people: tables in republish's own formats are"
    " sorted by all columns.",
    NUMBERING: "The numbering of groups says nothing about people: in republish's own formats groups are"
    " numbered by their content.",
    COUNTERFEITS: "No published column tells counterfeits from people.",
    IDENTIFIERS: "No identifier is published.",
    UNREAD: "No column is published that the release format does not have.",
    METADATA: "The files carry no more than the tables.",
    JOIN: "Joined with every earlier release, no value on X is linked to Y more closely than was promised.",
}

AT_MOST = {SHARE, RISK, BREACH}
"""Promises that a figure stays below what is promised; of all others it stays above. A join is either."""


def is_at_most(name: str, promise: Promise) -> bool:
    """Whether a figure is promised to stay below what is required, rather than above it.

    Parameters
    ----------
    name
        A constant of this module.
    promise
        Of a join, it says which of the two was promised.
    """
    return name in AT_MOST or (name == JOIN and promise.linkability is not None)


OF_FILES = {
    CHAIN,
    CLAIMS,
    ENTRIES,
    NUMBERING,
    INTERVALS,
    ROW_ORDER,
    COUNTERFEITS,
    IDENTIFIERS,
    UNREAD,
    METADATA,
}
"""Promises that are about files, rows and groups: their counts are not of people."""

SCHEMA = {
    "promise": pl.String,
    "people": pl.Int64,
    "broken": pl.Int64,
    "undecided": pl.Int64,
    "found": pl.Float64,
    "required": pl.Float64,
    "holds": pl.Boolean,
}


def finding(
    name: str,
    people: int,
    broken: int,
    found: float | None = None,
    required: float | None = None,
    undecided: int = 0,
) -> pl.DataFrame:
    """One row: what was found on a promise.

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
    undecided
        For how many of them there was no time to tell. They do not break the promise, and are stated.

    Returns
    -------
    polars.DataFrame
        `promise`, `people`, `broken`, `undecided`, `found`, `required`, `holds`.
    """
    row = (name, people, broken, undecided, found, required, broken == 0)
    return pl.DataFrame([row], schema=SCHEMA, orient="row")


def describe_findings(findings: pl.DataFrame, promise: Promise) -> str:
    """What was promised and what was found, in words: each promise with a figure, and how many without.

    Parameters
    ----------
    findings
        Rows that `finding` returned.
    promise
        What was promised.
    """
    has_figure = (
        pl.col("required").is_not_null()
        & pl.col("found").is_not_null()
        & (pl.col("promise") != COUNTERFEITS)  # the level of a statistical test, which says nothing alone
    )
    figured = findings.filter(has_figure)
    said = [
        f"{name}: at {'most' if is_at_most(name, promise) else 'least'} {required:.4g} promised,"
        f" {'largest' if is_at_most(name, promise) else 'fewest'} found {found:.4g}; {people:,} looked at"
        for name, required, found, people in figured.select(
            "promise", "required", "found", "people"
        ).iter_rows()
    ]
    said += [
        f"A column tells counterfeits from people as clearly as chance does in 1 of {1 / p:,.0f} releases;"
        f" from 1 of {1 / level:,.0f} on, none is published"
        for p, level in findings.filter((pl.col("promise") == COUNTERFEITS) & (pl.col("undecided") > 0))
        .select("found", "required")
        .iter_rows()
    ]
    others = findings.filter(~has_figure)
    if others.height:
        said.append(f"{others['holds'].sum()} of {others.height} promises without a figure hold")
    return ". ".join(f"{one[0].upper()}{one[1:]}" for one in said) + "."
