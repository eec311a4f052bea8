"""Side channels of a published table: row order, numbering, counterfeits that stand out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, reduce
from math import comb, exp, factorial, isnan, sqrt
from typing import Any

import numpy as np
import polars as pl
import scipy

from republish.anonymize.arrays import Ints
from republish.anonymize.kernels.splitmix import mixed

CHANCE = 1e-4
"""A test statistic rarer than this under pure chance is a leak: one false alarm in 10,000 honest tests."""
CERTAIN = 1e-9
"""Rarer than what chance does in the life of any product: of an honest release, one in a thousand million."""

EXACT_ROWS = 2000
"""Rows up to which chances are computed exactly; beyond, by a bound or a normal approximation."""
EXACT_GROUP = 60
"""Rows of the largest group up to which there is more than a normal approximation."""
EXACT_COUNTERFEITS = 40
"""Counterfeits up to which their chances are computed exactly."""
LARGEST_PERMUTED = 20
"""Rows of a group up to which permutations of its ranks are looked for: there are 2 · 10^18 of 20."""
STEEPEST = 50.0
"""The largest exponent of a bound: at e^50 a hit more counts more than all others."""
Compositions = Sequence[tuple[tuple[int, ...], int]]
"""How often a group holds each of its values, and how many groups hold theirs so."""
ORDER_TYPES = (pl.String, pl.String, pl.Int64, pl.Int64, pl.Float64, pl.Float64, pl.Float64)


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


def order_against(published: pl.DataFrame, hosted: pl.DataFrame) -> pl.DataFrame:
    """Count the values that an adversary learns by reading the rows of each group in a hidden order.

    The people who may be in each group (`group_id`, `value`, `order`) need not be in it: of each published
    row (`group_id`, `value`, in file order), the expected place in the hidden order is the mean place of
    those who may be there and have its value; where several rows of a group have this value, each is given
    its share of them. Groups with rows that nobody may have are left out. However many of the people are in
    other groups, rows that are shuffled in each group hit by chance alone.

    Returns
    -------
    pl.DataFrame
        A row for each `rule`: rows ascend, rows descend, and of the groups of each size the one permutation
        of ranks that all of them follow most. `rows` compared; `hits`: rows with the value that is expected
        at their place; `expected` by chance; `p`: how rare so many hits or more are under a random order,
        times the permutations there are; `possible`: the same if rows did ascend, so far as people can be
        placed.
    """
    return orders_against(published, hosted, ["order"]).drop("order")


def orders_against(published: pl.DataFrame, hosted: pl.DataFrame, orders: Sequence[str]) -> pl.DataFrame:
    """Run `order_against` for several known orders.

    An order is a column of anything that can be sorted (a place in the snapshot, the identifier, the codes of
    a quasi-identifier). With k rows, an order is found out if its p is below `CHANCE` / k.
    """
    ranked = hosted.with_columns(pl.col(orders).rank("dense").fill_null(0))
    rows, people = _side_by_side(published, ranked)
    everywhere, names = _compositions(rows), ["order", "rule", "rows", "hits", "expected", "p", "possible"]
    found = [
        (order, *one) for order in orders for one in _read_in_order(rows, people, people[order], everywhere)
    ]
    return pl.DataFrame(found, schema=dict(zip(names, ORDER_TYPES, strict=True)), orient="row")


def _read_in_order(
    rows: pl.DataFrame, people: pl.DataFrame, order: pl.Series, everywhere: Compositions
) -> Iterator[tuple[str, int, int, float, float, float]]:
    """The rows of `order_against` for the people's places in an order."""
    expected, placed = _by_place(people, order.to_numpy().astype(np.int64))
    shown, size_of = rows["code"].to_numpy(), rows["size"].to_numpy()
    hits, own, most = {"forwards": 0, "backwards": 0}, {}, 0
    for size in np.unique(size_of).tolist():
        here, true, likely = (codes[size_of == size].reshape(-1, size) for codes in (shown, expected, placed))
        hits["forwards"] += int((here == true).sum())
        hits["backwards"] += int((here == true[:, ::-1]).sum())
        most += int((likely == true).sum())
        if size <= LARGEST_PERMUTED:
            alike = np.array([[np.sum(here[:, i] == true[:, j]) for j in range(size)] for i in range(size)])
            # The permutation with the most hits of all, without trying each.
            best = scipy.optimize.linear_sum_assignment(alike, maximize=True)
            own[size] = int(alike[best].sum())
    possible = _chance_of(everywhere, most)
    for rule, number in hits.items():
        yield rule, len(rows), number, _mean(everywhere), _chance_of(everywhere, number), possible
    for size, number in own.items():
        there = [(counts, groups) for counts, groups in everywhere if sum(counts) == size]
        p = min(1.0, _chance_of(there, number) * factorial(size))
        yield f"groups of {size}", size * sum(n for _, n in there), number, _mean(there), p, 1.0


