"""The baseline that fails: l-diverse Mondrian, each release anonymized by itself.

In every group at most 1/l of the tuples share a sensitive value. Nothing else is promised, and nothing is
remembered from one release to the next.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from republish.anonymize.contract import Contract
from republish.anonymize.formats.published import Published, knowledge_table
from republish.anonymize.kernels.mondrian import partition
from republish.anonymize.people.codes import code_domain


def mondrian(people: pl.DataFrame, contract: Contract, diversity: int) -> Published:
    """An l-diverse generalization of a snapshot, no counterfeits.

    A group is cut at the median of its widest quasi-identifier (as a share of the domain), or of the next
    if that leaves a part that isn't l-diverse, until no cut is left.

    Parameters
    ----------
    people
        T(n): `person`, `qi_0`, … in their own types, `value`.
    contract
        Quasi-identifiers and sensitive attribute; its principle is not looked at.
    diversity
        l: no value is carried by more than 1/l of a group.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006; as used by Xiao and
    Tao, m-Invariance, SIGMOD 2007, section 5.1.
    """
    people = knowledge_table(people, contract)
    names = [column for column, _ in contract.attributes()]
    domains = np.array([code_domain(qi) for qi in contract.quasi_identifiers], dtype=float)
    matrix = np.ascontiguousarray(people.select(pl.col(names).cast(pl.Float64)).to_numpy())
    widths = np.maximum(domains[:, 1] - domains[:, 0], 1)
    values = people["value"].rank("dense").cast(pl.Int64).to_numpy() - 1
    group = partition(matrix, widths, values, diversity)
    tuples = people.with_columns(pl.Series("group_id", group))
    bounds = [
        bound
        for name in names
        for bound in (pl.col(name).min().alias(f"{name}_low"), pl.col(name).max().alias(f"{name}_high"))
    ]
    return Published(
        tuples.group_by("group_id").agg(bounds).sort("group_id"),
        tuples.group_by("group_id", "value").agg(pl.len().cast(pl.Int64).alias("tuples")),
        pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64}),
    )
