"""Expectations of the publisher: figures of a snapshot and of a release beside what is ordinary."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import polars as pl

from anonymize.contract import Product
from anonymize.contract.expect import CHANGED
from anonymize.figures import Counted, Figures, Total

RENAMED = "renamed"
"""The measure of people whose value looks renamed: expected of nobody, and accepted by this name."""
IDENTIFIERS = "identifiers"
"""The measure of people whose identifier is there in another form: expected of nobody."""
SCHEMA = {
    "measure": pl.String,
    "found": pl.Float64,
    "least": pl.Float64,
    "most": pl.Float64,
    "accepted": pl.Boolean,
    "odd": pl.Int64,
}


@dataclass(frozen=True, kw_only=True)
class DeltaFigures(Figures):
    """How many people became what since the snapshot before; None where that can't be counted."""

    carried: Total
    """In both snapshots, with the same sensitive value."""
    changed: Total
    """In both, with another one."""
    deleted: Total
    """In the snapshot before alone."""
    inserted: Total
    """In this snapshot alone."""
    moved: Total = 0
    """In both, with another quasi-identifier."""
    corrected: Total = 0
    """In both, with another sensitive value, which is the right one of what was wrong so far."""
    renamed: Counted = None
    """With a value that looks renamed."""
    drifted: Counted = None
    """Deleted, while their identifier is there in another form."""
    all_but_one_character: Counted = None
    """Inserted under an identifier that is like a deleted one but for a character."""


Expected = tuple[str, float, float | None, float | None]
"""A measure: what was found, and the least and the most that are ordinary."""


def expected_of_snapshot(figures: DeltaFigures, contract: Product, accepted: Collection[str]) -> pl.DataFrame:
    """`measure`, `found`, `least`, `most`, `accepted`, `odd`: a snapshot beside what is ordinary.

    Parameters
    ----------
    figures
        What became of the people.
    contract
        Its `expect`, and whether values are persistent.
    accepted
        Measures that may be odd this once.

    Returns
    -------
    polars.DataFrame
        One row for each of `people`, `carried`, `new`, `changed`, `renamed` and, if enough people are
        carried, `identifiers`; of the first snapshot for `people` alone. `odd` is 1 where what was found is
        neither ordinary nor accepted.
    """
    expect = contract.expect
    both = figures.carried + figures.changed + figures.corrected
    before, people = both + figures.deleted, both + figures.inserted
    fewest, most = expect.people or (1, None)
    rows: list[Expected] = [("people", float(people), float(fewest), most)]
    if before:
        changed = expect.changed
        if changed is None:
            sensitive = contract.sensitive
            changed = CHANGED if sensitive is not None and sensitive.semantics == "persistent" else 1.0
        rows += [
            ("carried", both / before, expect.carried, None),
            ("new", figures.inserted / max(1, people), None, expect.new),
            ("changed", figures.changed / max(1, both), None, changed),
            (RENAMED, float(figures.renamed or 0), None, 0.0),
        ]
        if both / before >= expect.carried:  # else it is `carried` that is odd
            rows.append((IDENTIFIERS, float(figures.drifted or 0), None, 0.0))
    return _judged(rows, accepted)


def expected_of_release(
    counterfeits: int, tuples: int, contract: Product, accepted: Collection[str]
) -> pl.DataFrame:
    """The same for a release: one row, `counterfeits`, the share of the tuples that nobody stands behind.

    Parameters
    ----------
    counterfeits, tuples
        How many of each the candidate has.
    contract, accepted
        As for `expected_of_snapshot`.
    """
    return _judged(
        [("counterfeits", counterfeits / max(1, tuples), None, contract.expect.counterfeits)], accepted
    )


def describe_odd(evidence: pl.DataFrame) -> list[str]:
    """What is odd, in a publisher's words: the measure, what was found and what is expected."""
    return [
        _words(**{name: row[name] for name in ("measure", "found", "least", "most")})
        for row in evidence.filter(pl.col("odd") > 0).iter_rows(named=True)
    ]


def describe_expected(evidence: pl.DataFrame) -> str:
    """Every measure in a publisher's words: what was found, and what is expected."""
    return "; ".join(
        f"{_MEANINGS[measure].format(found=found)} ({_limits(least, most)}{', accepted' if accepted else ''})"
        for measure, found, least, most, accepted in evidence.select(
            "measure", "found", "least", "most", "accepted"
        ).iter_rows()
    )


def _limits(least: float | None, most: float | None) -> str:
    ends = (("at least", least), ("at most", most))
    return " and ".join(f"{word} {end:,.10g}" for word, end in ends if end is not None) + " is expected"


_MEANINGS = {
    "people": "the snapshot has {found:,.0f} people",
    "carried": "{found:.1%} of the people of the snapshot before are in this one",
    "new": "{found:.1%} of the people were not in the snapshot before",
    "changed": "{found:.1%} of the people in both snapshots have another sensitive value",
    RENAMED: "{found:,.0f} people have a value that looks renamed",
    IDENTIFIERS: "{found:,.0f} people of the snapshot before are here under an identifier in another form"
    " (spaces, capital letters, leading zeros, signs that nobody sees)",
    "counterfeits": "{found:.1%} of the tuples would be counterfeits",
}


MEASURES = tuple(_MEANINGS)
"""The names by which what is odd is accepted."""


def _words(measure: str, found: float, least: float | None, most: float | None) -> str:
    if measure in (RENAMED, IDENTIFIERS):  # no key of `expect` says how many may
        return _MEANINGS[measure].format(found=found)
    limit = f"at least {least:,.10g}" if least is not None and found < least else f"at most {most:,.10g}"
    return f"{_MEANINGS[measure].format(found=found)}; expect.{measure} says {limit}"


def _judged(rows: list[Expected], accepted: Collection[str]) -> pl.DataFrame:
    odd = [
        (least is not None and found < least) or (most is not None and found > most)
        for _, found, least, most in rows
    ]
    judged = [
        (*row, row[0] in accepted, int(is_odd and row[0] not in accepted))
        for row, is_odd in zip(rows, odd, strict=True)
    ]
    return pl.DataFrame(judged, schema=SCHEMA, orient="row")
