"""What is counted of an m-invariant candidate before it may be published."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from anonymize.buckets.memory import Memory
from anonymize.columns import VALUE
from anonymize.contract import Contract
from anonymize.evidence.anatomized import AnatomizedCandidate
from anonymize.evidence.generalized import GeneralizedCandidate
from anonymize.evidence.signatures import signature_invariance
from anonymize.formats import ANATOMY
from anonymize.m_invariance.parameters import MInvariance
from anonymize.principle.candidate import Candidate
from anonymize.principle.state import State


def evidence(
    candidate: Candidate,
    people: pl.DataFrame,
    before: State,
    contract: Contract[MInvariance],
    _attacked: Mapping[str, pl.DataFrame],
) -> dict[str, pl.DataFrame]:
    """The evidence on a candidate, by the name of the check it is for.

    Returns
    -------
    dict
        `m_uniqueness`, `signature_invariance`, `coverage`, `counterfeits`, and of intervals `minimum_widths`.
    """
    memory = Memory.of(before, people.schema[VALUE])
    remembered = memory.people, memory.buckets
    is_exact = contract.principle.format == ANATOMY.name
    kind = AnatomizedCandidate if is_exact else GeneralizedCandidate
    seen = kind.of(candidate, people, contract)
    return {
        "m_uniqueness": seen.sizes(remembered),
        "signature_invariance": signature_invariance(seen.groups, seen.hosted, remembered),
        **seen.evidence(),
    }
