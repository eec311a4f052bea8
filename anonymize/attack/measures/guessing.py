"""Guessing values by learning from the published groups themselves: which values go with which people.

A group of m values says 1/m of each person in it. Thousands of groups together say more: if groups with many
young people have asthma more often, then the youngest person of a group is the likeliest to have it. And each
release that puts a person among others says something more. No promise of the principles excludes this, and
statistics of the true table allow a part of it; it is a figure, and no broken promise.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from republish.anonymize.arrays import Bools, Floats, Ints
from republish.anonymize.attack.coverage import cover, value_domain
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Schema
from republish.anonymize.formats.published import Published
from republish.anonymize.kernels.splitmix import rows_drawn
from republish.anonymize.learning.dealer import Dealer, Pairs, pairs_of
from republish.anonymize.learning.logit import Columns, fit, learned_from, log_odds

POWER = 8.0
"""How much what is learned counts within a group, in place of 1. Groups are made such that, within a group,
the order of people by a quasi-identifier follows that of their values, so that small differences say much.
Of 1, 2, 4 and 8 the last was right most often, on both tables that were tried (Adult and free1)."""
FITS = 2
"""How often what is learned and the guesses that follow improve each other. With more, small tables teach
chance."""
MOST = 20_000
"""People who are guessed where their groups are not known; of more, so many are drawn."""
MOST_LINKED = 100_000
"""People who are guessed where their groups are known; of more, about so many, by whole groups."""
MOST_PAIRS = 5_000_000
"""Pairs of a person and a value that are guessed, where groups are not known."""
SUREST = (0.05, 0.01)
"""The shares of people of whom the adversary is surest, that are looked at by themselves."""


@dataclass(frozen=True)
class Clues:
    """What releases so far say of people whose group was known, beside their quasi-identifiers."""

    hosts: pl.DataFrame
    """`person`, `group_id`: the groups of the last release."""
    said: pl.DataFrame
    """`person`, `value`, `earlier`, `last`: logarithms of what groups said of each value. `last` is what the
    last group did, which says it once however often it is published."""


@dataclass(frozen=True)
class Guesses:
    """The shares of values that are guessed right: after the first two fields, shares of `people`."""

    people: int
    """The people whose candidate values are known, and who are guessed."""
    hosted: int
    """Those of them whose group is known; of the others, the groups that cover them are."""
    learned: float
    """Guessed right after learning from the groups of all releases so far."""
    surest_twentieth: float
    """The same, of the twentieth of the people of whom the adversary is surest."""
    surest_hundredth: float
    """The same, of the hundredth."""
    with_truth: float
    """Guessed right as `learned`, by who knows the values of half of the people, of the other half."""
    at_random: float
    """Guessed right on average without learning, at random from the tuples of the group; where the group
    isn't known, from all tuples with a value of the groups that cover the person."""
    most_frequent: float
    """Guessed right by naming the most frequent value of all, without any group."""
    from_truth: float
    """Guessed right by who knows the values of half of the people, of the other half, without any group: what
    statistics give away, also of people who are in no release."""
    error: float
    """Standard error of `learned`: so much it varies if values of groups with the same ones are exchanged."""
    clues: Clues | None = field(default=None, repr=False)
    """What is remembered for the next release."""


