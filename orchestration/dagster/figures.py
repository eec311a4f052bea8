"""The names of figures in the UI: what a reader knows, with their unit, in place of our names of fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMES = {
    "people": "people released",
    "tuples": "published tuples",
    "held_back": "people held back",
    "batch_counterfeits": "counterfeits for people who are not eligible",
    "carried": "people carried over",
    "returned": "people who returned",
    "inserted": "people who are new",
    "deferred_now": "new people held back",
    "deferred_alike": "most new people held back with the same combination",
    "deferred_alike_in_a_column": "most new people held back with the same value of a column",
    "new_held_back": "new people held back",
    "most_alike": "largest share of one combination among new people held back",
    "most_of_a_column": "largest share of one value of a column among new people held back",
    "deleted": "people who left",
    "separated": "people with another signature than before",
    "buckets": "signatures in use",
    "people_ever": "people ever released",
    "smallest_candidates": "fewest candidate values of a person, over all releases",
    "fewest_candidates_now": "fewest candidate values of a person in this release",
    "candidates_of_5_percent": "candidate values that 5 % of the people do not exceed",
    "median_candidates": "median candidate values of a person",
    "mean_candidates": "mean candidate values of a person",
    "smallest_candidates_by_host": "fewest candidate values of a person, knowing groups",
    "mean_covering_groups": "mean groups that cover a person",
    "risk_by_quasi_identifiers": "largest risk of a person, knowing quasi-identifiers (probability)",
    "risk_by_host": "largest risk of a person, knowing groups (probability)",
    "misled": "people without a candidate value",
    "exposed": "people exposed by counterfeits",
    "deferred": "people who were ever deferred: known to have a frequent value",
    "waiting": "people who are new and wait, all of them",
    "waited": "people who waited, and have the value among their candidates that most of these have",
    "guessed_waited": "values guessed right of people who waited (share)",
    "fewest_people": "fewest people in a group",
    "beside_counterfeits": "people in groups with counterfeits",
    "guessed_beside": "values guessed right beside counterfeits (share)",
    "lone_ends": "ends of intervals that are one person's own value",
    "largest_breach_probability": "largest probability of ever having had a value",
    "largest_by_frequencies": "largest risk of a new person, by frequencies (probability)",
}
"""What the UI calls a figure; others have the words of their field."""
CONSTANT = {"promises", "broken_promises", "hosts_known", "ends"}
"""Figures of an attack that are the same in every release that is published: they are no plot."""
SELDOM = {"batch_counterfeits"}
"""Figures that are shown where they are not 0."""


def as_text(figures: Mapping[str, Any]) -> dict[str, str]:
    """Figures as texts: what is promised stays as it is, and a plot of it would be a straight line."""
    return {name: f"{figure:,}" for name, figure in figures.items()}


def named(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Figures under the names that a reader knows; without those that could not be counted."""
    return {
        NAMES.get(name, name.replace("_", " ")): figure
        for name, figure in figures.items()
        if figure is not None and name not in CONSTANT and (figure or name not in SELDOM)
    }
