"""Rules that every release keeps, whatever its principle: it is of its people, and says nothing beside.

Each is a part without a bound. None is declared, and none is in a promise.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar, Self

from republish.anonymize.attack.finding import AttackResult
from republish.anonymize.late import on_first_call
from republish.anonymize.promise.check import Check
from republish.anonymize.promise.part import Attack, Part, Promise, Scope, single


class ReleaseRule(Part):
    """A rule that every release of some formats keeps."""

    attacked_by: ClassVar[Attack]
    """The attack: from what is seen to what is found."""
    of_intervals: ClassVar[bool] = False
    """Whether it is about formats that publish intervals alone."""
    of_tables: ClassVar[bool] = False
    """Whether it is about the tables as they are published, whoever is in them (`TablesInput`): of people who
    are divided into shards, only the whole can show it."""

    @classmethod
    def applies_to(cls, columns: Collection[str]) -> bool:
        """Whether releases with these columns have to keep it."""
        return not cls.of_intervals or any(column.endswith("_low") for column in columns)

    @classmethod
    def given(cls, promises: Sequence[Promise]) -> list[Self | None]:
        """Itself, of each release."""
        return [cls() for _ in promises]

    @classmethod
    def attack(cls, seen: Any, promises: Sequence[Promise]) -> AttackResult:
        """Attack a release."""
        del promises
        return cls.attacked_by(seen)


class Entries(ReleaseRule):
    """Each published entry can be read."""

    attacked_by = on_first_call("republish.anonymize.attack.publication", "attack_entries")
    scopes = single(
        "published entries",
        "No published entry is missing, unknown to the contract, stated twice, or an interval that ends"
        " before it begins.",
        counts_people=False,
    )
    of_tables = True


class Coverage(ReleaseRule):
    """Each person's group covers them."""

    attacked_by = on_first_call("republish.anonymize.attack.publication", "attack_coverage")
    scopes = single("coverage", "Every person in the table lies in a published group that holds their value.")
    check = Check(
        "coverage",
        "Every person's group covers their quasi-identifiers and has their value.",
        "{people_max:,} people, compared in {rows} columns: {uncovered_sum:,} not covered.",
    )


class Counts(ReleaseRule):
    """Tuples are people and stated counterfeits."""

    attacked_by = on_first_call("republish.anonymize.attack.publication", "attack_counts")
    scopes = single(
        "counts",
        "A release has as many tuples as people and stated counterfeits. Counterfeits apart, a value has no"
        " more tuples than people.",
    )
    check = Check(
        "counterfeits",
        "R(n) is exact: a group's tuples are its people and its stated counterfeits.",
        "{rows_sum:,} tuples are {hosted_sum:,} people and {counterfeits_sum:,} stated counterfeits;"
        " {wrong_counts_sum:,} groups have other counts, and {held_back_sum:,} people are held back.",
    )


class Hosts(ReleaseRule):
    """Groups consist of their people."""

    attacked_by = on_first_call("republish.anonymize.attack.publication", "attack_hosts")
    scopes = single(
        "hosting groups",
        "Every group consists of its people, within its intervals, and its stated counterfeits.",
    )


class MinimumWidths(ReleaseRule):
    """Intervals are as wide as the contract asks."""

    attacked_by = on_first_call("republish.anonymize.attack.publication", "attack_widths")
    scopes = single(
        "minimum widths",
        "No interval is narrower than the contract allows, or ends within a cell of a hierarchy.",
        counts_people=False,
    )
    check = Check(
        "minimum_widths",
        "No interval is narrower than the contract allows.",
        "{groups_max:,} groups with {rows} intervals each: {narrower_sum:,} intervals are narrower than"
        " allowed, and {off_grid_sum:,} ends are within a cell of min_width.",
    )
    of_intervals = True


class Intervals(ReleaseRule):
    """Each group has one interval of each column."""

    attacked_by = on_first_call("republish.anonymize.attack.tables", "attack_intervals")
    scopes = single(
        "one interval per group", "All rows of a group have the same intervals.", counts_people=False
    )
    of_tables = True


