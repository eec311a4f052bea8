"""What is counted of an m-invariant candidate before it may be published."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from anonymize.buckets.memory import Memory
from anonymize.candidate import Candidate
from anonymize.columns import PSEUDONYM, VALUE
from anonymize.contract import Contract
from anonymize.evidence.generalized import coverage, minimum_widths
from anonymize.evidence.groups import counterfeit_statistics, group_table
from anonymize.evidence.signatures import group_sizes, signature_invariance
from anonymize.formats import GENERALIZATION
from anonymize.formats.generalization import MICRODATA
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
    tables = GENERALIZATION.internal(candidate.published, contract)
    groups = group_table(GENERALIZATION.read(tables, contract))
    hosted = people.join(candidate.linkage, on=PSEUDONYM)
    return {
        "m_uniqueness": group_sizes(groups, hosted, remembered),
        "signature_invariance": signature_invariance(groups, hosted, remembered),
        "coverage": coverage(tables[MICRODATA], hosted, contract),
        "minimum_widths": minimum_widths(tables[MICRODATA], contract),
        "counterfeits": counterfeit_statistics(groups, hosted, people),
    }
