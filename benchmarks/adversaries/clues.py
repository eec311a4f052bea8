"""What an adversary sees of a series of releases: for each person and candidate value, a row of numbers.

Nothing is assumed of the algorithm that made the releases. The numbers describe whatever is published about
a person's group and signature, where the person lies in them, and how a candidate value compares with the
others.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from benchmarks.adversaries.frequencies import arrival_posteriors

CUTS = 4
"""The adversary divides people into 2 ** CUTS regions by their quasi-identifiers."""
OF_PERSON = (
    "first", "releases",
    "eccentricity", "eccentricity_rank", "bounds", "perimeter", "mean_eccentricity", "mean_bounds",
    "groups", "company", "strangeness", "newcomers", "newcomers_in_group", "bucket_is_new", "left_before",
    "counterfeits", "ever_counterfeits",
)  # fmt: skip
"""What the adversary looks at for each person, beside the quasi-identifiers."""
OF_CANDIDATE = (
    "place", "frequency", "frequency_rank", "frequency_in_region", "signatures_in_region",
    "arrivals_in_region", "fitted",
)  # fmt: skip
"""What the adversary looks at for each of the candidate values."""


def clue_names(people: pl.DataFrame) -> list[str]:
    """The columns of `clues` that a model may learn from."""
    return [*(name for name in people.columns if name.startswith("qi_")), *OF_PERSON, *OF_CANDIDATE]


def clues(
    people: pl.DataFrame, hosts: pl.DataFrame, groups: pl.DataFrame, frequencies: pl.DataFrame
) -> pl.DataFrame:
    """Everything published about the people of the last release, one row per person and candidate value.

    Parameters
    ----------
    people
        `person`, and `qi_0`, `qi_1`, … as shares of their domains: what the adversary knows of everybody.
    hosts
        `release` (1, 2, …), `person`, `group_id`: who is in which release. The hosting group is known
        too, which is more than an adversary can see where intervals overlap.
    groups
        `release`, `group_id`, `value`, one row per published tuple, and `counterfeits` of the group.
    frequencies
        `value`, `share`: how frequent each value is in the population, which the adversary knows.

    Returns
    -------
    polars.DataFrame
        `person`, `value`, and the columns `clue_names(people)` as Float32.

    Notes
    -----
    - `first`, `releases`: when the person came, and in how many releases they were.
    - `eccentricity`, `bounds`, `perimeter`: how far from the middle of the group the person lies, at how many
      ends of its intervals, and how long these are; over all of the person's releases with `mean_`.
    - `groups`, `newcomers`, `left_before`, `company`, `strangeness`, `bucket_is_new`: the groups of the
      person's signature, and those who came to them, left them or were there, in the person's region too.
    - `place`, `frequency`, …: which value it is, and how frequent among all tuples and nearby.
    - `fitted`: its probability by `arrival_posteriors`.
    """
    last = hosts["release"].max()
    region = regions(people.select("^qi_.*$").to_numpy(), CUTS)
    signature = groups.group_by("release", "group_id").agg(
        candidates=pl.col("value").sort(), counterfeits=pl.col("counterfeits").first()
    )
    seen = (
        hosts.join(signature, on=["release", "group_id"])
        .with_columns(bucket=pl.col("candidates").list.eval(pl.element().cast(pl.String)).list.join("|"))
        .join(people.with_columns(pl.Series("region", region)), on="person")
        .with_columns(
            first=pl.col("release").min().over("person"),
            final=pl.col("release").max().over("person"),
            releases=pl.len().over("person"),
            ever_counterfeits=pl.col("counterfeits").sum().over("person"),
        )
    )
    placed = _in_group(seen)
    now = placed.filter(pl.col("release") == last).join(_in_bucket(seen), on="person")
    tuples = groups.filter(pl.col("release") == last).select("group_id", "value")
    candidates = _by_candidate(now, seen, tuples).join(
        _fitted(seen, frequencies), on=["first", "candidates", "value"], how="left"
    )
    names = (pl.col(name).cast(pl.Float32) for name in clue_names(people))
    return candidates.select("person", "value", *names)


def regions(shares: np.ndarray, cuts: int) -> np.ndarray:
    """The region of each person: the quasi-identifier that varies most is cut at its median, again and again.

    Parameters
    ----------
    shares
        float64[N, d]: quasi-identifiers as shares of their domains.
    cuts
        How often; there are 2 ** cuts regions.

    Returns
    -------
    int64[N]
    """
    region = np.zeros(len(shares), np.int64)
    for _ in range(cuts):
        for node in np.unique(region):
            rows = np.flatnonzero(region == node)
            along = shares[rows, np.argmax(shares[rows].std(axis=0))]
            region[rows] = 2 * node + (along > np.median(along))
    return region


def _in_group(seen: pl.DataFrame) -> pl.DataFrame:
    """How each person lies in the groups that host them."""
    group = ["release", "group_id"]
    names = [name for name in seen.columns if name.startswith("qi_")]
    middle = [(pl.col(name) - pl.col(name).median().over(group)).abs() for name in names]
    at_bound = [
        ((pl.col(name) == pl.col(name).min()) | (pl.col(name) == pl.col(name).max())).over(group)
        for name in names
    ]
    lengths = [(pl.col(name).max() - pl.col(name).min()).over(group) for name in names]
    return (
        seen.with_columns(
            eccentricity=pl.sum_horizontal(middle),
            bounds=pl.sum_horizontal(part.cast(pl.Int32) for part in at_bound),
            perimeter=pl.sum_horizontal(lengths),
            newcomers_in_group=(pl.col("first") == pl.col("release")).mean().over(group),
        )
        .with_columns(eccentricity_rank=pl.col("eccentricity").rank("average").over(group))
        .with_columns(
            mean_eccentricity=pl.col("eccentricity_rank").mean().over("person"),
            mean_bounds=pl.col("bounds").mean().over("person"),
        )
    )


def _in_bucket(seen: pl.DataFrame) -> pl.DataFrame:
    """How each person came to the people with the same signature, and where these live."""
    last = seen["release"].max()
    sizes = (
        seen.filter(pl.col("release") == last).group_by("bucket").agg(groups=pl.col("group_id").n_unique())
    )
    arrival = seen.filter(pl.col("release") == pl.col("first"))
    before = arrival.select("bucket", "region", "first", "final")
    per_release = []
    for release in range(1, last + 1):
        stayed = before.filter((pl.col("first") < release) & (pl.col("final") >= release))
        left = before.filter((pl.col("first") < release) & (pl.col("final") == release - 1))
        came = arrival.filter(pl.col("first") == release)
        everybody = seen.filter(pl.col("release") == release)
        near = ["bucket", "region"]
        per_release.append(
            came.select("person", *near)
            .join(stayed.group_by("bucket").agg(stayed=pl.len()), on="bucket", how="left")
            .join(stayed.group_by(near).agg(near=pl.len()), on=near, how="left")
            .join(left.group_by("bucket").agg(left_before=pl.len()), on="bucket", how="left")
            .join(came.group_by("bucket").agg(newcomers=pl.len()), on="bucket", how="left")
            .join(came.group_by(near).agg(company=pl.len()), on=near, how="left")
            .join(
                everybody.group_by("region").agg(share=pl.len() / everybody.height), on="region", how="left"
            )
        )
    found = pl.concat(per_release).with_columns(pl.col("stayed", "near", "left_before").fill_null(0))
    # Of the people who were there before the person came, how many live where the person does.
    return (
        found.join(sizes, on="bucket", how="left")
        .with_columns(
            bucket_is_new=pl.col("stayed") == 0,
            strangeness=((pl.col("near") + 0.5) / (pl.col("stayed") + 1) / pl.col("share")).log(),
            company=pl.col("company") / pl.col("newcomers") / pl.col("share"),
        )
        .select("person", "groups", "newcomers", "company", "left_before", "bucket_is_new", "strangeness")
    )


def _by_candidate(now: pl.DataFrame, seen: pl.DataFrame, tuples: pl.DataFrame) -> pl.DataFrame:
    """The people with each of their candidate values, and how that value compares with the others."""
    frequency = tuples.group_by("value").agg(frequency=pl.len() / tuples.height)
    frequency = frequency.with_columns(place=pl.col("value").rank("dense"))
    held = now.explode("candidates", empty_as_null=False).rename({"candidates": "value"})
    here = held.group_by("region", "value").agg(here=pl.len())
    came = (
        seen.filter(pl.col("release") == pl.col("first"))
        .select("first", "region", value="candidates")
        .explode("value", empty_as_null=False)
        .group_by("first", "region", "value")
        .agg(came=pl.len())
    )
    by_frequency = pl.col("here") / pl.col("frequency"), pl.col("came") / pl.col("frequency")
    return (
        held.with_columns(candidates=pl.col("value"))
        .drop("candidates")
        .join(now.select("person", "candidates"), on="person")
        .join(frequency, on="value")
        .join(here, on=["region", "value"], how="left")
        .join(came, on=["first", "region", "value"], how="left")
        .with_columns(
            frequency_rank=pl.col("frequency").rank("average").over("person"),
            frequency_in_region=pl.col("here") / pl.col("here").sum().over("person"),
            signatures_in_region=by_frequency[0].rank("average").over("person"),
            arrivals_in_region=by_frequency[1] / by_frequency[1].mean().over("person"),
        )
    )


def _fitted(seen: pl.DataFrame, frequencies: pl.DataFrame) -> pl.DataFrame:
    """`first`, `candidates`, `value`, `fitted`: how likely a candidate is for those who came then."""
    arrival = seen.filter(pl.col("release") == pl.col("first"))
    return pl.concat(
        arrival_posteriors(came, frequencies)
        .rename({"probability": "fitted"})
        .with_columns(first=pl.lit(release, came.schema["first"]))
        for (release,), came in arrival.partition_by("first", as_dict=True).items()
    )
