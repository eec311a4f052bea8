"""Two series of the same people: what the signatures, or the candidates, of both leave of a person."""

from types import SimpleNamespace

import polars as pl
import pytest

from republish.anonymize.attack import candidates, spread
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.attack.stays import Stays
from republish.anonymize.attack.together import below_together
from republish.anonymize.contract import Sensitive
from republish.anonymize.promise import Candidates
from republish.anonymize.promise.spread import Spread


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


# ---- candidates, and numbers, of which both series leave some


BINS = Sensitive.model_validate({"name": "wage", "kind": "number", "bins": [0, 10, 20, 40, 80, 100]})


def known(kinds, **left):
    """A series that leaves each person, by each kind of knowledge, the values at these places."""
    state = pl.DataFrame(
        {
            "person": list(left),
            "value": [BINS.values[places[0]] for places in left.values()],
            "since": 1,
            "until": 1,
            "promised": 1,
            "candidates_0": pl.Series(
                [sum(1 << n for n in places) for places in left.values()], dtype=pl.UInt64
            ),
        }
    )
    return Knowledge(pl.DataFrame({"value": BINS.values}), **dict.fromkeys(kinds, state))


BOTH = ("hosted", "covered")
SENSITIVE = SimpleNamespace(sensitive=BINS)
SEVERAL = [known(BOTH, ann=[0, 1, 2], bob=[2, 4]), known(BOTH, ann=[0, 2, 4], bob=[2, 3, 4])]


@pytest.mark.parametrize(("least", "broken"), [(2, 0), (3, 2)])
def test_both_series_leave_as_many_candidates_as_promised_or_fewer(least, broken):
    """Ann is left with the bins 0 and 2, and Bob with 2 and 4."""
    found = dict(candidates.attack_several_series(SEVERAL, least).each())
    assert found["hosts together"] == found["covered together"] == (2, broken, 2, least, 0, None)


@pytest.mark.parametrize(
    ("least", "broken"), [(0.1, 0), (0.2, 1), (0.5, 2), ({"ratio": 2}, 0), ({"ratio": 2.1}, 2)]
)
def test_both_series_leave_numbers_as_far_apart_as_promised_or_closer(least, broken):
    """Between Ann's 0 to 10 and 20 to 40 lies a tenth of all, between Bob's 20 to 40 and 80 to 100 four."""
    found = dict(spread.attack_several_series(SEVERAL, {"wage": least}, SENSITIVE).each())
    assert found["hosts together"] == found["covered together"]
    assert found["hosts together"][:3] == (2, broken, 2 if isinstance(least, dict) else 0.1)


def test_only_what_is_known_of_every_series_is_taken_together():
    series = [SEVERAL[0], known(["covered"], ann=[0, 4])]
    for found in (
        candidates.attack_several_series(series, 2),
        spread.attack_several_series(series, {"wage": 0.1}, SENSITIVE),
    ):
        assert set(found.counts) == {"covered together"}


@pytest.mark.parametrize("promised", [Candidates(3), Spread({"wage": 0.2})])
def test_what_a_series_promises_is_attacked_with_other_series_too(promised):
    found = dict(promised.attack_together(SEVERAL, promised, SENSITIVE).each())
    assert found["hosts together"].broken == found["covered together"].broken > 0
