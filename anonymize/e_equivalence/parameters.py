"""The parameters of e-equivalence in a contract."""

from __future__ import annotations

from typing import Literal

from pydantic import StrictInt, field_validator

from republish.anonymize.buckets.parameters import BucketParameters


class EEquivalence(BucketParameters):
    """e-equivalence: m-invariance, and nobody learns that fewer than e people share values with e others."""

    name: Literal["e_equivalence"]
    """`e_equivalence`"""
    e: StrictInt
    """No two sets of fewer than e people are known to have the same values. At least 2."""

    @field_validator("e")
    @classmethod
    def _check_e(cls, e: int) -> int:
        if e < 2:
            raise ValueError(
                f"e ({e}) must be at least 2: with less, any two people may be known to share a value"
            )
        return e


def smallest_safe_cut(e: int) -> int:
    """The smallest weight a cut may have: more than 2(e - 1).

    References
    ----------
    He, Barman and Naughton, ICDE 2011, Theorem 2.
    """
    return 2 * (e - 1) + 1
