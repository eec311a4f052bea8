"""Side channels of a published table: row order, numbering, counterfeits that stand out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, reduce
from math import comb, exp, factorial, isnan, sqrt
from typing import Any

import numpy as np
import polars as pl
import scipy

CHANCE = 1e-4
"""A test statistic rarer than this under pure chance is a leak: one false alarm in 10,000 honest tests."""
CERTAIN = 1e-9
"""Rarer than what chance does in the life of any product: of an honest release, one in a thousand million."""

EXACT_ROWS = 2000
"""Rows up to which chances are computed exactly; beyond, by a normal approximation."""
EXACT_GROUP = 60
"""Rows of the largest group, likewise."""
EXACT_COUNTERFEITS = 40
"""Counterfeits, likewise."""


def is_canonical(table: pl.DataFrame, orders: dict[str, list[Any]] | None = None) -> bool:
    """Whether rows in file order are sorted by all columns, left to right: then their order says nothing.

    Columns whose values have an order of their own (categories) may be sorted by it (`orders`), or as text.
    """
    ranked = table.with_columns(
        pl.col(column).replace_strict(values, range(len(values)), default=None, return_dtype=pl.Int64)
        for column, values in (orders or {}).items()
        if column in table.columns
    )
    return any(_is_sorted(candidate) for candidate in (table, ranked))


def are_numbered_by_content(table: pl.DataFrame, orders: dict[str, list[Any]] | None = None) -> bool:
    """Whether group ids ascend with what is published of the groups: then the numbers say nothing.

    Only columns that are the same for a whole group count.
    """
    content = table.select(pl.exclude("group_id").name.keep()).columns
    groups = table.group_by("group_id").agg(
        pl.col(content).n_unique().name.suffix("#"), pl.col(content).first()
    )
    shared = [column for column in content if groups[f"{column}#"].max() in (None, 1)]
    return is_canonical(groups.sort("group_id").select(shared), orders) if shared else True


def numbered_as_sorted(groups: pl.DataFrame, orders: dict[str, list[Any]] | None = None) -> bool:
    """Whether groups are numbered 1, 2, … in the order of all that is published of them.

    There is a row for each group: `group_id`, and columns of content, the most important first.
    """
    numbered = groups.sort("group_id")
    numbers = numbered["group_id"].to_list()
    return numbers == list(range(1, len(numbers) + 1)) and is_canonical(numbered.drop("group_id"), orders)


def order_against(published: pl.DataFrame, hosted: pl.DataFrame) -> dict[str, float | int]:
    """Count the values that an adversary learns by reading the rows of each group in a hidden order.

    Within each group, the people in the hidden order (`group_id`, `value`, `order`, which is distinct) are
    put against the published rows (`group_id`, `value`, in file order) one by one. Groups that publish more
    rows than they have people here are left out.

    Returns
    -------
    dict
        `rows` compared; `hits`: rows that carry the value of the person at the same place; `expected` by
        chance; `p`: how rare so many hits or more are under a random order.
    """
    rows = published.with_columns(pl.int_range(pl.len()).over("group_id").alias("place"))
    people = hosted.sort("order").with_columns(pl.int_range(pl.len()).over("group_id").alias("place"))
    whole = (
        rows.group_by("group_id")
        .len("rows")
        .join(people.group_by("group_id").len("people"), on="group_id")
        .filter((pl.col("rows") == pl.col("people")) & (pl.col("rows") > 1))
    )
    pairs = rows.join(people, on=["group_id", "place"], suffix="_true").join(whole, on="group_id", how="semi")
    if pairs.is_empty():
        return {"rows": 0, "hits": 0, "expected": 0.0, "p": 1.0}
    hits = pairs.select((pl.col("value") == pl.col("value_true")).sum()).item()
    # How often a group holds each of its values, and how many groups hold theirs so.
    held = pairs.group_by("group_id", "value").len().sort("group_id", "len")
    alike = (
        held.group_by("group_id", maintain_order=True).agg("len").group_by("len").len("groups").sort("len")
    )
    compositions = [(tuple(counts), groups) for counts, groups in alike.iter_rows()]
    moments = [(*_random_hits(counts), groups) for counts, groups in compositions]
    mean = sum(expected * groups for expected, _, groups in moments)
    variance = sum(spread * groups for _, spread, groups in moments)
    if len(pairs) <= EXACT_ROWS and max(sum(counts) for counts, _ in compositions) <= EXACT_GROUP:
        chances = [_hits_of_a_group(counts) for counts, groups in compositions for _ in range(groups)]
        p = float(min(1.0, _of_the_sum(chances)[hits:].sum()))
    else:
        p = 0.5 if variance <= 0 else float(scipy.stats.norm.sf((hits - mean) / sqrt(variance)))
    return {"rows": len(pairs), "hits": hits, "expected": mean, "p": p}


def ragged_groups(microdata: pl.DataFrame, bounds: Sequence[str]) -> int:
    """Count the groups of a generalized table whose rows don't all have the same intervals.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 2, property 4.
    """
    boxes = microdata.select("group_id", *bounds).unique()
    return len(boxes) - boxes["group_id"].n_unique()


def marks(rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Test how well an entry of a column marks counterfeits, over the whole table.

    For columns of any type that the format does not have, which have nothing to do with groups. The chance is
    that of so many of an entry's rows being counterfeits if counterfeits were drawn from the whole table,
    times the number of entries; with a handful of counterfeits among hundreds of people a mark is certain,
    where within their groups it could be chance.

    Returns
    -------
    pl.DataFrame
        `column`; `marked`: counterfeits with the entry that marks best; `alike`: rows with it; `p`.
    """
    total, forged = len(rows), int(rows["counterfeit"].sum())
    found = []
    for column in columns:
        entries = rows.group_by(pl.col(column).alias("entry")).agg(
            pl.len().alias("alike"), pl.col("counterfeit").sum().alias("marked")
        )
        alike, marked = entries["alike"].to_numpy().astype(int), entries["marked"].to_numpy().astype(int)
        p = scipy.stats.hypergeom.sf(marked - 1, total, forged, alike)
        best = int(p.argmin()) if len(p) else None
        found.append(
            (column, 0, 0, 1.0)
            if best is None
            else (column, int(marked[best]), int(alike[best]), min(1.0, float(p[best]) * len(p)))
        )
    schema = {"column": pl.String, "marked": pl.Int64, "alike": pl.Int64, "p": pl.Float64}
    return pl.DataFrame(found, schema=schema, orient="row")