def guess_values(
    known: pl.DataFrame,
    published: Published,
    schema: Schema,
    linkage: pl.DataFrame | None = None,
    clues: Clues | None = None,
) -> Guesses | None:
    """Learn from releases which values go with which quasi-identifiers, and guess everybody's value.

    A logistic regression of values on exact quasi-identifiers is fitted to what groups say of their people.
    Then each group's tuples are dealt to its people in every way there is, each way with the product of the
    people's probabilities as its weight; and the regression is fitted to what follows. What the group of each
    earlier release said of a person counts, too, once for each group with other people.

    The truth of those who are `known` (`person`, `value`, `qi_0`, … as codes) only counts what was guessed
    right, but for the figures of an adversary who knows half of it. Without a `linkage` (`person`,
    `group_id`), a person's group is known if one alone covers the person. `clues` are those of the release
    before. None is returned if no group covers anybody.

    References
    ----------
    Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009: groups are learned from together. That all
    dealings of a group are weighed, that what is learned is sharpened, and that groups of several releases
    tell each other what they say of a person (belief propagation; Pearl, Probabilistic Reasoning in
    Intelligent Systems, 1988), is ours.
    """
    values = value_domain(published.values[VALUE])
    known = drawn(known, linkage, len(values))
    groups = published.sizes.select("group_id").sort("group_id").with_row_index("group")
    people, candidates = _groups_of(known, published, groups, values, linkage)
    held = _tuples(published, groups, values)
    pairs = pairs_of(people, held, candidates)
    guessed = np.unique(pairs.person)
    if not len(guessed):
        return None
    places = values.to_frame(VALUE).with_row_index("at")
    truth = known.select(VALUE).join(places, on=VALUE, how="left", maintain_order="left")
    actual = truth["at"].cast(pl.Int64).fill_null(-1).to_numpy()
    hosted = known.select("person").with_columns(group=pl.Series(people)).filter(pl.col("group") >= 0)
    hosted = hosted.join(groups.with_columns(pl.col("group").cast(pl.Int64)), on="group").drop("group")
    stayed = _stayed(known, hosted, clues)
    before = _before(pairs, known, values, stayed, clues)
    of_all = Columns.of(known, schema.attributes())
    columns, dealer = of_all.of_people(known), Dealer(pairs, people, held, POWER)

    linked = int((people[guessed] >= 0).sum())
    if 2 * linked > len(guessed):
        learned = _from_people(dealer, columns, before, len(values))
    else:
        learned = _from_boxes(of_all, published, groups, held, len(values))
    likely = dealer.likely(log_odds(columns, learned, pairs.person, pairs.value)) + before
    said = dealer.messages(likely)
    best, sure = _best(pairs, dealer.posterior(said, likely))
    right = best == actual[guessed]
    surest = right[np.argsort(-sure, kind="stable")]
    twentieth, hundredth = (float(surest[: max(1, round(share * len(surest)))].mean()) for share in SUREST)
    likeliest, taught = _taught(columns, actual, len(values), pairs)
    by_truth = dealer.likely(taught) + before
    with_truth, _ = _best(pairs, dealer.posterior(dealer.messages(by_truth), by_truth))
    prior = pairs.per_person(pairs.prior)
    of_truth = pairs.value == actual[pairs.person]
    return Guesses(
        people=len(guessed),
        hosted=linked,
        learned=float(right.mean()),
        surest_twentieth=twentieth,
        surest_hundredth=hundredth,
        with_truth=float((with_truth == actual[guessed]).mean()),
        at_random=float(prior[of_truth].sum() / len(guessed)),
        most_frequent=float(np.bincount(actual[guessed] + 1).max() / len(guessed)),
        from_truth=float((likeliest == actual)[guessed].mean()),
        error=_error(people, held, pairs, actual, best),
        clues=_after(pairs, known, values, hosted, before, said, clues),
    )


def _error(people: Ints, held: pl.DataFrame, pairs: Pairs, actual: Ints, best: Ints) -> float:
    """The standard error of the share guessed right, over all ways to exchange values among equal groups.

    What is published would be the same if two values were exchanged in all groups with the same values. So
    these groups are right or wrong together, and what is right by chance varies as the sum of the entries of
    a matrix, of true values by guessed ones, at the places of a random permutation.

    References
    ----------
    Hoeffding, A combinatorial central limit theorem, Annals of Mathematical Statistics 22, 1951, section 2.
    """
    guessed = pairs.person[pairs.begins]
    sets = held.group_by("group").agg(pl.col("at").sort()).group_by("at").agg("group").sort("at")
    alike = sets.with_row_index("alike").explode("group").select("group", pl.col("alike").cast(pl.Int64))
    alone = -1 - pl.int_range(pl.len())
    table = (
        pl.DataFrame(
            {"group": people[guessed], "true": actual[guessed], "guess": best, "values": pairs.number}
        )
        .join(alike, on="group", how="left", maintain_order="left")
        .with_columns(pl.col("alike").fill_null(alone))
        .filter(pl.col("values") > 1)
    )
    among = table.group_by("alike").agg(pl.col("values").first(), total=pl.len().cast(pl.Float64) ** 2)
    squares = [
        table.group_by("alike", *by)
        .len("squared")
        .group_by("alike")
        .agg(pl.col("squared").cast(pl.Float64).pow(2).sum().alias(name))
        for name, by in (("cells", ("true", "guess")), ("rows", ("true",)), ("columns", ("guess",)))
    ]
    for one in squares:
        among = among.join(one, on="alike")
    k = pl.col("values")
    variance = (pl.col("cells") - (pl.col("rows") + pl.col("columns")) / k + pl.col("total") / k**2) / (k - 1)
    return float(np.sqrt(among.sort("alike").select(variance.sum()).item()) / len(guessed))


