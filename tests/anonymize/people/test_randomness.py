import hashlib
import hmac

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from republish.anonymize.people.randomness import derive_key, generator

RELEASE = {
    "key": b"secret",
    "product": "hospital",
    "series": "v1",
    "release": "2024-01-01",
    "purpose": "assign",
}
OTHERS = {"key": b"secreT", "product": "insurer", "series": "v2", "release": "2024-04-01", "purpose": "split"}


def draws(**changed):
    return generator(**(RELEASE | changed)).integers(2**63, size=8)


def test_the_same_key_and_words_give_the_same_draws():
    assert np.array_equal(draws(), draws())


@pytest.mark.parametrize("part", RELEASE)
def test_any_part_that_differs_gives_unrelated_draws(part):
    assert not set(draws()) & set(draws(**{part: OTHERS[part]}))


def test_words_can_not_be_shifted_from_one_part_to_the_next():
    one = generator(b"k", "ab", "c", "2024-01-01", "x")
    other = generator(b"k", "a", "bc", "2024-01-01", "x")
    assert one.random() != other.random()


@given(st.lists(st.text(max_size=4), max_size=4), st.lists(st.text(max_size=4), max_size=4))
def test_different_purposes_have_different_keys(purpose, other):
    assume(purpose != other)
    assert derive_key(b"k", *purpose) != derive_key(b"k", *other)


def test_a_derived_key_is_hmac_sha256_of_the_words_with_their_lengths():
    # Series that were begun keep their pseudonyms and draws only while this stays as it is.
    message = (10).to_bytes(8, "big") + b"pseudonyms" + (8).to_bytes(8, "big") + b"hospital"
    assert derive_key(b"k", "pseudonyms", "hospital") == hmac.new(b"k", message, hashlib.sha256).digest()


def test_the_seed_counts_with_all_its_256_bits():
    assert generator(**RELEASE).bit_generator.seed_seq.pool_size * 32 == 256


def test_an_empty_key_is_refused():
    with pytest.raises(ValueError, match="empty"):
        generator(**(RELEASE | {"key": b""}))
