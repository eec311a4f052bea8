"""Guessing values by learning from the published groups themselves: which values go with which people.

A group of m values says 1/m of each person in it. Thousands of groups together say more: if groups with many
young people have asthma more often, then the youngest person of a group is the likeliest to have it. No
promise of the principles excludes this, and statistics of the true table allow as much; it is a figure, and
no broken promise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from scipy import sparse

from anonymize.attack.coverage import cover, value_domain
from anonymize.columns import VALUE
from anonymize.contract import QuasiIdentifier, Schema
from anonymize.formats.published import Published
from anonymize.people.codes import MISSING_CODE, code_domain

BINS = (4, 32)
"""The fewest and the most cells into which a quasi-identifier's codes are put; a small domain has a cell for
each value."""
PEOPLE_IN_A_CELL = 10
"""For each value, on average: with fewer, what is learned is chance."""
ROUNDS = 10
"""How often guesses and what is learned from them improve each other."""
BALANCING = 5
"""How often the guesses of a group are scaled to its tuples, in each round."""
MOST = 20_000
"""People who are guessed; of more, about so many are drawn, by whole groups where these are known."""
MOST_PAIRS = 5_000_000
"""Pairs of a person and a value that are guessed, where groups are not known."""
SMOOTHING = 1.0
"""Added to the count of each cell and value (Laplace)."""


@dataclass(frozen=True)
class Guesses:
    """The shares of values that are guessed right: after the first two fields, shares of `people`."""

    people: int
    """The people whose candidate values are known, and who are guessed."""
    hosted: int
    """Those of them whose group is known; of the others, the groups that cover them are."""
    learned: float
    """Guessed right after learning from the groups."""
    at_random: float
    """Guessed right on average without learning, at random from the tuples of the group; where the group
    isn't known, from all tuples with a value of the groups that cover the person."""
    most_frequent: float
    """Guessed right by naming the most frequent value of all, without any group."""
    from_truth: float
    """Guessed right by the same learning from the true table, without any group: what statistics give
    away."""

    @property
    def error(self) -> float:
        """Standard error of `learned`: what is a matter of chance in it."""
        return float(np.sqrt(self.learned * (1 - self.learned) / self.people))


