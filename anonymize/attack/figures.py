"""The figures of each attack, whose names the parts of a promise show in reports.

A figure is None where there was nothing to count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

from republish.anonymize.figures import (
    Counted,
    Counts,
    Figures,
    FromCounts,
    Least,
    MeanBy,
    Most,
    Total,
    Weight,
    mean,
    reached,
    undivided,
)


@dataclass(frozen=True, kw_only=True)
class AttackFigures(Figures):
    """Counts that every attack on a release has, whatever the release promises."""

    people: Total
    """People whom the release may have."""
    hosts_known: Total
    """Those of them whose group is known."""
    promises: Annotated[int, max]
    """Rows of findings."""
    broken_promises: Total
    """Those that do not hold."""


@dataclass(frozen=True, kw_only=True)
class CandidateFigures(Figures):
    """Candidate values that are left of people, after intersecting all releases so far."""

    people_ever: Total
    """People in any release so far."""
    vulnerable: Total
    """Of these, lifespans with one value that have one candidate value left: it is known."""
    smallest_candidates: Least = None
    """The fewest candidate values, of anybody ever published who has any."""
    mean_candidates: Annotated[float | None, FromCounts("by_candidates", mean)] = None
    """The mean number of candidate values of the people in this release."""
    mean_covering_groups: Annotated[float | None, FromCounts("by_covering_groups", mean)] = None
    """The mean number of groups that cover a person of this release."""
    fewest_candidates_now: Least = None
    """The fewest candidate values of the people in this release."""
    candidates_of_5_percent: Annotated[
        int | None, FromCounts("by_candidates", partial(reached, share=0.05))
    ] = None
    """The number of candidate values that 5 % of them do not exceed."""
    median_candidates: Annotated[int | None, FromCounts("by_candidates", partial(reached, share=0.5))] = None
    """The number that half of them do not exceed."""
    risk_by_quasi_identifiers: Most = None
    """One by `smallest_candidates`."""
    changed: Total
    """People whose value changed so far."""
    misled: Total
    """People of whom no candidate value is left, over all their values."""
    smallest_candidates_by_host: Least = None
    """As `smallest_candidates`, for an adversary who knows people's groups."""
    risk_by_host: Most = None
    """One by that."""
    by_candidates: Counts = field(default_factory=dict)
    """The people in this release by their candidate values."""
    by_covering_groups: Counts = field(default_factory=dict)
    """The same people by the groups that cover them."""


@dataclass(frozen=True, kw_only=True)
class RiskFigures(Figures):
    """Exact risks, over all releases of a series."""

    tuples: Total
    """Pairs of a person and their value."""
    decided: Total
    """Those whose risk could be counted."""
    largest: Most
    """The largest of these risks."""
    certain: Total
    """Risks of 1."""
    repeated: Total = 0
    """Those connected with groups that have several rows of a value that may be known."""
    exceeding: Total = 0
    """Those of them whose risk, counted without numbers for such rows, is larger than promised."""
    left_out: Annotated[int, max] = 0
    """Releases with too many choices to be matched."""


@dataclass(frozen=True)
class ShareFigures(Figures):
    """Shares of values in groups, for an adversary who knows the algorithm."""

    exposed: Counted = None
    """People who share a group with a counterfeit, and of whom more is learned than was promised."""


@dataclass(frozen=True)
class MinimumPeopleFigures(Figures):
    """People beside counterfeits."""

    fewest_people: Least
    """The fewest people in a group, counterfeits left out."""
    beside_counterfeits: Total
    """People who share a group with a counterfeit."""
    guessed_beside: Annotated[float | None, MeanBy("beside_counterfeits")]
    """The share of these who have the value of their group that is the most frequent in the table."""


