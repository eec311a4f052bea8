"""What is counted of an e-equivalent candidate before it may be published."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from anonymize.buckets.memory import Memory
from anonymize.candidate import Candidate
from anonymize.columns import PSEUDONYM, VALUE
from anonymize.contract import Contract
from anonymize.e_equivalence.min_cut import smallest_safe_cut
from anonymize.evidence.anatomized import presence, stated_tuples
from anonymize.evidence.groups import counterfeit_statistics, group_table
from anonymize.evidence.signatures import group_sizes, signature_invariance
from anonymize.formats import ANATOMY
from anonymize.state import State


def evidence(
    candidate: Candidate,
    people: pl.DataFrame,
    before: State,
    contract: Contract,
    attacked: Mapping[str, pl.DataFrame],
) -> dict[str, pl.DataFrame]:
    """The evidence on a candidate, by the name of the check it is for.

    The cuts are those that the attack computed from linkage and published tables. What the principle
    remembers of them is compared with these.

    Returns
    -------
    dict
        `balance`, `signature_invariance`, `coverage`, `counterfeits`, `cuts`.
    """
    memory = Memory.of(before, people.schema[VALUE])
    remembered = memory.people, memory.buckets
    tables = ANATOMY.internal(candidate.published, contract)
    groups = group_table(ANATOMY.read(tables, contract))
    hosted = people.join(candidate.linkage, on=PSEUDONYM)
    balance = group_sizes(groups, hosted, remembered).rename({"tuples": "stated"})
    rows = stated_tuples(tables).rename({"rows": "tuples"})
    return {
        "balance": balance.join(rows, on="group_id", how="full", coalesce=True).fill_null(0).sort("group_id"),
        "signature_invariance": signature_invariance(groups, hosted, remembered),
        "coverage": presence(tables, hosted, contract),
        "counterfeits": counterfeit_statistics(groups, hosted, people),
        "cuts": _claimed(attacked["cuts"], groups, hosted, candidate, contract.principle.e),
    }


def _claimed(
    cuts: pl.DataFrame, groups: pl.DataFrame, hosted: pl.DataFrame, candidate: Candidate, e: int
) -> pl.DataFrame:
    """The cuts with `overstated`: whether the principle remembers a larger one than there is.

    It may remember a smaller one: that costs counterfeits, never safety. Where the inserted tuples alone are
    a safe cut, the attack states their number, which the cut may exceed.
    """
    remembered = (
        hosted.select("bucket_id", "group_id").unique().join(candidate.state.tables["cuts"], on="bucket_id")
    )
    claims = remembered.join(groups.select("group_id", values="signature"), on="group_id")
    is_exact = pl.col("entered") < smallest_safe_cut(e)
    return cuts.join(claims.select("values", claimed="min_cut"), on="values", how="left").select(
        "signature",
        "entered",
        "left",
        "min_cut",
        overstated=((pl.col("claimed") > pl.col("min_cut")) & is_exact).fill_null(value=False).cast(pl.Int64),
    )
