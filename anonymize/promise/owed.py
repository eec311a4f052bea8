"""Duties of every release, whatever its principle promises: to be of its people, and to say nothing beside.

A part for each rule, of the format (groups or views) or of publication itself. Nothing of them is declared,
and they are in no promise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from anonymize.attack.finding import Found
from anonymize.late import on_first_call
from anonymize.promise.check import Check
from anonymize.promise.part import Scope


@dataclass(frozen=True)
class Owed:
    """A rule that every release of some formats is to keep."""

    scope: Scope
    """Its name and meaning."""
    attack: Callable[[Any], Found]
    """From what is seen of a release to what was found."""
    check: Check | None = None
    """What Great Expectations judges of the table that the attack counts."""
    of_intervals: bool = False
    """Whether it is about formats that publish intervals alone."""
    of_tables: bool = False
    """Whether it is about the tables as they are published, whoever is in them (`SeenTables`): of people who
    are divided into shards, only the whole can show it."""

    def applies_to(self, columns: Collection[str]) -> bool:
        """Whether releases with these columns owe it."""
        return not self.of_intervals or any(column.endswith("_low") for column in columns)


ENTRIES = Owed(
    Scope(
        "published entries",
        "No published entry is missing, unknown to the contract, stated twice, or an interval that ends"
        " before it begins.",
        counts_people=False,
    ),
    on_first_call("anonymize.attack.publication", "attack_entries"),
    of_tables=True,
)
COVERAGE = Owed(
    Scope("coverage", "Every person in the table lies in a published group that holds their value."),
    on_first_call("anonymize.attack.publication", "attack_coverage"),
    Check(
        "coverage",
        "Every person's group covers their quasi-identifiers and has their value.",
        "{people_max:,} people, compared in {rows} columns: {uncovered_sum:,} not covered.",
    ),
)
COUNTS = Owed(
    Scope("counts", "A release has as many tuples as people and stated counterfeits."),
    on_first_call("anonymize.attack.publication", "attack_counts"),
    Check(
        "counterfeits",
        "R(n) is exact: a group's tuples are its people and its stated counterfeits.",
        "{rows_sum:,} tuples are {hosted_sum:,} people and {counterfeits_sum:,} stated counterfeits;"
        " {wrong_counts_sum:,} groups have other counts, and {held_back_sum:,} people are held back.",
    ),
)
HOSTS = Owed(
    Scope(
        "hosting groups",
        "Every group consists of its people, within its intervals, and its stated counterfeits.",
    ),
    on_first_call("anonymize.attack.publication", "attack_hosts"),
)
MINIMUM_WIDTHS = Owed(
    Scope("minimum widths", "No interval is narrower than the contract allows.", counts_people=False),
    on_first_call("anonymize.attack.publication", "attack_widths"),
    Check(
        "minimum_widths",
        "No interval is narrower than the contract allows.",
        "{groups_max:,} groups with {rows} intervals each: {narrower_sum:,} intervals are narrower than"
        " allowed, and {off_grid_sum:,} ends are within a cell of min_width.",
    ),
    of_intervals=True,
)
INTERVALS = Owed(
    Scope("one interval per group", "All rows of a group have the same intervals.", counts_people=False),
    on_first_call("anonymize.attack.tables", "attack_intervals"),
    of_tables=True,
)
ROW_ORDER = Owed(
    Scope(
        "row order",
        "The order of published rows says nothing about people: tables in republish's own formats are"
        " sorted by all columns.",
        "at least",
        counts_people=False,
    ),
    on_first_call("anonymize.attack.tables", "attack_row_order"),
    of_tables=True,
)
NUMBERING = Owed(
    Scope(
        "group numbering",
        "The numbering of groups says nothing about people: in republish's own formats groups are numbered by"
        " their content.",
        "at least",
        counts_people=False,
    ),
    on_first_call("anonymize.attack.tables", "attack_numbering"),
    of_tables=True,
)
COUNTERFEITS = Owed(
    Scope(
        "counterfeits hidden",
        "No published column tells counterfeits from people.",
        "at least",
        counts_people=False,
        if_undecided="A column tells counterfeits from people as clearly as chance does in 1 of {found:,.0f}"
        " releases; from 1 of {required:,.0f} on, none is published",
    ),
    on_first_call("anonymize.attack.tables", "attack_counterfeits"),
)
IDENTIFIERS = Owed(
    Scope("no identifiers", "No identifier is published.", counts_people=False),
    on_first_call("anonymize.attack.tables", "attack_identifiers"),
    of_tables=True,
)
UNREAD = Owed(
    Scope(
        "no other columns",
        "No column is published that the release format does not have.",
        counts_people=False,
    ),
    on_first_call("anonymize.attack.tables", "attack_columns"),
    of_tables=True,
)

RECORDS = Owed(COVERAGE.scope, on_first_call("anonymize.attack.view", "attack_records"))
ROWS = Owed(
    COUNTS.scope,
    on_first_call("anonymize.attack.view", "attack_rows"),
    Check(
        "view_records",
        "The view has the people's records under its cuts, no more and no fewer.",
        "{records_sum:,} records, {published_sum:,} published rows, {differing_sum:,} of them differ.",
    ),
)
CUTS = Owed(
    Scope(
        "taxonomy cuts", "Each published column is a cut: one label above every value.", counts_people=False
    ),
    on_first_call("anonymize.attack.view", "attack_cuts"),
    Check(
        "taxonomy_cuts",
        "Each cut has exactly one node above every value.",
        "{rows} cuts: {uncovered_sum:,} values are below none of a cut's nodes, {covered_twice_sum:,} below"
        " two.",
    ),
)
VIEW_ORDER = Owed(ROW_ORDER.scope, on_first_call("anonymize.attack.view", "attack_view_order"))

OWED: dict[str, tuple[Owed, ...]] = {
    "groups": (
        ENTRIES,
        COVERAGE,
        COUNTS,
        HOSTS,
        MINIMUM_WIDTHS,
        INTERVALS,
        ROW_ORDER,
        NUMBERING,
        COUNTERFEITS,
        IDENTIFIERS,
        UNREAD,
    ),
    "join": (RECORDS, ROWS, CUTS, VIEW_ORDER, IDENTIFIERS, UNREAD),
}
"""What releases owe, by the attack that their format names."""

CHAIN = Scope(
    "manifest chain",
    "Each release follows the one before it: no manifest is missing, replaced or in another place.",
    counts_people=False,
)
CLAIMS = Scope(
    "manifest claims", "The manifest's numbers are those of the published tables.", counts_people=False
)
METADATA = Scope("file metadata", "The files carry no more than the tables.", counts_people=False)
SHARDS = Scope(
    "shards", "Each person is in one shard, the same in all releases, and no group has people of two."
)
PUBLICATION = (CHAIN, CLAIMS, METADATA, SHARDS)
"""What published folders owe beside their tables: it takes files to see it, and of shards private ones."""
