"""Two series of the same people: what is left of a person when the signatures of both are intersected."""

from __future__ import annotations

import polars as pl

from anonymize.attack.stays import Stays


def below_together(present: pl.DataFrame, other: Stays, candidates: int) -> tuple[int, int]:
    """How many people of a release are in another series too, and how many keep too few values.

    Parameters
    ----------
    present
        `person` (as the other series calls them), `values`: the signature of each person in the release.
    other
        Who was in which signature's groups in the other series.
    candidates
        The number of candidate values promised.

    Returns
    -------
    people : int
        People who were in any release of the other series.
    below : int
        Of these, the people whose signatures in both share at least one value, and fewer than promised.
        Signatures that share none are those of two different values.
    """
    held = other.people.join(other.signatures.rename({"values": "other"}), on="signature")
    pairs = present.join(held.select("person", "other"), on="person")
    shared = pl.col("values").list.set_intersection("other").list.len()
    few = pairs.filter(shared.is_between(1, candidates - 1))
    return pairs["person"].n_unique(), few["person"].n_unique()
