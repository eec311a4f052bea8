"""An order of people that only the key's holder can compute, and that every engine computes alike.

Random choices between rows (who of a queue goes to which bucket, in which order equal tuples are split)
follow a keyed hash of each row's own identity. A permutation of positions would depend on how an engine
happens to order its rows.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from anonymize.pseudonyms import pseudonyms


def keyed_ranks(identities: pl.Series, rng: np.random.Generator) -> np.ndarray:
    """A number for each row by which to order rows; secret, and a function of the row's identity alone.

    Parameters
    ----------
    identities
        What tells rows apart: pseudonyms (Binary), or text; no nulls.
    rng
        Secret randomness of one purpose; 32 bytes of it are the key.

    Returns
    -------
    uint64[N]
        The first eight bytes, little-endian, of the keyed BLAKE2b of each identity.
    """
    digests = pseudonyms(identities, rng.bytes(32)).bin.slice(0, 8)
    return digests.bin.reinterpret(dtype=pl.UInt64, endianness="little").to_numpy()
