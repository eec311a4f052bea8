"""Evidence that a generalized candidate keeps its promises: what was counted, where and how often.

Computed from the tables as they would be published, the truth and the linkage, by code that shares
nothing with the principle that made them. A promise is judged elsewhere, on these tables; they hold
counts, widths and the names of columns, nobody's identifier or value.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from anonymize.codes import encode
from anonymize.contract import Contract
from anonymize.state import State


def generalization_evidence(
    published: Mapping[str, pl.DataFrame],
    linkage: pl.DataFrame,
    people: pl.DataFrame,
    remembered: State,
    contract: Contract,
) -> dict[str, pl.DataFrame]:
    """All evidence on a candidate in generalized form, by the name of the promise it is about.

    Parameters
    ----------
    published
        `microdata` and `counterfeits`, as they would be published.
    linkage
        Identifier and `group_id` of the people the candidate hosts.
    people
        T(n): the contract's columns and `pseudonym`.
    remembered
        The state before this release.
    contract
        The data product.

    Returns
    -------
    dict
        `m_uniqueness`, `signature_invariance`, `coverage`, `minimum_widths`, `counterfeits`.
    """
    microdata, counterfeits = published["microdata"], published["counterfeits"]
    hosted = people.join(linkage, on=contract.identifier)
    groups = _groups(microdata, counterfeits, contract)
    return {
        "m_uniqueness": m_uniqueness(groups, hosted, remembered),
        "signature_invariance": signature_invariance(groups, hosted, remembered),
        "coverage": coverage(microdata, hosted, contract),
        "minimum_widths": minimum_widths(microdata, contract),
        "counterfeits": counterfeit_statistics(groups, hosted, people),
    }


def _groups(microdata: pl.DataFrame, counterfeits: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """`group_id`, `tuples`, `values` (distinct), `signature` (sorted), `count` from R(n), 0 where absent."""
    value = pl.col(contract.sensitive.name)
    return (
        microdata.group_by("group_id")
        .agg(
            pl.len().cast(pl.Int64).alias("tuples"),
            value.n_unique().cast(pl.Int64).alias("values"),
            value.unique().sort().alias("signature"),
        )
        .join(counterfeits, on="group_id", how="full", coalesce=True)
        .with_columns(pl.col("count").fill_null(0), pl.col("tuples", "values").fill_null(0))
        .sort("group_id")
    )


def m_uniqueness(groups: pl.DataFrame, hosted: pl.DataFrame, remembered: State) -> pl.DataFrame:
    """`group_id`, `tuples`, `values`, `newcomers`: people in the group who were never published before.

    m-uniqueness (Definition 17) wants `tuples` = `values` >= m. Where m was raised, people from earlier
    releases stay in the smaller groups they were promised; whoever is new is in a group of at least m.
    """
    newcomers = (
        hosted.join(remembered.memory.select("pseudonym"), on="pseudonym", how="anti")
        .group_by("group_id")
        .agg(pl.len().cast(pl.Int64).alias("newcomers"))
    )
    return (
        groups.select("group_id", "tuples", "values")
        .join(newcomers, on="group_id", how="left")
        .with_columns(pl.col("newcomers").fill_null(0))
        .sort("group_id")
    )


def signature_invariance(groups: pl.DataFrame, hosted: pl.DataFrame, remembered: State) -> pl.DataFrame:
    """`bucket_id`, `remembered`, `same`, `disjoint`, `overlapping`: people by how signatures compare.

    Each remembered signature of each hosted person is compared with that of their group today, value by
    value. `remembered` = `same` + `disjoint` + `overlapping`; m-invariance (Definition 17), and its extension
    to changed values, want no overlap.
    """
    pairs = (
        hosted.select("pseudonym", "group_id")
        .join(remembered.memory.select("pseudonym", "bucket_id"), on="pseudonym")
        .group_by("group_id", "bucket_id")
        .agg(pl.len().cast(pl.Int64).alias("people"))
        .join(groups.select("group_id", "signature"), on="group_id")
        .join(remembered.buckets.rename({"signature": "earlier"}), on="bucket_id")
    )
    shared = pl.col("signature").list.set_intersection("earlier").list.len()
    same = (shared == pl.col("signature").list.len()) & (shared == pl.col("earlier").list.len())
    disjoint = shared == 0
    return (
        pairs.group_by("bucket_id")
        .agg(
            pl.col("people").sum().alias("remembered"),
            pl.col("people").filter(same).sum().alias("same"),
            pl.col("people").filter(disjoint & ~same).sum().alias("disjoint"),
            pl.col("people").filter(~same & ~disjoint).sum().alias("overlapping"),
        )
        .sort("bucket_id")
    )


def coverage(microdata: pl.DataFrame, hosted: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """`column`, `people`, `uncovered`: hosted people whose group does not cover them, by column.

    A group covers a person if its interval contains their quasi-identifier, and if one of its tuples
    has their sensitive value (Definition 2).
    """
    qis = contract.quasi_identifiers
    codes = hosted.select(
        "group_id", *(encode(pl.col(qi.name), qi).alias(f"{n}") for n, qi in enumerate(qis))
    )
    # All rows of a group have its interval; should they not, a person has to be in each of them.
    intervals = microdata.group_by("group_id").agg(
        bound
        for n, qi in enumerate(qis)
        for bound in (
            encode(pl.col(f"{qi.name}_low"), qi).max().alias(f"{n}_low"),
            encode(pl.col(f"{qi.name}_high"), qi).min().alias(f"{n}_high"),
        )
    )
    inside = [pl.col(f"{n}").is_between(pl.col(f"{n}_low"), pl.col(f"{n}_high")) for n in range(len(qis))]
    uncovered = (
        codes.join(intervals, on="group_id", how="left")
        .select((~condition.fill_null(value=False)).sum().alias(f"{n}") for n, condition in enumerate(inside))
        .row(0)
    )
    sensitive = contract.sensitive.name
    without_value = hosted.join(
        microdata.select("group_id", sensitive), on=["group_id", sensitive], how="anti"
    )
    return pl.DataFrame(
        {
            "column": [*(qi.name for qi in qis), sensitive],
            "people": hosted.height,
            "uncovered": [*uncovered, without_value.height],
        },
        schema_overrides={"people": pl.Int64, "uncovered": pl.Int64},
    )


def minimum_widths(microdata: pl.DataFrame, contract: Contract) -> pl.DataFrame:
    """`column`, `min_width`, `groups`, `narrower`, `mean_width`: the intervals of each quasi-identifier.

    A width is the number of values covered (whole numbers, days, labels) or a length (fractions).
    """
    bounds = [f"{qi.name}_{end}" for qi in contract.quasi_identifiers for end in ("low", "high")]
    groups = microdata.unique(["group_id", *bounds])
    rows = []
    for qi in contract.quasi_identifiers:
        low, high = (encode(pl.col(f"{qi.name}_{end}"), qi) for end in ("low", "high"))
        width = high - low + int(qi.discrete)
        narrower, mean = groups.select(
            (width < qi.min_width).sum().alias("narrower"), width.mean().alias("mean")
        ).row(0)
        rows.append((qi.name, float(qi.min_width), groups.height, narrower, mean))
    return pl.DataFrame(
        rows,
        schema={
            "column": pl.String,
            "min_width": pl.Float64,
            "groups": pl.Int64,
            "narrower": pl.Int64,
            "mean_width": pl.Float64,
        },
        orient="row",
    )


def counterfeit_statistics(groups: pl.DataFrame, hosted: pl.DataFrame, people: pl.DataFrame) -> pl.DataFrame:
    """One row: how many tuples there are, and whether they are accounted for.

    `rows`, `hosted`, `counterfeits`, `wrong_counts`, `empty_groups`, `people`, `held_back`, `strangers`.
    `wrong_counts` are the groups whose tuples are not their people and the counterfeits that R(n) states
    (Definition 3); `strangers` are hosted people who are not in T(n), or in two groups.
    """
    by_group = hosted.group_by("group_id").agg(pl.len().cast(pl.Int64).alias("people"))
    counted = groups.join(by_group, on="group_id", how="full", coalesce=True).with_columns(
        pl.col("tuples", "count", "people").fill_null(0)
    )
    inside = hosted["pseudonym"].n_unique()
    return counted.select(
        pl.col("tuples").sum().alias("rows"),
        pl.lit(hosted.height, pl.Int64).alias("hosted"),
        pl.col("count").sum().alias("counterfeits"),
        (pl.col("tuples") != pl.col("people") + pl.col("count")).sum().cast(pl.Int64).alias("wrong_counts"),
        (pl.col("people") == 0).sum().cast(pl.Int64).alias("empty_groups"),
        pl.lit(people.height, pl.Int64).alias("people"),
        pl.lit(people.height - inside, pl.Int64).alias("held_back"),
        pl.lit(hosted.height - inside, pl.Int64).alias("strangers"),
    )
