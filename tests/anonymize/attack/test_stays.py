"""Stays in the groups of a signature: they go on, end, begin again; counterfeits that stay or not."""

import struct
from dataclasses import replace

import polars as pl

from republish.anonymize.attack.hashes import content_numbers
from republish.anonymize.attack.stays import FORMERLY, follow_stays, followed_counterfeits

VALUES = pl.DataFrame({"group_id": [1, 1, 2, 2], "value": ["flu", "gout", "cold", "HIV"]})
"""Group 1 has the signature (flu, gout), group 2 (HIV, cold)."""
ANN = pl.DataFrame({"person": ["ann"], "group_id": [1]})
FLU_AND_GOUT = ["flu", "gout"]


def follow(*releases):
    """The stays after each release: its people by value, and the numbers of counterfeits in group 1."""
    stays = None
    for number, (people, forged) in enumerate(releases, start=1):
        rows = [(who, value, 1 if value in FLU_AND_GOUT else 2) for who, value in people.items()]
        present = pl.DataFrame(
            rows, schema={"person": pl.String, "value": pl.String, "group_id": pl.Int64}, orient="row"
        )
        counterfeits = pl.DataFrame(
            {"person": forged, "group_id": [1] * len(forged)},
            schema={"person": pl.Int64, "group_id": pl.Int64},
        )
        stays = follow_stays(present, counterfeits, VALUES, number, stays)
        yield stays


def after(*releases):
    *_, last = follow(*releases)
    return last


def stays_of(stays, person):
    """`(value, since, until, edge)` of each of a person's stays in turn."""
    return sorted(
        stays.people.filter(person=person).select("value", "since", "until", "edge").rows(),
        key=lambda stay: stay[1],
    )


def forged_stays(stays):
    return sorted(stays.forged.select("since", "until", "edge").rows())


def test_a_person_who_stays_is_one_edge():
    stays = after(({"ann": "flu"}, []), ({"ann": "flu"}, []))
    assert stays_of(stays, "ann") == [("flu", 1, 2, True)]


def test_the_value_of_a_person_who_left_is_forgotten():
    stays = after(({"ann": "flu", "bob": "gout"}, []), ({"bob": "gout"}, []))
    assert stays_of(stays, "ann") == [(None, 1, 1, True)]


def test_a_person_who_comes_back_is_no_edge_in_either_stay():
    stays = after(({"ann": "flu"}, []), ({}, []), ({"ann": "flu"}, []))
    assert stays_of(stays, "ann") == [(None, 1, 1, False), ("flu", 3, 3, False)]


def test_a_changed_value_inside_the_signature_ends_a_stay_and_begins_another():
    stays = after(({"ann": "flu"}, []), ({"ann": "gout"}, []))
    assert stays_of(stays, "ann") == [(None, 1, 1, False), ("gout", 2, 2, False)]


def test_a_changed_value_in_another_signature_leaves_two_edges():
    stays = after(({"ann": "flu"}, []), ({"ann": "cold"}, []))
    assert stays_of(stays, "ann") == [(None, 1, 1, True), ("cold", 2, 2, True)]
    assert stays.people["signature"].n_unique() == 2


def test_signatures_keep_their_numbers():
    first, second = follow(({"ann": "flu"}, []), ({"bob": "cold"}, []))
    assert first.signatures.equals(second.signatures)


def test_counterfeits_stay_while_nobody_leaves():
    stays = after(
        ({"ann": "flu"}, [7]),
        ({"ann": "flu", "bob": "gout"}, [7, 8]),  # a person and a counterfeit come: nothing else changes
        ({"ann": "flu", "bob": "gout"}, [7, 8]),
    )
    assert forged_stays(stays) == [(1, 3, True), (2, 3, True)]


def test_counterfeits_are_renewed_where_a_person_leaves_even_if_they_look_the_same():
    stays = after(({"ann": "flu", "bob": "gout"}, [7]), ({"ann": "flu"}, [7]))
    assert forged_stays(stays) == [(1, 1, True), (2, 2, True)]


def test_counterfeits_are_renewed_where_a_person_comes_back():
    stays = after(
        ({"ann": "flu", "bob": "flu"}, []), ({"bob": "flu"}, [7]), ({"ann": "flu", "bob": "flu"}, [7])
    )
    assert forged_stays(stays) == [(2, 2, True), (3, 3, True)]


def test_all_counterfeits_are_renewed_where_one_is_gone():
    stays = after(({"ann": "flu"}, [7, 8]), ({"ann": "flu"}, [8]))
    assert forged_stays(stays) == [(1, 1, True), (1, 1, True), (2, 2, True)]


def test_renewed_counterfeits_stay_from_then_on():
    people = {"ann": "flu"}
    stays = after((people | {"bob": "gout"}, [7]), (people, [7]), (people, [7]), (people, [7]))
    assert forged_stays(stays) == [(1, 1, True), (2, 4, True)]


def test_counterfeits_that_look_alike_are_as_many_as_they_are():
    two = after(({"ann": "flu"}, [7, 7]), ({"ann": "flu"}, [7, 7]))
    assert forged_stays(two) == [(1, 2, True), (1, 2, True)]
    one = after(({"ann": "flu"}, [7, 7]), ({"ann": "flu"}, [7]))
    assert forged_stays(one) == [(1, 1, True), (1, 1, True), (2, 2, True)]


