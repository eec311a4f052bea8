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


def present(**signatures):
    return pl.DataFrame(
        {"person": list(signatures), "values": [list(values) for values in signatures.values()]}
    )


def test_people_who_keep_fewer_values_than_promised_are_counted():
    here = present(ann="abc", bob="abc", cid="abc", eve="abc")
    other = stays(ann=["abd"], bob=["abc"], cid=["cde"], dan=["abc"])
    assert below_together(here, other, 3) == (3, 2)
    assert below_together(here, other, 2) == (3, 1)


def test_signatures_that_share_nothing_are_those_of_two_different_values():
    assert below_together(present(ann="abc"), stays(ann=["def"]), 3) == (1, 0)


def test_a_person_counts_once_however_many_signatures_they_had():
    assert below_together(present(ann="abc"), stays(ann=["axy", "bxy", "def"]), 3) == (1, 1)


def test_nobody_in_both():
    assert below_together(present(ann="abc"), stays(bob=["abd"]), 3) == (0, 0)