@dataclass(frozen=True, kw_only=True)
class SeveralRowsFigures(Figures):
    """People with several rows, and what is learned from all of them."""

    persons: Counted = None
    """People ever published."""
    most_rows: Most = None
    """The most rows of a person in this release."""
    most_values: Most = None
    """The most different values of a person that were ever published."""
    alike: Counted = None
    """People who ever had rows of different values under one signature."""
    in_one_group: Counted = None
    """People with two rows in one group of this release: everybody sees that their values differ."""
    ever_had: Most = None
    """The largest probability of a value that a person ever had, by rows that were published."""
    with_left_out: Most = None
    """The same by all rows, also those that are left out."""


@dataclass(frozen=True, kw_only=True)
class AbsenceFigures(Figures):
    """People who are in the table and were not published."""

    deferred: Counted = None
    """People of this table who were ever held back while others who were new were published."""
    waiting: Counted = None
    """People who are new and wait, all of them."""
    waited: Counted = None
    """People who waited so until this release, and whose signature has the value that most of theirs have."""
    guessed_waited: Annotated[float | None, MeanBy("waited")] = None
    """The share of these who have that value."""


@dataclass(frozen=True)
class EndFigures(Figures):
    """Ends of published intervals, two of each quasi-identifier and group."""

    ends: Total
    """All of them."""
    lone_ends: Total
    """Those that are the value of exactly one person of the snapshot (of a divided one, of the shard): they
    say in which group this person is. An end that the grid of `min_width` makes is nobody's."""


@dataclass(frozen=True)
class BreachFigures(Figures):
    """Breach probabilities."""

    largest_breach_probability: Most
    """The largest probability with which anybody was ever linked to one value."""


@dataclass(frozen=True)
class ArrivalFigures(Figures):
    """Probabilities, by frequencies of values, of the people who are in a release for the first time."""

    largest_by_frequencies: Most
    """The largest probability of any value of any of them."""


@dataclass(frozen=True)
class EquivalenceFigures(Figures):
    """Equivalence attacks on a whole series."""

    smallest_equivalence: Least
    """The fewest people who are known to have the same values as others."""


@dataclass(frozen=True, kw_only=True)
class LinkageFigures(Figures):
    """Rows and people with the same quasi-identifiers, in one release by itself.

    Of shards, a class is the rows of one shard with the same quasi-identifiers: an adversary may know who is
    in which.
    """

    smallest_class: Least = None
    """k: the fewest rows with the same published quasi-identifiers."""
    prosecutor_risk: Most = None
    """One by that: the largest share of a person's class that one row is."""
    journalist_risk: Most = None
    """One by the fewest people whom rows of one class may be about."""
    marketer_risk: Annotated[float | None, MeanBy("rows")] = None
    """The share of all rows that is matched with the right person, if each is matched with one of these."""
    rows: Weight = 0
    """All rows."""


@dataclass(frozen=True)
class SuppressedFigures(LinkageFigures):
    """The same of another tool's table in which cells stand for anything."""

    rows_of_anything: Total = 0
    """Rows whose quasi-identifiers all stand for anything. They are in no class: k is that of the others."""
    people_of_anything: Total = 0
    """People whom no other row covers: one of these must be theirs, for whoever knows that they are there."""
    values_of_anything: Least = None
    """The different values of these rows."""
    smallest_match: Least = None
    """The fewest rows that a row can't be told from where what stands for anything matches everything."""


@dataclass(frozen=True)
class DiversityFigures(Figures):
    """Values of rows with the same quasi-identifiers, in one release by itself."""

    fewest_values_of_a_class: Least
    """l: the fewest different values of such rows."""


@dataclass(frozen=True, kw_only=True)
class JoinFigures(Figures):
    """A view, joined with every release before it."""

    vulnerable: Annotated[int, undivided]
    """Records with a value on X that breaks what is promised."""
    records_of_the_join: Annotated[int | None, undivided]
    """Records of all joins; None where they are more than 2 ** 62."""
    values_on_x: Annotated[int, undivided]
    """Values on X of the view."""
    linked_values: Annotated[int | None, undivided]
    """The fewest values on Y that a value on X is linked to."""
    linkability: Annotated[float | None, undivided]
    """The largest confidence with which a value on X is linked to one on Y."""
