"""An order of people that only the key's holder can compute, and that every engine computes alike.

Random choices between rows (who of a queue goes to which bucket, in which order equal tuples are split)
follow a keyed hash of each row's own identity. A permutation of positions would depend on how an engine
happens to order its rows. Random choices within a set of rows follow the same hashes, mixed with one
number for the whole set. A set that has the same rows again is treated as before; with one row more or
less, all choices are new.
"""

from __future__ import annotations

import hashlib

import numpy as np
import polars as pl

from republish.anonymize.arrays import Ints, Words
from republish.anonymize.columns import most_of
from republish.anonymize.kernels.siphash import KEY_BYTES, siphash
from republish.anonymize.kernels.splitmix import mixed


def keyed_ranks(identities: pl.Series, rng: np.random.Generator) -> np.ndarray:
    """A secret number for each row by which to order rows, uint64[N]: a function of the row's identity alone.

    It is the SipHash-2-4 of the identity, a pseudonym or text, under a key drawn from `rng`.
    """
    return _hashes(identities, rng.bytes(KEY_BYTES))


def ranks_within(identities: pl.Series, of: Ints, sets: int, key: bytes) -> tuple[np.ndarray, np.ndarray]:
    """A secret order of the rows of each of several sets, and a number for each set: uint64[N], uint64[sets].

    Both depend on the key, of any length, and on which rows a set has, and on nothing else. With one row more
    or less, all of a set's ranks are unrelated to those it had. `of`, int[N], is the set of each row,
    0 … sets - 1.
    """
    hashes = _hashes(identities, hashlib.blake2b(key, digest_size=KEY_BYTES).digest())
    numbers = np.zeros(sets, np.uint64)
    np.add.at(numbers, of, hashes)
    numbers = mixed(numbers)
    return mixed(hashes ^ numbers[of]), numbers


def _joined(texts: pl.Series) -> bytes:
    """All bytes, one after another."""
    sizes = texts.bin.size()
    size = most_of(sizes) or 0
    if not (sizes == size).all():
        return b"".join(texts.to_list())
    return texts.bin.reinterpret(dtype=pl.Array(pl.UInt8, size)).to_numpy().tobytes()


def _hashes(identities: pl.Series, key: bytes) -> Words:
    """uint64[N]: the SipHash-2-4 of each identity under a key of sixteen bytes.

    Raises
    ------
    ValueError
        If an identity is null.
    """
    if identities.null_count():
        raise ValueError(f"{identities.null_count()} identities are null; a null has no rank")
    as_bytes = identities.cast(pl.Binary)
    ends = np.concatenate([[0], as_bytes.bin.size().cast(pl.Int64).cum_sum()]).astype(np.int64)
    message = np.frombuffer(_joined(as_bytes), np.uint8)
    return siphash(message, ends, np.frombuffer(key, "<u8"))