def orders_against(published: pl.DataFrame, hosted: pl.DataFrame, orders: Sequence[str]) -> pl.DataFrame:
    """Run `order_against` for several known orders, each forwards and backwards.

    An order is a column of anything that can be sorted (a place in the snapshot, the identifier, the codes of
    a quasi-identifier). People who are equal in it are taken in the order that says least, by chance. There
    is a row per order and direction; with k rows, an order is found out if its p is below `CHANCE` / k.
    """
    shuffled = hosted.sample(fraction=1, shuffle=True, seed=0)
    found = []
    for order in orders:
        for descending in (False, True):
            place = shuffled[order].rank("ordinal", descending=descending).cast(pl.Int64)
            one = order_against(published, shuffled.select("group_id", "value", place.alias("order")))
            found.append({"order": f"{order}, backwards" if descending else order} | one)
    schema = {"order": pl.String, "rows": pl.Int64, "hits": pl.Int64, "expected": pl.Float64, "p": pl.Float64}
    return pl.DataFrame(found, schema=schema, orient="row")


def numbering_against(hosted: pl.DataFrame) -> dict[str, float | int]:
    """Test whether group ids follow a hidden order of the people in them (`group_id`, `order`).

    Returns
    -------
    dict
        `groups`, `correlation` (Kendall's, of group ids and mean places), `p`.
    """
    groups = hosted.group_by("group_id").agg(pl.col("order").mean())
    if len(groups) < 3:
        return {"groups": len(groups), "correlation": 0.0, "p": 1.0}
    # Exact where there are few groups: by a normal approximation eight groups in perfect order are no leak.
    found = scipy.stats.kendalltau(groups["group_id"].to_numpy(), groups["order"].to_numpy())
    if isnan(found.statistic):
        return {"groups": len(groups), "correlation": 0.0, "p": 1.0}
    return {"groups": len(groups), "correlation": float(found.statistic), "p": float(found.pvalue)}


