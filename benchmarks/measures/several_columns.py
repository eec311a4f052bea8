"""Several sensitive columns.

A release publishes combinations of two columns in one row, and a person keeps m combinations that differ in
both columns. Beside it are the same people with either column alone; both releases together are "two
products". Each release replaces a tenth of the people. "Left over" are people who can't be grouped and are
held back; with m = 2 and two columns, `people_per_group` is 2, and people whose group would have a
counterfeit wait, too. NCP is the share of its domain that an interval covers. Errors are the mean relative
error of 200 counts of people with one value of the first or second column, or one combination, whose
quasi-identifiers lie in half of their domains around somebody's; people are taken to be spread evenly in
their group, and small counts count as 0.5 % of the people: few people have one combination, so its errors are
the smallest. Nothing counts both columns of two products.

The attack on two products is one on the last snapshot, published once: an adversary who knows everybody's
group in both tables, and which values go together in the table, keeps of each person's m times m
combinations those that occur. "Narrowed" are people of whom fewer than m values are left in a column.
"Guessed" is how often the likeliest value is right if it is known how often values go together. Of
combinations in one row none is excluded. The attack on one product is that of an audit by somebody who knows
groups and how often values ever went together: a guess is right once in m times, and more often beside
counterfeits, which are taken for the rows whose values go together least.

The floor is a share of counterfeits in the second release that no plan goes below if people leave with
probability p. Of a combination of N people, as many are missing as the largest of m binomial numbers (N, 1 -
p) exceeds its mean by, or more; arrivals with the combination fill some places. So it is of every later
release, which inherits counterfeits as well.

Wanted were intervals 1.6 times as long as those of one column, and 4 % counterfeits (m = 3) or 8 % (m = 8)
after 20 releases. Of 200,000 people the second is met; of 20,000, who are eight to a combination on average,
it is not, and the floor does not say that it can't be. Intervals of first releases are 2.0 to 2.4 times as
long, as m combinations that differ in both columns are found further away. Combinations of one region are
built (without them, first releases of 20,000 people with m = 3 had an NCP of .294, and errors of 8.9 %).
Places that later arrivals fill by one column are not: the promise is of combinations, and a row with another
one is outside of the signature that its group keeps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import binom, poisson

from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.real_data import adult, adult_contract, data_folder, receipts_contract, receipts_series
from benchmarks.series import Made, contract_of, dynamic_series, released
from benchmarks.tables import Table, main
from republish.anonymize.attack.coverage import value_domain
from republish.anonymize.attack.intersection import intersect_hosts
from republish.anonymize.attack.measures.correlations import guess_by_correlations
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.errors import ContractError, NotEligible
from republish.anonymize.formats.published import knowledge_table
from republish.anonymize.principles import principle_of
from republish.anonymize.utility.usefulness import usefulness

QUICK = {"people": 600, "releases": 2, "large": 1000}
HEADINGS = (
    "sensitive",
    "m",
    "release",
    "left over",
    "counterfeits",
    "NCP",
    "error, 1st",
    "error, 2nd",
    "error, both",
)
ATTACK = ("table", "m", "people", "narrowed", "guessed, 1st", "guessed, 2nd", "1/m")
ONE_PRODUCT = ("table", "m", "release", "people", "guessed, 1st", "guessed, 2nd", "guessed, both", "1/m")
COLUMNS = ("occupation", "income")
Source = tuple[str, dict[str, Any], list[tuple[str, pl.DataFrame]], tuple[str, str], Sequence[int]]
"""A table's name, its contract without what is sensitive, its snapshots, the two columns, and m."""


def tables(people: int = 20_000, releases: int = 20, large: int = 200_000) -> Iterator[Table]:
    """A table of each source with its attack, and one of second releases."""
    attacks, alone = [], []
    for name, declared, snapshots, columns, ms in _sources(people, releases):
        rows: list[tuple[Any, ...]] = []
        for m in ms:
            for chosen in (columns, columns[:1], columns[1:]):
                rows += _rows(declared, snapshots, chosen, columns, m)
            short = f"{re.split('[,:]', name)[0]}, {columns[1]}"
            attacks += _attack(short, declared, snapshots, columns, m)
            alone += _attack_alone(short, declared, snapshots, columns, m)
        yield Table(name, HEADINGS, rows)
    yield _many(large, releases)
    yield Table("The attack on two products", ATTACK, attacks)
    yield Table("The attack on one product", ONE_PRODUCT, alone)
    yield Table(
        "The second release of the made-up census",
        ("people", "m", "counterfeits", "floor", "NCP", "s"),
        [*_second_releases(people), *_second_releases(large)],
    )


def _many(people: int, releases: int) -> Table:
    """Both columns, and one, of many people."""
    declared, snapshots = census_contract(), _of_census(people, releases)
    rows = [
        row
        for m in (3, 8)
        for chosen in (COLUMNS, COLUMNS[:1])
        for row in _rows(declared, snapshots, chosen, COLUMNS, m)
    ]
    return Table(f"Made-up census, {people:,} people: occupation and income", HEADINGS, rows)


