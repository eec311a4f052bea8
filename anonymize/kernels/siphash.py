"""SipHash-2-4, a keyed hash of 64 bit: without its key, hashes can't be told from random numbers.

Aumasson and Bernstein, SipHash: a fast short-input PRF, INDOCRYPT 2012.
"""

import numpy as np

from republish.anonymize.arrays import Ints, Words
from republish.anonymize.kernels.compiled import compiled, uint64

KEY_BYTES = 16


@compiled()
def siphash(message: np.ndarray, ends: Ints, key: Words) -> Words:
    """The hash of each of N messages, uint64[N].

    All messages stand one after another in `message`, uint8[bytes]; the n-th has the bytes from ends[n] up to
    ends[n + 1], int64[N + 1]. The key is its 16 bytes as two little-endian numbers, uint64[2].
    """
    hashes = np.empty(len(ends) - 1, np.uint64)
    for n in range(len(hashes)):
        start, end = ends[n], ends[n + 1]
        a = key[0] ^ uint64(0x736F6D6570736575)
        b = key[1] ^ uint64(0x646F72616E646F6D)
        c = key[0] ^ uint64(0x6C7967656E657261)
        d = key[1] ^ uint64(0x7465646279746573)
        whole = (end - start) // 8 * 8
        for at in range(start, start + whole, 8):
            word = _word(message, at, 8)
            a, b, c, d = _round(*_round(a, b, c, d ^ word))
            a ^= word
        word = _word(message, start + whole, end - start - whole) | uint64(end - start) << uint64(56)
        a, b, c, d = _round(*_round(a, b, c, d ^ word))
        a ^= word
        c ^= uint64(0xFF)
        a, b, c, d = _round(*_round(*_round(*_round(a, b, c, d))))
        hashes[n] = a ^ b ^ c ^ d
    return hashes


@compiled()
def _word(message: np.ndarray, at: int, size: int) -> int:
    """So many bytes, up to eight, as a little-endian number."""
    word = uint64(0)
    for n in range(size):
        word |= uint64(message[at + n]) << uint64(8 * n)
    return word


@compiled()
def _round(a: int, b: int, c: int, d: int) -> tuple[int, int, int, int]:
    """One round (Figure 2.1 of the paper) of the state's four numbers."""
    a, c = a + b, c + d
    b, d = a ^ _turned(b, 13), c ^ _turned(d, 16)
    a, c = _turned(a, 32) + d, c + b
    b, d = c ^ _turned(b, 17), a ^ _turned(d, 21)
    return a, b, _turned(c, 32), d


@compiled()
def _turned(number: int, bits: int) -> int:
    """A number of 64 bit, rotated to the left."""
    return number << uint64(bits) | number >> uint64(64 - bits)