def told_apart(rows: pl.DataFrame, features: list[str]) -> pl.DataFrame:
    """Test how well each column of numbers tells counterfeits from the people in their groups.

    Returns
    -------
    pl.DataFrame
        `column`; `counterfeits` (in groups that have people too); `advantage`: the share of pairs, one
        counterfeit and one person of its group, in which the counterfeit is the higher (0.5 is
        guessing); `p`: how rare an advantage so far from 0.5 is under pure chance.
    """
    results = [_separation(rows, feature) for feature in features]
    return pl.DataFrame(
        results,
        schema={"column": pl.String, "counterfeits": pl.Int64, "advantage": pl.Float64, "p": pl.Float64},
        orient="row",
    )


def classifier_advantage(rows: pl.DataFrame, features: list[str], folds: int = 2) -> dict[str, float | int]:
    """Test how well all columns together tell counterfeits from people, on rows the classifier hasn't seen.

    A linear discriminant (least squares) of the features and their squares, relative to their groups' means.
    Groups are divided into so many folds; each is judged by what was learnt on the others. `counterfeits`,
    `advantage` and `p` are as in `told_apart`.
    """
    mixed = rows.filter(
        pl.col("counterfeit").any().over("group_id") & (~pl.col("counterfeit")).any().over("group_id")
    )
    counterfeits = int(mixed["counterfeit"].sum())
    if counterfeits < 2 * folds or not features:
        return {"counterfeits": counterfeits, "advantage": 0.5, "p": 1.0}
    centred = mixed.with_columns(pl.col(features) - pl.col(features).mean().over("group_id"))
    matrix = centred.select(features).to_numpy().astype(float)
    matrix = matrix / np.maximum(matrix.std(axis=0), 1e-12)
    matrix = np.column_stack([np.ones(len(matrix)), matrix, matrix**2])
    fold = mixed.select(pl.col("group_id").rank("dense") % folds).to_series().to_numpy()
    label = mixed["counterfeit"].to_numpy()
    scores = np.zeros(len(label))
    for part in range(folds):
        learned = np.linalg.lstsq(matrix[fold != part], label[fold != part].astype(float), rcond=None)[0]
        scores[fold == part] = matrix[fold == part] @ learned
    judged = mixed.select("group_id", "counterfeit").with_columns(pl.Series("score", scores))
    _, _, advantage, p = _separation(judged, "score")
    return {"counterfeits": counterfeits, "advantage": advantage, "p": p}


def one_throw(rows: pl.DataFrame, feature: str) -> float:
    """Bound the chance that counterfeits stand out so, if a coin says for each signature in which way.

    The bound holds however few signatures there are, and however much they differ.

    References
    ----------
    Hoeffding, Probability inequalities for sums of bounded random variables, JASA 1963, Theorem 2.
    """
    ahead = _ahead(rows, feature).join(rows.select("group_id", "signature").unique(), on="group_id")
    thrown = ahead.group_by("signature").agg((pl.col("wins") - pl.col("pairs") / 2).sum().alias("ahead"))[
        "ahead"
    ]
    spread = float((thrown**2).sum())
    return min(1.0, 2 * exp(-(float(thrown.sum()) ** 2) / (2 * spread))) if spread > 0 else 1.0


def _is_sorted(table: pl.DataFrame) -> bool:
    """Whether every row is at least the one above it, in all columns from left to right.

    Columns are looked at one after another, and count where rows equal the one above so far.
    """
    if len(table) < 2:
        return True
    is_alike = pl.repeat(value=True, n=len(table) - 1, eager=True)
    for column in table.get_columns():
        here, above = column.slice(1), column.head(-1)
        # A missing value comes first, as in polars' sort.
        descends = (here < above).fill_null(value=False) | (here.is_null() & above.is_not_null())
        if (descends & is_alike).any():
            return False
        is_alike &= here.eq_missing(above)
        if not is_alike.any():
            break
    return True


def _random_hits(held: Sequence[int]) -> tuple[float, float]:
    """Mean and variance of the hits of a random order in a group that holds its values so often.

    For a group of n with counts c_v and S_k = sum(c_v^k): mean S_2 / n, variance
    (S_2 - 2 S_3 / n + S_2^2 / n^2) / (n - 1), which is 1 if all values differ and 0 if all are alike.
    """
    n, s2, s3 = (sum(count**power for count in held) for power in (1, 2, 3))
    return s2 / n, (s2 - 2 * s3 / n + s2**2 / n**2) / (n - 1)


