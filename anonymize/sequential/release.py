"""A release of a view: generalized until no join with an earlier release links more than is required."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import polars as pl

from republish.anonymize.columns import PSEUDONYM, view_column
from republish.anonymize.contract import CategoryColumn, ViewContract
from republish.anonymize.errors import SnapshotError
from republish.anonymize.figures import undivided
from republish.anonymize.formats.taxonomy_cuts import (
    CUTS,
    VIEW,
    PublishedView,
    ViewColumn,
    cuts_as_json,
    cuts_table,
    publish_view,
)
from republish.anonymize.principle.candidate import Candidate, ReleaseFigures
from republish.anonymize.principle.state import PREVIOUS, State
from republish.anonymize.sequential.matching import Coded, Earlier, Pairs, code_view, read_earlier, unrelated
from republish.anonymize.sequential.parameters import Sequential, join_of
from republish.anonymize.sequential.specialize import Specialized, specialize_for_each

EARLIER = "view_{number}"
"""State: the distinct rows of an earlier view of the series, `column_0`, …, and `records`."""


@dataclass(frozen=True, kw_only=True)
class ViewFigures(ReleaseFigures):
    """Counts of the release of a view."""

    specializations: Annotated[int, undivided]
    """Steps from the most general view to the one that is published; if joins differ, the fewest of any."""
    nodes: Annotated[int, undivided]
    """Nodes of all cuts."""
    earlier_releases: Annotated[int, undivided]
    """Releases that the view is joined with."""


def release(
    people: pl.DataFrame,
    contract: ViewContract[Sequential],
    state: State,
    number: int,
    _draw: Callable[[str], np.random.Generator],
) -> Candidate:
    """The view of release n, safe to be joined with every earlier release; called as `Release` says.

    `people` has the columns `column_0`, `column_1`, … in the contract's order, and the state `previous_0`, …
    for each of `principle.previous`, and `view_1`, … `view_{n-1}`. Nothing is drawn: the same people and
    earlier releases give the same view, in whatever order people come.

    Raises
    ------
    SnapshotError
        If a value is in no hierarchy or domain, or an earlier release is not about the same population.
    NotEligible
        If not even the most general view satisfies the requirement.
    """
    coded = code_view(people, contract.columns, contract.principle.x)
    earlier = earlier_releases(state, contract, number)
    _check_population(coded, earlier, Pairs.of(contract))
    found = specialize_for_each(coded, _joins(earlier, contract), contract)
    published = _published(people, coded, found)
    positions = {column.name: position for position, column in enumerate(contract.columns)}
    cuts = cuts_table({positions[name]: cut for name, cut in found.cuts.items()})
    return Candidate(
        published={VIEW: published.view},
        documents={CUTS: cuts_as_json(cuts, contract.columns)},
        linkage=people.select(PSEUDONYM).with_columns(pl.Series("group_id", published.group_id)),
        state=State({**state.tables, EARLIER.format(number=number): _remembered(published.view), CUTS: cuts}),
        figures=ViewFigures(
            people=people.height,
            tuples=people.height,
            groups=int(published.group_id.max(initial=0)),
            counterfeits=0,
            held_back=0,
            specializations=found.specializations,
            nodes=cuts.height,
            earlier_releases=len(earlier),
        ),
    )


def earlier_releases(state: State, contract: ViewContract[Sequential], number: int) -> list[Earlier]:
    """List what release n may be joined with: the previous releases, then the series' own before n.

    Raises
    ------
    SnapshotError
        If one is missing, empty, or has values of common columns that the view can't have.
    """
    earlier = []
    for position, previous in enumerate(contract.principle.previous):
        table = state.tables.get(PREVIOUS.format(position=position))
        where = f"previous release {previous.path}"
        if table is None:
            raise SnapshotError(f"{where} was not read: name a file or folder that is there")
        earlier.append(read_earlier(table, previous.columns, contract.columns, where, previous.record))
    names = [column.name for column in contract.columns]
    for n in range(1, number):
        if (table := state.tables.get(EARLIER.format(number=n))) is None:
            raise SnapshotError(f"release {n} of the series is missing from what is remembered of it")
        earlier.append(read_earlier(table, names, contract.columns, f"release {n} of the series"))
    return earlier


def _joins(earlier: list[Earlier], contract: ViewContract[Sequential]) -> list[list[Earlier]]:
    """The joins that a view is made for: those that its promise is about, that with all releases first.

    A table that was published more than once makes joins that are alike, which are looked at once.
    """
    join, names = join_of(contract.principle), [column.name for column in contract.columns]
    joins = join.joins({contract.identifier, *names}, len(earlier) - len(join.previous))
    alike = [next(at for at, other in enumerate(earlier) if other.is_like(one)) for one in earlier]
    distinct = dict.fromkeys(tuple(sorted(alike[at] for at in some)) for some in joins)
    return [[earlier[at] for at in some] for some in distinct]


def _check_population(coded: Mapping[str, Coded], earlier: list[Earlier], pairs: Pairs) -> None:
    """Refuse tables about other populations: with records that match none, privacy is not anti-monotone."""
    records = len(next(iter(coded.values())).codes)
    for one in earlier:
        ours, theirs = unrelated(coded, one, pairs)
        if ours or theirs:
            raise SnapshotError(
                f"{one.where} is not population-related: {theirs} of its {one.records.sum()} records"
                f" match no record of the view, and {ours} of the view's {records} records match none of it."
                " Release views of the same people, with values as they were then"
            )


def _published(people: pl.DataFrame, coded: Mapping[str, Coded], found: Specialized) -> PublishedView:
    columns = []
    for position, (name, column) in enumerate(coded.items()):
        if name in found.cuts:
            labels = pl.Series(found.cuts[name].labels, dtype=pl.String)
            columns.append(ViewColumn(name, found.node[name], labels, generalized=True))
            continue
        if isinstance(column.column, CategoryColumn):
            values = pl.Series(column.labels, dtype=pl.String)
        else:
            values = people[view_column(position)].cast(column.column.dtype).unique().sort()
        columns.append(ViewColumn(name, column.codes, values, generalized=False))
    return publish_view(columns)


def _remembered(view: pl.DataFrame) -> pl.DataFrame:
    """A view as later releases need it: its distinct rows under our own names, with `records`."""
    ours = view.rename({name: f"column_{position}" for position, name in enumerate(view.columns)})
    return (
        ours.group_by(pl.all()).len("records").with_columns(pl.col("records").cast(pl.Int64)).sort(pl.all())
    )
