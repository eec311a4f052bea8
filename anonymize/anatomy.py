"""From groups to Anatomy's two tables, exact quasi-identifiers and values, that share nothing but group ids.

Xiao and Tao, Anatomy, VLDB 2006; He, Barman and Naughton, ICDE 2011, section IV-A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from anonymize.contract import Contract


@dataclass(frozen=True)
class Anatomy:
    """T*(n) as two tables, and R(n), ready to be published."""

    quasi_identifiers: pl.DataFrame
    """`group_id`, `<qi>` …: one row per tuple; sorted by all columns."""
    sensitive: pl.DataFrame
    """`group_id`, `<sensitive>`, `count`; sorted by all columns."""
    counterfeits: pl.DataFrame
    """R(n): `group_id`, `count`, for the groups that have counterfeits."""
    group_id: np.ndarray
    """int64[N]: the published group of each tuple."""

    def tables(self) -> dict[str, pl.DataFrame]:
        """The published tables by name."""
        return {
            "quasi_identifiers": self.quasi_identifiers,
            "sensitive": self.sensitive,
            "counterfeits": self.counterfeits,
        }


def anatomize(
    quasi_identifiers: pl.DataFrame,
    values: pl.Series,
    group: np.ndarray,
    counterfeit: np.ndarray,
    contract: Contract,
) -> Anatomy:
    """Publish each group's quasi-identifiers and its values apart.

    Rows are sorted by their content and groups numbered by theirs, so that neither order says who has
    which value, who is a counterfeit, or which group was which in the release before.

    Parameters
    ----------
    quasi_identifiers
        N tuples in columns `<qi>_value`, people and counterfeits alike.
    values
        Their sensitive values.
    group
        int[N]: their groups, 0, 1, …. No two groups hold the same values.
    counterfeit
        bool[N]: which of them nobody stands behind.
    contract
        Its quasi-identifiers and sensitive attribute.
    """
    qis = [f"{qi.name}_value" for qi in contract.quasi_identifiers]
    tuples = quasi_identifiers.select(qis).with_columns(
        pl.Series("group", group), values.alias("value"), pl.Series("counterfeit", counterfeit)
    )
    counts = tuples.group_by("group", "value").agg(pl.len().cast(pl.Int64).alias("count"))
    numbers = _numbered_by_content(tuples.select("group", *qis), counts)
    numbered = tuples.join(numbers, on="group", maintain_order="left")
    published = [pl.col(f"{qi.name}_value").alias(qi.name) for qi in contract.quasi_identifiers]
    value = pl.col("value").alias(contract.sensitive.name)
    return Anatomy(
        quasi_identifiers=numbered.sort("group_id", *qis).select("group_id", *published),
        sensitive=counts.join(numbers, on="group")
        .sort("group_id", "value")
        .select("group_id", value, "count"),
        counterfeits=numbered.group_by("group_id")
        .agg(pl.col("counterfeit").sum().cast(pl.Int64).alias("count"))
        .filter(pl.col("count") > 0)
        .sort("group_id"),
        group_id=numbered["group_id"].to_numpy(),
    )


def _numbered_by_content(tuples: pl.DataFrame, counts: pl.DataFrame) -> pl.DataFrame:
    """`group`, `group_id`: groups in the order of their first row, then of the values they hold."""
    qis = [name for name in tuples.columns if name != "group"]
    first = (
        tuples.sort(qis).with_columns(row=pl.struct(qis).rle_id()).group_by("group").agg(pl.col("row").min())
    )
    signatures = counts.sort("value").group_by("group", maintain_order=True).agg(pl.col("value"))
    values = counts["value"].unique().sort()
    rank = pl.element().replace_strict(values, range(len(values)), return_dtype=pl.Int64).cast(pl.String)
    held = pl.col("value").list.eval(rank.str.zfill(len(str(len(values))))).list.join("").alias("held")
    return (
        first.join(signatures.select("group", held), on="group")
        .sort("row", "held")
        .select("group", pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("group_id"))
    )
