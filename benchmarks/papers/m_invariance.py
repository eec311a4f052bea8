"""The experiments of the m-invariance paper.

Section 5.2 of Xiao and Tao (SIGMOD 2007), on made-up census people, whose domains are those of the paper's
OCC and SAL (which may not be passed on): 200,000 of 600,000 people live, and r are replaced before each
release. A workload is 10,000 counts of people whose four quasi-identifiers and sensitive value lie in
random ranges, each of which covers the fifth root of the expected selectivity of its domain (rounded to
whole values). Its error is the median of |estimate - truth| / truth. *Evenly* is the paper's estimate,
which spreads people evenly over the intervals of their group; *estimated*, in every tenth release, is what
`republish estimate` answers. As in the paper, a series ends when 400,000 people have been replaced. All of
it is 956 releases, about an hour of a quiet machine.

The paper says of r = 5,000, m = 10: at most 10 counterfeits in a release (occupation) and 12 (income), none
in 51 and 33 of 81 releases, errors of at most 10 %, and at most 12 seconds of a 3 GHz processor of 2007 for
a release.

![Errors of counts over time](../pictures/m_invariance_error.svg)

*Vulnerable people* are those of section 5.1: intersecting their candidate values over all releases leaves one
(Lemma 1). Releases go on until all people of the pool were there.

![Vulnerable people against update volume](../pictures/vulnerable.svg)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchmarks.census import LIVE, census_contract, census_series
from benchmarks.measures.cells import cells_of_groups, cells_of_people
from benchmarks.measures.copied import copied_cells
from benchmarks.measures.penalties import normalized_certainty_penalty
from benchmarks.measures.queries import SELECTIVITIES, SELECTIVITY, workload_errors
from benchmarks.series import contract_of, pseudonymous, released
from benchmarks.tables import Table, draw, main
from republish.anonymize.attack.coverage import value_domain
from republish.anonymize.attack.intersection import candidates, intersect, intersected
from republish.anonymize.baseline.mondrian import mondrian
from republish.anonymize.contract import Contract
from republish.anonymize.formats.published import Published, knowledge_table

QUICK = {
    "rows": 500,
    "releases": 2,
    "m": (4,),
    "first_m": 4,
    "shares": (0.1,),
    "sensitive": ("income",),
    "l": (2,),
}
OURS, THEIRS = "m-invariance, m = {}", "l-diverse Mondrian, l = {}"
EVERY = 10
"""In the first release of so many, counts are asked for."""


class Case(NamedTuple):
    """A series of the paper."""

    sensitive: str
    """`occupation` for Tocc, `income` for Tsal."""
    m: int
    r: int
    """Update volume: how many people are replaced before each release but the first."""
    live: int
    """People in each snapshot. Twice as many wait to come."""

    @property
    def contract(self) -> Contract:
        """Of two values, a batch is eligible: none is as frequent as one in two."""
        policy = {"on_ineligible": "counterfeit", "people_per_group": 2} if self.m > 2 else {}
        return contract_of(census_contract(self.m, self.sensitive), name="m_invariance", m=self.m, **policy)


def tables(
    sensitive: tuple[str, ...] = ("occupation", "income"),
    rows: int = LIVE,
    releases: int = 81,
    m: tuple[int, ...] = (2, 4, 6, 8, 10),
    first_m: int = 10,
    shares: tuple[float, ...] = (0.025, 0.05, 0.1, 0.2),
    l: tuple[int, ...] = (2, 4, 6, 8, 10),
    plot: str = "",
    plot_vulnerable: str = "",
) -> Iterator[Table]:
    """All series: of `first_m` with each r (`shares` of the people), and of each m with the smallest r."""
    updates = [max(1, round(share * rows)) for share in shares]
    pairs = dict.fromkeys([(first_m, r) for r in updates] + [(each, updates[0]) for each in m])
    measured = pl.DataFrame(
        [
            row
            for (each, r), column in itertools.product(pairs, sensitive)
            for row in measure(Case(column, each, r, rows), min(releases, 1 + 2 * rows // r))
        ],
        infer_schema_length=None,
    )
    of_r, first = measured.filter(m=first_m), measured.filter(m=first_m, r=updates[0])
    of_m, by_r, by_m = measured.filter(r=updates[0]), ("sensitive", "r"), ("sensitive", "m")
    held, spent = pl.col("counterfeits"), pl.col("processor")
    counted = {"mean": held.mean(), "most": held.max(), "releases without any": (held == 0).sum()}
    seconds = {"median": spent.median(), "most": spent.max()}
    over = {name: pl.col(f"{name} {SELECTIVITY}") for name in ("evenly", "estimated")}
    errors = {"first": over["evenly"].drop_nulls().first(), "largest": over["evenly"].max()}
    mean = {"error": over["evenly"].mean(), "NCP": pl.col("ncp").mean()}
    yield _table(
        f"Counterfeits in a release against r, m = {first_m} (Figures 5 and 6a)", of_r, by_r, counted
    )
    yield _table(f"Counterfeits in a release against m, r = {updates[0]:,} (Figure 6b)", of_m, by_m, counted)
    asked = first.filter(over["evenly"].is_not_null())
    yield _table(
        f"Error by release, m = {first_m}, r = {updates[0]:,}, selectivity {SELECTIVITY:.0%} (Figure 7)",
        asked, ("sensitive", "release"), {name: column.first() for name, column in over.items()},
    )  # fmt: skip
    yield _table("The same against r, evenly", of_r, by_r, errors)
    selected = {
        f"{how} {share:.0%}": pl.col(f"{how} {share}").mean()
        for how in ("evenly", "estimated")
        for share in SELECTIVITIES
    }
    yield _table(
        "The same, mean over releases, against selectivity (Figure 8a)", asked, ("sensitive",), selected
    )
    yield _table(f"The same, evenly, against m, r = {updates[0]:,} (Figure 8b)", of_m, by_m, mean)
    yield _table(f"Seconds of all processors against r, m = {first_m} (Figure 9a)", of_r, by_r, seconds)
    yield _table(f"The same against m, r = {updates[0]:,} (Figure 9b)", of_m, by_m, seconds)
    if plot:
        curves = {
            f"{column}, {how}": (rows["release"].to_list(), rows[f"{how} {SELECTIVITY}"].to_list())
            for (column,), rows in asked.group_by("sensitive", maintain_order=True)
            for how in over
        }
        draw(Path(plot), curves, xlabel="release", ylabel="median relative error, selectivity 10 %")
    yield from vulnerable_people(rows, tuple(updates), l, (2, first_m), plot_vulnerable)


def measure(case: Case, releases: int) -> Iterator[dict[str, Any]]:
    """Release by release: the case, and what was measured.

    Yields
    ------
    dict
        The fields of the case; `release` (1, 2, …), `counterfeits`, `processor` (seconds), `ncp`; and the
        median relative errors `evenly 0.1`, `estimated 0.1`, …, None where nothing was asked for.
    """
    contract = case.contract
    snapshots = census_series(3 * case.live, case.live, case.r, releases, case.sensitive)
    for number, made in enumerate(released(snapshots, contract), start=1):
        read = made.read
        found = {f"{how} {share}": None for how in ("evenly", "estimated") for share in SELECTIVITIES}
        if number % EVERY == 1:
            true = cells_of_people(made.people, contract)
            for how, cells in {
                "evenly": cells_of_groups(read, contract),
                "estimated": copied_cells(made.candidate.published, contract),
            }.items():
                errors = workload_errors(true, cells, contract, SELECTIVITIES, number)
                found |= {f"{how} {share}": error for share, error in errors.items()}
        yield {
            **case._asdict(),
            "release": number,
            "counterfeits": made.candidate.figures.counterfeits,
            "processor": made.processor,
            "ncp": normalized_certainty_penalty(read.boxes, read.sizes, contract),
            **found,
        }


def vulnerable_people(
    live: int, r: tuple[int, ...], l: tuple[int, ...], m: tuple[int, ...], plot: str = ""
) -> Iterator[Table]:
    """Vulnerable people by update volume, of three times as many as live at once; `plot` is a file."""
    rows = 3 * live
    cases = [(THEIRS, bound) for bound in l] + [(OURS, bound) for bound in m]
    found = {
        name.format(bound): [vulnerable(each, bound, rows, live, ours=name == OURS) for each in r]
        for name, bound in cases
    }
    releases = ["releases", *(1 + (rows - live) // each for each in r)]
    yield Table(
        f"Vulnerable people, {rows:,} in all, {live:,} live",
        ("", *(f"r = {each:,}" for each in r)),
        [releases, *([name, *counts] for name, counts in found.items())],
    )
    if plot:
        curves = {name: (r, [max(count, 0.5) for count in counts]) for name, counts in found.items()}
        labels = {"xlabel": "update volume r", "ylabel": "vulnerable people (0 drawn at 0.5)"}
        draw(Path(plot), curves, yscale="log", **labels)


def vulnerable(r: int, bound: int, rows: int, live: int, *, ours: bool) -> int:
    """Publish a census series and attack it: how many people have one candidate value left."""
    contract, state = contract_of(census_contract(m=bound)), None
    snapshots = census_series(rows, live, r, 1 + (rows - live) // r)
    domain = value_domain(pl.Series("value", contract.sensitive.values))
    for number, (people, published) in enumerate(_published(snapshots, contract, bound, ours), start=1):
        state = intersect(knowledge_table(people, contract), published, domain, number, state)
    return intersected(candidates([state])).vulnerable


def _published(snapshots, contract, bound: int, ours: bool) -> Iterator[tuple[pl.DataFrame, Published]]:
    """Each release on what the last one left, or by itself."""
    if ours:
        for made in released(snapshots, contract):
            yield made.people.rename({"identifier": "person"}), made.read
        return
    for _, snapshot in snapshots:
        people = pseudonymous(snapshot, contract).rename({"identifier": "person"})
        yield people, mondrian(people, contract, bound)


def _table(title: str, rows: pl.DataFrame, by: tuple[str, ...], figures: dict[str, pl.Expr]) -> Table:
    found = rows.group_by(by, maintain_order=True).agg(**figures)
    return Table(title, found.columns, found.rows())


if __name__ == "__main__":
    main(tables)
