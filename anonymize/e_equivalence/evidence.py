"""What is counted of an e-equivalent candidate before it may be published."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from anonymize.buckets.memory import Memory
from anonymize.columns import VALUE
from anonymize.contract import Contract
from anonymize.e_equivalence.parameters import EEquivalence, smallest_safe_cut
from anonymize.evidence.anatomized import AnatomizedCandidate
from anonymize.evidence.signatures import signature_invariance
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State


def evidence(
    candidate: Candidate,
    people: pl.DataFrame,
    before: State,
    contract: Contract[EEquivalence],
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
    seen = AnatomizedCandidate.of(candidate, people, contract)
    return {
        "balance": seen.sizes(remembered),
        "signature_invariance": signature_invariance(seen.groups, seen.hosted, remembered),
        "cuts": _claimed(attacked["cuts"], seen.groups, seen.hosted, candidate, contract.principle.e),
        **seen.evidence(),
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