def follows_values(published: pl.DataFrame) -> bool:
    """Whether rows of all groups are in one order of their values: then it says nothing that values don't.

    The order is that of the values themselves, either way, or any other (of a tool's own codes) if pairs of
    neighbours that come several times (`group_id`, `value`, in file order) agree more often than by chance.
    """
    rows = published.select("group_id", above=pl.col("value").rank("dense").cast(pl.Int64))
    pairs = (
        rows.with_columns(below=pl.col("above").shift(-1).over("group_id"))
        .filter(pl.col("above") != pl.col("below"))
        .select("above", "below")
    )
    if pairs.is_empty() or pairs.select((pl.col("above") < pl.col("below")).n_unique()).item() == 1:
        return True
    each = pairs.unique(maintain_order=True)
    if 2.0 ** (len(each) - len(pairs)) >= CHANCE:
        return False
    number = int(pairs.max().max_horizontal().item())
    graph = scipy.sparse.coo_array((np.ones(len(each)), each.to_numpy().T - 1), shape=(number, number))
    # Where no value is both above and below another, each is a component of its own.
    return bool(scipy.sparse.csgraph.connected_components(graph, connection="strong")[0] == number)


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


def numbering_against(
    hosted: pl.DataFrame, of: Callable[[pl.Expr], pl.Expr] = pl.Expr.mean
) -> dict[str, float | int]:
    """Test whether group ids follow a hidden order of the people in them (`group_id`, `order`).

    The place of a group is the mean of its people's, or another figure (`of`): the first one, say, of a tool
    that numbers groups as they come.

    Returns
    -------
    dict
        `groups`, `correlation` (Kendall's, of group ids and places), `p`.
    """
    groups = hosted.group_by("group_id").agg(of(pl.col("order")))
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


def classifier_advantage(rows: pl.DataFrame, features: list[str]) -> dict[str, float | int]:
    """Test how well all columns together tell counterfeits from people, on rows the classifier hasn't seen.

    A linear discriminant (least squares) of the features and their squares, relative to their groups' means.
    Each half of the groups is judged by what was learnt on the other. `counterfeits`, `advantage` and `p` are
    as in `told_apart`.
    """
    mixed = rows.filter(
        pl.col("counterfeit").any().over("group_id") & (~pl.col("counterfeit")).any().over("group_id")
    )
    counterfeits = int(mixed["counterfeit"].sum())
    if counterfeits < 4 or not features:
        return {"counterfeits": counterfeits, "advantage": 0.5, "p": 1.0}
    centred = mixed.with_columns(pl.col(features) - pl.col(features).mean().over("group_id"))
    matrix = centred.select(features).to_numpy().astype(float)
    matrix = matrix / np.maximum(matrix.std(axis=0), 1e-12)
    matrix = np.column_stack([np.ones(len(matrix)), matrix, matrix**2])
    half = mixed.select(pl.col("group_id").rank("dense") % 2).to_series().to_numpy()
    label = mixed["counterfeit"].to_numpy()
    scores = np.zeros(len(label))
    for part in range(2):
        learned = np.linalg.lstsq(matrix[half != part], label[half != part].astype(float), rcond=None)[0]
        scores[half == part] = matrix[half == part] @ learned
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