class RowOrder(ReleaseRule):
    """The order of rows is one that anybody can make."""

    attacked_by = on_first_call("republish.anonymize.attack.tables", "attack_row_order")
    scopes = single(
        "row order",
        "The order of published rows says nothing about people: tables in republish's own formats are"
        " sorted by all columns.",
        "at least",
        counts_people=False,
    )
    of_tables = True


class Numbering(ReleaseRule):
    """The numbers of groups are ones that anybody can give them."""

    attacked_by = on_first_call("republish.anonymize.attack.tables", "attack_numbering")
    scopes = single(
        "group numbering",
        "The numbering of groups says nothing about people: in republish's own formats groups are numbered by"
        " their content.",
        "at least",
        counts_people=False,
    )
    of_tables = True


class Counterfeits(ReleaseRule):
    """Counterfeits look like people."""

    attacked_by = on_first_call("republish.anonymize.attack.tables", "attack_counterfeits")
    scopes = single(
        "counterfeits hidden",
        "No published column tells counterfeits from people.",
        "at least",
        counts_people=False,
        if_undecided="A column tells counterfeits from people as clearly as chance does in 1 of {found:,.0f}"
        " releases; from 1 of {required:,.0f} on, none is published",
    )


class ViewRecords(ReleaseRule):
    """Each person's record is in the view."""

    attacked_as = ("join",)
    attacked_by = on_first_call("republish.anonymize.attack.view", "attack_records")
    scopes = Coverage.scopes


class ViewRows(ReleaseRule):
    """The view has a row for each record, and no other."""

    attacked_as = ("join",)
    attacked_by = on_first_call("republish.anonymize.attack.view", "attack_rows")
    scopes = Counts.scopes
    check = Check(
        "view_records",
        "The view has the people's records under its cuts, no more and no fewer.",
        "{records_sum:,} records, {published_sum:,} published rows, {differing_sum:,} of them differ.",
    )


class Cuts(ReleaseRule):
    """Each column of a view is a cut of its taxonomy."""

    attacked_as = ("join",)
    attacked_by = on_first_call("republish.anonymize.attack.view", "attack_cuts")
    scopes = single(
        "taxonomy cuts", "Each published column is a cut: one label above every value.", counts_people=False
    )
    check = Check(
        "taxonomy_cuts",
        "Each cut has exactly one node above every value.",
        "{rows} cuts: {uncovered_sum:,} values are below none of a cut's nodes, {covered_twice_sum:,} below"
        " two.",
    )


class ViewOrder(ReleaseRule):
    """The order of a view's rows is one that anybody can make."""

    attacked_as = ("join",)
    attacked_by = on_first_call("republish.anonymize.attack.view", "attack_view_order")
    scopes = RowOrder.scopes


class Identifiers(ReleaseRule):
    """No column is of identifiers."""

    attacked_as = ("groups", "join")
    attacked_by = on_first_call("republish.anonymize.attack.tables", "attack_identifiers")
    scopes = single("no identifiers", "No identifier is published.", counts_people=False)
    of_tables = True


class OtherColumns(ReleaseRule):
    """Each column is one of the format's."""

    attacked_as = ("groups", "join")
    attacked_by = on_first_call("republish.anonymize.attack.tables", "attack_columns")
    scopes = single(
        "no other columns",
        "No column is published that the release format does not have.",
        counts_people=False,
    )
    of_tables = True


RULES: tuple[type[ReleaseRule], ...] = (
    Entries,
    Coverage,
    Counts,
    Hosts,
    MinimumWidths,
    Intervals,
    RowOrder,
    Numbering,
    Counterfeits,
    ViewRecords,
    ViewRows,
    Cuts,
    ViewOrder,
    Identifiers,
    OtherColumns,
)
"""All rules, in the order reported."""

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
NAMES = Scope("same names", "People and values are called the same in all true tables.")
PUBLICATION = (CHAIN, CLAIMS, METADATA, SHARDS, NAMES)
"""Rules of published folders beside their tables: it takes files to see them, and of shards private ones."""
