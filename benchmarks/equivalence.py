"""Section VII of He, Barman and Naughton on census-like data: what equivalence costs, and what it prevents.

python benchmarks/equivalence.py                  all of it, a table each; plots into docs/equivalence/
python benchmarks/equivalence.py compromised      Figure 6: people in attacks below e = 5, over time
python benchmarks/equivalence.py counterfeits     Figure 7: random updates, e = 2 … 10
python benchmarks/equivalence.py skew             Figure 8: synthetic batches, s = 0 … 15
python benchmarks/equivalence.py queries          Figure 9: error of range queries
python benchmarks/equivalence.py time             Figure 10: seconds of a release, against m-invariance
python benchmarks/equivalence.py real             Adult and receipts, where they are
python benchmarks/equivalence.py kept             m-invariance: buckets that stay keep their groups, or don't
python benchmarks/equivalence.py picture          Figure 4c, the graph of a bucket in Example 10
"""

from __future__ import annotations

import datetime as dt
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
from matplotlib import rc_context
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from anonymize.attack.equivalence import compromised
from anonymize.e_equivalence import plan as e_plan
from anonymize.errors import NotEligible
from anonymize.m_invariance.release import GROUPING
from anonymize.people.pseudonyms import pseudonyms
from anonymize.people.randomness import generator
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State
from anonymize.principles import PRINCIPLES, parse_contract
from benchmarks.census import QUASI_IDENTIFIERS, census, census_contract, census_series
from benchmarks.real_data import (
    WHY_NOT,
    adult_contract,
    adult_series,
    data_folder,
    receipts_contract,
    receipts_series,
)
from orchestration.snapshots.sources import enter

PLOTS = Path(__file__).parents[1] / "docs" / "equivalence"
SHOWN = (1, 2, 5, 10, 15, 20)
GROUPS = 10**6


@dataclass(frozen=True)
class Made:
    """A release and how long it took."""

    candidate: Candidate
    people: pl.DataFrame
    seconds: float


def publish(
    declared: dict, principle: dict, snapshots: Iterable[pl.DataFrame], *, forgotten: Collection[str] = ()
) -> Iterator[Made]:
    """The releases of a series, in order, each on the state before, without the tables `forgotten`."""
    of = PRINCIPLES[principle["name"]]
    first = dt.date.fromisoformat(declared["releases"]["first"])
    declared = {
        **declared,
        "source": {"path": "{release}.parquet"},
        "releases": {**declared["releases"], "first": first},
        "principle": principle,
    }
    contract, state = parse_contract(declared), State.empty()
    for number, people in enumerate(snapshots, start=1):
        entered = enter(people, contract).drop("identifier").with_columns(people["pseudonym"])

        def draw(purpose: str, number: int = number) -> np.random.Generator:
            return generator(b"benchmark", contract.product, "v1", str(number), purpose)

        begun = time.perf_counter()
        candidate = of.release(entered, contract, state, number, draw)
        yield Made(candidate, people, time.perf_counter() - begun)
        kept = {name: table for name, table in candidate.state.tables.items() if name not in forgotten}
        state = State(kept)


def named(snapshots: Iterable[tuple[str, pl.DataFrame]]) -> list[pl.DataFrame]:
    """Snapshots with pseudonyms."""
    return [
        people.with_columns(pseudonyms(people["person_id"], b"benchmark").alias("pseudonym"))
        for _, people in snapshots
    ]


def merged_only() -> patch:
    """m-invariance with merged buckets by Anatomy: no cut is required."""
    return patch.object(e_plan, "smallest_safe_cut", lambda _: 0)


def print_table(title: str, rows: dict[str, list], columns: Iterable) -> None:
    table = Table(title=title)
    table.add_column("")
    for column in columns:
        table.add_column(str(column), justify="right")
    for name, figures in rows.items():
        table.add_row(
            name, *(f"{figure:,}" if isinstance(figure, int) else str(figure) for figure in figures)
        )
    Console(width=110).print(table)