def _side_by_side(published: pl.DataFrame, hosted: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What can be compared: `group_id`, `code` (of the value), `size` of rows, and who may have them.

    Both are sorted by group, rows then as they are published; people (`group_id`, `code`, `rows` of it in the
    group, and their other columns) by value.
    """
    values = published["value"].unique().sort().to_frame().with_row_index("code")
    listed, people = (
        table.join(values, on="value", nulls_equal=True, maintain_order="left").drop("value")
        for table in (published, hosted)
    )
    cells = listed.group_by("group_id", "code").len("rows")
    people = people.join(cells, on=["group_id", "code"]).sort("group_id", "code")
    people = people.filter(pl.len().over("group_id", "code") >= pl.col("rows"))
    compared = (
        people.select("group_id", "code", "rows").unique().group_by("group_id").agg(pl.col("rows").sum())
    )
    size = cells.group_by("group_id").agg(size=pl.col("rows").sum()).filter(pl.col("size") > 1)
    whole = compared.join(size, left_on=["group_id", "rows"], right_on=["group_id", "size"], coalesce=False)
    whole = whole.select("group_id", "size")
    rows = listed.join(whole, on="group_id", maintain_order="left").sort("group_id", maintain_order=True)
    return rows, people.join(whole, on="group_id", how="semi", maintain_order="left")


def _by_place(people: pl.DataFrame, order: Ints) -> tuple[Ints, Ints]:
    """The codes of each group's values, group by group, as expected by the people's order, and as may be.

    The last is by the place of one person of each share, whom a hash draws.
    """
    key = people.select(pl.struct("group_id", "code").rle_id()).to_series().to_numpy()
    order = order[np.lexsort((order, key))]
    begins = np.searchsorted(key, np.arange(key[-1] + 1 if len(key) else 0))
    number = np.diff(begins, append=len(key))[key]
    share = (np.arange(len(key)) - begins[key]) * people["rows"].to_numpy().astype(np.int64) // number
    starts = np.flatnonzero(np.diff(key, prepend=-1) | np.diff(share, prepend=-1))
    if not len(starts):
        return order, order
    # People who are equal in the order are taken as the hash has it.
    drawn = mixed(np.arange(len(key), dtype=np.uint64))
    least = np.minimum.reduceat(drawn, starts)
    several = np.diff(starts, append=len(key))
    mean = np.add.reduceat(order, starts) / several
    one = order[drawn == np.repeat(least, several)]
    group, code = people["group_id"].to_numpy()[starts], people["code"].to_numpy()[starts]
    return code[np.lexsort((least, mean, group))], code[np.lexsort((least, one, group))]


def _compositions(rows: pl.DataFrame) -> Compositions:
    """How often a group holds each of its values, and how many groups hold theirs so."""
    held = rows.group_by("group_id", "code").len().sort("group_id", "len")
    alike = held.group_by("group_id", maintain_order=True).agg("len").group_by("len").len("groups")
    return [(tuple(counts), groups) for counts, groups in alike.sort("len").iter_rows()]


def _mean(compositions: Compositions) -> float:
    """How many hits are expected of a random order."""
    return float(sum(_random_hits(counts)[0] * groups for counts, groups in compositions))


def _chance_of(compositions: Compositions, hits: int) -> float:
    """The chance of so many hits or more under a random order: exact for few rows, else a bound above it.

    References
    ----------
    Chernoff, A measure of asymptotic efficiency, Annals of Mathematical Statistics 1952.
    """
    mean, most = _mean(compositions), sum(sum(counts) * groups for counts, groups in compositions)
    if not most:
        return 1.0
    if max(sum(counts) for counts, _ in compositions) > EXACT_GROUP:
        variance = sum(_random_hits(counts)[1] * groups for counts, groups in compositions)
        return 1.0 if variance <= 0 else float(scipy.stats.norm.sf((hits - mean) / sqrt(variance)))
    if most <= EXACT_ROWS:
        each = [_hits_of_a_group(counts) for counts, groups in compositions for _ in range(groups)]
        return float(min(1.0, _of_the_sum(each)[hits:].sum()))
    if hits <= mean:
        return 1.0
    most_of_one = max(sum(counts) for counts, _ in compositions)
    chances = np.zeros((len(compositions), most_of_one + 1))
    for at, (counts, _) in enumerate(compositions):
        chances[at, : sum(counts) + 1] = np.maximum(_hits_of_a_group(counts), 1e-300)
    several = np.array([groups for _, groups in compositions])
    largest = np.array([sum(counts) for counts, _ in compositions])
    below = np.minimum(np.arange(most_of_one + 1) - largest[:, None], 0)

    def bound(t: float) -> float:
        # The largest factor, e^(t·size), is taken out of each sum.
        return float(several @ (t * largest + np.log((chances * np.exp(t * below)).sum(axis=1))) - t * hits)

    return min(1.0, exp(scipy.optimize.minimize_scalar(bound, bounds=(0, STEEPEST), method="bounded").fun))


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
