"""One release by the streamliner: candidates from values alone, then groups, then intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
import polars as pl

from republish.anonymize.arrays import Floats, Ints
from republish.anonymize.buckets.memory import Memory
from republish.anonymize.columns import PSEUDONYM, VALUE
from republish.anonymize.contract import Contract
from republish.anonymize.errors import NotEligible, smaller
from republish.anonymize.figures import Total
from republish.anonymize.formats.generalization import Generalization, generalize
from republish.anonymize.people.codes import code_domain, encode_columns
from republish.anonymize.people.ranks import keyed_ranks
from republish.anonymize.people.values import known_values, positions
from republish.anonymize.principle.candidate import Candidate, ReleaseFigures
from republish.anonymize.principle.state import State
from republish.anonymize.streamliner.candidates import gda, rda, ria
from republish.anonymize.streamliner.parameters import StreamlinerParameters
from republish.anonymize.streamliner.partition import minimal_partition

BEFORE_ALL = -1.0
"""The rank of a missing value: people who lack the same one are near one another."""


@dataclass(frozen=True, kw_only=True)
class StreamlinerFigures(ReleaseFigures):
    """Figures of the release of a table."""

    values: Annotated[int, max]
    """Sensitive values that anybody has; of shards, the most that the people of one have."""
    largest_group: Annotated[int, max]
    """People in the largest group."""
    buckets: Total = 0
    """Signatures that later releases keep to; 0 where none follow."""


def release(
    people: pl.DataFrame,
    contract: Contract[StreamlinerParameters],
    _state: State,
    number: int,
    draw: Callable[[str], np.random.Generator],
) -> Candidate:
    """Compute the one release of a table; called as `Release` says.

    Raises
    ------
    NotEligible
        If more than 1/l of the people share a value, or if the release is not the first.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, section 3.4.
    """
    parameters = contract.principle
    if number > 1:
        raise NotEligible(
            f"release {number} is refused: the streamliner is safe for one release of a table, and two"
            " releases of the same people can be intersected. Begin a series with then: m_invariance"
        )

    nobody = Memory.of(State.empty(), people.schema[VALUE])
    values = known_values(people[VALUE], contract.sensitive, nobody.buckets["signature"].explode())
    color = positions(people[VALUE], values)
    _refuse_ineligible(color, parameters.l)
    codes = encode_columns(people, contract)
    group = _partition(people[PSEUDONYM], color, codes, contract, draw)
    real = np.zeros(len(group), bool)
    generalization = generalize(codes, people[VALUE], group, real, contract)

    linkage = people.select(PSEUDONYM, pl.Series("group_id", generalization.group_id))
    figures = StreamlinerFigures(
        people=people.height,
        held_back=0,
        tuples=people.height,
        groups=int(group.max()) + 1,
        counterfeits=0,
        values=int((np.bincount(color) > 0).sum()),
        largest_group=int(np.bincount(group).max()),
    )
    if parameters.then is None:
        return Candidate(generalization.tables, linkage, State.empty(), figures)
    return _first_of_series(people, linkage, generalization, nobody, figures)


def _refuse_ineligible(color: np.ndarray, l: int) -> None:
    sizes = np.bincount(color)
    if not len(color):
        raise NotEligible("there is nobody to publish: release a snapshot that has people in it")
    if sizes.max() * l > len(color):
        raise NotEligible(
            f"the {len(color)} people are not {l}-eligible: {sizes.max()} of them share a value, and at most"
            f" {len(color) // l}, 1/{l} of them, may: each of a group of {l} has another value. There are"
            f" {(sizes > 0).sum()} values."
            f" Release more people, or {smaller('l', len(color), sizes.max())}"
        )


def _partition(
    pseudonym: pl.Series,
    color: np.ndarray,
    codes: pl.DataFrame,
    contract: Contract[StreamlinerParameters],
    draw: Callable[[str], np.random.Generator],
) -> Ints:
    """int64[N]: the group of every identifier, in a partition of the family set.

    Whatever is not decided by sizes and quasi-identifiers is decided by a keyed hash of each pseudonym, so
    that the order in which rows arrive decides nothing.
    """
    parameters = contract.principle
    ranks = keyed_ranks(pseudonym, draw("candidates"))
    if parameters.method == "ria":
        group = minimal_partition(ria(color, ranks, parameters.l, draw("colors")))
    elif parameters.method == "rda":
        group = rda(color, ranks, parameters.l)
    else:
        group = gda(color, ranks, weighted_rank(codes, contract), parameters.l)
    return group


def weighted_rank(codes: pl.DataFrame, contract: Contract[StreamlinerParameters]) -> Floats:
    """float64[N]: the weighted sum of the ranks of each identifier's quasi-identifiers.

    A value's rank is its position in its attribute's domain, from 0 to 1; a missing one's is `BEFORE_ALL`.
    The paper counts positions from 1, so that an attribute of a million values outweighs all others.

    References
    ----------
    Liu and Wang, Privacy streamliner, CODASPY 2012, section 3.3.
    """
    weights = contract.principle.weights
    rank = pl.lit(0.0)
    for column, qi in contract.attributes():
        lowest, highest = code_domain(qi)
        # A weight below 2 ** 31 times a code of up to 2 ** 54 exceeds 64 bits.
        position = (pl.col(column) - lowest).cast(pl.Float64)
        weighted = weights.get(qi.name, 1) * position / ((highest - lowest) or 1)
        rank += weighted.fill_null(weights.get(qi.name, 1) * BEFORE_ALL)
    return codes.select(rank.cast(pl.Float64)).to_series().to_numpy()


def _first_of_series(
    people: pl.DataFrame,
    linkage: pl.DataFrame,
    generalization: Generalization,
    nobody: Memory,
    figures: StreamlinerFigures,
) -> Candidate:
    """The release with what m-invariance is to remember of it: every person's signature.

    A group of distinct values is a group of the bucket that has these values as its signature. Groups by
    `rda` and `gda` are of distinct values.
    """
    signatures = (
        people.select(VALUE, linkage["group_id"])
        .group_by("group_id")
        .agg(pl.col(VALUE).sort().alias("signature"), pl.len().cast(pl.Int64).alias("people"))
    )
    buckets = (
        signatures.group_by("signature")
        .agg(pl.col("people").sum(), pl.len().cast(pl.Int64).alias("groups"))
        .sort(
            pl.col("signature").list.len(),
            pl.col("signature").list.eval(pl.element().cast(pl.String)).list.join("\0"),
        )
        .select(
            pl.int_range(pl.len(), dtype=pl.Int32).alias("bucket_id"),
            "signature",
            "people",
            pl.lit(0, pl.Int64).alias("counterfeits"),
            "groups",
        )
    )
    bucket_of = signatures.join(buckets.select("bucket_id", "signature"), on="signature")
    linkage = linkage.join(bucket_of.select("group_id", "bucket_id"), on="group_id", maintain_order="left")
    memory = nobody.after(linkage, buckets.select("bucket_id", "signature"), 1)
    return Candidate(
        published=generalization.tables,
        linkage=linkage.select(PSEUDONYM, "bucket_id", "group_id"),
        state=State(memory.tables()),
        figures=replace(figures, buckets=buckets.height),
        buckets=buckets,
    )
