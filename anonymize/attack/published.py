"""A release as an adversary reads it: boxes of quasi-identifiers, and the values in each group."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from anonymize.codes import encode
from anonymize.contract import Contract, QuasiIdentifier

GROUP = pl.col("group_id").cast(pl.Int64)


@dataclass(frozen=True)
class Published:
    """One published release, whatever made it.

    A group is covered by one box if it is a generalized one, and by a box of no width per tuple if
    quasi-identifiers are published as they are (Anatomy).
    """

    boxes: pl.DataFrame
    """`group_id`, and `<qi>_low`, `<qi>_high` as codes, closed on both ends; no two rows alike. The names
    are free, and the same as in the people's table; what is read here has `qi_0`, `qi_1`, …"""
    values: pl.DataFrame
    """`group_id`, `value`, `tuples`: how many tuples of a group carry a value, counterfeits included."""
    counterfeits: pl.DataFrame
    """`group_id`, `count` (positive): R(n)."""

    @property
    def sizes(self) -> pl.DataFrame:
        """`group_id`, `size`: the tuples of every group, counterfeits included."""
        return self.values.group_by("group_id").agg(pl.col("tuples").sum().alias("size"))


def read_generalization(microdata: pl.DataFrame, counterfeits: pl.DataFrame, contract: Contract) -> Published:
    """A generalized table and its R(n), in the columns of `microdata.parquet`.

    Parameters
    ----------
    microdata
        `group_id`, `<qi>_low`, `<qi>_high` in the attributes' own types, the sensitive column.
    counterfeits
        `group_id`, `count`.
    contract
        The quasi-identifiers and the sensitive attribute.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definitions 2 and 3.
    """
    bounds = [
        encode(pl.col(f"{qi.name}_{end}"), qi).alias(f"{name}_{end}")
        for name, qi in codes(contract)
        for end in ("low", "high")
    ]
    boxes = microdata.select(GROUP, *bounds).unique(maintain_order=True)
    values = (
        microdata.group_by(GROUP, pl.col(contract.sensitive.name).alias("value"))
        .agg(pl.len().cast(pl.Int64).alias("tuples"))
        .sort("group_id", "value")
    )
    return Published(boxes, values, counterfeits.select(GROUP, pl.col("count").cast(pl.Int64)))


def read_anatomy(
    quasi_identifiers: pl.DataFrame, sensitive: pl.DataFrame, counterfeits: pl.DataFrame, contract: Contract
) -> Published:
    """Two tables that share nothing but the group id, and their R(n).

    Parameters
    ----------
    quasi_identifiers
        `group_id`, `<qi>` in the attributes' own types: one row per tuple.
    sensitive
        `group_id`, the sensitive column, `count`.
    counterfeits
        `group_id`, `count`.
    contract
        The quasi-identifiers and the sensitive attribute.

    References
    ----------
    He, Barman and Naughton, Preventing equivalence attacks, ICDE 2011, section IV-A.
    """
    bounds = [
        encode(pl.col(qi.name), qi).alias(f"{name}_{end}")
        for name, qi in codes(contract)
        for end in ("low", "high")
    ]
    boxes = quasi_identifiers.select(GROUP, *bounds).unique(maintain_order=True)
    values = sensitive.select(
        GROUP,
        pl.col(contract.sensitive.name).alias("value"),
        pl.col("count").cast(pl.Int64).alias("tuples"),
    )
    return Published(
        boxes, values.sort("group_id", "value"), counterfeits.select(GROUP, pl.col("count").cast(pl.Int64))
    )


def codes(contract: Contract) -> list[tuple[str, QuasiIdentifier]]:
    """A name for each quasi-identifier's codes that no column of anybody's table can be mistaken for."""
    return [(f"qi_{number}", qi) for number, qi in enumerate(contract.quasi_identifiers)]


def knowledge_table(snapshot: pl.DataFrame, contract: Contract, person: str | None = None) -> pl.DataFrame:
    """What the adversary knows of one release, and the values they don't: `person`, `value`, `qi_0`, ….

    Parameters
    ----------
    snapshot
        T(n): the contract's columns in their own types.
    contract
        The columns' roles.
    person
        The column that tells people apart over releases, if not the identifier: a pseudonym, say.

    References
    ----------
    Xiao and Tao, m-Invariance, SIGMOD 2007, Definition 6.
    """
    return snapshot.select(
        pl.col(person or contract.identifier).alias("person"),
        pl.col(contract.sensitive.name).alias("value"),
        *(encode(pl.col(qi.name), qi).alias(name) for name, qi in codes(contract)),
    )


def value_domain(*columns: pl.Series, known: pl.Series | None = None) -> pl.Series:
    """Every sensitive value there is, each at a fixed position: what bitsets are numbered by.

    Parameters
    ----------
    columns
        Columns of sensitive values: of the published releases, and of the truth.
    known
        The domain so far. New values come after it, so that earlier bitsets stay readable.
    """
    found = pl.concat([column.drop_nulls().unique() for column in columns]).unique().sort().alias("value")
    if known is None:
        return found
    return pl.concat([known.alias("value"), found.filter(~found.is_in(known.implode()))])
