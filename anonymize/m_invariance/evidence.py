"""What is counted of an m-invariant candidate before it may be published."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from anonymize.buckets.memory import Memory
from anonymize.candidate import Candidate
from anonymize.columns import VALUE
from anonymize.contract import Contract
from anonymize.evidence.generalized import GeneralizedCandidate
from anonymize.evidence.signatures import group_sizes, signature_invariance
from anonymize.state import State


def evidence(
    candidate: Candidate,
    people: pl.DataFrame,
    before: State,
    contract: Contract,
    _attacked: Mapping[str, pl.DataFrame],
) -> dict[str, pl.DataFrame]:
    """The evidence on a candidate, by the name of the check it is for.

    Returns
    -------
    dict
        `m_uniqueness`, `signature_invariance`, `coverage`, `minimum_widths`, `counterfeits`.
    """
    memory = Memory.of(before, people.schema[VALUE])
    remembered = memory.people, memory.buckets
    seen = GeneralizedCandidate.of(candidate, people, contract)
    return {
        "m_uniqueness": group_sizes(seen.groups, seen.hosted, remembered),
        "signature_invariance": signature_invariance(seen.groups, seen.hosted, remembered),
        **seen.evidence(),
    }
