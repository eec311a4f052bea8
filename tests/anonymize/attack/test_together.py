"""Two series of the same people: what the signatures of both leave of a person."""

import polars as pl

from anonymize.attack.stays import Stays
from anonymize.attack.together import below_together


def stays(**signatures):
    """Another series in which each person had these signatures, one after another."""
    rows = [(person, values) for person, all_of_them in signatures.items() for values in all_of_them]
    people = pl.DataFrame({"person": [row[0] for row in rows], "signature": range(len(rows))})
    return Stays(
        signatures=pl.DataFrame({"signature": range(len(rows)), "values": [list(row[1]) for row in rows]}),
        people=people,
        forged=people.clear(),
    )


ONE = (["ill"], ["ill"])


def present(**signatures):
    return pl.DataFrame(
        {"person": list(signatures), "values": [list(values) for values in signatures.values()]}
    )


def test_people_who_keep_fewer_values_than_promised_are_counted():
    here = present(ann="abc", bob="abc", cid="abc", eve="abc")
    other = stays(ann=["abd"], bob=["abc"], cid=["cde"], dan=["abc"])
    assert below_together(here, other, 3, *ONE) == (3, 2)
    assert below_together(here, other, 2, *ONE) == (3, 1)


def test_signatures_that_share_nothing_are_those_of_two_different_values():
    assert below_together(present(ann="abc"), stays(ann=["def"]), 3, *ONE) == (1, 0)


def test_a_person_counts_once_however_many_signatures_they_had():
    assert below_together(present(ann="abc"), stays(ann=["axy", "bxy", "def"]), 3, *ONE) == (1, 1)


def test_nobody_in_both():
    assert below_together(present(ann="abc"), stays(bob=["abd"]), 3, *ONE) == (0, 0)


def test_of_several_columns_those_in_common_are_compared_in_either_order():
    """Ann has a or b, and 1 or 2 with it; the other table says b or d, of either column or of both."""
    here = present(ann=["a\x1f\x1e209223372036854775809", "b\x1f\x1e209223372036854775810"])
    names = ["ill", "ward"]
    for values, others in (
        ("bd", ["ill"]),
        (["1\x1fd", "2\x1fb"], ["ward", "ill"]),
        (["b\x1f2", "d\x1f1"], ["ill", "ward"]),
        (["b\x1fx", "d\x1fy"], ["ill", "drug"]),
        ("13", ["ward"]),
    ):
        assert below_together(here, stays(ann=[list(values)]), 2, names, others) == (1, 1)
        other = present(ann=[list(values)][0])
        assert below_together(other, stays(ann=[here["values"][0].to_list()]), 2, others, names) == (1, 1)
