"""Two series of the same people: the candidates, and the numbers, of which both leave some."""

from types import SimpleNamespace

import polars as pl
import pytest

from republish.anonymize.attack import candidates
from republish.anonymize.attack.knowledge import Knowledge
from republish.anonymize.contract import Sensitive
from republish.anonymize.promise import Candidates

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


def test_only_what_is_known_of_every_series_is_taken_together():
    series = [SEVERAL[0], known(["covered"], ann=[0, 4])]
    assert set(candidates.attack_several_series(series, 2).counts) == {"covered together"}


def test_what_a_series_promises_is_attacked_with_other_series_too():
    promised = Candidates(3)
    found = dict(promised.attack_together(SEVERAL, promised, SENSITIVE).each())
    assert found["hosts together"].broken == found["covered together"].broken > 0
