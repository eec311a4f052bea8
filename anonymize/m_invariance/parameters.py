"""The parameters of m-invariance in a contract."""

from __future__ import annotations

from typing import Literal

from anonymize.buckets.parameters import BucketParameters


class MInvariance(BucketParameters):
    """m-invariance: candidate sets that intersect over all releases keep at least m values."""

    name: Literal["m_invariance"]
    """`m_invariance`"""
    effort: Literal["fast", "best"] = "best"
    """How groups are made: `fast` splits buckets as the paper has it; `best` lets neighbouring groups of a
    bucket exchange people too, which shortens intervals and takes longer."""
    format: Literal["generalization", "anatomy"] = "generalization"
    """What is published of a group: intervals of its quasi-identifiers, or each of them exactly, beside the
    group's values. The guarantee is the same for an adversary who knows the quasi-identifiers anyway."""
