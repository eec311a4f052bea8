"""Randomness that only the key's holder can replay: secret to everybody else, and repeatable."""

from __future__ import annotations

import hmac

import numpy as np


def generator(key: bytes, product: str, series: str, release: str, purpose: str) -> np.random.Generator:
    """The generator of all random choices made for one purpose in one release: PCG64-DXSM, of 256 bits.

    The same key and words give the same draws, on any machine with the pinned numpy; with any of them
    changed the draws are unrelated. Who lacks the key can't replay a draw, even knowing the algorithm and
    everybody's quasi-identifiers. Steps that draw for different purposes don't disturb each other.

    Examples
    --------
    >>> draws = generator(b"secret", "hospital", "v1", "2024-01-01", "assign")
    >>> again = generator(b"secret", "hospital", "v1", "2024-01-01", "assign")
    >>> bool(draws.random() == again.random())
    True
    """
    seed = derive_key(key, "generator", product, series, release, purpose)
    # The pool of a SeedSequence holds 128 bits unless it is told otherwise.
    sequence = np.random.SeedSequence(int.from_bytes(seed), pool_size=8)
    return np.random.Generator(np.random.PCG64DXSM(sequence))


def derive_key(key: bytes, *purpose: str) -> bytes:
    """A key of 32 bytes for one purpose, from which neither `key` nor another purpose's key can be told.

    Each word of the purpose is preceded by its length, so that ("a", "bc") and ("ab", "c") are two purposes.

    Raises
    ------
    ValueError
        If the key is empty: everybody could replay what it derives.

    References
    ----------
    HMAC (RFC 2104) with SHA-256, as a pseudorandom function of the purpose.
    """
    if not key:
        raise ValueError("the secret key is empty")
    words = [word.encode() for word in purpose]
    message = b"".join(len(word).to_bytes(8) + word for word in words)
    return hmac.digest(key, message, "sha256")
