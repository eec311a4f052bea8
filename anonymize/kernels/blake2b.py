"""BLAKE2b of many byte strings at once (RFC 7693), keyed, with a digest of 128 bits.

The key fills a block of its own at the start of every message, so the state after that block is the
same for all of them: it is computed once, and a short message costs one compression instead of two.
"""

from __future__ import annotations

import numpy as np

from anonymize.arrays import Ints, Words
from anonymize.kernels.compiled import compiled, uint64

DIGEST_BYTES = 16
BLOCK_BYTES = 128

_INITIAL = np.array(
    [
        0x6A09E667F3BCC908,
        0xBB67AE8584CAA73B,
        0x3C6EF372FE94F82B,
        0xA54FF53A5F1D36F1,
        0x510E527FADE682D1,
        0x9B05688C2B3E6C1F,
        0x1F83D9ABFB41BD6B,
        0x5BE0CD19137E2179,
    ],
    dtype=np.uint64,
)
_SIGMA = np.array(
    [
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
        [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
        [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
        [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
        [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
        [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
        [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
        [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    ],
    dtype=np.int64,
)


@compiled()
def keyed_digests(content: Words, offsets: Ints, key: Words) -> Words:
    """BLAKE2b-128 of each message under one key.

    Parameters
    ----------
    content
        uint8, the messages' bytes one after another.
    offsets
        int64, one more than there are messages; message i is `content[offsets[i]:offsets[i + 1]]`.
    key
        uint8, 1 to 64 bytes.

    Returns
    -------
    numpy.ndarray
        uint8, one row of 16 bytes per message.

    References
    ----------
    RFC 7693, sections 3.1 to 3.3.
    """
    messages = len(offsets) - 1
    digests = np.empty((messages, DIGEST_BYTES), dtype=np.uint8)
    state, work, words = np.empty(8, np.uint64), np.empty(16, np.uint64), np.empty(16, np.uint64)

    begun = _INITIAL.copy()
    begun[0] ^= np.uint64(0x01010000 ^ (len(key) << 8) ^ DIGEST_BYTES)
    _load(words, key, 0, len(key))
    only_key = begun.copy()
    _compress(only_key, work, words, BLOCK_BYTES, True)
    _compress(begun, work, words, BLOCK_BYTES, False)

    for message in range(messages):
        start, stop = offsets[message], offsets[message + 1]
        if start == stop:  # the key's block is the last one
            _store(digests[message], only_key)
            continue
        state[:] = begun
        hashed = BLOCK_BYTES
        while stop - start > BLOCK_BYTES:
            _load(words, content, start, start + BLOCK_BYTES)
            start += BLOCK_BYTES
            hashed += BLOCK_BYTES
            _compress(state, work, words, hashed, False)
        _load(words, content, start, stop)
        _compress(state, work, words, hashed + (stop - start), True)
        _store(digests[message], state)
    return digests


@compiled()
def _load(words: Words, content: Words, start: int, stop: int) -> None:
    """Fill the block's 16 little-endian words from `content[start:stop]`, zeros after it."""
    words[:] = np.uint64(0)
    for at in range(start, stop):
        byte = at - start
        words[byte >> 3] |= np.uint64(content[at]) << np.uint64((byte & 7) << 3)


@compiled()
def _store(digest: Words, state: Words) -> None:
    """Write the first 16 bytes of the state, little-endian."""
    for byte in range(DIGEST_BYTES):
        digest[byte] = np.uint8((state[byte >> 3] >> np.uint64((byte & 7) << 3)) & np.uint64(255))


@compiled()
def _compress(state: Words, work: Words, words: Words, hashed: int, last: bool) -> None:
    """Compression function F (section 3.2); `hashed` bytes are done with this block."""
    work[:8] = state
    work[8:] = _INITIAL
    work[12] ^= np.uint64(hashed)
    if last:
        work[14] = ~work[14]
    for turn in range(12):
        order = _SIGMA[turn]
        _mix(work, 0, 4, 8, 12, words[order[0]], words[order[1]])
        _mix(work, 1, 5, 9, 13, words[order[2]], words[order[3]])
        _mix(work, 2, 6, 10, 14, words[order[4]], words[order[5]])
        _mix(work, 3, 7, 11, 15, words[order[6]], words[order[7]])
        _mix(work, 0, 5, 10, 15, words[order[8]], words[order[9]])
        _mix(work, 1, 6, 11, 12, words[order[10]], words[order[11]])
        _mix(work, 2, 7, 8, 13, words[order[12]], words[order[13]])
        _mix(work, 3, 4, 9, 14, words[order[14]], words[order[15]])
    for word in range(8):
        state[word] ^= work[word] ^ work[word + 8]


@compiled()
def _mix(work: Words, a: int, b: int, c: int, d: int, x: int, y: int) -> None:
    """Mixing function G (section 3.1)."""
    work[a] = work[a] + work[b] + x
    work[d] = _rotated(work[d] ^ work[a], 32)
    work[c] = work[c] + work[d]
    work[b] = _rotated(work[b] ^ work[c], 24)
    work[a] = work[a] + work[b] + y
    work[d] = _rotated(work[d] ^ work[a], 16)
    work[c] = work[c] + work[d]
    work[b] = _rotated(work[b] ^ work[c], 63)


@compiled()
def _rotated(word: int, bits: int) -> int:
    """A 64-bit word rotated to the right."""
    return uint64((word >> np.uint64(bits)) | (word << np.uint64(64 - bits)))
