"""Whether the two tables of Anatomy hold their people, and as many rows as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from anonymize.columns import PSEUDONYM, VALUE
from anonymize.contract import Contract, Schema
from anonymize.evidence.groups import counterfeit_statistics, group_table
from anonymize.evidence.signatures import Remembered, group_sizes
from anonymize.formats import ANATOMY
from anonymize.formats.anatomy import QUASI_IDENTIFIERS, SENSITIVE
from anonymize.principle.candidate import Candidate


@dataclass(frozen=True)
class AnatomizedCandidate:
    """A candidate in Anatomy's format, as its readers will see it, beside the truth."""

    contract: Contract
    people: pl.DataFrame
    """T(n)."""
    tables: Mapping[str, pl.DataFrame]
    """The published tables, under our own column names."""
    groups: pl.DataFrame
    """As `group_table` returns it."""
    hosted: pl.DataFrame
    """The people of T(n) that the candidate hosts, with their `group_id`."""

    @classmethod
    def of(cls, candidate: Candidate, people: pl.DataFrame, contract: Contract) -> AnatomizedCandidate:
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
        tables = ANATOMY.internal(candidate.published, contract)
        groups = group_table(ANATOMY.read(tables, contract))
        return cls(contract, people, tables, groups, people.join(candidate.linkage, on=PSEUDONYM))

    def sizes(self, remembered: Remembered) -> pl.DataFrame:
        """As `group_sizes` returns it, with `tuples` counted in the one table and `stated` in the other.

        `tuples` are the group's rows of quasi-identifiers, `stated` those that its values are said to have.
        """
        stated = group_sizes(self.groups, self.hosted, remembered).rename({"tuples": "stated"})
        rows = self.tables[QUASI_IDENTIFIERS].group_by("group_id").agg(tuples=pl.len().cast(pl.Int64))
        return stated.join(rows, on="group_id", how="full", coalesce=True).fill_null(0).sort("group_id")

    def evidence(self) -> dict[str, pl.DataFrame]:
        """`coverage`, `counterfeits`: what is counted whatever the principle promises."""
        return {
            "coverage": presence(self.tables, self.hosted, self.contract),
            "counterfeits": counterfeit_statistics(self.groups, self.hosted, self.people),
        }


def presence(tables: Mapping[str, pl.DataFrame], hosted: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """`column`, `people`, `uncovered`: hosted people whose group lacks their quasi-identifiers or value.

    People with the same quasi-identifiers in one group need as many rows as they are.

    Parameters
    ----------
    tables
        The published tables, under our own column names.
    hosted
        `group_id`, `qi_0`, …, `value`: the people of T(n) that the candidate hosts.
    schema
        The columns.
    """
    vector = ["group_id", *(column for column, _ in schema.attributes())]
    rows = tables[QUASI_IDENTIFIERS].group_by(vector).len("held")
    values = tables[SENSITIVE].select("group_id", VALUE, held="count")
    missing = [
        hosted.group_by(key)
        .len("needed")
        .join(held, on=key, how="left")
        .select((pl.col("needed").cast(pl.Int64) - pl.col("held").cast(pl.Int64).fill_null(0)).clip(0).sum())
        .item()
        for key, held in ((vector, rows), (["group_id", VALUE], values))
    ]
    return pl.DataFrame(
        {
            "column": ["quasi-identifiers", schema.sensitive.name],
            "people": hosted.height,
            "uncovered": missing,
        },
        schema={"column": pl.String, "people": pl.Int64, "uncovered": pl.Int64},
    )