def drawn(known: pl.DataFrame, linkage: pl.DataFrame | None, values: int = 1) -> pl.DataFrame:
    """Draw about `MOST` of the people (`MOST_LINKED`), or fewer; the same ones for the same release.

    People are drawn by whole groups of the linkage (`person`, `group_id`). Without it they are drawn one by
    one, and fewer if there are many values, since a person may have nearly all of them.
    """
    most = MOST_LINKED if linkage is not None else min(MOST, max(MOST_PAIRS // max(values, 1), 1))
    if len(known) <= most:
        return known
    if linkage is None:
        drawn: pl.DataFrame = known[np.sort(rows_drawn(len(known), most)).tolist()]
        return drawn
    groups = linkage["group_id"].unique().sort()
    some = groups.gather(rows_drawn(len(groups), max(1, len(groups) * MOST_LINKED // len(known))))
    here = linkage.filter(pl.col("group_id").is_in(some.implode())).select("person")
    return known.join(here, on="person", how="semi", maintain_order="left")


def _groups_of(
    known: pl.DataFrame,
    published: Published,
    groups: pl.DataFrame,
    values: pl.Series,
    linkage: pl.DataFrame | None,
) -> tuple[Ints, Bools]:
    """The group of each person, int64[N], or -1; and the values, bool[N, V], of groups that cover them."""
    hosts = None if linkage is None else linkage.select("person", "group_id").drop_nulls()
    astray = np.ones(len(known), bool)
    if hosts is not None:
        astray = ~known["person"].is_in(hosts["person"].implode()).to_numpy()
    candidates = np.zeros((len(known), len(values)), bool)
    covered = cover(known.filter(pl.Series(astray)), published, values)
    candidates[astray] = candidates_of(covered, len(values))
    if hosts is None:
        hosts = covered.select("person", "group_id").drop_nulls()
    group = (
        known.select("person")
        .join(hosts, on="person", how="left", maintain_order="left")
        .join(groups, on="group_id", how="left", maintain_order="left")["group"]
    )
    return group.cast(pl.Int64).fill_null(-1).to_numpy(), candidates


def _tuples(published: Published, groups: pl.DataFrame, values: pl.Series) -> pl.DataFrame:
    """`group`, `at` (of the value), `tuples`, `share` (of the group), sorted by group."""
    places = values.to_frame(VALUE).with_row_index("at")
    held = published.values.join(groups, on="group_id").join(places, on=VALUE)
    return held.select(
        pl.col("group").cast(pl.Int64),
        pl.col("at").cast(pl.Int64),
        "tuples",
        (pl.col("tuples") / pl.col("tuples").sum().over("group")).alias("share"),
    ).sort("group", "at")


def candidates_of(covered: pl.DataFrame, values: int) -> np.ndarray:
    """bool[N, V]: the candidates of each row, `candidates_0`, `candidates_1`, …, among so many values."""
    words = covered.select(pl.col("^candidates_.*$").fill_null(0).cast(pl.UInt64)).to_numpy()
    bits = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, count=None, bitorder="little")
    return bits[:, :values].astype(bool)


def _from_boxes(
    columns: Columns, published: Published, groups: pl.DataFrame, held: pl.DataFrame, values: int
) -> Floats:
    """Fit coefficients, float64[F, V], to what each group's boxes and values are, whoever is in it."""
    boxes = published.boxes.join(groups, on="group_id", maintain_order="left")
    group = boxes["group"].to_numpy()
    shown = columns.of_boxes(published, boxes)
    some = learned_from(values, shown.shape[1], group)
    tuples = np.zeros((len(groups), values))
    tuples[held["group"].to_numpy(), held["at"].to_numpy()] = held["tuples"].to_numpy()
    tuples /= np.maximum(np.bincount(group, minlength=len(groups)), 1)[:, None]
    return fit(shown[some], tuples[group[some]])


def _from_people(dealer: Dealer, columns: Floats, before: Floats, values: int) -> Floats:
    """Fit coefficients, float64[F, V], to what groups say of their people, and to guesses that follow."""
    pairs, hosted = dealer.pairs, np.flatnonzero(dealer.people >= 0)
    some = hosted[learned_from(values, columns.shape[1], dealer.people[hosted])]
    weight = pairs.per_person(pairs.prior)
    row = np.full(len(columns), -1)
    row[some] = np.arange(len(some))
    known = np.flatnonzero(row[pairs.person] >= 0)
    at = row[pairs.person[known]], pairs.value[known]
    for again in range(FITS):
        dense = np.zeros((len(some), values))
        dense[at] = weight[known]
        learned = fit(columns[some], dense)
        if again < FITS - 1:
            likely = dealer.likely(log_odds(columns, learned, pairs.person, pairs.value)) + before
            weight = dealer.posterior(dealer.messages(likely), likely)
    return learned


def _taught(columns: Floats, actual: Ints, values: int, pairs: Pairs) -> tuple[Ints, Floats]:
    """By the truth of the other half of the people: each one's likeliest value, and how likely pairs are.

    These are int64[N], and float64[P], logarithms as of `log_odds`.
    """
    half = np.arange(len(actual)) % 2 == 0
    best, logs = np.empty(len(actual), np.int64), np.empty(len(pairs.person))
    for one in (half, ~half):
        known = np.flatnonzero(~one & (actual >= 0))
        known = known[learned_from(values, columns.shape[1], known)]
        dense = np.zeros((len(known), values))
        dense[np.arange(len(known)), actual[known]] = 1
        learned, own = fit(columns[known], dense), one[pairs.person]
        best[one] = np.einsum("nf,fv->nv", columns[one], learned).argmax(axis=1)
        logs[own] = log_odds(columns, learned, pairs.person[own], pairs.value[own])
    return best, logs


def _best(pairs: Pairs, weight: Floats) -> tuple[Ints, Floats]:
    """The likeliest value of each person who has a pair, in the order of the rows, and its probability."""
    order = np.lexsort((-weight, pairs.person))
    first = order[np.flatnonzero(np.diff(pairs.person[order], prepend=-1))]
    return pairs.value[first], weight[first]


def _stayed(known: pl.DataFrame, hosted: pl.DataFrame, clues: Clues | None) -> Bools:
    """Who is in a group with just the people of their last one, bool[N]."""
    if clues is None:
        return np.zeros(len(known), bool)
    last = clues.hosts.select("person", last="group_id")
    last = last.with_columns(together=pl.len().over("last"))
    both = hosted.join(last, on="person", how="left").with_columns(now=pl.len().over("group_id"))
    same = (
        (pl.col("last").n_unique().over("group_id") == 1)
        & pl.col("last").is_not_null()
        & (pl.col("now") == pl.col("together"))
    )
    return known["person"].is_in(both.filter(same)["person"].implode()).to_numpy()


def _before(
    pairs: Pairs, known: pl.DataFrame, values: pl.Series, stayed: Bools, clues: Clues | None
) -> Floats:
    """Logarithms of what earlier groups said of each pair, float64[P]; not that of a group that stayed."""
    if clues is None:
        return np.zeros(len(pairs.person))
    own = pl.DataFrame({"person": known["person"].gather(pairs.person), VALUE: values.gather(pairs.value)})
    said = own.join(clues.said, on=["person", VALUE], how="left", maintain_order="left").fill_null(0)
    found: Floats = said["earlier"].to_numpy() + np.where(stayed[pairs.person], 0, said["last"].to_numpy())
    return found


def _after(
    pairs: Pairs,
    known: pl.DataFrame,
    values: pl.Series,
    hosted: pl.DataFrame,
    before: Floats,
    said: Floats,
    clues: Clues | None,
) -> Clues:
    """What is remembered of everybody whose group is known, and of whoever is absent."""
    own = pairs.cell >= 0
    now = pl.DataFrame(
        {
            "person": known["person"].gather(pairs.person[own]),
            VALUE: values.gather(pairs.value[own]),
            "earlier": before[own],
            "last": np.log(said[own]),
        }
    )
    kept = [] if clues is None else [clues.said.join(hosted, on="person", how="anti")]
    return Clues(hosted, pl.concat([*kept, now]))
