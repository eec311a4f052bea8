"""e-equivalence: attacks, counterfeits, errors, seconds.

Section VII of He, Barman and Naughton (ICDE 2011), on a made-up census with the paper's domain sizes. On
merged buckets the attack is exact. On fine groups that takes too long, as it did the paper: there one group
is subtracted from another with the same signature, and what is found is a lower bound. *Told apart* under
m-invariance are people who are in one of two such groups and not in the other, where the two differ by at
most m/2 people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count, islice, pairwise
from unittest.mock import patch

import numpy as np
import polars as pl

from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract, census_series
from benchmarks.measures.cells import cells_of_people
from benchmarks.measures.copied import copied_cells
from benchmarks.measures.queries import SELECTIVITIES, workload_errors
from benchmarks.real_data import (
    adult_contract,
    adult_series,
    data_folder,
    is_here,
    receipts_contract,
    receipts_series,
)
from benchmarks.series import Made, Series, contract_of, released
from benchmarks.tables import Table, main
from republish.anonymize.attack.equivalence import compromised
from republish.anonymize.e_equivalence import plan as e_plan
from republish.anonymize.m_invariance.release import GROUPING

QUICK = {"live": 400, "few": 200, "releases": 2, "m": 4, "kept": 400, "real": 0}
GROUPS = 10**6
"""More than there are groups in a release."""


def tables(
    live: int = 200_000, few: int = 20_000, releases: int = 20, m: int = 10, kept: int = 20_000, real: int = 1
) -> Iterator[Table]:
    """All figures; exact attacks are on `few` people."""
    yield _compromised(few, releases, m)
    yield from _counterfeits(live, releases, m)
    yield _skewed(live, releases, m)
    yield _errors(live, m)
    if real and is_here():
        yield _real()
    yield _kept(kept, m)


def _publish(snapshots: Series, m: int, e: int | None = None, **forgotten: tuple[str, ...]) -> Iterator[Made]:
    """A census series under e-equivalence, or without an e under m-invariance."""
    principle = {"name": "e_equivalence", "e": e} if e else {"name": "m_invariance", "format": "anatomy"}
    contract = contract_of(
        census_contract(m), **principle, m=m, on_ineligible="counterfeit", people_per_group=2
    )
    return released(snapshots, contract, **forgotten)


def _census(live: int, releases: int) -> list[tuple[str, pl.DataFrame]]:
    """A tenth of the people is replaced before each release."""
    return list(census_series(3 * live, live, live // 10, releases))


def _compromised(live: int, releases: int, m: int, e: int = 5) -> Table:
    """Figure 6: people in attacks with e' < e after each release, counterfeits left out."""
    snapshots = _census(live, releases)
    with patch.object(e_plan, "smallest_safe_cut", lambda _: 0):  # merged buckets, and no cut is required
        merged = list(_publish(snapshots, m, e))
    rows = {
        "m-invariance, fine groups, at least": _pairs_over_time(_publish(snapshots, m), e),
        "m-invariance, merged buckets": _caught_over_time(merged, e),
        f"e = {e}": _caught_over_time(_publish(snapshots, m, e), e),
    }
    shown = range(2, releases + 1)
    counts = {name: list(found) + [None] * releases for name, found in rows.items()}
    return Table(
        f"People in attacks with e' < {e}, of {live:,}, of whom a tenth is replaced by each release, m = {m}",
        ("releases", *map(str, shown)),
        [[name, *(found[number - 1] for number in shown)] for name, found in counts.items()],
    )