def test_what_happens_in_one_signature_does_not_renew_counterfeits_of_another():
    stays = after(({"ann": "flu", "eve": "cold"}, [7]), ({"ann": "flu"}, [7]))
    assert forged_stays(stays) == [(1, 2, True)]


SAME = pl.DataFrame({"group_id": [1, 1, 2, 2], "value": [*FLU_AND_GOUT, *FLU_AND_GOUT]})
"""Two groups of the same signature."""


def follow_buckets(*releases, before=None, first=1):
    """The stays after each release, of people in two groups (one string each) that are a bucket each.

    In each group is a counterfeit; the two look alike. With them, their numbers in group 1 and in group 2.
    """
    stays = before
    forged = pl.DataFrame({"person": [7, 7], "group_id": [1, 2]})
    for number, groups in enumerate(releases, start=first):
        rows = [(who, "flu", group) for group, people in enumerate(groups, start=1) for who in people]
        present = pl.DataFrame(rows, schema=["person", "value", "group_id"], orient="row")
        stays = follow_stays(present, forged, SAME, number, stays, whole_buckets=True)
        followed = followed_counterfeits(forged, present.drop("value"), SAME, number, stays)
        yield stays, followed.sort("group_id")["person"].to_list()


def test_what_happens_in_one_bucket_does_not_renew_counterfeits_of_another_with_the_same_signature():
    (_, before), (stays, after) = follow_buckets(["ab", "cd"], ["a", "cd"])
    assert len({*before, *after}) == 3
    assert before[1] == after[1]
    assert forged_stays(stays) == [(1, 1, True), (1, 2, True), (2, 2, True)]


def test_buckets_are_known_by_their_people_and_not_by_the_numbers_of_groups():
    (_, before), (_, after) = follow_buckets(["ab", "cd"], ["cd", "a"])
    assert before[1] == after[0]
    assert before[0] != after[1]


def test_buckets_that_have_a_person_in_common_are_one_from_then_on():
    *_, (stays, _) = follow_buckets(["ab", "cd"], ["ab", "cd"], ["bc", "ad"], ["b", "ad"])
    assert stays.people["bucket"].n_unique() == 1


def test_a_bucket_that_everybody_left_is_the_same_when_one_comes_back():
    *_, (stays, _) = follow_buckets(["ab", "cd"], ["ef", "cd"], ["aef", "cd"])
    bucket = dict(stays.people.select("person", "bucket").iter_rows())
    assert len({bucket[who] for who in "abef"}) == 1
    assert len(set(bucket.values())) == 2


def test_buckets_in_the_state_of_an_older_version_count_as_one_and_new_ones_by_themselves():
    (stays, _), *_ = follow_buckets(["ab", "cd"])
    people, forged = (part.drop("bucket") for part in (stays.people, stays.forged))
    older = replace(stays, people=people, forged=forged.unique("person"))
    *_, (stays, _) = follow_buckets(["ab", "cd"], ["ab", "ef"], before=older, first=2)
    bucket = dict(stays.people.select("person", "bucket").iter_rows())
    assert len({bucket[who] for who in "abcd"}) == 1
    assert bucket["e"] == bucket["f"] != bucket["a"]


def test_a_renewed_counterfeit_has_another_number_and_one_that_stays_the_same():
    people = {"ann": "flu"}
    forged = pl.DataFrame(
        {"person": [7], "group_id": [1]}, schema={"person": pl.UInt64, "group_id": pl.Int64}
    )
    releases = [(people | {"bob": "gout"}, [7]), (people, [7]), (people, [7])]
    first, second, third = (
        followed_counterfeits(forged, ANN, VALUES, number, stays)["person"].item()
        for number, stays in enumerate(follow(*releases), start=1)
    )
    assert first != second == third


def test_the_number_of_a_counterfeit_is_the_same_for_ever():
    rows = pl.DataFrame({"age": [30, 30, -1], "weight": [0.5, 0.25, -0.0], "copy": [0, 0, 1]})

    def mixed(z):
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    def number(*bits):
        found = 0
        for one in bits:
            found = mixed((mixed(found) ^ one) + 0x9E3779B97F4A7C15 & 2**64 - 1)
        return found - 2**64 * (found >= 2**63)

    half, quarter, zero = (struct.unpack("<Q", struct.pack("<d", one))[0] for one in (0.5, 0.25, 0.0))
    expected = [number(30, half, 0), number(30, quarter, 0), number(2**64 - 1, zero, 1)]
    assert content_numbers(rows).to_list() == expected


def test_counterfeits_in_the_state_of_an_older_version_stay_who_they_are():
    """It knew them by polars' hashes. A counterfeit that is there no more is none of those that are."""
    nobody = pl.DataFrame(schema={"person": pl.String, "value": pl.String, "group_id": pl.Int64})
    forged = pl.DataFrame({"person": [7], "group_id": [1], FORMERLY: pl.Series([70], dtype=pl.UInt64)})
    before = follow_stays(nobody, forged, VALUES, 1, None)
    for number, stay in ((70, [(1, 3, True)]), (90, [(1, 1, True), (2, 3, True)])):
        was = pl.DataFrame({"person": [number], "copy": [0]}, schema_overrides={"person": pl.UInt64})
        hashed = was.select(pl.struct("person", "copy").hash(3)).to_series()
        stays = replace(before, forged=before.forged.with_columns(person=hashed))
        for release in (2, 3):
            stays = follow_stays(nobody, forged, VALUES, release, stays)
        assert forged_stays(stays) == stay
        assert stays.forged.schema["person"] == pl.Int64