def plot(name: str, rows: dict[str, list], columns: list, x: str, y: str, scale: str = "linear") -> None:
    figure = Figure(figsize=(6, 3), layout="constrained")
    axes = figure.subplots()
    for label, figures in rows.items():
        axes.plot(columns[: len(figures)], figures, marker=".", label=label)
    axes.set(xlabel=x, ylabel=y, yscale=scale)
    axes.legend(frameon=False, fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    _save(figure, name)


def _save(figure: Figure, name: str) -> None:
    PLOTS.mkdir(parents=True, exist_ok=True)
    with rc_context({"svg.hashsalt": name}):
        figure.savefig(PLOTS / f"{name}.svg", metadata={"Date": None})


def measure_compromised(live: int = 20_000, r: int = 2_000, releases: int = 20, e: int = 5) -> None:
    """People in attacks with e' < e, counterfeits left out.

    On merged buckets the attack is exact. On fine groups that takes too long, as it did the paper; there
    one group is subtracted from another with the same signature, and what is found is a lower bound.
    """
    snapshots = named(census_series(rows=live + r * releases, live=live, r=r, releases=releases))
    fine = publish(census_contract(), {"name": "m_invariance", "m": 10}, snapshots)
    safe = publish(census_contract(), {"name": "e_equivalence", "m": 10, "e": e}, snapshots)
    with merged_only():
        merged = list(publish(census_contract(), {"name": "e_equivalence", "m": 10, "e": e}, snapshots))
    rows = {
        "m-invariance, fine (at least)": list(_pairs_over_time(fine, e)),
        "m-invariance, merged": list(_caught_over_time(merged, e)),
        f"e-equivalence, e = {e}": list(_caught_over_time(safe, e)),
    }
    shown = [n for n in (2, 3, 4, 5, 10, 15, 20) if n <= releases]
    print_table(
        f"People compromised after n releases: {live:,} live, r = {r:,}, m = 10, attacks with e' < {e}",
        {
            name: [figures[n - 1] if n <= len(figures) else "-" for n in shown]
            for name, figures in rows.items()
        },
        shown,
    )
    plot("compromised", rows, list(range(1, releases + 1)), "releases", "people compromised", "symlog")


def _caught_over_time(made: Iterable[Made], e: int) -> Iterator[int]:
    """People in an exact attack on merged buckets; ends when that takes too long."""
    members, contents = [], []
    for number, one in enumerate(made, start=1):
        member, content = _merged_groups(one, number)
        members.append(member)
        contents.append(content)
        who, undecided = compromised(pl.concat(members), pl.concat(contents), e, seconds=60)
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


def _merged_groups(one: Made, number: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    partition = (pl.col("group_id") + number * GROUPS).alias("partition")
    linkage, published = one.candidate.linkage, one.candidate.published
    group = linkage.select("bucket_id", "group_id").unique()
    kept = one.candidate.state.tables["counterfeits"].join(group, on="bucket_id")
    kept = kept.with_columns(copy=pl.int_range(pl.len()).over("bucket_id", "value", "node"))
    members = [
        linkage.select(partition, person=pl.col("pseudonym").bin.encode("hex")),
        kept.select(
            partition, person=pl.format("counterfeit {} {} {} {}", "bucket_id", "value", "node", "copy")
        ),
    ]
    return pl.concat(members), published["sensitive"].select(partition, value="occupation", tuples="count")


def measure_counterfeits(es: tuple[int, ...] = (2, 4, 6, 8, 10), releases: int = 20) -> None:
    """Counterfeits of each release under random updates."""
    snapshots = named(census_series(releases=releases))
    principles = {"m-invariance": {"name": "m_invariance", "m": 10}} | {
        f"e = {e}": {"name": "e_equivalence", "m": 10, "e": e} for e in es
    }
    rows = {
        name: [
            one.candidate.figures["counterfeits"] for one in publish(census_contract(), principle, snapshots)
        ]
        for name, principle in principles.items()
    }
    print_table(
        "Counterfeits in release n: 200,000 live, r = 20,000, m = 10, random updates",
        {name: [*(figures[n - 1] for n in SHOWN), max(figures)] for name, figures in rows.items()},
        [*SHOWN, "most"],
    )
    plot("counterfeits", rows, list(range(1, releases + 1)), "releases", "counterfeits")


def measure_skew(slopes: tuple[int, ...] = (0, 3, 6, 9, 12, 15), releases: int = 20) -> None:
    """Counterfeits of the last release; each batch has values by a line of slope s, in a random order."""
    principles = {
        "m-invariance": {"name": "m_invariance", "m": 10, "on_ineligible": "counterfeit"},
        "e = 5": {"name": "e_equivalence", "m": 10, "e": 5, "on_ineligible": "counterfeit"},
        "e = 10": {"name": "e_equivalence", "m": 10, "e": 10, "on_ineligible": "counterfeit"},
    }
    rows = {name: [] for name in principles}
    for slope in slopes:
        snapshots = [people for _, people in zip(range(releases), skewed_series(slope), strict=False)]
        for name, principle in principles.items():
            *_, last = publish(census_contract(), principle, snapshots)
            rows[name].append(last.candidate.figures["counterfeits"])
    print_table(
        f"Counterfeits in release {releases}: 200,000 live, r = 20,000, m = 10, batches of slope s",
        rows,
        slopes,
    )
    plot("skew", rows, list(slopes), "slope s", "counterfeits")


def skewed_series(slope: int, live: int = 200_000, r: int = 20_000, seed: int = 5) -> Iterator[pl.DataFrame]:
    """Figure 5: of each batch, the value at place i of a random order has min + i s people."""
    random = np.random.default_rng(seed)
    everybody = census(600_000)
    everybody = everybody.with_columns(pseudonyms(everybody["person_id"], b"benchmark").alias("pseudonym"))
    present, pool = np.arange(live), np.arange(live, everybody.height)
    occupation = everybody["occupation"].to_numpy().copy()
    while True:
        yield (
            everybody[present]
            .select("person_id", *QUASI_IDENTIFIERS, "pseudonym")
            .with_columns(occupation=occupation[present])
        )
        places = np.arange(50) * slope
        counts = places + (r - places.sum()) // 50
        batch = np.repeat(random.permutation(50) + 1, counts)
        new, pool = pool[: len(batch)], pool[len(batch) :]
        occupation[new] = random.permutation(batch)
        present = np.append(random.permutation(present)[len(batch) :], new)


def measure_queries(releases: int = 5, queries: int = 1000) -> None:
    """Relative error of counts, by the share of people that the quasi-identifiers select."""
    snapshots = named(census_series(releases=releases))
    *_, fine = publish(census_contract(), {"name": "m_invariance", "m": 10}, snapshots)
    *_, merged = publish(census_contract(), {"name": "e_equivalence", "m": 10, "e": 5}, snapshots)
    groups = {
        "m-invariance, Anatomy of fine groups": fine.candidate.linkage,
        "e-equivalence, merged": merged.candidate.linkage,
    }
    shares = (0.01, 0.02, 0.05, 0.1)
    rows = {name: [] for name in groups}
    for share in shares:
        errors = query_errors(merged.people, groups, share, queries)
        for name, found in errors.items():
            rows[name].append(
                f"{100 * np.median(found):.1f} % ± {100 * found.std() / np.sqrt(len(found)):.1f}"
            )
    print_table(
        f"Error of {queries} range queries (median, standard error of the mean) by share of people selected",
        rows,
        [f"{100 * share:.0f} %" for share in shares],
    )


def query_errors(
    people: pl.DataFrame, groups: dict[str, pl.DataFrame], share: float, queries: int, seed: int = 9
) -> dict[str, np.ndarray]:
    """Relative errors |act - est| / act of counts of an occupation in a box of quasi-identifiers."""
    random = np.random.default_rng(seed)
    codes = people.select(QUASI_IDENTIFIERS).to_numpy()
    value = people["occupation"].to_numpy()
    tables = {}
    for name, linkage in groups.items():
        group = people.join(linkage, on="pseudonym", maintain_order="left")["group_id"].to_numpy()
        held = np.zeros((group.max() + 1, 51), np.int32)
        np.add.at(held, (group, value), 1)
        tables[name] = group, held, held.sum(axis=1)
    errors = {name: [] for name in groups}
    low, high = codes.min(axis=0), codes.max(axis=0)
    width = np.round((high - low + 1) * share ** (1 / 3)).astype(int)
    width[1] = 2  # gender: both
    while len(next(iter(errors.values()))) < queries:
        begin = low + (random.random(4) * (high - low + 2 - width)).astype(int)
        inside = ((codes >= begin) & (codes < begin + width)).all(axis=1)
        wanted = random.integers(1, 51)
        actual = int((value[inside] == wanted).sum())
        if not actual:
            continue
        for name, (group, held, size) in tables.items():
            here = group[inside]
            estimate = (held[here, wanted] / size[here]).sum()
            errors[name].append(abs(estimate - actual) / actual)
    return {name: np.array(found) for name, found in errors.items()}


def measure_time(releases: int = 10, es: tuple[int, ...] = (2, 5, 10)) -> None:
    """Seconds of the algorithm, one after another in one run; the first release warms up."""
    snapshots = named(census_series(releases=releases))
    principles = {"m-invariance": {"name": "m_invariance", "m": 10}} | {
        f"e = {e}": {"name": "e_equivalence", "m": 10, "e": e} for e in es
    }
    series = {
        name: publish(census_contract(), principle, snapshots) for name, principle in principles.items()
    }
    seconds = {name: [] for name in principles}
    for _ in range(releases):
        for name, made in series.items():
            seconds[name].append(next(made).seconds)
    base = np.median(seconds["m-invariance"][1:])
    rows = {
        name: [f"{np.median(spent[1:]):.2f} s", f"{np.median(spent[1:]) / base:.2f}"]
        for name, spent in seconds.items()
    }
    print_table(
        f"A release of 200,000, r = 20,000, m = 10: median of {releases - 1}", rows, ["seconds", "ratio"]
    )


def measure_real() -> None:
    """Adult and the receipts with the largest m and e they carry."""
    real = data_folder()
    if real is None:
        print(WHY_NOT)
        return
    adult = named(adult_series(real))
    receipts = named(receipts_series(real))
    rows = {}
    for name, declared, snapshots, m, es in (
        ("Adult", adult_contract(real), adult, 6, (3, 6, 12)),
        ("receipts", receipts_contract(), receipts, 3, (2, 3, 6)),
    ):
        for e in es:
            principle = {"name": "e_equivalence", "m": m, "e": e, "on_ineligible": "counterfeit"}
            try:
                made = list(publish(declared, principle, snapshots))
            except NotEligible as refusal:
                rows[f"{name}, m = {m}, e = {e}"] = [str(refusal)[:60], "", "", ""]
                continue
            figures = [one.candidate.figures for one in made]
            rows[f"{name}, m = {m}, e = {e}"] = [
                len(made),
                figures[-1]["people"],
                " ".join(str(figure["counterfeits"]) for figure in figures),
                min(figure["smallest_cut"] for figure in figures if figure["tuples"]),
            ]
    print_table("Real data", rows, ["releases", "people", "counterfeits, release by release", "smallest cut"])


def measure_kept(releases: int = 7) -> None:
    """How many people stay in one group from release to release, and how many of them are told apart.

    People are told apart where two groups of one signature share all but few of their people. Beside it the
    same series with buckets that are all grouped anew in every release.
    """
    rows = {}
    for live, r, m in ((400, 4, 3), (2_000, 5, 3), (2_000, 40, 3), (20_000, 20, 10), (20_000, 200, 10)):
        snapshots = named(census_series(rows=live + r * releases, live=live, r=r, releases=releases))
        principle = {"name": "m_invariance", "m": m, "on_ineligible": "counterfeit"}
        figures = []
        for forgotten in ((), (GROUPING,)):  # without its secret, a release groups every bucket anew
            made = list(publish(census_contract(m), principle, snapshots, forgotten=forgotten))
            *_, told_apart = _pairs_over_time(made, m // 2 + 1)
            figures += [f"{100 * _share_in_the_same_group(made):.0f} %", told_apart]
        rows[f"{live:,} people, {r} replaced, m = {m}"] = figures
    print_table(
        f"m-invariance, {releases} releases: people in the same group as before, and people told apart",
        rows,
        ("kept: same group", "kept: told apart", "anew: same group", "anew: told apart"),
    )


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


MEASURES = {
    "compromised": measure_compromised,
    "counterfeits": measure_counterfeits,
    "skew": measure_skew,
    "queries": measure_queries,
    "time": measure_time,
    "real": measure_real,
    "kept": measure_kept,
}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or MEASURES:
        MEASURES[chosen]()
