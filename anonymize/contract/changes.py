"""The changes of a contract since the release before, and whether they are safe within a series.

A change is *safe* if everything promised so far still holds, and what is promised from now on as well. It
needs *consent* if it weakens what is promised from now on, or makes releases harder to compare: the contract
has to accept it by name for one release. It needs a *new series* if promises made could not be kept.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from republish.anonymize.contract.attributes import CategoryAttribute, QuasiIdentifier, grid_of_labels
from republish.anonymize.contract.earlier import PROMISES
from republish.anonymize.contract.expected import MEASURES
from republish.anonymize.contract.hierarchy import cells_of, labels_at
from republish.anonymize.contract.product import Product, without_words
from republish.anonymize.contract.scalars import MISSING, shown
from republish.anonymize.contract.schema import Schema, Table
from republish.anonymize.contract.sensitive import Sensitive

Verdict = Literal["safe", "consent", "new series"]
FEW = 10
"""A list of values that grows by fewer says that somebody has one of them."""
CELLS = "cells"
"""Beside a category as it was declared: the first code of each cell, unless these are of the grid."""


@dataclass(frozen=True)
class Change:
    """One difference between two contracts."""

    name: str
    """What it is accepted by: `m`, `age.min_width`, …"""
    says: str
    """From what to what."""
    verdict: Verdict
    why: str
    """In one sentence."""


def declared_columns(table: Table) -> dict[str, Any]:
    """The columns that a contract declares, as JSON: what `column_changes` compares with later.

    Beside a hierarchy whose groups intervals end at, it has its `cells`.
    """
    told = without_words(table.model_dump(mode="json", include={"quasi_identifiers", "sensitive", "columns"}))
    for (_, one), its in zip(table.attributes(), told.get("quasi_identifiers", ()), strict=False):
        if isinstance(one, CategoryAttribute) and one.cells is not None:
            its[CELLS] = list(one.cells)
    return told


def begun_on_grid(before: Mapping[str, Any] | None, qi: QuasiIdentifier) -> bool:
    """Whether a series has intervals of a category end on the grid, and its hierarchy's groups end elsewhere.

    So it is in series that versions below 0.30 have begun. They go on so: intervals of two kinds overlap in
    fewer labels than `min_width`. `before` is what `declared_columns` returned for the release before.
    """
    if before is None or not isinstance(qi, CategoryAttribute):
        return False
    former = next((one for one in before.get("quasi_identifiers", ()) if one["name"] == qi.name), None)
    if former is None or CELLS in former or not former.get("hierarchy") or former["min_width"] <= 1:
        return False
    paths = tuple(map(tuple, former["hierarchy"]))
    return cells_of(paths, former["min_width"]) != grid_of_labels(len(paths), former["min_width"])


def acceptance_faults(contract: Product) -> list[tuple[str, str]]:
    """The words under `accept` that accept nothing, with their keys and the nearest words that there are."""
    names = [attribute.name for _, attribute in contract.attributes()]
    parts = [f"{name}.{part}" for name in names for part in ("kind", "min_width", "order", "hierarchy")]
    parts += [f"{column.name}.missing" for _, column in contract.all_columns()]
    parameters = [name for name in type(contract.principle).model_fields if name != "name"]
    whole = ["columns"] if not isinstance(contract, Schema) else ["sensitive.values"]
    known = [*MEASURES, *whole, *parameters, *PROMISES, *names, *parts]
    listed = ", ".join([*MEASURES, *whole, *parameters])
    there = f"There are {listed}, and columns with .kind, .min_width, .missing, .order or .hierarchy"
    faults = []
    for release, accepted in contract.accept.items():
        for word in (word for word in accepted.what if word not in known):
            alike = difflib.get_close_matches(word, known, 1, 0.6)
            meant = f"did you mean {alike[0]}? " if alike else ""
            fault = f"{shown(word)} is nothing that can be accepted; {meant}{there}"
            faults.append((f"accept.{release}", fault))
    return faults


def column_changes(before: Mapping[str, Any], now: Table) -> list[Change]:
    """Judge changes of the columns, from what `declared_columns` returned for the release before."""
    if "columns" in before or not isinstance(now, Schema):  # of a view
        if before == declared_columns(now):
            return []
        if _names_and_kinds(before.get("columns", ())) != _names_and_kinds(declared_columns(now)["columns"]):
            why = "Views of a series are joined with each other, column by column."
            return [Change("columns", "other names, kinds or another order", "new series", why)]
        why = "A join of releases compares the columns of all of them."
        return [Change("columns", "are declared otherwise", "consent", why)]
    former = {qi["name"]: qi for qi in before["quasi_identifiers"]}
    today = {qi.name: qi for qi in now.quasi_identifiers}
    dropped = [
        Change(name, "is not published any more", "safe", "Less is published of each person.")
        for name in former
        if name not in today
    ]
    added = [
        Change(
            name,
            "is published from now on",
            "consent",
            "An adversary who does not know it yet may learn it of people with rare quasi-identifiers.",
        )
        for name in today
        if name not in former
    ]
    kept = [
        change
        for name, qi in today.items()
        if name in former
        for change in _attribute_changes(former[name], qi)
    ]
    return [*dropped, *added, *kept, *_value_changes(before["sensitive"], now.sensitive)]


def _names_and_kinds(columns: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [(one["name"], one["kind"]) for one in columns]


def _attribute_changes(former: Mapping[str, Any], qi: QuasiIdentifier) -> list[Change]:
    today = qi.model_dump(mode="json")
    if former["kind"] != today["kind"]:
        says = f"was of kind {former['kind']}, is of kind {today['kind']}"
        return [Change(f"{qi.name}.kind", says, "consent", "Intervals before and after can't be compared.")]
    changes = _missing_changes(former, qi, is_counted=True)
    if today["min_width"] < former["min_width"]:
        says = f"{former['min_width']} -> {today['min_width']}"
        why = "Intervals may be narrower than people were promised so far."
        changes.append(Change(f"{qi.name}.min_width", says, "consent", why))
    elif today["min_width"] > former["min_width"]:
        says = f"{former['min_width']} -> {today['min_width']}"
        changes.append(Change(f"{qi.name}.min_width", says, "safe", "Intervals only become wider."))
    if isinstance(qi, CategoryAttribute):
        return [*changes, *_label_changes(former, qi), *_cell_changes(former, qi)]
    for part in ("domain", "step"):
        if former.get(part) != today.get(part):
            says = f"{former.get(part, 1)} -> {today.get(part, 1)}"
            why = "A snapshot with a value outside of it is refused."
            changes.append(Change(f"{qi.name}.{part}", says, "safe", why))
    return changes


def _missing_changes(
    former: Mapping[str, Any], column: QuasiIdentifier | Sensitive, *, is_counted: bool
) -> list[Change]:
    """The change of what becomes of people without a value; `is_counted` if they are counted in a column."""
    before, now = former.get("missing", "refuse"), column.missing
    if before == now:
        return []
    name, says = f"{column.name}.missing", f"{before} -> {now}"
    if not is_counted:
        why = "Whether a person is in a release says something else of a missing value than it did so far."
        return [Change(name, says, "consent", why)]
    if "publish" in (before, now):
        why = "People without a value are counted in a column that other releases of the series do not have."
        return [Change(name, says, "consent", why)]
    return [Change(name, says, "safe", "Nothing else is published of anybody.")]


def _label_changes(former: Mapping[str, Any], qi: CategoryAttribute) -> list[Change]:
    before = former["order"] or [path[0] for path in former["hierarchy"]]
    now = list(qi.labels)
    changes = []
    if added := [label for label in now if label not in before]:
        changes.append(Change(f"{qi.name}.labels", f"{len(added)} labels are new", "safe", "A domain grew."))
    if gone := [label for label in before if label not in now]:
        why = "Counterfeits that carry them are replaced."
        changes.append(Change(f"{qi.name}.labels", f"{len(gone)} labels are gone", "safe", why))
    if [label for label in before if label in now] != [label for label in now if label in before]:
        why = "An interval of labels means another set than in earlier releases."
        changes.append(Change(f"{qi.name}.order", "the labels are in another order", "consent", why))
    return changes


def _cell_changes(former: Mapping[str, Any], qi: CategoryAttribute) -> list[Change]:
    """The change of where intervals end if labels are in other groups of the hierarchy.

    Where labels are new or gone, lines move as those of a grid do, and other widths have other lines.
    """
    is_other = former["min_width"] != qi.min_width or qi.min_width <= 1
    if is_other or begun_on_grid({"quasi_identifiers": [former]}, qi):
        return []
    before = former["order"] or [path[0] for path in former["hierarchy"]]
    common = {*before} & {*qi.labels}
    groups = {path[0]: tuple(path[1:]) for path in former["hierarchy"] or ()}
    today = {path[0]: tuple(path[1:]) for path in qi.hierarchy or ()}
    lines = former.get(CELLS) or grid_of_labels(len(before), former["min_width"])
    own = qi.cells or grid_of_labels(len(qi.labels), qi.min_width)
    is_moved = any(groups.get(label) != today.get(label) for label in common)
    if not is_moved or _together(before, lines, common) == _together(qi.labels, own, common):
        return []
    why = "Intervals before and after overlap in fewer labels than min_width."
    return [Change(f"{qi.name}.hierarchy", "intervals end at other labels", "consent", why)]


def _together(labels: Sequence[str], cells: Sequence[int], common: Collection[str]) -> set[tuple[str, ...]]:
    """The labels of each cell that are among the common ones, in alphabetical order."""
    pairs = zip(cells, (*cells[1:], len(labels)), strict=True)
    return {tuple(sorted({*labels[first:after]}.intersection(common))) for first, after in pairs} - {()}


def _value_changes(
    former: Mapping[str, Any] | Sequence[Mapping[str, Any]], sensitive: Sensitive
) -> list[Change]:
    columns = [former] if isinstance(former, Mapping) else former
    if [one["name"] for one in columns] != [one.name for one in sensitive.columns]:
        why = "A signature is of values of the columns that a series begins with."
        return [Change("sensitive", "other columns are sensitive", "new series", why)]
    pairs = zip(columns, sensitive.columns, strict=True)
    return [change for before, now in pairs for change in _changes_of_values(before, now)]


def _changes_of_values(former: Mapping[str, Any], sensitive: Sensitive) -> list[Change]:
    before, now = former["values"], sensitive.values
    changes = _missing_changes(former, sensitive, is_counted=False)
    if set(former.get("not_sensitive", ())) != set(sensitive.not_sensitive):
        why = "People who have one were promised that nobody learns it, or may be known to have it by now."
        says = "other values may be known"
        changes.append(Change("sensitive.not_sensitive", says, "new series", why))
    if tuple(former.get("bins", ())) != sensitive.bins:
        why = "A signature is of the bins that a series begins with, and others would overlap with them."
        return [*changes, Change("sensitive.bins", "other bins", "new series", why)]
    if former.get("level", 0) != sensitive.level:
        why = "A signature is of the values of the level that a series begins with."
        says = f"{former.get('level', 0)} -> {sensitive.level}"
        return [*changes, Change("sensitive.level", says, "new series", why)]
    if before is None or now is None:
        return changes
    if sensitive.hierarchy and former.get("hierarchy") and sensitive.level:
        earlier = labels_at(former["hierarchy"], sensitive.level)
        today = labels_at(sensitive.hierarchy, sensitive.level)
        if moved := sum(leaf in today and today[leaf] != label for leaf, label in earlier.items()):
            why = "Whoever has one of them has another value from now on, as if it had changed."
            says = f"{moved} values are in another group"
            changes.append(Change("sensitive.hierarchy", says, "consent", why))
    if added := set(now) - {*before, MISSING}:
        few = len(added) < FEW
        why = "Whoever reads both lists may guess why: somebody has one." if few else "A domain grew."
        says = f"{len(added)} values are new"
        changes.append(Change("sensitive.values", says, "consent" if few else "safe", why))
    if gone := set(before) - set(now):
        why = "Signatures still hold them, so that people published with them lose a candidate value."
        changes.append(Change("sensitive.values", f"{len(gone)} values are gone", "consent", why))
    return changes
