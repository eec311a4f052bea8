"""Whether people and values are called the same in all true tables: attacks follow them by their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from republish.anonymize.attack.finding import Count
from republish.anonymize.columns import PSEUDONYM, VALUE, exactly
from republish.anonymize.contract import Product
from republish.anonymize.contract.expected import (
    ALIKE,
    EXTENDED,
    IDENTIFIERS,
    MOVED,
    RENAMED,
    few_of,
)
from republish.anonymize.promise.rules import NAMES
from republish.orchestration.audit.findings import AttackedRelease, Gap, braced
from republish.orchestration.snapshots.identifiers import drifted, extended, gone_and_new, named
from republish.orchestration.snapshots.moved import beside_most, by_name, in_both, moved_by_column
from republish.orchestration.snapshots.rekeyed import count_alike

WHY = (
    "the attacks follow people by their identifiers, and take these for other people. If they are not, they"
    " have fewer candidate values than was found: give everybody one identifier in all true tables, or name"
    " the file of old and new ones in the contract (identifiers)."
)
WHY_MOVED = (
    "the attacks follow people by their identifiers. If these were given to other people, or columns were"
    " swapped, what was found is about nobody: correct the true tables."
)


def compare_names(
    before: AttackedRelease, now: AttackedRelease, contract: Product, series: str
) -> tuple[pl.DataFrame, list[Gap]]:
    """Whether the people and values of a true table have the names that they have in the one before.

    What the contract accepts of the release by name is not counted.

    Returns
    -------
    polars.DataFrame
        The finding: *not decided* for those who may be called otherwise; no row where nobody is.
    list of Gap
        What is odd, and what to do about it.
    """
    if before.groups is None or now.groups is None:
        return NAMES.finding(Count(0, 0)).clear(), []
    accepted = contract.accepted(now.name)
    suspected = _suspected(
        (braced(before.name), before.groups.known), (braced(now.name), now.groups.known), contract
    )
    found = [one for one in suspected if one.measure not in accepted]
    renamed = 0 if now.renamed is None or RENAMED in accepted else int(now.renamed["people"].sum())
    people = len(now.groups.known)
    undecided = min(people, max([renamed, *(one.people for one in found)]))
    gaps = [Gap(f"whether {one.what}", one.why, (one.people,), series) for one in found]
    finding = NAMES.finding(Count(people, 0, undecided=undecided))
    return finding if undecided else finding.clear(), gaps


class _Suspected(NamedTuple):
    measure: str
    """The name by which a contract accepts it."""
    people: int
    what: str
    """With `{}` in the place of the people."""
    why: str = WHY


def _suspected(
    before: tuple[str, pl.DataFrame], now: tuple[str, pl.DataFrame], contract: Product
) -> Iterator[_Suspected]:
    """All that is odd of two true tables, each with the name of its release."""
    (earlier, known_before), (later, known) = before, now
    shared = known.columns[1:] if known.columns == known_before.columns else [VALUE]
    former, latter = (named(one["person"], *one.select(exactly(*shared))) for one in (known_before, known))
    gone, new = gone_and_new(former, latter)
    few = few_of(len(latter))
    under = f"{{}} people of {later} are in {earlier}, too"
    if len(gone) == len(former) > 0 < len(latter):
        yield _Suspected("carried", len(latter), f"{under}: no identifier is in both true tables")
    if others := drifted(gone, new):
        form = "capital letters, spaces, leading zeros, signs that nobody sees"
        yield _Suspected(IDENTIFIERS, others, f"{under}, under the same identifier in another form ({form})")
    if (others := extended(gone, new) or 0) > few:
        yield _Suspected(
            EXTENDED, others, f"{under}, under the same identifier with characters more or fewer"
        )
    stayed = former.join(gone, on="text", how="anti")
    if (others := count_alike(gone, new, stayed) or 0) > few:
        alike = "those who came and are alike in every column, more than chance makes"
        yield _Suspected(ALIKE, others, f"{{}} people of {earlier} who are not in {later} are {alike}")
    names = {ours: one.name for ours, one in contract.attributes()}
    earlier_people, people_now = (
        by_name(one.rename({"person": PSEUDONYM}), names) for one in (known_before, known)
    )
    counted = moved_by_column(in_both(earlier_people, people_now, contract), contract)
    for column, share, most in beside_most(counted, contract, {}):
        if share > most:
            (people,) = counted.filter(column=column)["moved"]
            whose = f"identifiers are the same people's in {earlier} and {later}"
            yield _Suspected(MOVED, people, f"{whose}: {{}} people have another {braced(column)}", WHY_MOVED)
