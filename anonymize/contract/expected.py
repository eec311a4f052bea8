"""Expectations of the publisher: figures of a snapshot and of a release beside what is ordinary."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import polars as pl

from republish.anonymize.contract import Product
from republish.anonymize.contract.expect import CHANGED, FREE_TEXT, OWN_VALUES
from republish.anonymize.figures import Counted, Figures, Total

RENAMED = "renamed"
"""The measure of people whose value looks renamed: expected of nobody, and accepted by this name."""
IDENTIFIERS = "identifiers"
"""The measure of people whose identifier is there in another form: expected of nobody."""
EXTENDED = "extended_identifiers"
"""The measure of people whose identifier gained or lost characters: accepted by this name."""
LABELS = "labels"
"""The measure of codes that mean something else than before: accepted by this name."""
ALIKE = "alike"
"""The measure of people who left while others came who are alike in every column: expected of nobody."""
MOVED = "moved"
"""The measure of people who have another value of a quasi-identifier."""
MOST_EXTENDED, FEWEST_EXTENDED = 0.01, 5
"""The share of people who may look like that, and so few such people say nothing."""
MOST_OWN, MOST_OWN_CODES, FEWEST_OWN = 0.5, 0.9, 20
"""The share of people who may have a sensitive value that nobody else has; that share where nearly all of
these values are codes, as diagnoses of a few hundred patients are; and so few such people say nothing."""
NOT_EXPECTED = (RENAMED, IDENTIFIERS, EXTENDED, ALIKE, LABELS, OWN_VALUES, FREE_TEXT)
"""Measures of which no key of `expect` says how many people, or codes, may be concerned."""
SCHEMA = {
    "measure": pl.String,
    "column": pl.String,
    "found": pl.Float64,
    "least": pl.Float64,
    "most": pl.Float64,
    "accepted": pl.Boolean,
    "odd": pl.Int64,
}


@dataclass(frozen=True, kw_only=True)
class DeltaFigures(Figures):
    """The numbers of people by what became of them since the snapshot before; None if it can't be counted.

    Where people may have several rows, these are numbers of rows, and those of the people stand beside them.
    """

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
    extended: Counted = None
    """Inserted under an identifier that is a deleted one with more or fewer characters at one place."""
    alike: Counted = None
    """Deleted, while somebody was inserted who is alike in every column, and chance does not make so many."""
    people_before: Counted = None
    """The people of the snapshot before, where they may have several rows; so are the next two."""
    people_now: Counted = None
    """Those of this snapshot."""
    people_in_both: Counted = None
    """Those of both."""

    @property
    def in_both(self) -> int:
        """People, or rows, in both snapshots."""
        return self.carried + self.changed + self.corrected

    def of_people(self) -> tuple[int, int, int]:
        """The people of the snapshot before, of this one and of both, however many rows they have."""
        if self.people_before is None or self.people_now is None or self.people_in_both is None:
            return self.in_both + self.deleted, self.in_both + self.inserted, self.in_both
        return self.people_before, self.people_now, self.people_in_both


Expected = tuple[str, str | None, float, float | None, float | None]
"""A measure, the column that it is of: what was found, and the least and the most that are ordinary."""


def expected_of_snapshot(
    figures: DeltaFigures,
    contract: Product,
    accepted: Collection[str],
    own: pl.DataFrame | None = None,
    relabelled: Mapping[str, int] = MappingProxyType({}),
    moved: Collection[tuple[str, float, float]] = (),
) -> pl.DataFrame:
    """`measure`, `column`, `found`, `least`, `most`, `accepted`, `odd`: a snapshot beside what is ordinary.

    There is one row for each of `people`, `carried`, `new`, `changed`, `renamed`, `alike` and, if enough
    people are carried, `identifiers` and `extended_identifiers`; of the first snapshot for `people` alone.
    Beside that, there are `own_values` and `free_text` of each sensitive column, by the publisher's name, if
    `own_values` counted it (`own`), and `labels` of each column with codes whose label is another one
    (`relabelled` says of how many), and `moved` of each quasi-identifier, with the share of people who have
    another value and the most that is ordinary; `column` is null elsewhere. `odd` is 1 where what was found
    is neither ordinary nor `accepted` this once. Values are those of rows, where people may have several; who
    comes, stays and leaves are people.
    """
    expect = contract.expect
    before, people, stayed = figures.of_people()
    fewest, most = expect.people or (1, None)
    rows: list[Expected] = [("people", None, float(people), float(fewest), most)]
    if before:
        changed = expect.changed
        if changed is None:
            sensitive = contract.sensitive
            changed = CHANGED if sensitive is not None and sensitive.semantics == "persistent" else 1.0
        rows += [
            ("carried", None, stayed / before, expect.carried, None),
            ("new", None, (people - stayed) / max(1, people), None, expect.new),
            ("changed", None, figures.changed / max(1, figures.in_both), None, changed),
            (RENAMED, None, float(figures.renamed or 0), None, 0.0),
        ]
        few = few_of(people)
        extended = figures.extended or 0
        if stayed / before >= expect.carried:  # else it is `carried` that is odd
            rows.append((IDENTIFIERS, None, float(figures.drifted or 0), None, 0.0))
            rows.append((EXTENDED, None, float(extended), None, few))
        if stayed / before < expect.carried or extended <= few:  # else it is asked about already
            rows.append((ALIKE, None, float(figures.alike or 0), None, few))
    rows += [(MOVED, column, found, None, most) for column, found, most in moved]
    rows += [(LABELS, column, float(codes), None, 0.0) for column, codes in relabelled.items()]
    for column in () if own is None else own.iter_rows(named=True):
        rows += _expected_of_column(**column)
    return _judged(rows, accepted)


def few_of(people: int) -> float:
    """The most of so many people who may seem to be others of the snapshot before, by chance."""
    return max(MOST_EXTENDED * people, FEWEST_EXTENDED - 1)


def _expected_of_column(column: str, people: int, own: int, texts: int, codes: int) -> list[Expected]:
    """Expect few people to have a value of their own in a column; nothing where hardly anybody does."""
    most = MOST_OWN_CODES if codes >= MOST_OWN_CODES * own else MOST_OWN
    rows: list[Expected] = [(OWN_VALUES, column, own / people, None, most)] if own >= FEWEST_OWN else []
    return [*rows, (FREE_TEXT, column, texts / people, None, 0.0)] if texts else rows


def expected_of_release(
    counterfeits: int,
    tuples: int,
    contract: Product,
    accepted: Collection[str],
    guessed: float | None = None,
) -> pl.DataFrame:
    """A release beside what is ordinary, as `expected_of_snapshot` has it.

    The row `counterfeits` is the share of the tuples that nobody stands behind; `guessed`, where it was
    measured, the share of the people whose value is guessed right by learning from the groups.
    """
    expect = contract.expect
    rows: list[Expected] = [("counterfeits", None, counterfeits / max(1, tuples), None, expect.counterfeits)]
    rows += [] if guessed is None else [("guessed", None, guessed, None, expect.guessed)]
    return _judged(rows, accepted)


def describe_odd(evidence: pl.DataFrame, counted: str = "people") -> list[str]:
    """Describe for a publisher each odd measure: what was found and what is expected.

    `counted` is what a snapshot's rows are counted in (`counted_in`).
    """
    return [
        _words(counted, **{name: row[name] for name in ("measure", "column", "found", "least", "most")})
        for row in evidence.filter(pl.col("odd") > 0).iter_rows(named=True)
    ]


def describe_expected(evidence: pl.DataFrame, counted: str = "people") -> str:
    """Every measure in a publisher's words: what was found, and what is expected; `counted` as above."""
    return "; ".join(
        f"{_meaning(counted, measure, column, found)}"
        f" ({_limits(least, most)}{', accepted' if accepted else ''})"
        for measure, column, found, least, most, accepted in evidence.select(
            "measure", "column", "found", "least", "most", "accepted"
        ).iter_rows()
    )


