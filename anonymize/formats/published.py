"""A release as an adversary reads it: boxes of quasi-identifiers, and the values in each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from republish.anonymize.arrays import Floats
from republish.anonymize.columns import VALUE
from republish.anonymize.contract import Schema, Sensitive
from republish.anonymize.contract.combined import projected, values_of
from republish.anonymize.people.codes import encode

GROUP = pl.col("group_id").cast(pl.Int64)


@dataclass(frozen=True)
class Published:
    """One published release, whatever made it.

    A group is covered by one box if it is a generalized one, and by a box of no width per tuple if
    quasi-identifiers are published as they are (Anatomy).
    """

    boxes: pl.DataFrame
    """`group_id`, and `qi_0_low`, `qi_0_high`, … as codes, closed on both ends; no two rows alike.

    A box has no ends where everybody's value is missing. Where missing values are published, `qi_0_missing`,
    of intervals, says of how many people of the group the value is missing.
    """
    values: pl.DataFrame
    """`group_id`, `value`, `tuples`: how many tuples of a group carry a value, counterfeits included."""
    counterfeits: pl.DataFrame
    """`group_id`, `count` (positive): R(n)."""

    @property
    def sizes(self) -> pl.DataFrame:
        """`group_id`, `size`: the tuples of every group, counterfeits included."""
        return self.values.group_by("group_id").agg(pl.col("tuples").sum().alias("size"))

    def shares_missing(self, boxes: pl.DataFrame, column: str) -> Floats:
        """float64[B]: for each of some boxes, the share of its people whose value of a column is missing."""
        nobody = boxes[f"{column}_low"].is_null()
        if (name := f"{column}_missing") not in boxes.columns:
            return nobody.cast(pl.Float64).to_numpy()
        counts = self.sizes.join(self.counterfeits, on="group_id", how="left")
        people = counts.select("group_id", people=pl.col("size") - pl.col("count").fill_null(0))
        placed = boxes.select("group_id", name).join(people, on="group_id", how="left", maintain_order="left")
        share = (placed[name] / placed["people"].clip(1)).clip(0, 1)
        return share.zip_with(~nobody, pl.Series([1.0])).fill_null(0).to_numpy()


def knowledge_table(people: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """An adversary's knowledge of one release, and the values they are after: `person`, `value`, `qi_0`, ….

    Quasi-identifiers, which T(n) has in their own types, become codes.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 6.
    """
    encoded = [encode(pl.col(column), qi).alias(column) for column, qi in schema.attributes()]
    return people.select("person", VALUE, *encoded)


def stated_counterfeits(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """R(n) as published, `group_id`, `count`; no rows where there is no such table."""
    none = pl.DataFrame(schema={"group_id": pl.Int64, "count": pl.Int64})
    return tables.get("counterfeits", none).select(GROUP, pl.col("count").cast(pl.Int64))


def by_column(values: pl.DataFrame, sensitive: Sensitive) -> list[pl.DataFrame]:
    """Count what groups have, `group_id`, `value`, `tuples`, for each sensitive column by itself."""
    if not sensitive.is_several:
        return [values]
    return [_with_values(values, column) for column in values_of(values[VALUE], sensitive)]


def with_fewer_columns(
    published: Published, known: pl.DataFrame, sensitive: Sensitive, columns: Sequence[str]
) -> tuple[Published, pl.DataFrame]:
    """A release and the truth as they are if some of several sensitive columns, by name, are looked at.

    Both then have the values of these columns, as text, in place of those of all.
    """
    names = [column.name for column in sensitive.columns]
    held, true = (projected(table[VALUE], names, columns) for table in (published.values, known))
    fewer = replace(published, values=_with_values(published.values, held))
    return fewer, known.with_columns(true.alias(VALUE))


def _with_values(values: pl.DataFrame, column: pl.Series) -> pl.DataFrame:
    return values.with_columns(column.alias(VALUE)).group_by("group_id", VALUE).agg(pl.col("tuples").sum())