def _of_census(people: int, releases: int) -> list[tuple[str, pl.DataFrame]]:
    """Snapshots of a made-up census, a tenth of which is replaced before each."""
    made_up = census(people + people // 10 * releases)
    made_up = made_up.select("person_id", *QUASI_IDENTIFIERS, *COLUMNS)
    return list(dynamic_series(made_up, people, people // 10, releases, 1))


def _sources(people: int, releases: int) -> Iterator[Source]:
    yield (
        f"Made-up census, {people:,} people: occupation and income",
        census_contract(),
        _of_census(people, releases),
        COLUMNS,
        (3, 8),
    )
    folder = data_folder()
    if folder is None:
        return
    live = min(people, 9_000)
    for second, ms in (("marital-status", (2, 3)), ("education", (3, 5))):
        declared = adult_contract(folder)
        declared["quasi_identifiers"] = [
            one for one in declared["quasi_identifiers"] if one["name"] != second
        ]
        snapshots = list(dynamic_series(adult(folder), live, live // 10, releases, 1))
        yield (
            f"Adult, {live:,} people: occupation and {second}",
            declared,
            snapshots,
            ("occupation", second),
            ms,
        )
    declared = receipts_contract()
    snapshots = list(_first_receipts(receipts_series(folder)))[: releases + 1]
    yield "Receipts: chapter and month of treatment", declared, snapshots, ("chapter", "month"), (2, 3)


def _first_receipts(series: Iterator[tuple[str, pl.DataFrame]]) -> Iterator[tuple[str, pl.DataFrame]]:
    """The receipts with the chapter and the month that a person came with first."""
    columns, before = ["chapter", "month"], None
    for date, people in series:
        known = people.select("person_id", *columns) if before is None else before
        new = people.select("person_id", *columns).join(known, on="person_id", how="anti")
        before = pl.concat([known, new])
        yield date, people.drop(columns).join(before, on="person_id", maintain_order="left")


def _contract(declared: dict[str, Any], snapshots: Sequence[Any], columns: Sequence[str], m: int) -> Contract:
    values = {
        name: sorted({value for _, one in snapshots for value in one[name].unique()}) for name in columns
    }
    sensitive: Any = [{"name": name, "values": values[name]} for name in columns]
    others: dict[str, Any] = {"m": m, "on_value_change": "refuse", "on_ineligible": "wait"}
    if m == 2 and len(columns) > 1:
        others["people_per_group"] = 2
    named = declared | {"sensitive": sensitive if len(columns) > 1 else sensitive[0]}
    return contract_of(named, name="m_invariance", **others)


def _rows(
    declared: dict[str, Any],
    snapshots: list[tuple[str, pl.DataFrame]],
    chosen: Sequence[str],
    columns: Sequence[str],
    m: int,
) -> Iterator[tuple[Any, ...]]:
    """The first and the last release."""
    words = " and ".join(chosen)
    try:
        contract = _contract(declared, snapshots, chosen, m)
        made = _published(snapshots, contract)
    except (NotEligible, ContractError):
        yield (words, m, "refused", *[None] * (len(HEADINGS) - 3))
        return
    for number in sorted({1, len(made)}):
        one = made[number - 1]
        figures = one.candidate.figures
        loss = normalized_certainty_penalty(one.read.boxes.unique("group_id"), one.read.sizes, contract)
        errors = dict(errors_of(one, contract, chosen))
        yield (
            words,
            m,
            number,
            figures.held_back / one.people.height,
            figures.counterfeits / figures.tuples,
            loss,
            *(errors.get(name) for name in (*columns, "both")),
        )


def _published(snapshots: list[tuple[str, pl.DataFrame]], contract: Contract) -> list[Made]:
    """The releases of some snapshots; one of nobody is refused, as the product does."""
    made = []
    for one in released(snapshots, contract):
        if not one.candidate.figures.tuples:
            raise NotEligible("there is nobody to publish")
        made.append(one)
    return made


def errors_of(made: Made, contract: Contract, chosen: Sequence[str]) -> Iterator[tuple[str, float]]:
    """The mean error of counts by each column, and by both."""
    release_format = principle_of(contract).format(contract)
    tables = release_format.internal(made.candidate.published, contract)
    known = knowledge_table(made.people.with_columns(person="identifier"), contract)
    read = release_format.read(tables, contract)
    found = usefulness(release_format, tables, read, contract, known)
    yield from (found.errors_by_column or {chosen[0]: found.query_error}).items()
    if len(chosen) > 1:
        yield "both", found.query_error


def _attack(
    name: str,
    declared: dict[str, Any],
    snapshots: list[tuple[str, pl.DataFrame]],
    columns: Sequence[str],
    m: int,
) -> Iterator[tuple[Any, ...]]:
    """What an adversary with both products of the last snapshot is left with."""
    try:
        made = [
            _published(snapshots[-1:], _contract(declared, snapshots[-1:], [column], m))[0]
            for column in columns
        ]
    except (NotEligible, ContractError):
        return
    yield (name, m, *narrowed(*made, m), 1 / m)


def _attack_alone(
    name: str,
    declared: dict[str, Any],
    snapshots: list[tuple[str, pl.DataFrame]],
    columns: Sequence[str],
    m: int,
) -> Iterator[tuple[Any, ...]]:
    """What is guessed of one product's first and last release by how values go together."""
    try:
        contract = _contract(declared, snapshots, columns, m)
        made = _published(snapshots, contract)
    except (NotEligible, ContractError):
        return
    domain = value_domain(*(one.read.values[VALUE] for one in made), *(one.people[VALUE] for one in made))
    occur, left = pl.DataFrame(), None
    for release, one in enumerate(made, start=1):
        known = knowledge_table(one.people.with_columns(person="identifier"), contract)
        left = intersect_hosts(known.select("person", VALUE), one.linkage, one.read, domain, release, left)
        now = known.group_by(VALUE).agg(people=pl.len())
        occur = pl.concat([occur, now], how="diagonal").group_by(VALUE).agg(pl.col("people").sum())
        if release in (1, len(made)):
            found = guess_by_correlations(
                *(known, one.read, contract.sensitive, occur, left, domain, one.linkage)
            )
            assert found is not None
            yield name, m, release, found.people, *found.by_column.values(), found.together, 1 / m


def narrowed(first: Made, second: Made, m: int) -> tuple[int, float, float, float]:
    """Two products of the same people, by an adversary who knows groups and how values go together.

    Returns
    -------
    tuple
        People in both; the share of whom fewer than m values of a column are left; and how often the
        likeliest value of the first and of the second column is right. In a group, each value is as likely as
        the others; how much likelier two values are together than by chance multiplies that.
    """
    truth = first.people.select("identifier", first=VALUE).join(
        second.people.select("identifier", second=VALUE), on="identifier"
    )
    number = len(truth)
    lift = (
        truth.group_by("first", "second")
        .agg(together=pl.len())
        .join(truth.group_by("first").agg(one=pl.len()), on="first")
        .join(truth.group_by("second").agg(other=pl.len()), on="second")
        .select("first", "second", weight=pl.col("together") * number / (pl.col("one") * pl.col("other")))
    )
    held = [
        one.linkage.join(
            one.read.values.select("group_id", pl.col(VALUE).alias(which)), on="group_id"
        ).select("person", which)
        for one, which in ((first, "first"), (second, "second"))
    ]
    left = held[0].join(held[1], on="person").join(lift, on=["first", "second"])
    people = left["person"].n_unique()
    counts = left.group_by("person").agg(pl.col("first", "second").n_unique())
    few = counts.filter(pl.min_horizontal("first", "second") < m).height
    right = []
    for which in ("first", "second"):
        likely = left.group_by("person", which).agg(pl.col("weight").sum())
        best = likely.sort("weight", which, descending=[True, False]).group_by("person").first()
        true = best.join(truth.select(person="identifier", true=which), on="person")
        right.append((true[which] == true["true"]).mean())
    return people, few / people, right[0], right[1]


def floor(people: pl.DataFrame, m: int, leave: float) -> float:
    """The share of counterfeits in the second release that no plan goes below.

    A bucket has at most as many groups as people have one of its combinations. Let g(k) be what the
    largest of m binomial numbers (k, 1 - `leave`) exceeds its mean by, on average: so many of k people
    are missing at each combination of a bucket of k groups. As g(j + k) <= g(j) + g(k), at least g(N) are
    missing at a combination of N people, whatever the buckets. If A people arrive with it, max(g(N) - A,
    0) or more places stay open on average (Jensen), and A is about a Poisson number.
    """
    groups = people.group_by("occupation", "income").len()["len"].to_numpy()
    counterfeits = 0.0
    for size, combinations in zip(*np.unique(groups, return_counts=True), strict=True):
        stay = np.arange(size)
        lacking = (1 - binom.cdf(stay, size, 1 - leave) ** m).sum() - size * (1 - leave)
        arriving = np.arange(int(lacking) + 1)
        unfilled = np.maximum(lacking - arriving, 0) * poisson.pmf(arriving, size * leave)
        counterfeits += combinations * unfilled.sum()
    return float(counterfeits / (people.height + counterfeits))


def _second_releases(people: int) -> Iterator[tuple[Any, ...]]:
    snapshots = _of_census(people, 2)
    for m in (3, 8):
        contract = _contract(census_contract(), snapshots, COLUMNS, m)
        _, one = released(snapshots, contract)
        figures = one.candidate.figures
        loss = normalized_certainty_penalty(one.read.boxes.unique("group_id"), one.read.sizes, contract)
        share = figures.counterfeits / figures.tuples
        yield people, m, share, floor(snapshots[0][1], m, 1 / 10), loss, round(one.seconds, 1)


if __name__ == "__main__":
    main(tables)