def _limits(least: float | None, most: float | None) -> str:
    ends = (("at least", least), ("at most", most))
    return " and ".join(f"{word} {end:,.10g}" for word, end in ends if end is not None) + " is expected"


_MEANINGS = {
    "people": "the snapshot has {found:,.0f} people",
    "carried": "{found:.1%} of the people of the snapshot before are in this one",
    "new": "{found:.1%} of the people were not in the snapshot before",
    "changed": "{found:.1%} of the {counted} in both snapshots have another sensitive value",
    RENAMED: "{found:,.0f} {counted} have a value that looks renamed",
    IDENTIFIERS: "{found:,.0f} people of the snapshot before are here under an identifier in another form"
    " (spaces, capital letters, leading zeros, signs that nobody sees)",
    EXTENDED: "{found:,.0f} people are new under the identifier of somebody who is gone, but for characters"
    " more or less (a prefix, a hyphen, a last letter), and much else of them is the same",
    ALIKE: "{found:,.0f} people left, and as many came who are alike in every column, more than chance makes:"
    " are they the same people, under other identifiers?",
    MOVED: "{found:.1%} of the {counted} in both snapshots have another {column}",
    "counterfeits": "{found:.1%} of the tuples would be counterfeits",
    "guessed": "{found:.1%} of the people's values would be guessed right by learning from the groups",
    LABELS: "{found:,.0f} of the codes of {column} mean something else than before",
    OWN_VALUES: "{found:.1%} of the {counted} have a value of {column} that nobody else has",
    FREE_TEXT: "{found:.1%} of the {counted} have a value of {column} that nobody else has and that looks"
    " like a sentence, a number of a person or an address",
}


MEASURES = tuple(_MEANINGS)
"""The names by which what is odd is accepted."""


def _meaning(counted: str, measure: str, column: str | None, found: float) -> str:
    return _MEANINGS[measure].format(counted=counted, found=found, column=column)


def _words(
    counted: str, measure: str, column: str | None, found: float, least: float | None, most: float | None
) -> str:
    meaning = _meaning(counted, measure, column, found)
    if measure in NOT_EXPECTED:
        return meaning
    limit = f"at least {least:,.10g}" if least is not None and found < least else f"at most {most:,.10g}"
    return f"{meaning}; expect.{measure} says {limit}"


def _judged(rows: list[Expected], accepted: Collection[str]) -> pl.DataFrame:
    odd = [
        (least is not None and found < least) or (most is not None and found > most)
        for *_, found, least, most in rows
    ]
    judged = [
        (*row, row[0] in accepted, int(is_odd and row[0] not in accepted))
        for row, is_odd in zip(rows, odd, strict=True)
    ]
    return pl.DataFrame(judged, schema=SCHEMA, orient="row")
