"""Whether generalized groups cover their people, under intervals that are wide enough."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from anonymize.columns import PSEUDONYM, VALUE
from anonymize.contract import Contract, Schema
from anonymize.evidence.groups import counterfeit_statistics, group_table
from anonymize.evidence.signatures import Remembered, group_sizes
from anonymize.formats import GENERALIZATION, Published
from anonymize.formats.generalization import MICRODATA
from anonymize.people.codes import encode
from anonymize.principle.candidate import Candidate


@dataclass(frozen=True)
class GeneralizedCandidate:
    """A candidate in the generalization format, as its readers will see it, beside the truth."""

    contract: Contract
    people: pl.DataFrame
    """T(n)."""
    microdata: pl.DataFrame
    """The published table, under our own column names."""
    published: Published
    groups: pl.DataFrame
    """As `group_table` returns it."""
    hosted: pl.DataFrame
    """The people of T(n) that the candidate hosts, with their `group_id`."""

    @classmethod
    def of(cls, candidate: Candidate, people: pl.DataFrame, contract: Contract) -> GeneralizedCandidate:
        """Read the candidate's tables back.

        Parameters
        ----------
        candidate
            Its published tables and its linkage.
        people
            T(n).
        contract
            The columns.
        """
        tables = GENERALIZATION.internal(candidate.published, contract)
        published = GENERALIZATION.read(tables, contract)
        hosted = people.join(candidate.linkage, on=PSEUDONYM)
        return cls(contract, people, tables[MICRODATA], published, group_table(published), hosted)

    def sizes(self, remembered: Remembered) -> pl.DataFrame:
        """As `group_sizes` returns it."""
        return group_sizes(self.groups, self.hosted, remembered)

    def evidence(self) -> dict[str, pl.DataFrame]:
        """`coverage`, `minimum_widths`, `counterfeits`: what is counted whatever the principle promises."""
        return {
            "coverage": coverage(self.microdata, self.hosted, self.contract),
            "minimum_widths": minimum_widths(self.microdata, self.contract),
            "counterfeits": counterfeit_statistics(self.groups, self.hosted, self.people),
        }


def coverage(microdata: pl.DataFrame, hosted: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """`column`, `people`, `uncovered`: hosted people whose group does not cover them, by column.

    A group covers a person if its interval contains their quasi-identifier, and if one of its tuples
    has their sensitive value (Definition 2).

    Parameters
    ----------
    microdata
        The published table, under our own column names.
    hosted
        `group_id`, `qi_0`, …, `value`: the people of T(n) that the candidate hosts.
    schema
        The columns.
    """
    attributes = list(schema.attributes())
    codes = hosted.select(
        "group_id", *(encode(pl.col(column), qi).alias(column) for column, qi in attributes)
    )
    # All rows of a group have its interval; should they not, a person has to be in each of them.
    intervals = microdata.group_by("group_id").agg(
        end
        for column, qi in attributes
        for end in (
            encode(pl.col(f"{column}_low"), qi).max().alias(f"{column}_low"),
            encode(pl.col(f"{column}_high"), qi).min().alias(f"{column}_high"),
        )
    )
    outside = [
        (~pl.col(column).is_between(f"{column}_low", f"{column}_high").fill_null(value=False)).sum()
        for column, _ in attributes
    ]
    uncovered = codes.join(intervals, on="group_id", how="left").select(
        count.alias(column) for count, (column, _) in zip(outside, attributes, strict=True)
    )
    without_value = hosted.join(microdata.select("group_id", VALUE), on=["group_id", VALUE], how="anti")
    return pl.DataFrame(
        {
            "column": [*(qi.name for _, qi in attributes), schema.sensitive.name],
            "people": hosted.height,
            "uncovered": [*uncovered.row(0), without_value.height],
        },
        schema_overrides={"people": pl.Int64, "uncovered": pl.Int64},
    )


def minimum_widths(microdata: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """`column`, `min_width`, `groups`, `narrower`, `mean_width`: the intervals of each quasi-identifier.

    A width is the number of values covered (whole numbers, days, labels) or a length (fractions).

    Parameters
    ----------
    microdata
        The published table, under our own column names.
    schema
        The quasi-identifiers with their minimum widths.
    """
    ends = [f"{column}_{end}" for column, _ in schema.attributes() for end in ("low", "high")]
    groups = microdata.unique(["group_id", *ends])
    rows = []
    for column, qi in schema.attributes():
        low, high = (encode(pl.col(f"{column}_{end}"), qi) for end in ("low", "high"))
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
