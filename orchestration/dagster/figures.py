"""Figures in the UI: under names that a reader knows, with the digits that matter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from republish.anonymize.contract import Table
from republish.anonymize.people.rows import as_counted

NAMES = {
    # a release
    "people": "people released",
    "different_people": "people released",
    "tuples": "published rows",
    "held_back": "people held back",
    "batch_counterfeits": "counterfeits for people who are not eligible",
    "carried": "people carried over",
    "returned": "people who returned",
    "inserted": "people who are new",
    "new": "people who are new",
    "deleted": "people who left",
    "separated": "people with another signature than before",
    "apart": "people whose value changed, in groups of their own",
    "buckets": "signatures in use",
    "largest_group": "people in the largest group",
    "values": "sensitive values that anybody has",
    "new_counterfeits": "counterfeits that the release adds",
    "cuts": "signatures whose graph has a smallest cut",
    "smallest_cut": "smallest cut of a signature's graph (weight)",
    "nodes": "nodes of all graphs or trees",
    "edges": "edges of all graphs",
    "links": "pairs of a person and a value with a part of the budget spent",
    "remembered": "people in the ledger",
    "forgotten": "people who left the ledger",
    "placed_no_more": "people whom no further release can place",
    "placed_once_more": "people whom one further release can place",
    "releases_left_of_most": "further releases that can place half of the people",
    "specializations": "steps from the most general view",
    "earlier_releases": "releases that the view is joined with",
    # what changed since the snapshot before
    "changed": "people whose value changed",
    "moved": "people whose quasi-identifiers changed",
    "corrected": "people whose wrong value was corrected",
    "renamed": "people with a value that looks renamed",
    "drifted": "people who left and are here under another form of their identifier",
    "all_but_one_character": "new identifiers that are like one that is gone, but for a character",
    "extended": "new people under the identifier of somebody who is gone, but for a prefix, a sign or an end",
    "people_before": "people in the snapshot before",
    "people_now": "people in the snapshot",
    "people_in_both": "people in both snapshots",
    # what an adversary is left with
    "people_ever": "people ever released",
    "vulnerable": "vulnerable people (of a view: records)",
    "misled": "people with no possible value left",
    "smallest_candidates": "possible values left, by quasi-identifiers (fewest)",
    "smallest_candidates_by_host": "possible values left, by group (fewest)",
    "fewest_candidates_now": "possible values left, of people in this release (fewest)",
    "candidates_of_5_percent": "possible values left (5 % have no more)",
    "median_candidates": "possible values left (median)",
    "mean_candidates": "possible values left (mean)",
    "mean_covering_groups": "groups that a person may be in (mean)",
    "risk_by_quasi_identifiers": "largest risk of a person, by quasi-identifiers (probability)",
    "risk_by_host": "largest risk of a person, by group (probability)",
    "exposed": "people exposed by counterfeits",
    "deferred": "people who were ever held back: known to have a frequent value",
    "waiting": "people who are new and wait, all of them",
    "waited": "people who waited, and may have the value that most of these have",
    "guessed_waited": "values guessed right of people who waited (share)",
    "fewest_people": "people in a group, without counterfeits (fewest)",
    "beside_counterfeits": "people in groups with counterfeits",
    "guessed_beside": "values guessed right beside counterfeits (share)",
    "lone_ends": "ends of intervals that are one person's own value",
    "smallest_equivalence": "people known to have the same values as others (fewest)",
    "largest_breach_probability": "largest probability of ever having had a value",
    "largest_by_frequencies": "largest risk of a new person, by frequencies (probability)",
    "persons": "people ever released",
    "most_rows": "rows of a person (most)",
    "most_values": "different values of a person (most)",
    "alike": "people with different values under one signature",
    "in_one_group": "people with two rows in one group",
    "ever_had": "largest probability of a value that a person ever had",
    "with_left_out": "the same, by all rows, also those left out",
    "smallest_class": "rows with the same quasi-identifiers (fewest)",
    "prosecutor_risk": "prosecutor risk (probability)",
    "journalist_risk": "journalist risk (probability)",
    "marketer_risk": "marketer risk (share of rows)",
    "fewest_values_of_a_class": "values of rows with the same quasi-identifiers (fewest)",
    "records_of_the_join": "records of all joins",
    "values_on_x": "combinations of the columns X",
    "linked_values": "possible values on Y of a value on X (fewest)",
    "linkability": "largest confidence from X to Y (share)",
}
"""What the UI calls a figure; others have the words of their field."""
OF_PERSONS = {
    *(
        "different_people",
        "people_before",
        "people_now",
        "people_in_both",
        "drifted",
        "extended",
        "persons",
        "alike",
    ),
    *("in_one_group", "remembered", "forgotten", "placed_no_more", "placed_once_more"),
    "releases_left_of_most",
}
"""Figures of people however many rows they have. All others count rows where people may have several."""
CONSTANT = {"promises", "broken_promises", "hosts_known", "ends"}
"""Figures of an attack that are the same in every release that is published: they are not shown."""
SELDOM = {"batch_counterfeits"}
"""Figures that are shown where they are not 0."""


def name_of(figure: str, contract: Table) -> str:
    """What the UI calls a figure of a series."""
    if figure not in NAMES:
        return figure.replace("_", " ")
    return NAMES[figure] if figure in OF_PERSONS else as_counted(NAMES[figure], contract)


def named(figures: Mapping[str, Any], contract: Table) -> dict[str, Any]:
    """Figures under the names that a reader knows; without those that could not be counted."""
    return {
        name_of(name, contract): legible(figure)
        for name, figure in figures.items()
        if figure is not None and name not in CONSTANT and (figure or name not in SELDOM)
    }


def legible(figure: Any) -> Any:
    """A number with three digits or all that stand before its point; anything else as it is.

    Examples
    --------
    >>> legible(0.2497314), legible(21.652833), legible(11826.8156), legible(20_000)
    (0.25, 21.7, 11827, 20000)
    """
    if not isinstance(figure, float):
        return figure
    return float(f"{figure:.3g}") if abs(figure) < 1000 else round(figure)
