import struct

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from republish.anonymize.kernels.siphash import siphash
from republish.anonymize.people.pseudonyms import pseudonyms
from republish.anonymize.people.ranks import keyed_ranks, ranks_within
from tests.series import draws


def ranks(identities, number=1, purpose="assign"):
    return keyed_ranks(identities, draws(number)(purpose))


def people(number):
    """So many people, under pseudonyms."""
    return pseudonyms(
        pl.Series("pseudonym", [f"person {n}" for n in range(number)], dtype=pl.String), b"a key"
    )


def plain_siphash(message, key):
    """SipHash-2-4 as its paper has it (Section 2), in plain Python."""

    def turned(number, bits):
        return (number << bits | number >> (64 - bits)) % 2**64

    def rounds(v, count):
        for _ in range(count):
            v[0], v[2] = (v[0] + v[1]) % 2**64, (v[2] + v[3]) % 2**64
            v[1], v[3] = turned(v[1], 13) ^ v[0], turned(v[3], 16) ^ v[2]
            v[0] = turned(v[0], 32)
            v[2], v[0] = (v[2] + v[1]) % 2**64, (v[0] + v[3]) % 2**64
            v[1], v[3] = turned(v[1], 17) ^ v[2], turned(v[3], 21) ^ v[0]
            v[2] = turned(v[2], 32)

    halves = [int.from_bytes(key[:8], "little"), int.from_bytes(key[8:], "little")]
    beginnings = struct.unpack(">4Q", b"somepseudorandomlygeneratedbytes")
    v = [half ^ beginning for half, beginning in zip(halves * 2, beginnings, strict=True)]
    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) % 256])
    for (word,) in struct.iter_unpack("<Q", padded):
        v[3] ^= word
        rounds(v, 2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(v, 4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def test_the_kernel_and_the_plain_hash_give_what_the_paper_gives():
    # Appendix A of the paper: the key and the message are 00 01 02 …
    key, message = bytes(range(16)), bytes(range(15))
    assert plain_siphash(message, key) == 0xA129CA6149BE45E5
    whole = np.frombuffer(message, np.uint8)
    assert siphash(whole, np.array([0, 15]), np.frombuffer(key, "<u8")).tolist() == [0xA129CA6149BE45E5]


@given(st.lists(st.binary(max_size=300)))
@example([b"0123456789abcdef", b"fedcba9876543210"])
@example([b"", b""])
def test_a_rank_is_the_siphash_of_the_identity(identities):
    # Plain Python, so that the order can be computed by any engine.
    key = draws(1)("assign").bytes(16)
    found = ranks(pl.Series(identities, dtype=pl.Binary))
    assert found.dtype == np.uint64
    assert found.tolist() == [plain_siphash(each, key) for each in identities]


@given(st.permutations(range(12)), st.integers(0, 12))
def test_a_rank_is_a_function_of_the_identity_and_of_neither_its_place_nor_its_company(order, present):
    everybody = people(12)
    rank = dict(zip(everybody, ranks(everybody).tolist(), strict=True))
    some = everybody.gather(order[:present])
    assert ranks(some).tolist() == [rank[identity] for identity in some]


def test_chunks_of_a_column_do_not_matter():
    everybody = people(10)
    in_chunks = pl.concat([everybody[:3], everybody[3:4], everybody[4:]], rechunk=False)
    assert ranks(in_chunks).tolist() == ranks(everybody).tolist()


def test_the_same_key_gives_the_same_order_and_any_other_release_or_purpose_an_unrelated_one():
    everybody = people(50)
    order, again, later, other = (
        np.argsort(ranks(everybody, *drawn)).tolist()
        for drawn in ((1, "assign"), (1, "assign"), (2, "assign"), (1, "split"))
    )
    assert order == again
    assert order not in (later, other)
    assert later != other


def test_different_people_have_different_ranks():
    assert len(set(ranks(people(20_000)).tolist())) == 20_000


def test_each_of_four_people_is_first_as_often():
    first = np.bincount([ranks(people(4), n).argmin() for n in range(400)], minlength=4)
    assert ((first >= 65) & (first <= 135)).all()


def test_text_is_ranked_as_its_bytes():
    words = ["", "Ærø", "東京", "person 1"]
    as_bytes = pl.Series([word.encode() for word in words])
    assert ranks(pl.Series(words)).tolist() == ranks(as_bytes).tolist()


def test_nobody_has_no_rank():
    assert ranks(people(0)).tolist() == []


def test_a_null_has_no_rank():
    with pytest.raises(ValueError, match="1 identities are null"):
        ranks(pl.Series(["Ann", None]))


@given(st.permutations(range(12)), st.integers(1, 12))
def test_within_a_set_ranks_follow_who_is_in_it_and_in_no_order(order, present):
    everybody, key = people(12), b"of a series"
    of = np.array([0] * 5 + [1] * 7)
    rank = dict(zip(everybody, ranks_within(everybody, of, 2, key)[0].tolist(), strict=True))
    some = np.array(order[:present])
    found, numbers = ranks_within(everybody.gather(some), of[some], 3, key)
    is_whole = [{*some} >= {*np.flatnonzero(of == which)} for which in (0, 1)]
    _, whole_numbers = ranks_within(everybody, of, 3, key)
    for row, its_rank in zip(some, found.tolist(), strict=True):
        assert (its_rank == rank[everybody[int(row)]]) == is_whole[of[row]]
    assert [numbers[which] == whole_numbers[which] for which in (0, 1)] == is_whole


def test_another_key_gives_other_ranks_within_a_set():
    everybody, of = people(50), np.zeros(50, np.int64)
    one, other = (ranks_within(everybody, of, 1, key) for key in (b"one", b"other"))
    assert not (one[0] == other[0]).any()
    assert one[1] != other[1]


def test_a_set_of_nobody_has_a_number_and_no_ranks():
    found, numbers = ranks_within(people(0), np.empty(0, np.int64), 2, b"key")
    assert (len(found), len(numbers)) == (0, 2)
