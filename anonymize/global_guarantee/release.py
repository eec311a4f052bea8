"""One release under the global guarantee: T(n) and the ledger -> T*(n), and the ledger after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Contract, Schema, Sensitive
from republish.anonymize.errors import NotEligible
from republish.anonymize.figures import Counts, FromCounts, Total
from republish.anonymize.formats.generalization import generalize
from republish.anonymize.global_guarantee.admission import choose_placed
from republish.anonymize.global_guarantee.forecast import forecast, longest_plan, releases_of_most
from republish.anonymize.global_guarantee.ledger import Ledger
from republish.anonymize.global_guarantee.parameters import GlobalGuarantee
from republish.anonymize.global_guarantee.partition import partition
from republish.anonymize.global_guarantee.rows import LEFT_OUT, deal
from republish.anonymize.global_guarantee.strategy import strategy_of
from republish.anonymize.kernels.accounts import Accounts
from republish.anonymize.kernels.split import EMPTY
from republish.anonymize.people.codes import as_points, code_domain, encode_columns
from republish.anonymize.people.persons import persons_of
from republish.anonymize.people.ranks import keyed_ranks
from republish.anonymize.people.rows import counted_in
from republish.anonymize.people.values import positions, refuse_unfit
from republish.anonymize.principle.candidate import Candidate, ReleaseFigures
from republish.anonymize.principle.state import State

HELD_BACK = -1
"""In place of a group."""


@dataclass(frozen=True, kw_only=True)
class GuaranteeFigures(ReleaseFigures):
    """Counts of a release, of the ledger after it, and of what the ledger leaves to spend."""

    new: Total
    """People in the release whom the ledger did not have."""
    largest_group: Annotated[int, max]
    """People in the largest group."""
    links: Total
    """Pairs of a person and a value that the ledger has spent a part of the budget for."""
    remembered: Total
    """People in the ledger."""
    forgotten: Total
    """People who left the ledger with this release."""
    placed_no_more: Total
    """People whom no further release of the same table can place."""
    placed_once_more: Total
    """People whom one further release of the same table can place, and no second one."""
    releases_left_of_most: Annotated[int, FromCounts("by_releases_left", releases_of_most)]
    """Further releases of the same table that can place at least half of the people."""
    by_releases_left: Counts = field(default_factory=dict)
    """The people by the further releases that can place them."""


def release(
    people: pl.DataFrame,
    contract: Contract[GlobalGuarantee],
    state: State,
    number: int,
    draw: Callable[[str], np.random.Generator],
) -> Candidate:
    """Compute a release after which nobody is linked to a value they ever had with more than 1/l.

    Called as `Release` says; the state is the ledger as the release before left it.

    Raises
    ------
    NotEligible
        If nobody can be placed and the contract says `on_ineligible: refuse`.

    References
    ----------
    Wong, Fu, Liu, Wang and Xu, Preserving individual privacy in serial data publishing, sections 5 and 6.
    """
    # Ordered by a keyed hash: the order in which rows arrive decides nothing, and nobody can replay it.
    people = people.sort(PSEUDONYM)
    parameters = contract.principle
    strategy = strategy_of(parameters)
    ledger = Ledger.of(state, people.schema[VALUE])
    values = _known_values(people[VALUE], contract.sensitive, ledger.values[VALUE])
    value_id = positions(people[VALUE], values).astype(np.int32)
    lot = keyed_ranks(people[PSEUDONYM], draw("rows"))
    layer, rows = deal(persons_of(people[PSEUDONYM]), lot, parameters.rows_per_person or 1)
    accounts = ledger.accounts(people[PSEUDONYM], strategy, parameters.l, rows)
    published = np.zeros(len(values), np.int64)
    published[: ledger.values.height] = ledger.values["tuples"].to_numpy()
    ranks = keyed_ranks(people[PSEUDONYM], draw("admission"))
    placed, failed = np.zeros(people.height, bool), np.zeros(people.height, bool)
    layers = [layer == one for one in range(layer.max(initial=LEFT_OUT) + 1)]
    for own in layers:
        placed[own], holds = choose_placed(_of(accounts, own), value_id[own], published, ranks[own])
        failed = failed if holds or failed.any() else own
    if people.height and (failed.any() or not placed.any()):
        if parameters.on_ineligible == "refuse":
            there = failed if failed.any() else layer != LEFT_OUT
            raise NotEligible(_why_not(_of(accounts, there), value_id[there], contract, rows[there]))
        placed = np.zeros(people.height, bool)

    hosted = people.filter(placed)
    codes = encode_columns(hosted, contract)
    shares = np.ascontiguousarray(as_points(codes, contract, EMPTY))
    narrowest = _narrowest(contract, shares.shape[1])
    group = np.full(people.height, HELD_BACK, np.int64)
    for own in layers:
        cut = own & placed
        groups = partition(_of(accounts, cut), value_id[cut], shares[own[placed]], narrowest, len(values))
        group[cut] = groups + group.max() + 1
    within = group[placed]
    after = ledger.after(
        people, group, value_id, values, number, parameters.l, contract.sensitive, layer, rows
    )
    after = after.forget(parameters.forget_after)
    generalization = generalize(codes, hosted[VALUE], within, np.zeros(hosted.height, bool), contract)
    return Candidate(
        published=generalization.tables,
        linkage=hosted.select(PSEUDONYM, pl.Series("group_id", generalization.group_id)),
        state=after.state(),
        figures=_counted(
            within,
            placed,
            persons_of(hosted[PSEUDONYM]).filter(accounts.account[placed] < 0).n_unique(),
            ledger,
            after,
            dict(forecast(after.state(), contract).iter_rows()),
        ),
    )


def _known_values(column: pl.Series, sensitive: Sensitive, remembered: pl.Series) -> pl.Series:
    """All sensitive values there are: those of the ledger in its order, then new ones in their own."""
    refuse_unfit(column, sensitive, remembered)
    new = column.unique().sort()
    return pl.concat([remembered, new.filter(~new.is_in(remembered.implode()))])


def _narrowest(schema: Schema, dimensions: int) -> Floats:
    """float64[d]: the minimum widths of quasi-identifiers, as shares of their domains; then 0."""
    narrowest = np.zeros(dimensions)
    for at, (_, qi) in enumerate(schema.attributes()):
        low, high = code_domain(qi)
        narrowest[at] = max(0.0, (qi.min_width - int(qi.discrete)) / ((high - low) or 1))
    return narrowest


def _of(accounts: Accounts, placed: np.ndarray) -> Accounts:
    """The accounts of the people placed."""
    return Accounts(
        first=accounts.first[placed],
        last=accounts.last[placed],
        link_value=accounts.link_value,
        link_share=accounts.link_share,
        largest=accounts.largest[placed],
        account=accounts.account[placed],
    )


def _why_not(accounts: Accounts, value_id: Ints, contract: Contract[GlobalGuarantee], rows: Ints) -> str:
    """One line: what is too frequent for whom, and the way out."""
    number, counted, parameters = len(value_id), counted_in(contract), contract.principle
    most, most_rows = int(np.bincount(value_id).max()), int(rows.max())
    # The rows of people with the most of them admit least, and have to be placed too.
    admits = float(accounts.largest[rows == most_rows].max())
    new = int((accounts.account < 0).sum())
    way_out = "merge rare and frequent values into even ones"
    if parameters.l > 2:
        way_out = f"{way_out}, or lower l"
    if most_rows > 1:
        way_out = f"lower rows_per_person, or {way_out}"
    if most > admits * number:
        if parameters.strategy == "constant_ratio":
            longest = longest_plan(parameters.l, most / number, most_rows)
            if longest:
                way_out = f"plan for fewer releases (at most {longest} with this table), or {way_out}"
        return (
            f"the most frequent sensitive value has {most} of {number} {counted}, and a group may have"
            f" {admits:.1%} of one value at most: {way_out}"
        )
    return (
        f"nobody can be placed: of {number} {counted} {new} are new, and the others have too little of their"
        f" budgets left for the values of this table; {way_out}"
    )


def _counted(
    group: np.ndarray,
    placed: np.ndarray,
    new: int,
    before: Ledger,
    after: Ledger,
    left: Mapping[float, int],
) -> GuaranteeFigures:
    sizes = np.bincount(group) if len(group) else np.zeros(0, np.int64)
    return GuaranteeFigures(
        people=len(group),
        tuples=len(group),
        groups=len(sizes),
        counterfeits=0,
        held_back=len(placed) - len(group),
        new=new,
        largest_group=int(sizes.max(initial=0)),
        links=after.links.height,
        remembered=after.people.height,
        forgotten=before.people.height + new - after.people.height,
        placed_no_more=left.get(0, 0),
        placed_once_more=left.get(1, 0),
        releases_left_of_most=releases_of_most(left),
        by_releases_left=left,
    )