def merged_groups(one: Made, number: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Who is in which group of an e-equivalent release, and what the groups hold."""
    partition = (pl.col("group_id") + number * GROUPS).alias("partition")
    linkage = one.candidate.linkage
    group = linkage.select("bucket_id", "group_id").unique()
    forged = one.candidate.state.tables["counterfeits"].join(group, on="bucket_id")
    forged = forged.with_columns(copy=pl.int_range(pl.len()).over("bucket_id", "value", "node"))
    name = pl.format("counterfeit {} {} {} {}", "bucket_id", "value", "node", "copy")
    real = linkage.select(partition, person=pl.col("pseudonym").bin.encode("hex"))
    held = one.candidate.published["sensitive"].select(partition, value="occupation", tuples="count")
    return pl.concat([real, forged.select(partition, person=name)]), held


def _caught_over_time(made: Iterable[Made], e: int) -> Iterator[int]:
    """People in an exact attack on merged buckets; ends when that takes too long."""
    seen = []
    for number, one in enumerate(made, start=1):
        seen.append(merged_groups(one, number))
        who, undecided = compromised(*map(pl.concat, zip(*seen, strict=True)), e, seconds=60)
        if not undecided.is_empty():
            return
        yield who.filter(~pl.col("person").str.starts_with("counterfeit"))["person"].n_unique()


def _pairs_over_time(made: Iterable[Made], e: int) -> Iterator[int]:
    """People whom two groups of one signature tell apart: in one of them alone, fewer than e on each side."""
    everybody, caught = None, set()
    for number, one in enumerate(made, start=1):
        signature = one.candidate.buckets.select("bucket_id", size=pl.col("signature").list.len())
        now = one.candidate.linkage.join(signature, on="bucket_id").select(
            "pseudonym", "bucket_id", "size", partition=pl.col("group_id") + number * GROUPS
        )
        everybody = now if everybody is None else pl.concat([everybody, now])
        pairs = (
            now.join(everybody, on=["pseudonym", "bucket_id"], suffix="_before")
            .group_by("partition", "partition_before", "size")
            .len("shared")
            .filter((pl.col("shared") < pl.col("size")) & (pl.col("shared") > pl.col("size") - e))
        )
        both = pl.concat(
            pairs.select(partition=column, other=other).join(everybody, on="partition")
            for column, other in (("partition", "partition_before"), ("partition_before", "partition"))
        )
        inside = everybody.select("pseudonym", other="partition")
        caught |= set(both.join(inside, on=["pseudonym", "other"], how="anti")["pseudonym"])
        yield len(caught)


def _counterfeits(live: int, releases: int, m: int) -> Iterator[Table]:
    """Figures 7 and 10: counterfeits under random updates, and seconds of the algorithm."""
    snapshots, forged, seconds = _census(live, releases), [], []
    for e in (None, *range(2, m + 1, 2)):
        made = list(_publish(snapshots, m, e))
        name = f"e = {e}" if e else "m-invariance"
        counts = [one.candidate.figures.counterfeits for one in made]
        forged.append([name, *counts, max(counts)])
        seconds.append([name, float(np.median([one.seconds for one in made[1:]]))])
    heads = ("release", *map(str, range(1, releases + 1)), "most")
    yield Table(f"Counterfeits among {live:,}, a tenth replaced by each release, m = {m}", heads, forged)
    yield Table(f"Seconds of a release of {live:,}, median", ("", "seconds"), seconds)


def _skewed(live: int, releases: int, m: int, slopes: tuple[int, ...] = (0, 3, 6, 9, 12, 15)) -> Table:
    """Figure 8: counterfeits of the last release; each batch has values by a line of slope s."""
    rows = {"m-invariance": None, "e = 5": 5, f"e = {m}": m}
    found = {name: [] for name in rows}
    for slope in slopes:
        snapshots = list(islice(_batches(slope, live), releases))
        for name, e in rows.items():
            *_, last = _publish(snapshots, m, e)
            found[name].append(last.candidate.figures.counterfeits)
    return Table(
        f"Counterfeits in release {releases} of {live:,} people, batches of slope s, m = {m}",
        ("s", *map(str, slopes)),
        [[name, *counts] for name, counts in found.items()],
    )


def _batches(slope: int, live: int, seed: int = 5) -> Iterator[tuple[str, pl.DataFrame]]:
    """Figure 5: of each batch, the value at place i of a random order has about min + i s people."""
    random, r = np.random.default_rng(seed), live // 10
    everybody = census(3 * live)
    present, pool = np.arange(live), np.arange(live, everybody.height)
    occupation = everybody["occupation"].to_numpy().copy()
    # The paper's slopes are of batches of 20,000.
    places = np.arange(50) * slope * r // 20_000
    counts = places + (r - places.sum()) // 50
    for number in count():
        table = everybody[present].select("person_id", *QUASI_IDENTIFIERS)
        yield f"release {number}", table.with_columns(occupation=occupation[present])
        batch = np.repeat(random.permutation(50) + 1, counts)
        new, pool = pool[: len(batch)], pool[len(batch) :]
        occupation[new] = random.permutation(batch)
        present = np.append(random.permutation(present)[len(batch) :], new)


def _errors(live: int, m: int) -> Table:
    """Figure 9: the median error of counts after five releases, by expected selectivity."""
    snapshots, rows = _census(live, 5), []
    for name, e in (("m-invariance, Anatomy of fine groups", None), ("e = 5, merged buckets", 5)):
        *_, made = _publish(snapshots, m, e)
        true = cells_of_people(made.people, made.contract)
        cells = copied_cells(made.candidate.published, made.contract)
        errors = workload_errors(true, cells, made.contract, SELECTIVITIES, 1)
        rows.append([name, *(f"{error:.1%}" for error in errors.values())])
    heads = ("", *(f"{share:.0%}" for share in SELECTIVITIES))
    return Table("Median error of counts after 5 releases, by expected selectivity", heads, rows)


def _real() -> Table:
    """Adult and the receipts with the largest m that they carry."""
    folder, rows = data_folder(), []
    adult = adult_contract(folder), list(adult_series(folder)), 6, (3, 6, 12)
    receipts = receipts_contract(), list(receipts_series(folder)), 3, (2, 6)
    for declared, snapshots, m, es in (adult, receipts):
        for e in es:
            contract = contract_of(
                declared, name="e_equivalence", m=m, e=e, on_ineligible="counterfeit", people_per_group=2
            )
            figures = [made.candidate.figures for made in released(snapshots, contract)]
            counts = " ".join(str(one.counterfeits) for one in figures)
            rows.append([f"{declared['product']}, m = {m}, e = {e}", figures[-1].people, counts])
    return Table("Real data: counterfeits release by release", ("", "people", "counterfeits"), rows)


def _kept(most: int, m: int, releases: int = 7) -> Table:
    """m-invariance: people who stay in one group, and people told apart; beside it, all groups made anew."""
    rows = []
    for live, r, of in ((400, 4, 3), (2_000, 5, 3), (2_000, 40, 3), (20_000, 20, m), (20_000, 200, m)):
        snapshots = list(census_series(live + r * releases, live, r, releases)) if live <= most else []
        figures = []
        for forgotten in ((), (GROUPING,)):  # without its secret, a release groups every bucket anew
            made = list(_publish(snapshots, of, forgotten=forgotten))
            if made:
                *_, apart = _pairs_over_time(made, of // 2 + 1)
                figures += [f"{_share_in_the_same_group(made):.0%}", apart]
        rows.append([f"{live:,} people, {r} replaced, m = {of}", *(figures or [None] * 4)])
    heads = ("", "same group as before", "told apart", "all anew: same group", "told apart")
    return Table(f"m-invariance, {releases} releases: groups that stay, and people told apart", heads, rows)


def _share_in_the_same_group(made: list[Made]) -> float:
    """The mean share of a release's people whose group has exactly the people that it had before."""
    shares = []
    for before, now in pairwise(one.candidate.linkage for one in made):
        earlier, later = (
            linkage.group_by("group_id").agg(pl.col("pseudonym").bin.encode("hex").sort().str.join())
            for linkage in (before, now)
        )
        same = later.join(earlier, on="pseudonym", how="semi").select("group_id")
        shares.append(now.join(same, on="group_id", how="semi").height / now.height)
    return float(np.mean(shares))


if __name__ == "__main__":
    main(tables)
