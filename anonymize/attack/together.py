"""Two series of the same people: what is left of a person when the signatures of both are intersected."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from republish.anonymize.attack.stays import Stays
from republish.anonymize.contract.combined import projected


def below_together(
    present: pl.DataFrame, other: Stays, candidates: int, columns: Sequence[str], others: Sequence[str]
) -> tuple[int, int]:
    """Count people of a release who are in another series too, and those of them who keep too few values.

    What both series say of the sensitive columns that they have in common, at least one, is intersected. The
    rows that one signature has of them differ in every column, so that no column by itself leaves fewer.
    Signatures that share no value are those of two different values. People `present` have `person` (as the
    other series calls them) and `values`, their signature.
    """
    common = [name for name in columns if name in others]
    theirs = _only(other.signatures, "signature", others, common).rename({"values": "other"})
    held = other.people.join(theirs, on="signature")
    pairs = _only(present, "person", columns, common).join(held.select("person", "other"), on="person")
    shared = pl.col("values").list.set_intersection("other").list.len()
    few = pairs.filter(shared.is_between(1, candidates - 1))
    return pairs["person"].n_unique(), few["person"].n_unique()


def _only(signatures: pl.DataFrame, key: str, columns: Sequence[str], common: Sequence[str]) -> pl.DataFrame:
    """`key`, `values`: what the values of each signature say of some of the columns."""
    each = signatures.explode("values")
    said = projected(each["values"], columns, common)
    return each.with_columns(said.alias("values")).group_by(key, maintain_order=True).agg("values")
