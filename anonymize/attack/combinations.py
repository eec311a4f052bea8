"""Several sensitive columns: what a set of combinations says of each column, and of all of them.

A person of whom (flu, rest), (flu, pills) and (gout, rest) are left has two candidates in each column, and
only two combinations that differ in both. Of two such combinations, an adversary who knows which values go
together rules none out by the other. Candidates count as the most combinations that differ in every column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl

from republish.anonymize.arrays import Ints
from republish.anonymize.attack.bits import bitsets
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Sensitive
from republish.anonymize.contract.combined import values_of
from republish.anonymize.kernels.differing import most_differing
from republish.anonymize.kernels.read_only import read_only

PART = "part_"
"""What the columns begin with that say what a combination is made of."""


def with_parts(domain: pl.Series, sensitive: Sensitive) -> pl.DataFrame:
    """`value`: a domain in the order of the bits. Of several columns, `part_0`, `part_1`, …, too.

    These number the values of each combination throughout all columns.
    """
    frame, parts = domain.to_frame(VALUE), 0
    for position, column in enumerate(values_of(domain, sensitive) if sensitive.is_several else ()):
        numbers = parts + column.rank("dense").cast(pl.Int64) - 1
        frame = frame.with_columns(numbers.alias(f"{PART}{position}"))
        parts += column.n_unique()
    return frame


@dataclass(frozen=True)
class Combinations:
    """The values that combinations are made of."""

    part: Ints
    """int64[V, C]: the values of each combination of the domain, numbered throughout all columns."""

    @classmethod
    def of(cls, domain: pl.DataFrame | None) -> Self | None:
        """The combinations of a domain, as `with_parts` leaves it; None of one column."""
        names = [] if domain is None else [name for name in domain.columns if name.startswith(PART)]
        if domain is None or not names:
            return None
        return cls(read_only(np.ascontiguousarray(domain.select(names).to_numpy())))

    def differing(self, sets: pl.DataFrame, enough: int) -> pl.Series:
        """Count the combinations of each set (64 bits in every column) that differ in every column: Int32[N].

        Of three columns and more, no more than `enough` are searched for.
        """
        distinct = sets.unique(maintain_order=True)
        bits = read_only(np.ascontiguousarray(distinct.to_numpy()).reshape(len(distinct), sets.width))
        known = self.part[: 64 * sets.width]
        found = most_differing(bits, known, int(self.part.max(initial=-1)) + 1, enough)
        counted = distinct.with_columns(pl.Series("candidates", found, pl.Int32))
        return sets.join(counted, on=sets.columns, how="left", maintain_order="left")["candidates"]


def differing_candidates(left: pl.DataFrame, sensitive: Sensitive, enough: int) -> pl.DataFrame:
    """Count each one's candidates that differ in every column: `person`, `value`, `candidates`.

    What is left of a person are rows of `person`, `value`, `candidate`. Of three columns and more, no more
    than `enough` are searched for.
    """
    domain = with_parts(left["candidate"].unique().sort(), sensitive)
    combinations = Combinations.of(domain)
    assert combinations is not None
    tuples = left.select("person", VALUE).unique(maintain_order=True).with_row_index("row")
    placed = left.join(tuples, on=["person", VALUE]).join(
        domain.select(pl.col(VALUE).alias("candidate")).with_row_index("position"), on="candidate"
    )
    position = placed["position"].to_numpy().astype(np.int64)
    bits = bitsets(placed["row"].to_numpy(), position, tuples.height, len(domain))
    found = combinations.differing(pl.DataFrame(bits), enough)
    return tuples.select("person", VALUE).with_columns(found.alias("candidates"))
