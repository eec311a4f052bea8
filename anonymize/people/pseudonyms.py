"""Pseudonyms, which are remembered of people in place of their identifiers."""

from __future__ import annotations

import hashlib

import polars as pl

DIGEST_BYTES = 16


def pseudonyms(identifiers: pl.Series, key: bytes) -> pl.Series:
    """A keyed pseudonym for each identifier: BLAKE2b, 128 bit, in Binary.

    The same identifier has the same pseudonym under the same key, of 1 to 64 secret bytes. Without the key
    nobody can tell whose it is, not even by trying every identifier there is. Identifiers that are not bytes
    are taken as text: the number 7 and the text "7" are one person, so that a source may turn from CSV to
    Parquet within a series.

    Raises
    ------
    ValueError
        If an identifier is null, or the key too short or too long.

    Examples
    --------
    >>> pseudonyms(pl.Series(["Ann", "Bob"]), b"secret").bin.encode("hex")[0]
    '8763f16eab427d1db194320c1aba2399'

    References
    ----------
    RFC 7693, The BLAKE2 Cryptographic Hash and Message Authentication Code.
    """
    if not 1 <= len(key) <= 64:
        raise ValueError(f"a pseudonyms' key has 1 to 64 bytes, not {len(key)}")
    if identifiers.null_count():
        raise ValueError(f"{identifiers.null_count()} identifiers are null; a null has no pseudonym")
    if identifiers.dtype != pl.Binary:
        identifiers = identifiers.cast(pl.String).cast(pl.Binary)
    keyed = hashlib.blake2b(key=key, digest_size=DIGEST_BYTES)  # the key's block is hashed once for all

    def digest(identifier: bytes) -> bytes:
        message = keyed.copy()
        message.update(identifier)
        return message.digest()

    return pl.Series(identifiers.name, (digest(identifier) for identifier in identifiers), pl.Binary)