@cache
def _hits_of_a_group(held: tuple[int, ...]) -> np.ndarray:
    """The chance of k hits in one group, by its rook polynomial.

    On the board of places and people with the same value, C(c, j)^2 j! ways put j rooks on the square of a
    value that occurs c times; inclusion and exclusion turns these numbers into those of exactly k hits.
    """
    squares = ([comb(count, j) ** 2 * factorial(j) for j in range(count + 1)] for count in held)
    rooks = reduce(np.convolve, (np.array(square, dtype=object) for square in squares))
    n = sum(held)
    exactly = [
        sum((-1) ** (j - k) * comb(j, k) * rooks[j] * factorial(n - j) for j in range(k, n + 1))
        for k in range(n + 1)
    ]
    return np.array([ways / factorial(n) for ways in exactly])


def _of_the_sum(chances: Iterable[np.ndarray]) -> np.ndarray:
    """The chances of a sum of independent numbers, of each of which the chances of 0, 1, 2, … are given."""
    return reduce(np.convolve, chances, np.ones(1))


def _separation(rows: pl.DataFrame, feature: str) -> tuple[str, int, float, float]:
    """Mann and Whitney's statistic within groups, summed over the groups that have both kinds."""
    groups = _ahead(rows, feature)
    if groups.is_empty():
        return feature, 0, 0.5, 1.0
    wins, pairs, variance = groups.select(pl.col("wins", "pairs", "variance").sum()).row(0)
    forgeries = int(groups["a"].sum())
    if (
        forgeries <= EXACT_COUNTERFEITS
        and groups.select(pl.col("a", "b").sum()).sum_horizontal().item() <= EXACT_ROWS
    ):
        inside = (
            _ranked(rows, feature).join(groups.select("group_id"), on="group_id", how="semi").sort("group_id")
        )
        return feature, forgeries, wins / pairs, _exact_p(inside)
    z = 0.0 if variance <= 0 else (wins - pairs / 2) / sqrt(variance)
    return feature, forgeries, wins / pairs, float(2 * scipy.stats.norm.sf(abs(z)))


def _ranked(rows: pl.DataFrame, feature: str) -> pl.DataFrame:
    return rows.with_columns(pl.col(feature).rank("average").over("group_id").alias("rank"))


def _ahead(rows: pl.DataFrame, feature: str) -> pl.DataFrame:
    """`group_id`, `a` (counterfeits), `b` (people), `wins`, `pairs`, `variance` of groups that have both.

    A pair is a counterfeit and a person, and is won if the counterfeit is the higher.
    """
    a, b = pl.col("a").cast(pl.Float64), pl.col("b").cast(pl.Float64)
    return (
        _ranked(rows, feature)
        .group_by("group_id")
        .agg(
            pl.col("counterfeit").sum().alias("a"),
            (~pl.col("counterfeit")).sum().alias("b"),
            pl.col("rank").filter("counterfeit").sum().alias("ranks"),
            pl.col("rank").var().fill_null(0).alias("spread"),
        )
        .filter((pl.col("a") > 0) & (pl.col("b") > 0))
        .select(
            "group_id",
            "a",
            "b",
            (pl.col("ranks") - a * (a + 1) / 2).alias("wins"),
            (a * b).alias("pairs"),
            # The variance of a sum of a ranks drawn without replacement; ties are in the spread.
            (a * b / (a + b) * pl.col("spread")).alias("variance"),
        )
    )


def _exact_p(ranks: pl.DataFrame) -> float:
    """The chance of a sum of the counterfeits' ranks so far from its mean, both ways, if groups draw lots.

    Ranks are doubled, so that those of ties are whole numbers too.
    """
    doubled = ranks.with_columns((pl.col("rank") * 2).round().cast(pl.Int64))
    observed = int(doubled.filter("counterfeit")["rank"].sum())
    groups = doubled.group_by("group_id", maintain_order=True).agg("rank", drawn=pl.col("counterfeit").sum())
    chance = _of_the_sum(_draws(tuple(held), drawn) for held, drawn in groups.select("rank", "drawn").rows())
    away = np.abs(np.arange(len(chance)) - chance @ np.arange(len(chance)))
    return float(min(1.0, chance[away >= away[observed] - 1e-6].sum()))


@cache
def _draws(ranks: tuple[int, ...], drawn: int) -> np.ndarray:
    """The chance of each sum of so many ranks drawn without replacement."""
    most = sum(sorted(ranks)[-drawn:])
    ways = np.zeros((drawn + 1, most + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : most + 1 - rank].copy()
    probability: np.ndarray = ways[drawn] / comb(len(ranks), drawn)
    return probability