def guess_values(
    known: pl.DataFrame, published: Published, schema: Schema, linkage: pl.DataFrame | None = None
) -> Guesses | None:
    """Learn from one release which values go with which quasi-identifiers, and guess everybody's value.

    Naive Bayes: a value's probability given the exact quasi-identifiers, as if these were independent given
    the value. It is learned from the published intervals and values first. Then all people are guessed, and
    it is learned from the guesses, again and again; in a group whose people are known, the guesses are scaled
    so that they add up to its tuples.

    The truth of those who are `known` (`person`, `value`, `qi_0`, … as codes) only counts what was guessed
    right. Without a `linkage` (`person`, `group_id`), a person's group is known if one alone covers the
    person. None is returned if no group covers anybody.

    References
    ----------
    Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009: groups are learned from together. Cormode,
    Personal privacy vs population privacy: learning to attack anonymization, KDD 2011: naive Bayes from
    groups. That guesses and what is learned improve each other (expectation maximization), and are scaled to
    the groups' tuples (Sinkhorn), is ours.
    """
    values = value_domain(published.values[VALUE])
    known = drawn(known, linkage, len(values))
    covered = cover(known, published, values)
    groups = published.sizes.select("group_id").sort("group_id").with_row_index("group")
    hosts = (covered if linkage is None else linkage).select("person", "group_id").drop_nulls()
    people = (
        known.select("person")
        .join(hosts, on="person", how="left", maintain_order="left")
        .join(groups, on="group_id", how="left", maintain_order="left")["group"]
        .cast(pl.Int64)
        .fill_null(-1)
        .to_numpy()
    )
    held = _tuples(published, groups, values)
    pairs = _pairs(people, held, candidates_of(covered, len(values)))
    guessed = np.unique(pairs.person)
    if not len(guessed):
        return None
    truth = known.select(VALUE).join(
        values.to_frame(VALUE).with_row_index("at"), on=VALUE, how="left", maintain_order="left"
    )
    actual = truth["at"].cast(pl.Int64).fill_null(-1).to_numpy()
    most = int(np.clip(len(known) // (PEOPLE_IN_A_CELL * len(values)), *BINS))
    cells = [_Cells.of(known[column], attribute, column, most) for column, attribute in schema.attributes()]
    counts = [one.of_intervals(published, groups, held) for one in cells]
    codes = [one.place(known[one.column].to_numpy()) for one in cells]
    weight = _learn(pairs, codes, counts, held)
    right = _best(pairs, weight) == actual[guessed]
    prior = pairs.per_person(pairs.prior)
    of_truth = pairs.value == actual[pairs.person]
    return Guesses(
        people=len(guessed),
        hosted=int((people[guessed] >= 0).sum()),
        learned=float(right.mean()),
        at_random=float(prior[of_truth].sum() / len(guessed)),
        most_frequent=float(np.bincount(actual[guessed] + 1).max() / len(guessed)),
        from_truth=_from_truth([at[guessed] for at in codes], actual[guessed], counts, len(values)),
    )


def drawn(known: pl.DataFrame, linkage: pl.DataFrame | None, values: int = 1) -> pl.DataFrame:
    """Draw about `MOST` of the people, or fewer; the same ones for the same release.

    People are drawn by whole groups of the linkage (`person`, `group_id`). Without it they are drawn one by
    one, and fewer if there are many values, since a person may have nearly all of them.
    """
    most = MOST if linkage is not None else min(MOST, max(MOST_PAIRS // max(values, 1), 1))
    if len(known) <= most:
        return known
    rng = np.random.default_rng(0)
    if linkage is None:
        drawn: pl.DataFrame = known[np.sort(rng.permutation(len(known))[:most]).tolist()]
        return drawn
    groups = linkage["group_id"].unique().sort()
    some = groups.gather(rng.permutation(len(groups))[: max(1, len(groups) * MOST // len(known))])
    here = linkage.filter(pl.col("group_id").is_in(some.implode())).select("person")
    return known.join(here, on="person", how="semi", maintain_order="left")


@dataclass(frozen=True)
class _Pairs:
    """Each person with each value that the person may have; sorted by person."""

    person: np.ndarray
    """int64[P]: the row of the person."""
    value: np.ndarray
    """int64[P]: the value's place in the domain."""
    cell: np.ndarray
    """int64[P]: the row of the person's group and value among `held`; -1 where the group isn't known."""
    prior: np.ndarray
    """float64[P]: the share of the value in the group, or among all tuples."""

    @cached_property
    def begins(self) -> np.ndarray:
        """The first pair of each person: pairs are sorted by person."""
        return np.flatnonzero(np.diff(self.person, prepend=-1))

    @cached_property
    def number(self) -> np.ndarray:
        """How many pairs each person has."""
        return np.diff(self.begins, append=len(self.person))

    def per_person(self, weight: np.ndarray) -> np.ndarray:
        """The weights, scaled so that those of each person add up to 1."""
        total = np.bincount(self.person, weight)[self.person[self.begins]]
        share: np.ndarray = weight / np.repeat(total, self.number)
        return share


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


def _pairs(group: np.ndarray, held: pl.DataFrame, candidates: np.ndarray) -> _Pairs:
    of_group = held.with_row_index("cell").with_columns(pl.col("cell").cast(pl.Int64))
    hosted = pl.DataFrame({"person": np.arange(len(group)), "group": group}).join(of_group, on="group")
    total = held.group_by("at").agg(pl.col("tuples").sum()).sort("at")
    share = np.zeros(candidates.shape[1])
    share[total["at"].to_numpy()] = total["tuples"].to_numpy() / total["tuples"].sum()
    person, value = np.nonzero(candidates & (group < 0)[:, None])
    parts = (
        (hosted["person"].to_numpy(), person),
        (hosted["at"].to_numpy(), value),
        (hosted["cell"].to_numpy(), np.full(len(person), -1)),
        (hosted["share"].to_numpy(), share[value]),
    )
    joined = [np.concatenate(part) for part in parts]
    order = np.lexsort((joined[1], joined[0]))
    return _Pairs(*(part[order] for part in joined))


@dataclass(frozen=True)
class _Cells:
    """A quasi-identifier's codes, put into cells."""

    column: str
    edges: np.ndarray
    """float64[B + 1]: where cells begin, and where the last one ends."""

    @classmethod
    def of(cls, codes: pl.Series, attribute: QuasiIdentifier, column: str, most: int) -> _Cells:
        """A cell for each value of a small domain, else cells with about as many people each.

        Where missing values are published, the first cell is theirs.
        """
        lowest, highest = code_domain(attribute)
        missing = [MISSING_CODE] if attribute.publishes_missing else []
        if attribute.discrete and highest - lowest < most:
            return cls(column, np.append(missing, np.arange(lowest, highest + 2, dtype=float)))
        inner = np.unique(np.quantile(codes.to_numpy(), np.linspace(0, 1, most + 1)[1:-1]))
        inner = inner[(inner > lowest) & (inner <= highest)]
        return cls(column, np.concatenate([missing, [lowest], inner, [highest + 1]]).astype(float))

    def place(self, codes: np.ndarray) -> np.ndarray:
        """int64[N]: the cell of each code."""
        return np.clip(np.searchsorted(self.edges, codes, "right") - 1, 0, len(self.edges) - 2)

    def of_intervals(self, published: Published, groups: pl.DataFrame, held: pl.DataFrame) -> np.ndarray:
        """float64[V, B]: the tuples of each value in each cell, if tuples are spread over their intervals."""
        boxes = published.boxes.join(groups, on="group_id")
        low = boxes[f"{self.column}_low"].to_numpy().astype(float)[:, None]
        high = boxes[f"{self.column}_high"].to_numpy().astype(float)[:, None] + 1
        inside = np.clip(np.minimum(high, self.edges[1:]) - np.maximum(low, self.edges[:-1]), 0, None)
        inside /= np.maximum(inside.sum(axis=1, keepdims=True), 1e-300)
        if self.edges[0] == MISSING_CODE:
            without = published.shares_missing(boxes, self.column)
            inside = np.column_stack([without, inside[:, 1:] * (1 - without)[:, None]])
        group = boxes["group"].to_numpy()
        of_group = sparse.csr_array((np.ones(len(group)), (group, np.arange(len(group)))))
        spread = of_group @ inside / np.maximum(np.bincount(group), 1)[:, None]
        at, where = held["at"].to_numpy(), held["group"].to_numpy()
        tuples = sparse.csr_array((held["tuples"].to_numpy().astype(float), (at, where)))
        expected: np.ndarray = tuples @ spread
        return expected


def _learn(
    pairs: _Pairs, codes: Sequence[np.ndarray], counts: Sequence[np.ndarray], held: pl.DataFrame
) -> np.ndarray:
    """float64[P]: the probability of each person's each value, after all rounds."""
    room = held["tuples"].to_numpy().astype(float)
    known = np.flatnonzero(pairs.cell >= 0)
    cell = pairs.cell[known]
    places = [
        pairs.value * count.shape[1] + at[pairs.person] for at, count in zip(codes, counts, strict=True)
    ]

    weight = pairs.prior
    for _ in range(ROUNDS):
        likely = np.zeros(len(weight))
        for place, count in zip(places, counts, strict=True):
            share = (count + SMOOTHING) / (count + SMOOTHING).sum(axis=1, keepdims=True)
            likely += np.log(share).ravel()[place]
        top = np.repeat(np.maximum.reduceat(likely, pairs.begins), pairs.number)
        weight = pairs.per_person(pairs.prior * np.exp(likely - top) + 1e-300)
        for _ in range(BALANCING):
            given = np.bincount(cell, weight[known], minlength=len(room))
            # Counterfeits leave room that nobody fills; no value has more people than tuples.
            scale = np.minimum(1.0, room / np.maximum(given, 1e-300))
            weight[known] *= scale[cell]
            weight = pairs.per_person(weight)
        counts = [
            np.bincount(place, weight, minlength=count.size).reshape(count.shape)
            for place, count in zip(places, counts, strict=True)
        ]
    return weight


def _best(pairs: _Pairs, weight: np.ndarray) -> np.ndarray:
    """int64: the likeliest value of each person who has a pair, in the order of the rows."""
    order = np.lexsort((-weight, pairs.person))
    first = np.flatnonzero(np.diff(pairs.person[order], prepend=-1))
    return pairs.value[order][first]


def _from_truth(
    codes: Sequence[np.ndarray], actual: np.ndarray, counts: Sequence[np.ndarray], values: int
) -> float:
    """The share guessed right by naive Bayes that learned from the true table itself."""
    shown = actual >= 0
    share = np.bincount(actual[shown], minlength=values) + SMOOTHING
    likely = np.tile(np.log(share / share.sum()), (len(actual), 1))
    for at, shape in zip(codes, (count.shape for count in counts), strict=True):
        count = np.bincount(actual[shown] * shape[1] + at[shown], minlength=shape[0] * shape[1])
        smooth = count.reshape(shape) + SMOOTHING
        likely += np.log(smooth / smooth.sum(axis=1, keepdims=True))[:, at].T
    return float((likely.argmax(axis=1) == actual).mean())
